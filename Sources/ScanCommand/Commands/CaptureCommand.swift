import ArgumentParser
import Bookplate
import Capture
import Foundation
import Station
import Terminal

struct CaptureCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "capture",
        abstract: "Capture books with the camera, from photos, or from ISBNs (the default command).",
        discussion: """
            Every ISBN is first put into the queue, then looked up, and then shown as a
            card. Answer each card with one key: s save, e edit, k skip, c save another
            copy, a save all, u undo the last action, q quit. Without a terminal, the
            books stay in the queue (exit code 4), unless you use --yes.

            Without --image, --isbn and --stdin, the books fill a list on the screen
            while you continue scanning. Books that were identified with certainty are
            ticked, and the key a saves all of them. You can type ISBNs or use a handheld
            scanner at any time, even without a camera. The key ? shows all keys. With
            --yes, books are saved as soon as they are found, and the key u undoes this.
            Without a terminal, or with --json or TERM=dumb, the program prints a line
            for each event instead, until a signal ends it.

              scan                                    the camera, on a screen
              scan --device Logitech --shelf Attic    this camera, onto a shelf
              rpicam-vid -t 0 --codec mjpeg -n -o - | scan --frames -
              scan --image cover.jpg                  every book in the photo
              scan --image photos/ --shelf Attic      all photos in a folder, onto a shelf
              scan --image imprint.jpg --ocr          a book without a bar code
              curl -s $URL | scan --image -           a photo on standard input
              scan --isbn 0-441-47812-3 --yes         save the book if it is found
              scan --stdin --yes --json < isbns.txt   ISBNs in, JSON events out
              scan --hub 192.168.0.20                 into another station's library
              scan --image photos/ --yes --exec ./print-label
            """)

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("Photos, folders of photos, or - for standard input.", valueName: "file"),
        completion: .photos)
    var image: [String] = []

    @OptionGroup var print: PrintOptions

    @Option(parsing: .upToNextOption, help: ArgumentHelp("The ISBNs to capture.", valueName: "number"))
    var isbn: [String] = []

    @Flag(help: "Read ISBNs from standard input, one per line.")
    var stdin = false

    @Option(
        help: ArgumentHelp("Add the books to the library of this hub (see 'scan hub').", valueName: "address"),
        completion: .values(.hub))
    var hub: String?

    @Option(
        help: ArgumentHelp(
            "Run this program after each save, with the book as JSON on its standard input.",
            discussion: "The program is run without a shell, and killed after ten seconds.", valueName: "program"),
        completion: .file())
    var exec: String?

    @OptionGroup var live: LiveOptions

    @Flag(name: .shortAndLong, help: "Play no sounds.")
    var quiet = false

    @OptionGroup var confirming: ConfirmOptions
    @OptionGroup var preset: PresetOptions
    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    /// Words on the command line that belong to no option. The first is probably a misspelt command.
    @Argument(help: .hidden) var strays: [String] = []

    func validate() throws {
        if image.filter({ $0 == "-" }).count > 1 { throw ValidationError("Standard input (-) can be given only once.") }
    }

    /// Checks that the given inputs can be combined. All other checks of the options are made before, so that a
    /// misspelt option is reported as misspelt.
    private func checkInputs() throws {
        if !strays.isEmpty { throw ValidationError(Misspelling.refusal(of: strays)) }
        if exec != nil, hub != nil {
            throw ValidationError("--exec works with the library of this device, not with --hub.")
        }
        if print.ocr, image.isEmpty { throw ValidationError("--ocr works only with --image.") }
        switch [!image.isEmpty, !isbn.isEmpty, stdin].count(where: { $0 }) {
        case 0: return
        case 1:
            if live.isUsed {
                throw ValidationError(
                    "Options for the camera or a scanner cannot be used with --image, --isbn or --stdin.")
            }
        default: throw ValidationError("Use only one of --image, --isbn and --stdin.")
        }
    }

    func run() async throws {
        try checkInputs()
        defer { Interrupts.release() }
        var preset = try preset.preset()
        let wiring = try Wiring(settings: paths.settings())
        guard let hub else {
            let library = try wiring.openLibrary()
            let hook = try exec.map { try SaveHook($0, library: library) }
            let lookup = wiring.lookup(library)
            let target = CaptureTarget(
                flow: wiring.captureFlow(library, lookup), history: library,
                titles: wiring.titleFinder(library, lookup), names: library, hook: hook,
                finish: { saved, isAttended, report in
                    await wiring.catchUp(library, saved: saved, isAttended: isAttended, report)
                })
            return try await capture(into: target, preset, wiring)
        }
        let hubRun = try await wiring.openHub(hub)
        preset.reader = hubRun.reader
        let target = CaptureTarget(
            flow: hubRun.flow, history: hubRun.outbox, titles: wiring.titleFinder(nil, hubRun.lookup), hub: hubRun,
            finish: { _, _, report in report.record(try await hubRun.finish()) })
        hubRun.begin()
        try await capture(into: target, preset, wiring)
    }

    private func capture(into target: CaptureTarget, _ preset: Preset, _ wiring: Wiring) async throws {
        let report = ExitReport()
        let events = EventPrinter(
            json: output.json, report: report, undoHint: target.undoHint, onSaved: target.hook.map { $0.add })
        if isLive, !output.json, LiveTerminal.isPossible, let keyboard = Keyboard.open() {
            defer { keyboard.close() }
            try await captureLive(into: target, preset, wiring, keyboard, events)
        } else {
            try await captureLines(into: target, preset, wiring, events, report)
        }
        await target.hook?.finish()
        try await target.finish(events.count(.saved), isLive || !confirming.yes, report)
        try report.end()
    }

    /// Captures books on a full screen.
    private func captureLive(
        into target: CaptureTarget, _ preset: Preset, _ wiring: Wiring, _ keyboard: Keyboard, _ events: EventPrinter
    ) async throws {
        var options = Station.Options(preset: preset)
        options.isOffline = wiring.isOffline
        options.looksUpDue = true
        options.lastAttempt = nil
        if confirming.yes {
            options.saving = Station.AutomaticSaving(anotherCopy: confirming.anotherCopy, isUnattended: false)
        }
        let station = Station(
            flow: target.flow, history: target.history, options: options, live: try liveScan(wiring.settings),
            scanner: live.grabScanner(), titles: target.titles, names: target.names)
        let terminal = LiveTerminal(
            station: station, keyboard: keyboard, sounds: Sounds(isMuted: quiet) { Output.shared.draw("\u{07}") },
            events: events, isStream: live.frames != nil, hubBacklog: try await target.hub?.outbox.undeliveredCount())
        Interrupts.handle {
            Self.interruptedMessage(notCaptured: station.pendingDetections) ?? target.interruptedMessage
        }
        await terminal.run(hub: target.hub?.redirectEvents())
        target.hub?.printEvents()
        await terminal.conclude()
    }

    /// Captures books without a full screen. It prints lines and, if there is a terminal, asks about the books one by
    /// one.
    private func captureLines(
        into target: CaptureTarget, _ preset: Preset, _ wiring: Wiring, _ events: EventPrinter, _ report: ExitReport
    ) async throws {
        let asksByLine = stdin && !confirming.yes && !output.json && isatty(STDIN_FILENO) == 1
        let answer: CaptureRun.Answer =
            asksByLine ? .prompt(.lines(InputLines())) : confirming.answer(json: output.json)
        defer { answer.restoreTerminal() }
        var options = Station.Options(preset: preset)
        options.isOffline = wiring.isOffline
        options.saving = answer.saving(anotherCopy: confirming.anotherCopy)
        let station = Station(
            flow: target.flow, history: target.history, options: options,
            live: isLive ? try liveScan(wiring.settings) : nil, scanner: live.grabScanner(), titles: target.titles,
            names: target.names)
        let run = CaptureRun(station: station, answer: answer, events: events, open: wiring.open)
        Interrupts.handle { Self.interruptedMessage(notCaptured: run.notCaptured) ?? target.interruptedMessage }
        if isLive || asksByLine {
            let numbers = isLive && !answer.asks ? InputLines.ofTerminal() : nil
            if asksByLine || numbers != nil {
                Output.shared.printNotice("Type or scan ISBNs, one per line. Control-D ends the input.")
            }
            try await run.run(numbers: numbers)
        } else {
            try await run.run(source(report))
        }
        if !image.isEmpty || live.frames != nil, events.total == 0 { report.record(.nothing) }
        if case .leave = answer, events.count(.queued) > 0, !output.json {
            Output.shared.printNotice(
                "There is no terminal for the confirmation prompt, so the books stay in the queue. \(target.confirmHint). "
                    + "To save every identified book without asking, use --yes.")
        }
    }

    /// Returns the message that names the detections that are not on disk, one per line, so that they can be captured
    /// again; nil if there are none.
    private static func interruptedMessage(notCaptured detections: [Detection]) -> String? {
        guard !detections.isEmpty else { return nil }
        return "Interrupted. These ISBNs were not captured, because the library is locked or its disk is full:\n"
            + detections.map(\.isbn.digits).joined(separator: "\n")
    }

    /// True if books are captured live, because no other input was given.
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

