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

    private static let faults: [Fault] =
        Fault.ofAnySource + [
            Fault(
                "429", .status(429, headers: ["Retry-After": "120"]), .temporary, "has received too many requests (429)"
            ),
            Fault(
                "a page that calls itself XML", .xml("\n <!DOCTYPE html><html>"), .blocked,
                "answered with a web page; the network requires you to sign in"),
            Fault("404", .page("gone", status: 404), .badData),
            Fault("an empty answer", .xml(""), .badData),
            Fault("a cut document", .xml("<searchRetrieveResponse><numberOfRecords>"), .badData),
            Fault("cut JSON", .json(#"{"xsearch": {"#), .badData),
            Fault("another form", .json("5"), .badData),
            Fault("deep XML", .xml(String(repeating: "<a>", count: 100_000)), .badData),
            Fault("deep JSON", .json(String(repeating: "[", count: 100_000)), .badData),
            Fault("NUL", .answer([0, 0, 0, 0], type: "text/xml"), .badData),
            Fault("an entity", .xml("<!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/passwd\">]><a>&b;</a>"), .badData),
            Fault(
                "a title of 5 MB", .xml("<a>" + String(repeating: "a", count: 5_000_000) + "</a>"), .badData,
                "the answer is larger than 1024 KiB"),
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
        for fault in Self.faults {
            let (rig, server, isbn) = try rig(name, fault.reply)
            let outcome = try await rig.outcome(of: isbn)
            #expect(outcome.name == fault.outcome, "\(fault.testDescription): \(outcome.reason ?? "")")
            #expect(fault.reason == nil || outcome.failure?.reason == fault.reason, "\(fault.testDescription)")
            #expect(outcome.failure?.source == name, "\(fault.testDescription)")
            #expect(await rig.cache.kept.isEmpty, "\(fault.testDescription)")
            withExtendedLifetime(server) {}
        }
    }

    @Test(arguments: Catalogue.all.map(\.name))
    func `a catalogue that hangs, or cannot be reached, is a fault for the time being`(_ name: SourceName) async throws
    {
        for reply: Reply in [.blackHole, .drip("<searchRetrieveResponse>")] {
            var (rig, server, isbn) = try rig(name, reply)
            rig.limits = HTTPLimits(total: .seconds(2))
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
