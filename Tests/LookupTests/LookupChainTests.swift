import Bookplate
import FaultServer
import HTTP
import Synchronization
import Testing

@testable import Lookup

/// The faults of the sources that one lookup meets (the Metadata table of faults.md), and the order of the sources.
@Suite struct LookupChainTests {
    let rig: Rig
    let google = "/books/v1/volumes"

    init() throws { rig = try Rig() }

    @Test func `"not found" requires an answer from every source that was asked`() async throws {
        #expect(try await rig.outcome() == .notFound(asked: [.openLibrary, .googleBooks]))
    }

    private static let faults: [Fault] =
        Fault.ofAnySource + [
            Fault(
                "a page that calls itself JSON", .json("\n <!DOCTYPE html>"), .blocked,
                "answered with a web page; the network requires you to sign in"),
            Fault("404", .page("gone", status: 404), .badData, "answered with status 404; check its base address"),
            Fault(
                "a redirect in a circle", .redirect(to: "/api/books"), .badData,
                "redirected the request more than 3 times"),
            Fault(
                "truncated JSON", .json(#"{"ISBN:97801"#), .badData,
                "sent an answer that cannot be read: the JSON ends too early at byte 12"),
        ]

    @Test(arguments: Self.faults) func `an outage is never "no such book"`(_ fault: Fault) async throws {
        rig.openLibrary.on("/api/books", fault.reply)
        let outcome = try await rig.outcome()
        #expect(outcome.name == fault.outcome)
        #expect(outcome.failure?.reason == fault.reason)
        #expect(outcome.failure?.source == .openLibrary)
        #expect(await rig.cache.kept.isEmpty)
        // The next source is asked nevertheless, and its record is used.
        rig.googleBooks.on(google, .json(try fixture("googlebooks-odyssey.json")))
        #expect(try await rig.outcome().name == .found)
    }

    @Test(arguments: ["black hole", "one byte a second"])
    func `a source that hangs leaves time for the next`(_ fault: String) async throws {
        var rig = rig
        rig.limits = HTTPLimits(total: .seconds(2))
        rig.openLibrary.on("/api/books", fault == "black hole" ? .blackHole : .drip("{}{}"))
        #expect(try await rig.outcome().failure?.reason == "the complete answer did not arrive in time")
        rig.googleBooks.on(google, .json(try fixture("googlebooks-odyssey.json")))
        #expect(try await rig.outcome().name == .found)
    }

    @Test func `lists the sources that are being asked, until they have answered`() async throws {
        let open = OpenRequests()
        let seen = Mutex<[SourceName: [SourceName]]>([:])
        rig.openLibrary.on(
            "/api/books",
            .json { _ in
                seen.withLock { $0[.openLibrary] = open.sources }
                return "{}"
            })
        rig.googleBooks.on(
            google,
            .json { _ in
                seen.withLock { $0[.googleBooks] = open.sources }
                return #"{"kind":"books#volumes","totalItems":0}"#
            })
        for await _ in try rig.chain(open: open).lookUp([.sample(numbered: 1)], refresh: false) {}
        #expect(seen.withLock(\.self) == [.openLibrary: [.openLibrary], .googleBooks: [.googleBooks]])
        #expect(open.sources.isEmpty)
    }

    @Test func `being offline is found out once for a thousand books`() async throws {
        rig.openLibrary.stop()
        rig.googleBooks.stop()
        var answers: [LookupAnswer] = []
        for await answer in try rig.chain().lookUp((0..<1000).map { .sample(numbered: $0) }, refresh: false) {
            answers.append(answer)
        }
        #expect(answers.count == 1000)
        #expect(answers.allSatisfy { $0.outcome.name == .temporary })
        #expect(answers[0].outcome.failure?.reason.hasPrefix("offline: ") == true)
        #expect(rig.clock.now.offset == .zero)
        // A missing network is not the sources' fault.
        #expect(await rig.states.states[.openLibrary]?.breaker.failures == 0)
    }

    @Test func `a flapping source succeeds at a later attempt, with growing pauses`() async throws {
        rig.openLibrary.on("/api/books", .status(502), .reset, .json(try fixture("openlibrary-odyssey.json")))
        rig.openLibrary.on("/isbn/9780140268867.json", .json("{}"))
        #expect(try await rig.outcome().name == .found)
        #expect(Array(rig.clock.slept.prefix(2)) == [.milliseconds(300), .milliseconds(600)])
    }

    @Test(arguments: [
        ("120" as String?, Duration.seconds(120)), ("0", .seconds(1)), ("-5", .seconds(1)), ("1000000", .seconds(3600)),
        ("Sat, 21 Nov 2026 12:01:40 GMT", .seconds(100)), ("Sat, 21 Nov 2020 12:00:00 GMT", .seconds(1)),
        ("soon", .seconds(60)), ("", .seconds(60)), ("nan", .seconds(60)), (nil, .seconds(60)),
    ])
    func `after a 429 it waits as requested, between a second and an hour`(_ header: String?, _ expected: Duration)
        async throws
    {
        rig.openLibrary.on("/api/books", .status(429, headers: header.map { ["Retry-After": $0] } ?? [:]))
        #expect(try await rig.outcome().failure?.retryAfter == expected)
        #expect(rig.openLibrary.requests.count == 1)
        // Until then, no process that shares the states asks the source.
        let again = try await rig.outcome()
        if expected > .seconds(8) {
            #expect(rig.openLibrary.requests.count == 1)
            #expect(again.failure?.reason == "asked for a pause before the next request")
        } else {
            #expect(rig.clock.slept.contains { $0 >= expected })
        }
        rig.clock.advance(by: expected)
        rig.openLibrary.on("/api/books", .json("{}"))
        #expect(try await rig.outcome().name == .notFound)
    }

    @Test func `after five failures in a row a source is left alone for 30 s`() async throws {
        rig.openLibrary.on("/api/books", .status(403))
        for number in 0..<5 { _ = try await rig.lookUp(.sample(numbered: number)) }
        let asked = rig.openLibrary.requests.count
        let outcome = try await rig.outcome()
        #expect(outcome.name == .temporary)
        #expect(outcome.failure?.reason == "failed 5 times in a row and will not be queried again for a while")
        #expect(rig.openLibrary.requests.count == asked)
        rig.clock.advance(by: .seconds(30))
        rig.openLibrary.on("/api/books", .json("{}"))
        #expect(try await rig.outcome().name == .notFound)
    }

    @Test func `with BOOKPLATE_OFFLINE no source is asked, and the answer says so`() async throws {
        var rig = rig
        rig.isOffline = true
        let answer = try await rig.lookUp(.odyssey)[0]
        #expect(
            answer.outcome
                == .temporary(
                    SourceError(
                        source: nil,
                        reason:
                            "no online source was queried (offline mode is on)"
                    )))
        #expect(answer.notAsked.map(\.source) == [.openLibrary, .googleBooks])
        #expect(rig.openLibrary.requests.isEmpty && rig.googleBooks.requests.isEmpty)
    }

