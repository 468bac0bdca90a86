import Bookplate
import Foundation
import Hub
import Library
import TestTools
import Testing

/// Two hosts, each a network namespace with the built program in it, and one cable between them. Needs root and
/// iproute2.
@Suite(
    .serialized, .enabled(if: Cable.isPossible, "network namespaces cannot be made here: that takes root and iproute2"))
struct `Two hosts and a cable` {
    @Test(.timeLimit(.minutes(10)))
    func `transfer every book to the hub once, whenever the cable is pulled`() async throws {
        let cable = try Cable()
        defer { cable.remove() }
        var hub = try ScanProgram()
        hub.prefix = cable.inHub
        var station = try ScanProgram()
        station.prefix = cable.inStation
        let library = try LibraryFile.open(at: hub.library)
        let address = "http://\(Cable.hubAddress):9790"
        // Others need the access code: without one the hub refuses them.
        let open = ["kiosk", "--no-camera", "--listen", Cable.hubAddress, "--port", "9790"]
        let closed = try await hub.run(open)
        #expect(closed.status == 78 && closed.err.contains("scan kiosk code"), "\(closed)")
        let code = try await hub.run(["kiosk", "code"], input: "an access code\n")
        #expect(code.status == 0, "\(code)")
        let kiosk = try hub.start(open)
        defer { kiosk.process.terminate() }
        try await wait(for: "the kiosk") { kiosk.complaints.contains("The kiosk is at") || !kiosk.process.isRunning }
        try #require(kiosk.process.isRunning, "\(kiosk.complaints)")
        let guess = try await station.run("hub", "pair", address, "--name", "attic", input: "a guess\n")
        #expect(guess.status == 77 && guess.err.contains("not the hub's access code"), "\(guess)")
        let paired = try await station.run("hub", "pair", address, "--name", "attic", input: "an access code\n")
        #expect(paired.status == 0 && paired.err.contains("as \"attic\""), "\(paired)")

        // Without the cable, books are captured and confirmed here.
        try cable.pull()
        let alone = try await station.run(
            "--hub", Cable.hubAddress + ":9790", "--isbn", "9780441478125", "--yes", "--json")
        #expect(alone.out.contains(#""event":"saved""#))
        #expect(
            alone.status == 69 && alone.err.contains("1 capture waits in ")
                && alone.err.contains(" for the hub at "), "\(alone)")
        #expect(try await library.count(in: [.waiting, .confirmed]) == 0)
        try cable.plug()
        let sent = try await station.deliver()
        #expect(sent.status == 0, "\(sent.err)")
        #expect(
            try await library.books(matching: BookQuery()).books.map(\.displayTitle) == ["The Left Hand of Darkness"])

        // The cable is pulled in the middle.
        let run = try station.start("--hub", Cable.hubAddress + ":9790", "--stdin", "--yes", "--json")
        try run.say("9780316769488\n")
        try await run.await("saved", count: 1)
        try cable.pull()
        try run.say("9780385474542\n")
        try await run.await("saved", count: 2)
        try cable.plug()
        // At its end, the program waits only some seconds for the network, which may take longer on a busy machine.
        try await wait(for: "the delivery") {
            try await station.run("hub", "status", "--json").out.contains(#""waiting":0"#)
        }
        #expect(try await run.end() == 0, "\(run.complaints)")
        let isbns = try await library.books(matching: BookQuery()).books.compactMap(\.edition.isbn?.digits)
        #expect(isbns.sorted() == ["9780316769488", "9780385474542", "9780441478125"])

        // With the cable, the station knows the hub's books.
        let owned = try await station.run("--hub", address, "--isbn", "9780441478125", "--yes", "--json")
        #expect(owned.out.contains(#""event":"owned""#))

        // After the token was revoked, books are kept, and the station reports it.
        let status = try await station.run("hub", "status", "--json")
        #expect(status.out.contains(#""standing":"up","waiting":0"#), "\(status)")
        #expect(try await hub.run("hub", "revoke", "attic").status == 0)
        let refused = try await station.run("--hub", address, "--isbn", "9780262510875", "--yes", "--json")
        #expect(refused.status == 69 && refused.err.contains("no longer knows this station"), "\(refused)")
        #expect(try await station.run("hub", "status").out.contains("1 waiting"))
        let again = try await station.run("hub", "pair", address, "--name", "attic", input: "an access code\n")
        #expect(again.status == 0, "\(again)")
        #expect(try await station.deliver().status == 0)
        #expect(try await library.books(matching: BookQuery()).total == 4)
        #expect(try await station.run("hub", "leave").status == 0)
        #expect(try await hub.run("hub", "stations").out.contains("revoked"))
        kiosk.process.terminate()
        try await wait(for: "the end of the kiosk") { !kiosk.process.isRunning }
        try hub.remove()
        try station.remove()
    }
}

/// Two network namespaces with a cable between them (veth(4), ip-netns(8)).
private final class Cable: Sendable {
    static let hubAddress = "10.97.0.1"
    private static let stationAddress = "10.97.0.2"
    private let hub: String
    private let station: String

    static let isPossible: Bool = {
        let name = "bookplate-probe-\(getpid())"
        guard getuid() == 0, (try? ip(["netns", "add", name])) == 0 else { return false }
        return (try? ip(["netns", "del", name])) == 0
    }()

    struct Failed: Error { let what: String }

    private static func ip(_ arguments: [String]) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["ip"] + arguments
        process.environment = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"]
        process.standardError = FileHandle.nullDevice
        try process.run(atMost: .seconds(60))
        process.waitUntilExit()
        return process.terminationStatus
    }

    private static func must(_ text: String) throws {
        let status = try ip(text.split(separator: " ").map(String.init))
        if status != 0 { throw Failed(what: "ip \(text)") }
    }

    init() throws {
        (hub, station) = ("bookplate-hub-\(getpid())", "bookplate-station-\(getpid())")
        for name in [hub, station] {
            try Self.must("netns add \(name)")
            try Self.must("-n \(name) link set lo up")
        }
        try Self.must("-n \(hub) link add bkph type veth peer name bkps netns \(station)")
        try Self.must("-n \(hub) addr add \(Self.hubAddress)/24 dev bkph")
        try Self.must("-n \(station) addr add \(Self.stationAddress)/24 dev bkps")
        try Self.must("-n \(station) link set bkps up")
        try plug()
    }

    var inHub: [String] { ["ip", "netns", "exec", hub] }
    var inStation: [String] { ["ip", "netns", "exec", station] }

    func pull() throws { try Self.must("-n \(hub) link set bkph down") }
    func plug() throws { try Self.must("-n \(hub) link set bkph up") }

    func remove() {
        for name in [hub, station] { _ = try? Self.ip(["netns", "del", name]) }
    }
}
