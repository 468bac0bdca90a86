import Bookplate
import Capture
import Foundation
import Station

/// What arrives, and who answers.
struct Feed {
    let arrivals: AsyncStream<ArrivalBurst>
    let answer: CaptureRun.Answer
    /// How many books are to come, where that is known.
    var expected: Int?
    /// It goes on until somebody ends it, and so does trying to capture what it gives.
    var isLive = false

    /// Photos, folders, and - for standard input.
    ///
    /// - Parameter print: whether and how printed numbers are read as well.
    init(photos: [String], print: PrintOptions, answer: CaptureRun.Answer, report: ExitReport) {
        let (inputs, problems) = PhotoInput.expand(photos)
        if inputs.isEmpty, problems.isEmpty {
            Output.shared.complain("there is no photo in \(photos.joined(separator: ", ").printable).")
        }
        let readings = PhotoBatchReader(withThumbnails: true, print: print.reader()).read(inputs)
        let bar = ProgressBar("photos", total: inputs.count)
        arrivals = AsyncStream { continuation in
            let unreadable = problems.map {
                Arrival.event(CaptureEvent(refused: .unreadable, origin: .photo, image: $0.photo, reason: "\($0)"))
            }
            continuation.yield(ArrivalBurst(arrivals: unreadable))
            let reading = Task {
                for await reading in readings {
                    bar.advance()
                    // Whatever is printed there was left because of it.
                    if reading.printTrouble != nil { report.note(.unavailable) }
                    continuation.yield(ArrivalBurst(arrivals: reading.arrivals))
                }
                bar.finish()
                continuation.finish()
            }
            continuation.onTermination = { _ in reading.cancel() }
        }
        self.answer = answer
    }

    /// Numbers of the command line.
    init(numbers: [String], answer: CaptureRun.Answer) {
        let burst = ArrivalBurst(arrivals: numbers.map { TypedNumber(text: $0, origin: .typed).arrival })
        arrivals = AsyncStream { continuation in
            continuation.yield(burst)
            continuation.finish()
        }
        self.answer = answer
        expected = numbers.count
    }

    /// The live camera, and a handheld scanner beside it where one is named.
    init(live: LiveScan, scanner: String?, answer: CaptureRun.Answer, report: ExitReport) {
        arrivals = AsyncStream { continuation in
            let watching = Task {
                var trouble: CameraError?
                do {
                    for try await event in live.events() {
                        if case .camera(let state) = event {
                            state.tell()
                            trouble = state.trouble(after: trouble)
                        }
                        if let arrival = event.arrival { continuation.yield(ArrivalBurst(arrivals: [arrival])) }
                    }
                } catch {
                    Output.shared.complain("\(error)")
                    report.note(.unavailable)
                }
                if let trouble { report.note(trouble.kind == .noFrames ? .unreadable : .unavailable) }
                // A handheld scanner goes on without a camera.
                if scanner == nil { continuation.finish() }
            }
            let listening = Task {
                guard let scanner else { return }
                for await event in HandheldScanner(path: scanner).events() {
                    switch event {
                    case .line(let text):
                        continuation.yield(ArrivalBurst(arrivals: [TypedNumber(text: text, origin: .scanner).arrival]))
                    case .trouble(let text): Output.shared.complain(text)
                    case .ready(let name): Output.shared.note("\(name.printable) is ready.")
                    }
                }
            }
            let guarding = Task { await Self.tellWhenStuck(live) }
            continuation.onTermination = { _ in
                watching.cancel()
                listening.cancel()
                guarding.cancel()
            }
        }
        (self.answer, isLive) = (answer, true)
    }

    /// A thread that hangs in the driver tells nothing itself.
    private static func tellWhenStuck(_ live: LiveScan) async {
        var wasStuck = false
        while !Task.isCancelled {
            do { try await Task.sleep(for: .seconds(5)) } catch { return }
            guard case .trouble(let trouble) = live.glance.camera, trouble.kind == .stuck else {
                wasStuck = false
                continue
            }
            if !wasStuck { Output.shared.complain(trouble.description) }
            wasStuck = true
        }
    }

    /// Numbers on standard input, one a line.
    init(linesWithAnswer answer: CaptureRun.Answer) {
        let lines = InputLines()
        arrivals = AsyncStream { continuation in
            let reading = Task {
                for await burst in lines.bursts {
                    let arrivals = burst.filter { !$0.isEmpty }.map { TypedNumber(text: $0, origin: .stdin).arrival }
                    continuation.yield(ArrivalBurst(arrivals: arrivals, taken: lines.take))
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in reading.cancel() }
        }
        self.answer = answer
    }

    /// Standard input is a terminal: its lines are numbers, and answers of one letter.
    static func askingByLine() -> Feed {
        let (stream, continuation) = AsyncStream.makeStream(of: ArrivalBurst.self)
        Output.shared.note("Type or scan ISBNs, one a line; Control-D ends.")
        let input = PromptInput.lines(
            InputLines(),
            capture: { continuation.yield(ArrivalBurst(arrivals: [TypedNumber(text: $0, origin: .stdin).arrival])) },
            finish: { continuation.finish() })
        return Feed(arrivals: stream, answer: .prompt(input))
    }

    private init(arrivals: AsyncStream<ArrivalBurst>, answer: CaptureRun.Answer) {
        self.arrivals = arrivals
        self.answer = answer
    }
}

extension CameraState {
    /// One line on standard error for each change.
    fileprivate func tell() {
        switch self {
        case .starting, .ended: break
        case .streaming(let name, let format): Output.shared.note("\(name.printable): \(format)")
        case .trouble(let trouble): Output.shared.complain(trouble.description)
        }
    }

    /// What is in the way, which the end of the frames does not mend.
    fileprivate func trouble(after earlier: CameraError?) -> CameraError? {
        switch self {
        case .ended: earlier
        case .starting, .streaming: nil
        case .trouble(let trouble): trouble
        }
    }
}

extension LiveScan.Event {
    fileprivate var arrival: Arrival? {
        switch self {
        case .camera: nil
        case .captured(let detection): .detection(detection)
        case .refused(let symbol, let refusal):
            .event(
                CaptureEvent(
                    refused: .refused, raw: symbol.payload, kind: symbol.kind, addon: symbol.addon, origin: .camera,
                    reason: refusal.description))
        }
    }
}