    @Test func `"found" and "not found" are cached and not asked again, unless refreshed`() async throws {
        rig.openLibrary.on("/api/books", .json(try fixture("openlibrary-odyssey.json")))
        _ = try await rig.lookUp(.odyssey, .solaris)
        #expect(await rig.cache.kept.count == 2)
        let asked = rig.openLibrary.requests.count
        let again = try await rig.lookUp(.odyssey, .solaris)
        #expect(again.map(\.isCached) == [true, true])
        #expect(again.map(\.outcome.name) == [.found, .notFound])
        #expect(rig.openLibrary.requests.count == asked)
        let refreshed = try await rig.lookUp(.odyssey, refresh: true)
        #expect(refreshed.map(\.isCached) == [false])
        #expect(rig.openLibrary.requests.count > asked)
    }

    @Test func `an ISBN given twice is answered once`() async throws {
        #expect(try await rig.lookUp(.odyssey, .odyssey).count == 1)
    }

    @Test func `an index record with title and authors is enough, and no online source is asked`() async throws {
        let answer = try await rig.lookUp(.odyssey, index: CannedIndex(authors: ["Homer"]))[0]
        #expect(answer.outcome.name == .found)
        #expect(rig.openLibrary.requests.isEmpty)
        #expect(await rig.cache.kept.isEmpty)
    }

