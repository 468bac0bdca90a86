import ArgumentParser
import Bookplate
import Capture
import Foundation
import Hub
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
            let target = CaptureTarget(
                flow: wiring.captureFlow(library), history: library,
                finish: { saved, _ in await wiring.catchUp(library, saved: saved) })
            return try await capture(into: target, preset, wiring)
        }
        let hubRun = try await wiring.openHub(hub)
        let target = CaptureTarget(
            flow: hubRun.flow, history: hubRun.outbox, hub: hubRun,
            finish: { _, report in if try await !hubRun.finish() { report.note(.unavailable) } })
        hubRun.begin()
        try await capture(into: target, preset, wiring)
    }

    private func capture(into target: CaptureTarget, _ preset: Preset, _ wiring: Wiring) async throws {
        let report = ExitReport()
        let events = EventPrinter(json: output.json, report: report, undoHint: target.undoHint)
        if isLive, !output.json, LiveTerminal.isPossible, let keyboard = Keyboard.open() {
            defer { keyboard.close() }
            try await captureLive(into: target, preset, wiring, keyboard, events, report)
        } else {
            try await captureLines(into: target, preset, wiring, events, report)
        }
        try await target.finish(events.count(.saved), report)
        try report.end()
    }

    /// Captures with a screen that the person watches.
    private func captureLive(
        into target: CaptureTarget, _ preset: Preset, _ wiring: Wiring, _ keyboard: Keyboard, _ events: EventPrinter,
        _ report: ExitReport
    ) async throws {
        var options = Station.Options(preset: preset)
        options.isOffline = wiring.isOffline
        options.looksUpDue = true
        options.lastAttempt = nil
        if confirming.yes {
            options.saving = Station.AutomaticSaving(anotherCopy: confirming.anotherCopy, isUnattended: false)
        }
        let scan = try liveScan(wiring.settings)
        let station = Station(flow: target.flow, history: target.history, options: options, live: scan)
        var state = LiveState(batch: Batch(preset: preset))
        (state.isStream, state.isOffline, state.savesFound) = (live.frames != nil, wiring.isOffline, confirming.yes)
        var hubEvents: AsyncStream<HubEvent>?
        if let hub = target.hub {
            state.hub = LiveState.HubView(waiting: try await hub.outbox.undeliveredCount())
            hubEvents = hub.redirectEvents()
        }
        let terminal = LiveTerminal(
            station: station, state: state, live: scan, keyboard: keyboard,
            sounds: Sounds(isMuted: quiet) { Output.shared.draw("\u{07}") }, events: events, report: report)
        Interrupts.handle {
            let pending = station.pendingDetections.map(\.isbn.digits)
            return pending.isEmpty ? target.interrupted : Self.notCaptured(pending)
        }
        await terminal.run(scanner: live.scanner.map { HandheldScanner(path: $0).events() }, hub: hubEvents)
        target.hub?.printEvents()
        await terminal.conclude()
    }

    /// Captures without a screen: prints lines, and asks card by card where there is a terminal.
    private func captureLines(
        into target: CaptureTarget, _ preset: Preset, _ wiring: Wiring, _ events: EventPrinter, _ report: ExitReport
    ) async throws {
        let asksByLine = stdin && !confirming.yes && !output.json && isatty(STDIN_FILENO) == 1
        let answer: CaptureRun.Answer =
            asksByLine ? .prompt(.lines(InputLines())) : confirming.answer(json: output.json)
        defer { answer.giveBackTerminal() }
        var options = Station.Options(preset: preset)
        options.isOffline = wiring.isOffline
        options.saving = answer.saving(anotherCopy: confirming.anotherCopy)
        let station = Station(
            flow: target.flow, history: target.history, options: options,
            live: isLive ? try liveScan(wiring.settings) : nil)
        let run = CaptureRun(station: station, answer: answer, events: events, report: report)
        Interrupts.handle { target.interrupted }
        if isLive {
            try await run.run(liveWith: live.scanner.map { HandheldScanner(path: $0).events() })
        } else if asksByLine {
            Output.shared.note("Type or scan ISBNs, one a line; Control-D ends.")
            try await run.runPrompt()
        } else {
            try await run.run(source(report))
        }
        if !image.isEmpty || live.frames != nil, events.total == 0 { report.note(.nothing) }
        if case .leave = answer, events.count(.queued) > 0, !output.json {
            Output.shared.note(
                "There is no terminal to ask at, so the candidates stay in the queue. \(target.wayToConfirm); "
                    + "--yes saves what is found.")
        }
    }

    private static func notCaptured(_ numbers: [String]) -> String {
        "Interrupted. Not captured, because the library was locked or its disk full: \(numbers.joined(separator: ", ").printable)."
    }

    /// True if no other input is named.
    private var isLive: Bool { image.isEmpty && isbn.isEmpty && !stdin }

    private func liveScan(_ settings: Settings) throws -> LiveScan {
        let scan = try live.scan(settings)
        Interrupts.onEnd { scan.leave() }
        return scan
    }

    private func source(_ report: ExitReport) -> InputSource {
        if !image.isEmpty { return InputSource(photos: image, print: print, report: report) }
        if !isbn.isEmpty { return InputSource(numbers: isbn) }
        return InputSource(lines: InputLines())
    }
}

extension CaptureRun.Answer {
    func giveBackTerminal() { if case .prompt(let input) = self { input.giveBackTerminal() } }
}
