import Async
import Certificates
import Foundation
import Glibc
import NIOCore
import TestTools
import Testing

@testable import Kiosk

/// A kiosk with https, whose certificate the station's own authority issues.
private struct SafeKiosk {
    let web: WebKiosk
    let scratch: Scratch
    /// The certificate that the service uses for the next connection.
    let certificate: SharedValue<KioskTLS.Certificate>
    let authority: AuthorityCertificate

    var port: Int { web.kiosk.listening.https ?? 0 }

    static func run(
        _ configure: @escaping (inout KioskServer.Configuration) -> Void = { _ in },
        _ body: (SafeKiosk) async throws -> Void
    ) async throws {
        let scratch = try Scratch()
        let station = StationAuthority(folder: scratch.file("tls"))
        let subjects = Subjects(
            names: ["localhost", WebKiosk.stranger], addresses: ["127.0.0.1"] + MachineAddress.all().map(\.text))
        let authority = try station.authority(for: subjects)
        let first = try station.certificate(for: subjects)
        let certificate = SharedValue(KioskTLS.Certificate(chain: first.chain, key: first.key))
        try scratch.write(Array(authority.pem.utf8), to: "trusted.pem")
        try await withWebKiosk({ configuration, _ in
            configuration.tls = KioskTLS(port: 0, certificate: { certificate.value }) {
                .init(
                    certificate: authority.der, fingerprint: authority.fingerprint, words: authority.words)
            }
            configure(&configuration)
        }) { web async throws in
            try await body(SafeKiosk(web: web, scratch: scratch, certificate: certificate, authority: authority))
        }
    }

    /// Runs `openssl s_client`, which verifies the certificate.
    func connect(_ arguments: [String] = [], sending request: String = "") async throws -> (
        status: Int32, output: String
    ) {
        let (port, folder) = (port, scratch.path)
        return try await onThread {
            try OpenSSL.run(
                ["s_client", "-connect", "127.0.0.1:\(port)", "-CAfile", "trusted.pem", "-verify_return_error"]
                    + arguments,
                in: folder, input: request)
        }
    }

    /// Sends a request over https, and returns the response.
    func ask(_ head: String, host: String? = nil, body: String = "") async throws -> String {
        let host = host ?? "localhost:\(port)"
        return try await connect(
            ["-quiet"],
            sending: "\(head)\r\nHost: \(host)\r\nOrigin: https://\(host)\r\nConnection: close\r\n\r\n\(body)"
        ).output
    }
}

@Suite(.enabled(if: OpenSSL.isInstalled, "the command openssl is not installed"))
struct `A kiosk with https` {
    @Test(arguments: [("-tls1_1", false), ("-tls1_2", true), ("-tls1_3", true)])
    func `speaks TLS 1.2 and 1.3`(version: String, isGood: Bool) async throws {
        try await SafeKiosk.run { kiosk async throws in
            let shown = try await kiosk.connect([version, "-cipher", "ALL:@SECLEVEL=0"])
            #expect((shown.status == 0) == isGood, "\(shown.output)")
        }
    }

    @Test func `offers HTTP/1.1 and presents a chain that its authority vouches for`() async throws {
        try await SafeKiosk.run { kiosk async throws in
            let shown = try await kiosk.connect(["-alpn", "h2,http/1.1", "-verify_hostname", "localhost"])
            #expect(shown.status == 0 && shown.output.contains("ALPN protocol: http/1.1"), "\(shown.output)")
            #expect(shown.output.contains("CN = Bookplate of"))
            let other = try await kiosk.connect(["-verify_hostname", "other.local"])
            #expect(other.status != 0 && other.output.contains("hostname mismatch"))
        }
    }

    @Test func `serves pages, and its cookies are for https alone`() async throws {
        try await SafeKiosk.run { kiosk async throws in
            #expect(try await kiosk.ask("GET /healthz HTTP/1.1").contains("200 OK"))
            try await kiosk.web.library.setAccessCode(WebKiosk.code, at: kiosk.web.clock.now)
            let code = #"{"code":"\#(WebKiosk.code)"}"#
            let answer = try await kiosk.ask(
                "POST /api/sign-in HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: \(code.utf8.count)",
                host: "\(WebKiosk.stranger):\(kiosk.port)", body: code)
            #expect(answer.contains("Set-Cookie: bookplate=") && answer.contains("; Secure"), "\(answer)")
            #expect(try await !(kiosk.web.signIn()["set-cookie"] ?? "; Secure").contains("; Secure"))
        }
    }

    @Test func `uses a renewed certificate for the next connection`() async throws {
        try await SafeKiosk.run { kiosk async throws in
            let before = try await kiosk.connect().output
            let other = StationAuthority(folder: kiosk.scratch.file("other"))
            let subjects = Subjects(names: ["localhost"], addresses: [])
            let renewed = try other.certificate(for: subjects)
            kiosk.certificate.withLock { $0 = .init(chain: renewed.chain, key: renewed.key) }
            #expect(before.contains("Verify return code: 0 (ok)"))
            #expect(try await kiosk.connect().status != 0, "the old authority does not vouch for it")
            try kiosk.scratch.write(Array(try other.authority(for: subjects).pem.utf8), to: "trusted.pem")
            #expect(try await kiosk.connect().output.contains("Verify return code: 0 (ok)"))
        }
    }

