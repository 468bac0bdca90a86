import Bookplate
import FaultServer
import Foundation
import Testing

@testable import Lookup

/// Lookups for a title, whose gaps other sources fill later.
@Suite struct GapTests {
    var rig: Rig
    let google = "/books/v1/volumes"

    init() throws {
        rig = try Rig()
        rig.openLibrary.on("/api/books", .book(.odyssey, #""title": "The Odyssey", "authors": [{"name": "Homer"}]"#))
        rig.googleBooks.on(google, .json(try fixture("googlebooks-odyssey.json")))
    }

    @Test func `a title is answered at once, and the gaps are filled afterwards`() async throws {
        let first = try #require(try await rig.lookUp(.odyssey, for: .title).first)
        #expect(first.outcome.metadata?.title == "The Odyssey" && first.pending?.sources == [.googleBooks])
        #expect(rig.googleBooks.requests.isEmpty)
        let filled = try #require(try await rig.fillGaps().first)
        #expect(filled.pending == nil && filled.outcome.metadata?.sources[.publisher] == .googleBooks)
        #expect(filled.outcome.metadata?.sources[.title] == .openLibrary)
        #expect(try await rig.fillGaps().isEmpty && rig.googleBooks.count(google) == 1)
        #expect(try await rig.lookUp(.odyssey)[0].outcome == filled.outcome)
    }

    @Test func `a lookup for the whole record goes on where the first one stopped`() async throws {
        _ = try await rig.lookUp(.odyssey, for: .title)
        #expect(try await rig.lookUp(.odyssey, for: .title)[0].isCached)
        let asked = rig.openLibrary.requests.count
        let whole = try await rig.lookUp(.odyssey)[0]
        #expect(whole.outcome.metadata?.publisher != nil && rig.openLibrary.requests.count == asked)
    }

    @Test func `a book without a title at the first source is answered when the next has one`() async throws {
        rig.openLibrary.on("/api/books", .json("{}"))
        let answers = try await rig.lookUp(.odyssey, for: .title)
        #expect(answers.map(\.outcome.name) == [.found] && answers[0].pending == nil)
    }

    @Test(arguments: [500, 403]) func `a source that fails is asked again, after pauses that double up to a day`(
        _ status: Int
    ) async throws {
        rig.googleBooks.on(google, .status(status))
        _ = try await rig.lookUp(.odyssey, for: .title)
        var pauses: [Int] = []
        for _ in 0..<9 {
            let pending = try #require(try await rig.fillGaps().first?.pending)
            pauses.append(Int(pending.due.timeIntervalSince(rig.clock.date).rounded()) / 60)
            #expect(try await rig.fillGaps().isEmpty)
            rig.clock.advance(by: .seconds(pending.due.timeIntervalSince(rig.clock.date) + 1))
        }
        #expect(pauses == [10, 20, 40, 80, 160, 320, 640, 1280, 1500])
        #expect(await rig.cache.kept[.odyssey]?.outcome.name == .found)
    }

    @Test func `a source that recovers fills the gaps`() async throws {
        rig.googleBooks.on(google, .status(503))
        _ = try await rig.lookUp(.odyssey, for: .title)
        let pending = try #require(try await rig.fillGaps().first?.pending)
        rig.googleBooks.on(google, .json(try fixture("googlebooks-odyssey.json")))
        rig.clock.advance(by: .seconds(pending.due.timeIntervalSince(rig.clock.date) + 1))
        #expect(try await rig.fillGaps().map(\.pending) == [nil])
    }

    @Test func `the names of authors that need more requests are pending, too`() async throws {
        rig.openLibrary.on(
            "/api/books",
            .books(
                data: #"{"title": "The Odyssey", "identifiers": {"isbn_13": ["\#(ISBN.odyssey.digits)"]}}"#,
                details: #"{"isbn_13": ["\#(ISBN.odyssey.digits)"], "authors": [{"key": "/authors/OL1A"}]}"#))
        rig.openLibrary.on(
            "/isbn/\(ISBN.odyssey.digits).json",
            .json(#"{"isbn_13": ["\#(ISBN.odyssey.digits)"], "authors": [{"key": "/authors/OL1A"}]}"#))
        rig.openLibrary.on("/authors/OL1A.json", .json(#"{"name": "Homer"}"#))
        #expect(try await rig.lookUp(.odyssey, for: .title)[0].pending?.sources == [.openLibrary, .googleBooks])
        #expect(rig.openLibrary.count("/authors/OL1A.json") == 0)
        #expect(try await rig.fillGaps().first?.outcome.metadata?.authorNames == ["Homer"])
    }

    @Test func `a source that needs a key is not pending`() async throws {
        var rig = rig
        rig.key = nil
        rig.googleBooks.on(google, .status(429))
        _ = try await rig.lookUp(.solaris)
        #expect(try await rig.lookUp(.odyssey, for: .title)[0].pending == nil)
    }

    @Test func `120 titles need ten requests`() async throws {
        let isbns = (0..<120).map { ISBN.sample(numbered: $0) }
        rig.openLibrary.on(
            "/api/books",
            .json { request in
                let records = (request.query("bibkeys") ?? "").split(separator: ",").map { key in
                    #""\#(key)": {"title": "A", "identifiers": {"isbn_13": ["\#(key.dropFirst(5))"]}}"#
                }
                return "{\(records.joined(separator: ","))}"
            })
        var found = 0
        for start in [0, 100] {
            let round = Array(isbns[start..<min(120, start + 100)])
            for await answer in try rig.chain().lookUp(round, for: .title, refresh: false)
            where answer.outcome.name == .found { found += 1 }
        }
        #expect(found == 120 && rig.openLibrary.requests.count == 10 && rig.googleBooks.requests.isEmpty)
    }

    @Test func `what could not be stored is asked for again`() async throws {
        _ = try await rig.lookUp(.odyssey, for: .title)
        await #expect(throws: NoAnswer.self) { try await rig.chain().fillGaps { _ in throw NoAnswer() } }
        #expect(try await rig.fillGaps().count == 1)
    }

    @Test func `gaps stay while offline mode is on, or the order of the sources cannot be read`() async throws {
        _ = try await rig.lookUp(.odyssey, for: .title)
        var rig = rig
        rig.isOffline = true
        #expect(try await rig.fillGaps().isEmpty)
        #expect(try await rig.lookUp(.odyssey)[0].pending != nil)
        rig.isOffline = false
        rig.order = nil
        await #expect(throws: NoAnswer.self) { try await rig.fillGaps() }
        #expect(try await rig.lookUp(.odyssey)[0].pending != nil)
        #expect(try await rig.lookUp(.solaris)[0].outcome.reason?.contains("cannot be read") == true)
        rig.order = self.rig.order
        #expect(try await rig.fillGaps().map(\.pending) == [nil])
    }

    @Test func `the names of authors are asked for again if their request fails`() async throws {
        rig.openLibrary.on("/api/books", .book(.odyssey, #""title": "The Odyssey""#))
        rig.googleBooks.on(google, .json(#"{"kind":"books#volumes","totalItems":0}"#))
        rig.openLibrary.on("/isbn/\(ISBN.odyssey.digits).json", .status(503))
        _ = try await rig.lookUp(.odyssey, for: .title)
        #expect(try await rig.fillGaps().first?.pending?.sources == [.openLibrary])
    }

    @Test func `a source that recovers wins the fields of its rank, whoever answered before`() async throws {
        rig.openLibrary.on("/api/books", .status(503))
        rig.googleBooks.on(
            google,
            .json(
                """
                {"kind": "books#volumes", "totalItems": 1, "items": [{"volumeInfo": {"title": "ODYSSEY", "authors": ["Homer"],
                "publisher": "Another house",
                "industryIdentifiers": [{"type": "ISBN_13", "identifier": "\(ISBN.odyssey.digits)"}]}}]}
                """))
        _ = try await rig.lookUp(.odyssey, for: .title)
        rig.openLibrary.on(
            "/api/books", .book(.odyssey, #""title": "Odyssey", "publishers": [{"name": "A house"}]"#))
        rig.clock.advance(by: .seconds(3600))
        let book = try #require(try await rig.fillGaps().first?.outcome.metadata)
        #expect(book.title == "Odyssey" && book.publisher == "A house" && book.authorNames == ["Homer"])
    }

    @Test func `a network that leads nowhere is found out with two sources`() async throws {
        let unreachable = UnreachableSources()
        let error = LookupError.temporary(SourceError(source: .dnb, reason: "no answer"))
        unreachable.timedOut(.dnb, error)
        #expect(unreachable.error(of: .citoid) == nil)
        unreachable.timedOut(.openLibrary, error)
        #expect(unreachable.error(of: .citoid) == error)
        unreachable.connected()
        #expect(unreachable.error(of: .citoid) == nil && unreachable.error(of: .dnb) == error)
    }

    @Test func `a probe asks no source if the order cannot be read, and says so`() async throws {
        let probe = SourceProbe(try rig.configuration(), order: { throw NoAnswer() }, states: rig.states)
        let findings = await probe.ask(for: .odyssey)
        #expect(findings.map(\.source) == SourceOrder.standard.sources)
        #expect(
            findings.allSatisfy { finding in
                if case .notAsked(let reason) = finding.answer { reason.contains("cannot be read") } else { false }
            })
        #expect(rig.openLibrary.requests.isEmpty)
    }
}
