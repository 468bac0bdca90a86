import Bookplate
import Foundation
import Station

/// What arrives, and who answers.
struct Feed {
    let arrivals: AsyncStream<ArrivalBurst>
    let answer: CaptureRun.Answer
    /// How many books are to come, where that is known.
    var expected: Int?

    /// Photos, folders, and - for standard input.
    init(photos: [String], answer: CaptureRun.Answer) {
        let (inputs, problems) = PhotoInput.expand(photos)
        if inputs.isEmpty, problems.isEmpty {
            Output.shared.complain("there is no photo in \(photos.joined(separator: ", ").printable).")
        }
        let readings = PhotoReader(withThumbnails: true).read(inputs)
        let bar = ProgressBar("photos", total: inputs.count)
        arrivals = AsyncStream { continuation in
            let unreadable = problems.map {
                Arrival.event(CaptureEvent(refused: .unreadable, origin: .photo, image: $0.photo, reason: "\($0)"))
            }
            continuation.yield(ArrivalBurst(arrivals: unreadable))
            let reading = Task {
                for await reading in readings {
                    bar.advance()
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