    @Test func `has the limits of plain http`() async throws {
        try await SafeKiosk.run { kiosk async throws in
            let long = String(repeating: "x", count: 17 << 10)
            #expect(
                try await kiosk.ask("GET /healthz HTTP/1.1\r\nX-Long: \(long)").contains("431 Request Header Fields"))
            let large = "POST /api/sign-in HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 65537"
            let refused = try await kiosk.ask(large)
            #expect(refused.contains("413 Payload Too Large"), "\(refused)")
            #expect(try await kiosk.ask("GET http://localhost/ HTTP/1.1").contains("400 Bad Request"))
        }
    }

    @Test(arguments: ["", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "\u{16}\u{3}\u{1}"])
    func `ends connections that do not get to TLS`(bytes: String) async throws {
        try await SafeKiosk.run({ $0.limits.head = .seconds(5) }) { kiosk async throws in
            let port = kiosk.port
            let answer = try await onThread {
                let socket = try BareSocket(to: port)
                defer { socket.close() }
                try socket.write(bytes)
                return try socket.answer()
            }
            #expect(answer.status == 0)
            #expect(try await kiosk.ask("GET /healthz HTTP/1.1").contains("200 OK"))
        }
    }

    @Test func `explains its certificate to everybody, and gives the authority that people compare`() async throws {
        try await SafeKiosk.run { kiosk async throws in
            let page = try await kiosk.web.askAsStranger("GET", "/trust")
            #expect(page.status == 200 && page.body.contains(kiosk.authority.fingerprint))
            let file = try await kiosk.web.askAsStranger("GET", "/trust/authority.crt")
            #expect(file["content-type"] == "application/x-x509-ca-cert")
            #expect(file["content-length"] == "\(kiosk.authority.der.count)")
            let profile = try await kiosk.web.askAsStranger("GET", "/trust/authority.mobileconfig")
            #expect(profile["content-type"] == "application/x-apple-aspen-config")
            #expect(profile.body.contains("<data>\(Data(kiosk.authority.der).base64EncodedString())</data>"))
            let plist = try PropertyListSerialization.propertyList(from: Data(profile.body.utf8), format: nil)
            #expect((plist as? [String: Any])?["PayloadType"] as? String == "Configuration")
        }
    }
}

/// An address of this machine that other machines could use; a request to it comes from there.
private let outside = MachineAddress.all().first { !$0.isIPv6 }?.text

@Suite(.enabled(if: OpenSSL.isInstalled && outside != nil, "needs openssl and a network"))
struct `Plain http beside https` {
    private func withKiosk(_ body: (SafeKiosk, String) async throws -> Void) async throws {
        let address = try #require(outside)
        try await SafeKiosk.run({ $0.address = "0.0.0.0" }) { kiosk async throws in try await body(kiosk, address) }
    }

    private func ask(
        _ kiosk: SafeKiosk, _ address: String, _ method: String, _ path: String
    ) async throws -> WebAnswer {
        let host = "\(address):\(kiosk.web.port)"
        return try await kiosk.web.send(
            "\(method) \(path) HTTP/1.1\r\nHost: \(host)\r\nOrigin: http://\(host)\r\n\r\n", to: address, from: address)
    }

    @Test(arguments: ["/", "/scan", "/library?q=dune%20messiah", "/w/0123", "/sign-in"])
    func `leads other devices to the same page over https`(path: String) async throws {
        try await withKiosk { kiosk, address async throws in
            let answer = try await ask(kiosk, address, "GET", path)
            #expect(answer.status == 307 && answer["location"] == "https://\(address):\(kiosk.port)\(path)")
        }
    }

    @Test(arguments: [("GET", "/api/books"), ("POST", "/api/sign-in"), ("GET", "/api/hub/items"), ("POST", "/scan")])
    func `refuses what cannot be led there`(method: String, path: String) async throws {
        try await withKiosk { kiosk, address async throws in
            let answer = try await ask(kiosk, address, method, path)
            #expect(answer.status == 426 && answer.text("error.code") == "httpsNeeded", "\(answer)")
            #expect(answer["upgrade"]?.hasPrefix("TLS") == true)
            #expect(answer.text("error.message")?.contains("https://\(address):\(kiosk.port)") == true)
        }
    }

    @Test(arguments: ["/trust", "/trust/authority.crt", "/assets/base.css", "/healthz"])
    func `still gives what comes before https`(path: String) async throws {
        try await withKiosk { kiosk, address async throws in
            #expect(try await ask(kiosk, address, "GET", path).status == 200)
        }
    }

    @Test func `shows this machine the words and the fingerprint that others compare`() async throws {
        try await withKiosk { kiosk, address async throws in
            try await kiosk.web.library.setAccessCode(WebKiosk.code, at: kiosk.web.clock.now)
            let settings = try await kiosk.web.ask("GET", "/settings").body
            #expect(settings.contains(kiosk.authority.words) && settings.contains(kiosk.authority.fingerprint))
            #expect(settings.contains(":\(kiosk.port)/") && settings.contains(":\(kiosk.web.port)/trust"))
        }
    }

    @Test func `still serves this machine`() async throws {
        try await withKiosk { kiosk, _ async throws in
            #expect(try await kiosk.web.ask("GET", "/home").status == 200)
            #expect(try await kiosk.web.ask("GET", "/api/books").status == 200)
        }
    }
}
