import Async
import Bookplate
import Foundation
import Testing

@testable import Station

/// Shows the code that a frame names.
private struct TextDecoder: FrameDecoder {
    let shown: SharedValue<String>

    mutating func read(_ frame: Frame, into result: inout FrameResult) {
        let corners = Corners(
            topLeft: Point(x: 10, y: 10), topRight: Point(x: 200, y: 10), bottomRight: Point(x: 200, y: 90),
            bottomLeft: Point(x: 10, y: 90))
        result.symbols = shown.value.isEmpty ? [] : [Symbol(payload: shown.value, quality: 9, corners: corners)]
        (result.unread, result.certain) = ([], [])
    }
}

@Suite struct `The camera of a phone` {
    private let shown = SharedValue("")

    private func makeScan() -> PhoneScan {
        PhoneScan(
            decoder: TextDecoder(shown: shown),
            decode: { bytes, frame in
                frame = Frame(width: 320, height: 240)
                return true
            }, thumbnail: { _, _ in nil })
    }

    /// The books that count as shown, when frames with these codes arrive with these pauses between them.
    private func books(_ frames: [(code: String, after: Duration)]) -> [String] {
        let scan = makeScan()
        var (time, books): (Duration, [String]) = (.seconds(1000), [])
        for (code, pause) in frames {
            time += pause
            shown.withLock { $0 = code }
            books += scan.read([], at: time)?.detections.map(\.isbn.digits) ?? []
        }
        return books
    }

    private func showing(_ code: String, _ count: Int, every pause: Duration = .milliseconds(110)) -> [(
        String, Duration
    )] {
        Array(repeating: (code, pause), count: count)
    }

    private let dune = "9780441013593"
    private let emma = "9780141439587"

    @Test(arguments: [0.11, 0.5, 1.5, 5, 30, 300])
    func `captures a book once, however long the connection is cut while it is in view`(pause: Double) {
        let cut = [(dune, Duration.seconds(pause))]
        #expect(books(showing(dune, 5) + cut + showing(dune, 5) + cut + showing(dune, 5)) == [dune])
    }

    @Test(arguments: [0.11, 0.5, 1, 5])
    func `captures a book once, though two frames in a row do not show it`(pause: Double) {
        let step = Duration.seconds(pause)
        let seen = showing(dune, 5, every: step) + showing("", 2, every: step) + showing(dune, 5, every: step)
        #expect(books(seen) == [dune])
    }

    @Test(arguments: [0.11, 0.3, 1, 5])
    func `captures each book that is held up after the other`(pause: Double) {
        let step = Duration.seconds(pause)
        #expect(books(showing(dune, 5, every: step) + showing(emma, 5, every: step)) == [dune, emma])
    }

    @Test func `captures a book again that was taken away and shown again`() {
        #expect(books(showing(dune, 5) + showing("", 8) + showing(dune, 5)) == [dune, dune])
        #expect(books(showing(dune, 5) + showing("", 3, every: .seconds(1)) + showing(dune, 5)) == [dune, dune])
    }

    @Test func `captures nothing of a code that is in a single frame`() {
        #expect(books(showing("", 3) + showing(dune, 1) + showing("", 3)).isEmpty)
    }
}