/// The library to which a run adds the captured books: this station's own library, or that of a hub.
private struct CaptureTarget: Sendable {
    let flow: CaptureFlow
    let history: any History
    let titles: TitleFinder
    /// The library whose names complete what a person types; nil at a station that has only an outbox.
    var names: (any Search)?
    /// The hub; nil if the run adds books to the station's own library.
    var hub: HubRun?
    /// Runs the program of `--exec`; nil if there is none.
    var hook: SaveHook?
    /// Called at the end of a run, with the number of books that were saved, and true if a person waits for the end.
    let finish: @Sendable (Int, Bool, ExitReport) async throws -> Void

    /// The advice on undoing a change after the run.
    var undoHint: String {
        hub == nil
            ? "To undo the last change, run 'scan undo'." : "To undo the last change, run 'scan undo' at the hub."
    }

    /// The advice on confirming the captured books, without a full stop.
    var confirmHint: String {
        hub == nil ? "To confirm them, run 'scan intake confirm'" : "To confirm them, open the hub's Intake page"
    }

    /// The message that is printed if a signal ends the run.
    var interruptedMessage: String {
        hub == nil
            ? "Interrupted. Captured books are in the queue (see 'scan intake list'), and saved books are in the library."
            : "Interrupted. No captured or confirmed book is lost. To send the remaining books to the hub, run 'scan hub send'."
    }
}
