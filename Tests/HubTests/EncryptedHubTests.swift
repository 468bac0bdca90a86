import Bookplate
import Certificates
import FaultServer
import Foundation
import Library
import TestTools
import Testing

@testable import Hub

/// A hub that speaks https with a certificate of its own authority, and a station.
private struct EncryptedHub {
    let hub: ScanProgram
    let station: ScanProgram
    let service: ScanProgram.Running

    /// - Parameter port: the port for http; 0 for a free one.
    static func start(_ hub: ScanProgram, _ station: ScanProgram, port: Int = 0) async throws -> EncryptedHub {
        let service = try hub.start("kiosk", "--no-camera", "--tls", "--tls-port", "0", "--port", "\(port)")
        try await wait(for: "the kiosk") { service.complaints.contains("With https") || !service.process.isRunning }
        return EncryptedHub(hub: hub, station: station, service: service)
    }

    /// The address for https, as the service prints it.
    var address: String { Self.address(in: service, after: "With https, it is at ") }

    static func address(in service: ScanProgram.Running, after text: String) -> String {
        let rest = service.complaints.components(separatedBy: text).dropFirst().first ?? ""
        return String(rest.prefix { !$0.isWhitespace }.dropLast())
    }

    func stop() async throws {
        service.process.terminate()
        try await wait(for: "the end of the kiosk") { !service.process.isRunning }
    }

    /// Returns the words of the authority in the hub's file, with which Settings is compared in KioskTests.
    func words() async throws -> String {
        let page = try await station.run("hub", "pair", address, "--words", "other words", input: "an access code\n")
        #expect(page.status == 77 && page.err.contains("imitating"), "\(page)")
        let authority = try String(
            contentsOfFile: hub.home + "/.local/state/bookplate/tls/authority.pem", encoding: .utf8)
        return try AuthorityCertificate(pem: authority).words
    }
}

@Suite struct `A hub with https` {
    private func withHub(_ body: (EncryptedHub) async throws -> Void) async throws {
        let (hub, station) = (try ScanProgram(), try ScanProgram())
        #expect(try await hub.run("kiosk", "code", input: "an access code\n").status == 0)
        let running = try await EncryptedHub.start(hub, station)
        try await body(running)
        try await running.stop()
        try hub.remove()
        try station.remove()
    }

    @Test func `is paired when somebody has compared the words of its authority`() async throws {
        try await withHub { running async throws in
            let unasked = try await running.station.run("hub", "pair", running.address, input: "an access code\n")
            #expect(unasked.status == 64 && unasked.err.contains("--words"), "\(unasked)")
            let words = try await running.words()
            #expect(unasked.err.contains(words), "they are shown")
            let paired = try await running.station.run(
                "hub", "pair", running.address, "--words", words.uppercased(), input: "an access code\n")
            #expect(paired.status == 0, "\(paired)")
            let sent = try await running.station.run(
                "--hub", running.address, "--isbn", "9780441478125", "--yes", "--json")
            #expect(sent.status == 0 && sent.out.contains(#""event":"saved""#), "\(sent)")
            // It is known now, so nothing is asked again.
            let again = try await running.station.run("hub", "pair", running.address, input: "an access code\n")
            #expect(again.status == 0, "\(again)")
        }
    }

    @Test func `gets nothing from a station that knows another authority`() async throws {
        try await withHub { running async throws in
            let words = try await running.words()
            #expect(
                try await running.station.run(
                    "hub", "pair", running.address, "--words", words, input: "an access code\n"
                ).status == 0)
            try await running.stop()
            try FileManager.default.removeItem(atPath: running.hub.home + "/.local/state/bookplate/tls")
            let port = try #require(Int(running.address.split(separator: ":").last ?? ""))
            let other = try running.hub.start("kiosk", "--no-camera", "--tls", "--tls-port", "\(port)", "--port", "0")
            try await wait(for: "the kiosk") { other.complaints.contains("With https") || !other.process.isRunning }
            let sent = try await running.station.run(
                "--hub", running.address, "--isbn", "9780441478125", "--yes", "--json")
            #expect(sent.status == 69 && sent.err.contains("scan hub pair"), "\(sent)")
            #expect(try await running.station.run("hub", "status").out.contains("1 waiting"))
            other.process.terminate()
            try await wait(for: "the end") { !other.process.isRunning }
        }
    }

    @Test func `takes over the books that wait for its earlier address`() async throws {
        let (hub, station) = (try ScanProgram(), try ScanProgram())
        #expect(try await hub.run("kiosk", "code", input: "an access code\n").status == 0)
        let plain = try hub.start("kiosk", "--no-camera", "--port", "0")
        try await wait(for: "the kiosk") { plain.complaints.contains("The kiosk is at") || !plain.process.isRunning }
        let before = EncryptedHub.address(in: plain, after: "The kiosk is at ")
        #expect(try await station.run("hub", "pair", before, "--name", "attic", input: "an access code\n").status == 0)
        plain.process.terminate()
        try await wait(for: "the end of the kiosk") { !plain.process.isRunning }
        let alone = try await station.run("--hub", before, "--isbn", "9780441478125", "--yes", "--json")
        #expect(alone.status == 69 && alone.out.contains(#""event":"saved""#), "\(alone)")

        let running = try await EncryptedHub.start(hub, station)
        let paired = try await station.run(
            "hub", "pair", running.address, "--replaces", before, "--name", "attic", "--words",
            try await running.words(),
            input: "an access code\n")
        #expect(paired.status == 0, "\(paired)")
        let status = try await station.run("hub", "status")
        #expect(status.out.contains(running.address) && status.out.contains("1 waiting"), "\(status)")
        #expect(!status.out.contains(before))
        let again = try await station.run("hub", "pair", before, input: "an access code\n")
        #expect(again.status == 64 && again.err.contains("--replaces \(running.address)"), "\(again)")
        #expect(try await station.deliver().status == 0)
        let stations = try await hub.run("hub", "stations")
        #expect(stations.out.split(separator: "\n").count == 1 && stations.out.contains("attic"), "\(stations)")
        try await running.stop()
        let library = try LibraryFile.open(at: hub.library)
        #expect(try await library.books(matching: BookQuery()).total == 1)
        try await library.close()
        try hub.remove()
        try station.remove()
    }

    @Test func `gets no code over plain http, and its address for https is named`() async throws {
        let server = try FaultServer()
        server.on("/scan", .redirect(to: "https://10.0.0.7:8279/scan", status: 307))
        let station = try ScanProgram()
        let paired = try await station.run("hub", "pair", server.address, input: "an access code\n")
        #expect(paired.status == 64 && paired.err.contains("scan hub pair https://10.0.0.7:8279'"), "\(paired)")
        #expect(paired.err.contains("--replaces \(server.address)"))
        #expect(server.requests.map(\.path) == ["/scan"], "nothing else was sent")
        try station.remove()
    }

    @Test func `keeps what waits when plain http is over, and says where to go`() async throws {
        let server = try FaultServer()
        let answer = #"{"error":{"code":"httpsNeeded","message":"Only over https, at https://10.0.0.7:8279."}}"#
        server.on("/api/hub/items", .json(answer, status: 426))
        let client = HubClient(
            address: try HubAddress(server.address), userAgent: "test", certificateFile: nil, token: { "token" })
        await #expect {
            _ = try await client.status(of: [])
        } throws: { error in
            guard case .away(let why) = error as? HubError else { return false }
            return why.contains("https://10.0.0.7:8279") && why.contains("--replaces \(server.address)")
        }
    }
}
