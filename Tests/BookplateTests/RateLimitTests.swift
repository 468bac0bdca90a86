import Bookplate
import FoundationEssentials
import TestTools
import Testing

private let start = Date(timeIntervalSince1970: 1_800_000_000)

@Suite struct `The limiter` {
    @Test func `allows a burst of three, then one a second`() {
        var bucket = TokenBucket()
        let waits = (0..<6).map { _ in bucket.consume(at: start) }
        #expect(waits.prefix(3).allSatisfy { $0 == .zero })
        #expect(waits[3] > .milliseconds(900) && waits[3] < .milliseconds(1100))
        #expect(waits[5] > .milliseconds(2900) && waits[5] < .milliseconds(3100))
        #expect(bucket.consume(at: start.addingTimeInterval(10)) == .zero)
    }

    @Test func `never allows more than a request a second in the long run`() {
        var bucket = TokenBucket()
        var sent: [Double] = []
        var now = 0.0
        var dice = SplitMix(seed: 429)
        for _ in 0..<500 {
            now += Double(dice.below(401)) / 1000
            let wait = bucket.consume(at: start.addingTimeInterval(now))
            sent.append(now + Double(wait.components.attoseconds) / 1e18 + Double(wait.components.seconds))
        }
        #expect(Double(sent.count) <= sent.max()! + TokenBucket.burst + 1)
    }

    @Test func `recovers from a clock that went back an hour`() {
        var bucket = TokenBucket()
        for _ in 0..<3 { _ = bucket.consume(at: start) }
        #expect(bucket.consume(at: start.addingTimeInterval(-3600)) < .seconds(5))
        #expect(bucket.consume(at: start.addingTimeInterval(-3590)) == .zero)
    }
}

@Suite struct `The circuit breaker` {
    @Test func `opens after five failures in a row and allows one probe when the time is up`() {
        var breaker = CircuitBreaker()
        for _ in 0..<4 { breaker.failed(at: start) }
        #expect(breaker.wait(at: start) == .zero)
        breaker.failed(at: start)
        #expect(breaker.wait(at: start.addingTimeInterval(1)) > .seconds(28))
        #expect(breaker.wait(at: start.addingTimeInterval(31)) == .zero, "one probe")
        #expect(breaker.wait(at: start.addingTimeInterval(31)) > .zero, "no second one")
        breaker.succeeded()
        #expect(breaker.wait(at: start.addingTimeInterval(31)) == .zero)
    }

    @Test func `pauses longer with every failed probe, at most a quarter of an hour`() {
        var breaker = CircuitBreaker()
        for _ in 0..<50 { breaker.failed(at: start) }
        let wait = breaker.wait(at: start)
        #expect(wait <= .seconds(900) && wait > .seconds(890))
        #expect(breaker.wait(at: start.addingTimeInterval(-86_400)) <= .seconds(900), "a clock that jumped back")
    }
}

@Suite struct `Merging metadata` {
    @Test func `fills gaps only, and each field remembers its source`() {
        var first = Metadata()
        first.title = "Dune"
        first.authors = [Contributor(name: "Frank Herbert")]
        first.identifiers = ["openlibrary": ["OL1M"]]
        first.attribute(to: .openLibrary)
        var second = Metadata()
        second.title = "DUNE"
        second.pageCount = 412
        second.publishedDateText = "1990"
        second.publishedDate = CalendarDay("1990")
        second.identifiers = ["google": ["abc"], "openlibrary": ["OL1M", "OL2M"]]
        second.attribute(to: .googleBooks)
        first.fillGaps(from: second)
        #expect(first.title == "Dune")
        #expect(first.pageCount == 412)
        #expect(first.sources[.title] == .openLibrary)
        #expect(first.sources[.pageCount] == .googleBooks)
        #expect(first.sources[.publishedDate] == .googleBooks)
        #expect(first.identifiers == ["google": ["abc"], "openlibrary": ["OL1M", "OL2M"]])
    }
}

@Suite struct `Codes in reading order` {
    @Test func `go from top to bottom, and within a row from left to right`() {
        func symbol(_ name: String, x: Double, y: Double) -> Symbol {
            let corners = Corners(
                topLeft: Point(x: x, y: y), topRight: Point(x: x + 100, y: y),
                bottomRight: Point(x: x + 100, y: y + 60),
                bottomLeft: Point(x: x, y: y + 60))
            return Symbol(payload: name, quality: 1, corners: corners)
        }
        let symbols = [
            symbol("d", x: 10, y: 300), symbol("b", x: 200, y: 95), symbol("a", x: 0, y: 110),
            symbol("c", x: 400, y: 120),
        ]
        #expect(symbols.inReadingOrder().map(\.payload) == ["a", "b", "c", "d"])
    }
}