    @Test func `without authors in the index others are asked, and its record is used whatever they answer`()
        async throws
    {
        rig.openLibrary.on("/api/books", .status(500))
        rig.googleBooks.on(google, .json(try fixture("googlebooks-odyssey.json")))
        let outcome = try await rig.lookUp(.odyssey, index: CannedIndex(authors: []))[0].outcome
        guard case .found(let book, from: .offlineIndex) = outcome else { throw NoAnswer() }
        #expect(book.title == "From the index")
        #expect(book.authorNames == ["Homer"] && book.sources[.authors] == .googleBooks)
    }

    @Test func `a missing index is listed in every answer, and the others are asked all the same`()
        async throws
    {
        let missing = [NotAsked(source: .offlineIndex, reason: "there is no offline index at /tmp/none")]
        rig.openLibrary.on("/api/books", .json(try fixture("openlibrary-odyssey.json")))
        let answers = try await rig.lookUp(.odyssey, .solaris, notAsked: missing)
        #expect(Set(answers.map(\.outcome.name)) == [.found, .notFound])
        #expect(answers.allSatisfy { $0.notAsked == missing })
        // The missing source is listed with cached answers too, but is not stored with them.
        #expect(try await rig.lookUp(.odyssey, .solaris, notAsked: missing).map(\.notAsked) == [missing, missing])
        #expect(try await rig.lookUp(.odyssey, .solaris).map(\.notAsked) == [[], []])
        rig.openLibrary.on("/api/books", .status(503))
        let failed = try await rig.lookUp(.kitchen, notAsked: missing)[0]
        #expect(failed.outcome.name == .temporary && failed.notAsked == missing)
    }

    @Test func `a missing index is not listed among the online sources that were not asked`() async throws {
        var rig = rig
        rig.isOffline = true
        let answer = try await rig.lookUp(.odyssey, notAsked: [NotAsked(source: .offlineIndex, reason: "damaged")])[0]
        #expect(answer.notAsked.map(\.source) == [.offlineIndex, .openLibrary, .googleBooks])
        #expect(answer.outcome.failure?.reason.hasPrefix("no online source was queried (") == true)
    }

    @Test func `ending the stream cancels the requests`() async throws {
        rig.openLibrary.on("/api/books", .blackHole)
        let chain = try rig.chain()
        let reader = Task { for await _ in chain.lookUp([.odyssey], refresh: false) {} }
        var arrivals = rig.openLibrary.arrivals.makeAsyncIterator()
        _ = await arrivals.next()
        reader.cancel()
        await reader.value
        #expect(rig.googleBooks.requests.isEmpty)
    }

    @Test func `a clock in 1970 is reported as the cause, not the certificate`() {
        let error = LookupError(.tls(.notYetValid), of: .openLibrary, at: .init(timeIntervalSince1970: 60))
        guard case .temporary(let failure) = error else {
            return #expect(Bool(false), "it will pass when the clock is set")
        }
        #expect(
            failure.reason
                == "its certificate cannot be checked, because this machine's clock shows 1970-01-01; set the clock")
    }
}

/// An index that knows every book.
struct CannedIndex: MetadataSource {
    var authors: [String]
    var name: SourceName { .offlineIndex }
    var batchSize: Int { 100 }

    func lookUp(_ isbns: [ISBN]) async -> [ISBN: SourceAnswer] {
        var metadata = Metadata()
        metadata.title = "From the index"
        metadata.authors = authors.map { Contributor(name: $0) }
        metadata.attribute(to: .offlineIndex)
        return Dictionary(uniqueKeysWithValues: isbns.map { ($0, .found(metadata)) })
    }

    func find(_ query: TitleQuery, limit: Int) async throws(SourceError) -> [EditionOffer]? {
        var metadata = Metadata()
        metadata.title = query.title
        metadata.authors = authors.map { Contributor(name: $0) }
        metadata.attribute(to: .offlineIndex)
        return [EditionOffer(isbn: nil, metadata: metadata)]
    }
}
