import ArgumentParser
import Bookplate
import Capture
import Foundation
import Station

struct CaptureCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "capture",
        abstract: "Take books in: camera, photos, typed numbers or lines (the default command).",
        discussion: """
            Every ISBN is put into the intake queue first, then looked up, then shown as a
            card; one key answers it: s save, e edit, k skip, c another copy, a save all,
            u undo the last, q quit. Without a terminal, and without --yes, they stay in
            the queue (exit code 4).

            Live (without --image, --isbn and --stdin) the books fill a list on the screen
            while you go on scanning; what is sure is ticked, and a saves all of it.
            There, typed numbers and handheld scanners work at any time, with and without
            a camera; ? shows all keys. With --yes what is found is saved at once, and u
            takes it back. Without a terminal, with --json or TERM=dumb, the events come
            as lines instead, until a signal ends it.

              scan                                    the camera, on a screen
              scan --device Logitech --shelf Attic    this camera, onto a shelf
              rpicam-vid -t 0 --codec mjpeg -n -o - | scan --frames -
              scan --image cover.jpg                  every book in the photo
              scan --image photos/ --shelf Attic      all photos of a folder, onto a shelf
              scan --image imprint.jpg --ocr          a book without a bar code
              curl -s $URL | scan --image -           a photo on standard input
              scan --isbn 0-441-47812-3 --yes         save it if it is found
              scan --stdin --yes --json < isbns.txt   lines in, events out
              scan --hub 192.168.0.20                 into another station's library
            """)

    @Option(parsing: .upToNextOption, help: ArgumentHelp("Photos, folders, or -.", valueName: "file"))
    var image: [String] = []

    @OptionGroup var print: PrintOptions

    @Option(parsing: .upToNextOption, help: ArgumentHelp("Typed ISBNs.", valueName: "number"))
    var isbn: [String] = []

    @Flag(help: "Read numbers from standard input, one a line.")
    var stdin = false

    @Option(help: ArgumentHelp("Capture into the library of a hub (see scan hub).", valueName: "address"))
    var hub: String?

    @OptionGroup var live: LiveOptions

    @Flag(help: "No sounds.")
    var quiet = false

    @OptionGroup var confirming: ConfirmOptions
    @OptionGroup var preset: PresetOptions
    @OptionGroup var places: PathOptions
    @OptionGroup var output: OutputOptions

    /// A word that is no option: most likely a command that is misspelt.
    @Argument(help: .hidden) var strays: [String] = []

    func validate() throws {
        if image.filter({ $0 == "-" }).count > 1 { throw ValidationError("Standard input can be named only once.") }
    }

    /// Checked after everything else, so that a misspelt option is told as such.
    private func checkWays() throws {
        if let stray = strays.first {
            let known = Scan.configuration.subcommands.contains { $0._commandName == stray }
            throw ValidationError(
                known
                    ? "A command comes first: scan \(stray) …"
                    : "There is no command \"\(String(stray.prefix(40)).oneLine)\". scan --help lists them.")
        }
        if print.ocr, image.isEmpty { throw ValidationError("--ocr goes with --image.") }
        switch [!image.isEmpty, !isbn.isEmpty, stdin].count(where: { $0 }) {
        case 0: return
        case 1:
            if live.isUsed { throw ValidationError("Camera and scanner options go with the live camera only.") }
        default: throw ValidationError("One way in at a time: --image, --isbn or --stdin.")
        }
    }

    func run() async throws {
        try checkWays()
        defer { Interrupts.giveBack() }
        let preset = try preset.preset()
        let wiring = try Wiring(settings: places.settings())
        guard let hub else {
            let library = try wiring.openLibrary()
            let place = CaptureTarget(
                flow: wiring.captureFlow(library), history: library,
                finish: { saved, _ in await wiring.catchUp(library, saved: saved) })
            return try await capture(into: place, preset, wiring)
        }
        let hubRun = try await wiring.openHub(hub)
        let place = CaptureTarget(
            flow: hubRun.flow, history: hubRun.outbox, hub: hubRun,
            finish: { _, report in if try await !hubRun.finish() { report.note(.unavailable) } })
        hubRun.begin()
        try await capture(into: place, preset, wiring)
    }

    private func capture(into place: CaptureTarget, _ preset: Preset, _ wiring: Wiring) async throws {
        let report = ExitReport()
        let events = EventPrinter(json: output.json, report: report, wayBack: place.wayBack)
        if isLive, !output.json, LiveStation.isPossible, let keyboard = Keyboard.open() {
            defer { keyboard.close() }
            let run = CaptureRun(
                flow: place.flow, history: place.history, preset: preset,
                anotherCopy: confirming.anotherCopy, answer: .leave, events: events, report: report)
            let station = try station(run, keyboard, wiring, place)
            Interrupts.handle {
                station.onTheWay.value.isEmpty ? place.interrupted : Self.notCaptured(station.onTheWay.value)
            }
            try await station.run()
            try await place.finish(events.count(.saved), report)
            return try report.end()
        }
        let feed = try feed(report, wiring.settings)
        let run = CaptureRun(
            flow: place.flow, history: place.history, preset: preset, anotherCopy: confirming.anotherCopy,
            answer: feed.answer, events: events, report: report)
        Interrupts.handle { place.interrupted }
        defer { feed.answer.giveBackTerminal() }
        try await run.run(feed.arrivals, expected: feed.expected, isLive: feed.isLive)
        if !image.isEmpty || live.frames != nil, events.total == 0 { report.note(.nothing) }
        noteUnasked(events, feed.answer, place)
        try await place.finish(events.count(.saved), report)
        try report.end()
    }

    /// What was left unasked because nobody could be asked.
    private func noteUnasked(_ events: EventPrinter, _ answer: CaptureRun.Answer, _ place: CaptureTarget) {
        guard case .leave = answer, events.count(.queued) > 0, !output.json else { return }
        Output.shared.note(
            "There is no terminal to ask at, so the candidates stay in the queue. \(place.wayToConfirm); "
                + "--yes saves what is found.")
    }

    private static func notCaptured(_ numbers: [String]) -> String {
        "Interrupted. Not captured, because the library was locked or its disk full: \(numbers.joined(separator: ", ").printable)."
    }

    /// No other way in is named.
    private var isLive: Bool { image.isEmpty && isbn.isEmpty && !stdin }

    private func station(
        _ run: CaptureRun, _ keyboard: Keyboard, _ wiring: Wiring, _ place: CaptureTarget
    ) throws -> LiveStation {
        LiveStation(
            run: run, live: try liveScan(wiring.settings), scanner: live.scanner, keyboard: keyboard,
            sounds: Sounds(isMuted: quiet) { Output.shared.draw("\u{07}") }, isStream: live.frames != nil,
            isOffline: wiring.isOffline, savesAtOnce: confirming.yes, hub: place.hub)
    }

    private func liveScan(_ settings: Settings) throws -> LiveScan {
        let scan = try live.scan(settings)
        Interrupts.onEnd { scan.leave() }
        return scan
    }

    private func feed(_ report: ExitReport, _ settings: Settings) throws -> Feed {
        if !image.isEmpty {
            return Feed(
                photos: image, print: print, answer: confirming.answer(json: output.json), report: report)
        }
        if !isbn.isEmpty { return Feed(numbers: isbn, answer: confirming.answer(json: output.json)) }
        if !stdin {
            return Feed(
                live: try liveScan(settings), scanner: live.scanner, answer: confirming.answer(json: output.json),
                report: report)
        }
        let asksByLine = !confirming.yes && !output.json && isatty(STDIN_FILENO) == 1
        return asksByLine ? Feed.askingByLine() : Feed(linesWithAnswer: confirming.answer(json: output.json))
    }
}

extension CaptureRun.Answer {
    func giveBackTerminal() { if case .prompt(.keyboard(let keyboard)) = self { keyboard.close() } }
}
