import Async
import Bookplate
import FaultServer
import Foundation
import HTTP
import Synchronization
import TestTools
import Testing

@testable import Lookup

/// Each source fails in each way, while the others are well.
@Suite(.timeLimit(.minutes(10))) struct `A source that fails` {
    private struct Failure: Sendable {
        let name: String
        var hangs = false
        /// The reply; `nil` if connections are refused.
        let reply: Reply?

        init(_ name: String, hangs: Bool = false, _ reply: Reply?) {
            (self.name, self.hangs, self.reply) = (name, hangs, reply)
        }
    }

    private static let failures = [
        Failure("hangs before the head", hangs: true, .blackHole),
        Failure("hangs in the head", hangs: true, .hanging(after: "HTTP/1.1 200 OK\r\nContent-Ty")),
        Failure("hangs after it", hangs: true, .hanging(after: "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n")),
        Failure("sends one byte a second", hangs: true, .drip(String(repeating: " ", count: 100))),
        Failure("refuses connections", nil),
        Failure("resets connections", .reset),
        Failure("429", .status(429, headers: ["Retry-After": "60"])),
        Failure("503", .status(503)),
        Failure("HTML with 200", .page("<html>Sign in</html>")),
        Failure("nothing with 200", .answer([], type: "application/json")),
    ]

    private static let sources = SourceOrder.standard.sources

    /// A lookup at all sources, none of which has the book.
    private struct AllSources {
        var rig: Rig
        var servers: [SourceName: FaultServer] = [:]
        private let isHanging = SharedValue(false)

        init() throws {
            rig = try Rig()
            rig.order = .standard
            servers[.openLibrary] = rig.openLibrary
            servers[.googleBooks] = rig.googleBooks
            for name in Catalogue.all.map(\.name) {
                let server = try FaultServer()
                servers[name] = server
                rig.catalogues[name] = server.address
            }
            for name in SourceOrder.standard.sources { set(name, name.nothing) }
            // No source keeps the lookup waiting but one that has been asked and hangs.
            rig.patience = { [isHanging] _ in
                while !isHanging.value {
                    try Task.checkCancellation()
                    await Task.yield()
                }
            }
        }

        func set(_ source: SourceName, _ reply: Reply) {
            for path in ["/api/books", "/books/v1/volumes"] { servers[source]?.on(path, reply) }
            servers[source]?.onOtherPaths(reply)
        }

        func fail(_ source: SourceName, _ failure: Failure) {
            guard let reply = failure.reply else {
                servers[source]?.stop()
                return
            }
            set(
                source,
                Reply { [isHanging] connection, request in
                    if failure.hangs { isHanging.withLock { $0 = true } }
                    reply.send(connection, request)
                })
        }
    }

    @Test(arguments: sources) func `hides nothing that another source knows`(_ failing: SourceName) async throws {
        let isbn = failing.book
        let failures = Self.failures + [Failure("the record of another book", failing.record(of: .solaris) ?? .reset)]
        for failure in failures {
            for knowing in Self.sources where knowing != failing {
                guard let record = knowing.record(of: isbn), knowing.isAsked(for: isbn) else { continue }
                let all = try AllSources()
                all.set(knowing, record)
                all.fail(failing, failure)
                let answers = try all.rig.chain().lookUp([isbn], for: .title, refresh: false)
                // The source that hangs is not waited for.
                let outcome = await answers.first { _ in true }?.outcome
                #expect(
                    outcome?.metadata?.title == "Found",
                    "\(failing) \(failure.name), \(knowing) has it: \(outcome as Any)")
            }
        }
    }

    @Test(arguments: sources) func `is never a book that does not exist`(_ failing: SourceName) async throws {
        let isbn = failing.book
        for failure in Self.failures {
            var all = try AllSources()
            all.rig.limits = HTTPLimits(total: .milliseconds(500))
            all.fail(failing, failure)
            let outcome = try await all.rig.outcome(of: isbn)
            #expect(
                outcome.name != .notFound && outcome.failure?.source == failing,
                "\(failing) \(failure.name): \(outcome)")
        }
    }
}

extension SourceName {
    /// A book for which the source is asked.
    fileprivate var book: ISBN {
        switch self {
        case .dnb: .sample("9783161484100")
        case .bnf: .sample("9782070541270")
        case .bn: .sample("9788308049105")
        case .libris: .sample("9789129748468")
        case .openBD: .sample("9784062144490")
        default: .odyssey
        }
    }

    /// Returns true if the source is asked for the book.
    fileprivate func isAsked(for isbn: ISBN) -> Bool {
        Catalogue.all.first { $0.name == self }?.isAsked(for: isbn) ?? true
    }

    /// The answer of a source that does not have the book.
    fileprivate var nothing: Reply {
        switch self {
        case .openLibrary: .json("{}")
        case .googleBooks: .json(#"{"kind":"books#volumes","totalItems":0}"#)
        case .libris: .json(#"{"xsearch": {"from": 0, "to": 0, "records": 0, "list": []}}"#)
        case .openBD: .json("[null]")
        case .citoid: .json(#"{"type": "https://example.org/errors/not_found", "title": "Not found."}"#, status: 404)
        case .bn: .xml("<resp><collection/></resp>")
        default: .xml("<searchRetrieveResponse><numberOfRecords>0</numberOfRecords></searchRetrieveResponse>")
        }
    }

    /// The answer of a source that has the book; `nil` for sources that always know less than another.
    fileprivate func record(of isbn: ISBN) -> Reply? {
        let marc = """
            <record xmlns="http://www.loc.gov/MARC21/slim"><leader>00000nam a2200000 c 4500</leader>
            <datafield tag="020" ind1=" " ind2=" "><subfield code="a">\(isbn.digits)</subfield></datafield>
            <datafield tag="245" ind1="0" ind2="0"><subfield code="a">Found</subfield></datafield></record>
            """
        return switch self {
        case .openLibrary: .book(isbn, #""title": "Found""#)
        case .googleBooks:
            .json(
                """
                {"totalItems": 1, "items": [{"id": "a", "volumeInfo": {"title": "Found",
                "industryIdentifiers": [{"type": "ISBN_13", "identifier": "\(isbn.digits)"}]}}]}
                """)
        case .citoid: .json(#"[{"itemType": "book", "title": "Found", "ISBN": ["\#(isbn.digits)"]}]"#)
        case .bn: .xml("<resp><collection>\(marc)</collection></resp>")
        case .dnb, .k10plus, .loc:
            .xml(
                """
                <searchRetrieveResponse><numberOfRecords>1</numberOfRecords><records><record><recordData>\(marc)\
                </recordData></record></records></searchRetrieveResponse>
                """)
        case .libris:
            .json(
                #"{"xsearch": {"records": 1, "list": [{"title": "Found", "isbn": "\#(isbn.digits)", "type": "book"}]}}"#
            )
        default: nil
        }
    }
}
