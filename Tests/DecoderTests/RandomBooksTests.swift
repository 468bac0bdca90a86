import Bookplate
import CodeMaker
import Decoder
import Foundation
import TestTools
import Testing

/// The code of a book, generated from a number: 978 or 979, either way up, with 1.6 to 4 pixels per module, slightly
/// slanted, slightly out of focus, with some noise.
private struct RandomBook: Picture {
    let payload: String
    let frame: Frame
    var width: Int { frame.width }
    var height: Int { frame.height }
    let orientation = Orientation.up

    init(_ number: Int) {
        var random = SplitMix(seed: UInt64(number) &* 0x9E37_79B9 &+ 2026)
        payload = random.payload(prefix: number % 2 == 0 ? "978" : "9791")
        let module = random.number(1.6...4)
        let (width, height) = (Int(module * 130), Int(max(60, module * 60)))
        var code = PrintedCode(
            payload: payload,
            centre: Point(
                x: Double(width) / 2 + random.number(-3...3) * module, y: Double(height) / 2 + random.number(-4...4)),
            module: module, height: random.number(0.35...0.5) * Double(height))
        code.angle = random.number(-12...12) + (random.next() % 2 == 0 ? 180 : 0)
        code.bell = random.number(0.3...0.5) * module
        code.ink = random.number(15...60)
        code.paper = random.number(150...235)
        code.slope = random.number(-30...30)
        code.noise = random.number(0...6)
        var frame = Frame(width: width, height: height)
        code.draw(into: &frame, &random)
        self.frame = frame
    }

    func luma(atLeast longSide: Int) -> Frame { frame }
}

/// The numbers of books that were not read, and of those that were read wrongly.
private struct Misses {
    var unread: [Int] = []
    var wrong: [Int] = []

    static func among(_ numbers: some Sequence<Int>) throws -> Misses {
        var (misses, decoder) = (Misses(), try PhotoReader())
        for number in numbers {
            let book = RandomBook(number)
            let payloads = try decoder.decode(book).map(\.payload)
            if payloads.contains(where: { $0 != book.payload }) { misses.wrong.append(number) }
            if payloads.isEmpty { misses.unread.append(number) }
        }
        return misses
    }
}

/// The long tests read 100,000 books on all cores. So far, all of them were read; one in 10,000 may be missed.
@Test func `reads random books back, exactly those`() async throws {
    let (count, cores) = (isLong ? 100_000 : 400, ProcessInfo.processInfo.activeProcessorCount)
    var all = Misses()
    try await withThrowingTaskGroup(of: Misses.self) { group in
        for core in 0..<cores { group.addTask { try Misses.among(stride(from: core, to: count, by: cores)) } }
        for try await misses in group {
            all.unread += misses.unread
            all.wrong += misses.wrong
        }
    }
    #expect(all.wrong.isEmpty, "read something else of \(all.wrong)")
    #expect(
        Double(all.unread.count) <= Double(count) / 10_000,
        "read nothing of \(all.unread.count): \(all.unread.prefix(20))")
}
