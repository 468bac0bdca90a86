import Bookplate
import FaultServer
import Synchronization
import TestTools
import Testing

@testable import Lookup

/// At most one request per second after a burst of three, in all processes of the machine together.
@Suite struct RateLimitTests {
    @Test func `a state that cannot be stored after an answer is reported`() async throws {
        // The state is read twice before the request: for the list of sources, and for the request.
        let rig = try Rig(states: MemoryStates(updatesLeft: 2))
        let reports = Mutex<[String]>([])
        let chain = try rig.chain(report: { text in reports.withLock { $0.append(text) } })
        for await _ in chain.lookUp([.odyssey], refresh: false) {}
        #expect(reports.withLock(\.first) == "lookup: the state of Open Library cannot be stored: NoAnswer()")
    }

    @Test func `two lookups with shared state obey one rate limit`() async throws {
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

    @Test func `redirects and repairs obey the rate limit too`() async throws {
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
        #expect(rig.openLibrary.requests.map { Int($0.time / .seconds(1)) } == [0, 0, 0, 1, 2, 3])
    }

    @Test func `a wait longer than a lookup's 8 s ends it as temporary, with the time to try again`() async throws {
        let rig = try Rig()
        let now = rig.clock.date
        try await rig.states.update(.openLibrary) { state in for _ in 0..<15 { _ = state.bucket.consume(at: now) } }
        let outcome = try await rig.outcome()
        #expect(outcome.failure?.reason == "other requests from this machine must be sent first")
        #expect(try #require(outcome.failure?.retryAfter) > .seconds(8))
        #expect(rig.openLibrary.requests.isEmpty)
        // A request that was not sent is not counted.
        #expect(await rig.states.states[.openLibrary]?.bucket.tokens == -12)
    }

    @Test func `a calendar that stands still causes only one wait`() async throws {
        let rig = try Rig()
        let date = rig.clock.date
        try await rig.states.update(.openLibrary) { $0.restUntil = date.addingTimeInterval(3) }
        var outcomes: [LookupOutcome] = []
        for await answer in try rig.chain(date: { date }).lookUp([.odyssey], refresh: false) {
            outcomes.append(answer.outcome)
        }
        #expect(outcomes.first?.failure?.reason == "asked for a pause before the next request")
        #expect(rig.openLibrary.requests.isEmpty)
    }

    @Test func `waiting before the first request does not count towards the 8 s`() {
        let clock = JumpClock()
        let deadline = Deadline(LookupClock(clock, date: { clock.date }))
        clock.advance(by: .seconds(100))
        #expect(deadline.remaining == .seconds(8))
        deadline.start()
        clock.advance(by: .seconds(3))
        #expect(deadline.remaining == .seconds(5))
        clock.advance(by: .seconds(30))
        #expect(deadline.remaining == .zero)
    }

    @Test func `two sources need at most 3 s to find out that there is no network`() {
        let clock = JumpClock()
        let deadline = Deadline(LookupClock(clock, date: { clock.date }))
        #expect(deadline.connecting(keepsSome: true) == .seconds(2))
        deadline.spendConnecting(keepsSome: true)
        #expect(deadline.connecting(keepsSome: false) == .seconds(1))
        #expect(Deadline(LookupClock(clock, date: { clock.date })).connecting(keepsSome: false) == .seconds(3))
    }

    @Test
    func
        `with both sources down for a day, a thousand books cause at most one request a second and are all found later, none twice`()
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

    /// Answers with a complete record for every number.
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
