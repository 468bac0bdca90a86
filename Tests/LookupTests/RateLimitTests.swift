import Bookplate
import FaultServer
import TestTools
import Testing

@testable import Lookup

/// At most one request a second after a burst of three, in all processes of the machine together.
@Suite struct MannersTests {
    @Test func `two lookups that share the machine's memory keep one pace`() async throws {
        let rig = try Rig()
        let clock = rig.clock
        let googleBooks = rig.googleBooks
        googleBooks.stampRequests { clock.now.offset }
        rig.openLibrary.stampRequests { clock.now.offset }
        let chains = try [rig.chain(), rig.chain()]
        let answered = await withTaskGroup(of: Int.self) { group in
            for (number, chain) in chains.enumerated() {
                group.addTask {
                    var count = 0
                    for round in 0..<10 {
                        for await _ in chain.lookUp([.sample(numbered: number * 100 + round)], refresh: false) {
                            count += 1
                        }
                    }
                    return count
                }
            }
            return await group.reduce(0, +)
        }
        #expect(answered == 20)
        for server in [rig.openLibrary, rig.googleBooks] {
            let times = server.requests.map(\.time).sorted()
            #expect(times.count == 20)
            for (number, time) in times.enumerated() {
                #expect(time >= .seconds(number - 2), "request \(number + 1) went out at \(time)")
            }
        }
    }

    @Test func `redirects and repairs take their turns too`() async throws {
        let rig = try Rig()
        let clock = rig.clock
        rig.openLibrary.stampRequests { clock.now.offset }
        rig.openLibrary.on("/api/books", .json(#"{"ISBN:9780140268867": {"title": "T"}}"#))
        rig.openLibrary.on("/isbn/9780140268867.json", .redirect(to: "/books/OL1M.json"))
        rig.openLibrary.on(
            "/books/OL1M.json", .json(#"{"authors": [{"key": "/authors/OL1A"}, {"key": "/authors/OL2A"}]}"#))
        rig.openLibrary.on("/authors/OL1A.json", .json(#"{"name": "A"}"#))
        rig.openLibrary.on("/authors/OL2A.json", .json(#"{"name": "B"}"#))
        let book = try #require(try await rig.outcome().metadata)
        #expect(book.authorNames == ["A", "B"])
        #expect(rig.openLibrary.requests.map { Int($0.time / .seconds(1)) } == [0, 0, 0, 1, 2])
    }

    @Test func `a wait longer than a lookup's 8 s ends it as temporary, with the time to come back`() async throws {
        let rig = try Rig()
        let now = rig.clock.date
        try await rig.states.update(.openLibrary) { state in for _ in 0..<15 { _ = state.bucket.take(at: now) } }
        let outcome = try await rig.outcome()
        #expect(outcome.failure?.reason == "others of this machine wait before this one")
        #expect(try #require(outcome.failure?.retryAfter) > .seconds(8))
        #expect(rig.openLibrary.requests.isEmpty)
        // A turn that was not taken is not counted.
        #expect(await rig.states.states[.openLibrary]?.bucket.tokens == -12)
    }

    @Test func `a calendar that stands still is not waited for twice`() async throws {
        let rig = try Rig()
        let date = rig.clock.date
        try await rig.states.update(.openLibrary) { $0.restUntil = date.addingTimeInterval(3) }
        var outcomes: [LookupOutcome] = []
        for await answer in try rig.chain(date: { date }).lookUp([.odyssey], refresh: false) {
            outcomes.append(answer.outcome)
        }
        #expect(outcomes.first?.failure?.reason == "asked to be left alone")
        #expect(rig.openLibrary.requests.isEmpty)
    }

    @Test func `what waits before the first request is not part of the 8 s`() {
        let clock = JumpClock()
        let budget = Budget(Timekeeper(clock, date: { clock.date }))
        clock.advance(by: .seconds(100))
        #expect(budget.remaining == .seconds(8))
        budget.begin()
        clock.advance(by: .seconds(3))
        #expect(budget.remaining == .seconds(5))
        clock.advance(by: .seconds(30))
        #expect(budget.remaining == .zero)
    }

    @Test func `two sources need no more than 3 s to find that there is no network`() {
        let clock = JumpClock()
        let budget = Budget(Timekeeper(clock, date: { clock.date }))
        #expect(budget.connecting(keepsSome: true) == .seconds(2))
        budget.spendConnecting(keepsSome: true)
        #expect(budget.connecting(keepsSome: false) == .seconds(1))
        #expect(Budget(Timekeeper(clock, date: { clock.date })).connecting(keepsSome: false) == .seconds(3))
    }

    @Test func `both down for a day: a thousand books at most one request a second, all enriched later, none twice`()
        async throws
    {
        let rig = try Rig()
        let clock = rig.clock
        rig.openLibrary.stampRequests { clock.now.offset }
        rig.openLibrary.on("/api/books", .status(503))
        rig.googleBooks.on("/books/v1/volumes", .status(503))
        var waiting = (0..<1000).map { ISBN.sample(numbered: $0) }
        for _ in 0..<8 {
            for await answer in try rig.chain().lookUp(waiting, refresh: false) {
                #expect(answer.outcome.name == .temporary)
            }
            clock.advance(by: .seconds(3 * 3600))
        }
        let times = rig.openLibrary.requests.map(\.time)
        for (earlier, later) in zip(times, times.dropFirst(4)) { #expect(later - earlier >= .milliseconds(999)) }
        rig.openLibrary.on("/api/books", .json(completeRecords))
        var found: [ISBN] = []
        for await answer in try rig.chain().lookUp(waiting, refresh: false) where answer.outcome.name == .found {
            found.append(answer.isbn)
        }
        waiting.sort()
        #expect(found.sorted() == waiting)
    }

    /// Everything there is to know, for every number asked.
    @Sendable private func completeRecords(_ request: FaultServer.Request) -> String {
        let record =
            request.query("jscmd") == "data"
            ? #"""
            {"title": "T", "authors": [{"name": "A"}], "publishers": [{"name": "P"}], "publish_date": "2001", "number_of_pages": 5,
            "cover": {"large": "https://covers.openlibrary.org/b/id/1-L.jpg"}, "identifiers": {"isbn_13": ["ISBN"]}}
            """#
            : #"{"details": {"languages": [{"key": "/languages/eng"}]}}"#
        let keys = (request.query("bibkeys") ?? "").split(separator: ",")
        let members = keys.map { #""\#($0)": \#(record.replacing("ISBN", with: $0.dropFirst(5)))"# }
        return "{" + members.joined(separator: ",") + "}"
    }
}
