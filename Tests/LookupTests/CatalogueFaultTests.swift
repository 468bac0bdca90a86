import Bookplate
import FaultServer
import HTTP
import Testing

@testable import Lookup

/// The faults of the Metadata table, for each catalogue. A catalogue that fails is never one that does not have the
/// book.
@Suite struct CatalogueFaultTests {
    /// A book of each catalogue's own group.
    private static let books: [SourceName: ISBN] = [
        .dnb: .sample("9783161484100"), .bnf: .sample("9782070541270"), .bn: .sample("9788308049105"),
        .libris: .sample("9789129748468"), .openBD: .sample("9784062144490"),
    ]

    private static let faults: [(fault: String, reply: Reply, outcome: LookupOutcome.Name, reason: String)] = [
        ("500", .status(500), .temporary, "is not working (500)"),
        ("502", .status(502), .temporary, "is not working (502)"),
        ("503", .status(503), .temporary, "is not working (503)"),
        ("429", .status(429, headers: ["Retry-After": "120"]), .temporary, "has received too many requests (429)"),
        ("a reset", .reset, .temporary, "the connection was reset"),
        ("a cut body", .cutChunks("<"), .temporary, "the connection ended in the middle of the answer"),
        ("a wrong length", .cut("{}", length: 500), .temporary, "the connection ended in the middle of the answer"),
        ("403", .status(403), .blocked, "refuses to answer (403)"),
        ("511", .status(511), .blocked, "the network requires you to sign in (511)"),
        (
            "a page", .page("<html>Sign in</html>"), .blocked,
            "answered with a web page; the network requires you to sign in"
        ),
        (
            "a page that calls itself XML", .xml("\n <!DOCTYPE html><html>"), .blocked,
            "answered with a web page; the network requires you to sign in"
        ),
        (
            "another host", .redirect(to: "http://portal.example/login"), .blocked,
            "redirects to http://portal.example instead of answering; the network requires you to sign in"
        ),
        ("404", .page("gone", status: 404), .badData, ""),
        ("an empty answer", .xml(""), .badData, ""),
        ("a cut document", .xml("<searchRetrieveResponse><numberOfRecords>"), .badData, ""),
        ("cut JSON", .json(#"{"xsearch": {"#), .badData, ""),
        ("another form", .json("5"), .badData, ""),
        ("deep XML", .xml(String(repeating: "<a>", count: 100_000)), .badData, ""),
        ("deep JSON", .json(String(repeating: "[", count: 100_000)), .badData, ""),
        ("NUL", .answer([0, 0, 0, 0], type: "text/xml"), .badData, ""),
        ("an entity", .xml("<!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/passwd\">]><a>&b;</a>"), .badData, ""),
        (
            "a title of 5 MB", .xml("<a>" + String(repeating: "a", count: 5_000_000) + "</a>"), .badData,
            "the answer is larger than 1024 KiB"
        ),
        ("10 GB in chunks", .endless, .badData, "the answer is larger than 1024 KiB"),
        ("a gzip bomb", .gzipBomb(size: 16 << 20), .badData, "the answer is larger than 1024 KiB"),
    ]

    private func rig(_ name: SourceName, _ reply: Reply) throws -> (Rig, FaultServer, ISBN) {
        let server = try FaultServer()
        server.onOtherPaths(reply)
        var rig = try Rig()
        rig.catalogues[name] = server.address
        rig.order = SourceOrder([name])
        return (rig, server, Self.books[name] ?? .odyssey)
    }

    @Test(arguments: Catalogue.all.map(\.name))
    func `no fault of a catalogue is "no such book"`(_ name: SourceName) async throws {
        for (fault, reply, expected, reason) in Self.faults {
            let (rig, server, isbn) = try rig(name, reply)
            let outcome = try await rig.outcome(of: isbn)
            #expect(outcome.name == expected, "\(fault): \(outcome.reason ?? "")")
            #expect(reason.isEmpty || outcome.failure?.reason == reason, "\(fault)")
            #expect(outcome.failure?.source == name, "\(fault)")
            #expect(await rig.cache.kept.isEmpty, "\(fault)")
            withExtendedLifetime(server) {}
        }
    }

    @Test(arguments: Catalogue.all.map(\.name))
    func `a catalogue that hangs, or cannot be reached, is a fault for the time being`(_ name: SourceName) async throws
    {
        for reply: Reply in [.blackHole, .drip("<searchRetrieveResponse>")] {
            var (rig, server, isbn) = try rig(name, reply)
            rig.limits = HTTPLimits(total: .milliseconds(300))
            let outcome = try await rig.outcome(of: isbn)
            #expect(outcome.failure?.reason == "the complete answer did not arrive in time")
            withExtendedLifetime(server) {}
        }
        let (rig, server, isbn) = try rig(name, .status(200))
        server.stop()
        let outcome = try await rig.outcome(of: isbn)
        #expect(outcome.name == .temporary && outcome.failure?.reason.hasPrefix("offline: ") == true)
    }

    @Test(arguments: Catalogue.all.map(\.name))
    func `a catalogue is asked at most once in its pause, and left alone after five failures`(_ name: SourceName)
        async throws
    {
        let (rig, server, isbn) = try rig(name, .status(403))
        server.stampRequests(by: { rig.clock.now.offset })
        for _ in 0..<8 {
            _ = try await rig.outcome(of: isbn)
            rig.clock.advance(by: .milliseconds(1))
        }
        let pause = try #require(Catalogue.all.first { $0.name == name }).pause
        let times = server.requests.map(\.time)
        #expect(times.count <= 5)
        for (earlier, later) in zip(times, times.dropFirst(3)) { #expect(later - earlier >= pause) }
    }

    @Test(arguments: [Catalogue.dnb, .bnf, .k10plus, .loc, .bn].map(\.name))
    func `the record of another book is refused`(_ name: SourceName) async throws {
        let (rig, server, isbn) = try rig(
            name, .xml(try fixture(name == .bnf ? "bnf-made.xml" : "dnb-made.xml")))
        #expect(try await rig.outcome(of: isbn).name == .notFound)
        withExtendedLifetime(server) {}
    }
}
