import Async
import Bookplate
import Foundation
import Glibc
import TestTools
import Testing

@testable import Kiosk

/// The choice of addresses and the machine's addresses, as a test sets them.
private final class Network: Sendable {
    let choice = SharedValue<String?>(nil)
    let own = SharedValue([
        MachineAddress("127.0.0.2", interface: "lan0"), MachineAddress("127.0.0.3", interface: "wlan0"),
    ])

    func set(_ configuration: inout KioskServer.Configuration, _ ports: inout KioskPorts) {
        let (choice, own) = (choice, own)
        configuration.ownAddresses = { own.value }
        ports.network = NetworkChoice(stored: { choice.value }, store: { new in choice.withLock { $0 = new } })
    }
}

private func withNetwork(_ body: (WebKiosk, Network) async throws -> Void) async throws {
    let network = Network()
    try await withWebKiosk(network.set) { try await body($0, network) }
}

extension WebKiosk {
    fileprivate static let lan = "127.0.0.2"
    fileprivate var phone: String { "\(Self.lan):\(port)" }

    /// Sends a request as a device in the network does, to the address that was added.
    fileprivate func askFromPhone(
        _ method: String, _ path: String, at address: String = lan, host: String? = nil,
        _ headers: [(String, String)] = [],
        body: String? = nil
    ) async throws -> WebAnswer {
        let host = host ?? "\(address):\(port)"
        var all = [("Host", host), ("Origin", "http://\(host)")] + headers
        if let body { all += [("Content-Type", "application/json"), ("Content-Length", "\(body.utf8.count)")] }
        let head = all.map { "\($0.0): \($0.1)\r\n" }.joined()
        return try await send("\(method) \(path) HTTP/1.1\r\n\(head)\r\n\(body ?? "")", to: address, from: address)
    }

    fileprivate func listen(_ choice: String?) async throws -> WebAnswer {
        try await ask("PUT", "/api/network", body: "{\"listen\": \(choice.map { "\"\($0)\"" } ?? "null")}")
    }

    /// Returns the states of the addresses, by address.
    fileprivate func states() async throws -> [String: String] {
        struct Answer: Decodable {
            struct Address: Decodable { let address: String, state: String }
            let addresses: [Address]
        }
        let answer = try await ask("GET", "/api/network")
        let addresses = try JSONDecoder().decode(Answer.self, from: Data(answer.body.utf8)).addresses
        return Dictionary(addresses.map { ($0.address, $0.state) }, uniquingKeysWith: { $1 })
    }
}

private let code = #"{"code": "kumquat 7"}"#

@Suite struct `The access code on a page` {
    @Test func `is set from this machine, once`() async throws {
        try await withNetwork { kiosk, _ async throws in
            #expect(try await kiosk.ask("PUT", "/api/access-code", body: code).status == 200)
            #expect(try await kiosk.signIn().status == 200)
            // Without the present code, it is never replaced, not even here.
            let again = try await kiosk.ask("PUT", "/api/access-code", body: #"{"code": "another code"}"#)
            #expect(again.status == 403 && again.text("error.code") == "wrongOldCode")
            #expect(try await kiosk.signIn().status == 200)
        }
    }

    @Test(arguments: ["12345", "", "12345\\u0007", String(repeating: "x", count: 257)])
    func `follows the rules for codes`(bad: String) async throws {
        try await withNetwork { kiosk, _ async throws in
            let answer = try await kiosk.ask("PUT", "/api/access-code", body: "{\"code\": \"\(bad)\"}")
            #expect(answer.status == 422)
            #expect(try await !kiosk.library.hasAccessCode())
        }
    }

    @Test(arguments: [
        ("Host", WebKiosk.stranger), ("X-Forwarded-For", "10.0.0.9"), ("Forwarded", "for=10.0.0.9"),
        ("Via", "1.1 proxy"),
    ])
    func `is first set by nobody who may be elsewhere`(_ name: String, _ value: String) async throws {
        try await withNetwork { kiosk, _ async throws in
            let host = name == "Host" ? value : nil
            let answer = try await kiosk.ask(
                "PUT", "/api/access-code", host: host, name == "Host" ? [] : [(name, value)], body: code)
            #expect(answer.status == 401)
            #expect(try await !kiosk.library.hasAccessCode())
        }
    }

    @Test func `is first set under no foreign name, and by no other site's page`() async throws {
        try await withNetwork { kiosk, _ async throws in
            let rebound = try await kiosk.ask("PUT", "/api/access-code", host: "evil.example:\(kiosk.port)", body: code)
            #expect(rebound.status == 403 && rebound.text("error.code") == "foreignHost")
            let foreign = try await kiosk.ask(
                "PUT", "/api/access-code", [("Origin", "http://evil.example")], body: code)
            #expect(foreign.status == 403 && foreign.text("error.code") == "foreignOrigin")
            #expect(try await !kiosk.library.hasAccessCode())
        }
    }

    @Test func `is first set by nobody with --behind-proxy`() async throws {
        try await withWebKiosk({ configuration, _ in configuration.isBehindProxy = true }) { kiosk async throws in
            #expect(try await kiosk.ask("PUT", "/api/access-code", body: code).status == 401)
            #expect(try await !kiosk.library.hasAccessCode())
        }
    }

    @Test func `is first set by no guest`() async throws {
        try await withNetwork { kiosk, _ async throws in
            try await kiosk.library.set("guestView", to: "1", at: kiosk.clock.now)
            #expect(try await kiosk.askAsStranger("PUT", "/api/access-code", body: code).status == 401)
            #expect(try await kiosk.askAsStranger("GET", "/api/network").status == 401)
        }
    }

    @Test func `is changed by whoever knows it, which ends all sign-ins`() async throws {
        try await withNetwork { kiosk, _ async throws in
            try await kiosk.library.setAccessCode(WebKiosk.code, at: kiosk.clock.now)
            let cookie = try #require(try await kiosk.signIn().cookie)
            let bare = try await kiosk.askAsStranger(
                "PUT", "/api/access-code", [("Cookie", cookie)], body: #"{"code": "another code"}"#)
            #expect(bare.status == 403 && bare.text("error.code") == "elsewhere")
            let wrong = try await kiosk.askAsStranger(
                "PUT", "/api/access-code", [("Cookie", cookie)], body: #"{"code": "another code", "old": "guess 1"}"#)
            #expect(wrong.status == 403 && wrong.text("error.code") == "wrongOldCode")
            let right = try await kiosk.askAsStranger(
                "PUT", "/api/access-code", [("Cookie", cookie)], body: #"{"code": "another code", "old": "kumquat 7"}"#)
            #expect(right.status == 200)
            #expect(try await kiosk.askAsStranger("GET", "/api/sign-ins", [("Cookie", cookie)]).status == 401)
            #expect(try await kiosk.signIn().status == 401)
            #expect(try await kiosk.signIn("another code").status == 200)
        }
    }

    @Test func `is guessed here no faster than at the sign-in`() async throws {
        try await withNetwork { kiosk, _ async throws in
            try await kiosk.library.setAccessCode(WebKiosk.code, at: kiosk.clock.now)
            for _ in 0..<5 {
                _ = try await kiosk.ask("PUT", "/api/access-code", body: #"{"code": "another code", "old": "guess 1"}"#)
            }
            let paused = try await kiosk.ask(
                "PUT", "/api/access-code", body: #"{"code": "another code", "old": "kumquat 7"}"#)
            #expect(paused.status == 429 && paused["retry-after"] == "30")
        }
    }
}

@Suite struct `Other devices` {
    @Test func `reach the service without a restart once this machine lets them, and sign in with the code`()
        async throws
    {
        try await withNetwork { kiosk, network async throws in
            await #expect(throws: BareSocket.Failed.self) { try await kiosk.askFromPhone("GET", "/sign-in") }
            // Nobody else is let in while no code is needed.
            let early = try await kiosk.listen("0.0.0.0")
            #expect(early.status == 403 && early.text("error.code") == "noCode" && network.choice.value == nil)
            _ = try await kiosk.ask("PUT", "/api/access-code", body: code)
            #expect(try await kiosk.listen(WebKiosk.lan).status == 200)
            #expect(network.choice.value == WebKiosk.lan)
            #expect(try await kiosk.states() == [WebKiosk.lan: "listening", "127.0.0.3": "closed"])
            #expect(try await kiosk.askFromPhone("GET", "/api/network").status == 401)
            let signIn = try await kiosk.askFromPhone("POST", "/api/sign-in", body: code)
            let cookie = try #require(signIn.cookie)
            #expect(try await kiosk.askFromPhone("GET", "/scan", [("Cookie", cookie)]).status == 200)
            // A loopback name or the name of another site is none of this address.
            #expect(try await kiosk.askFromPhone("GET", "/sign-in", host: "evil.example:\(kiosk.port)").status == 403)
            let local = try await kiosk.askFromPhone("GET", "/api/network", host: "192.0.2.1:\(kiosk.port)")
            #expect(local.status == 403 && local.text("error.code") == "foreignHost")
            // Only this machine opens and closes doors.
            let elsewhere = try await kiosk.askFromPhone(
                "PUT", "/api/network", [("Cookie", cookie)], body: #"{"listen": null}"#)
            #expect(elsewhere.status == 403 && elsewhere.text("error.code") == "elsewhere")
            await #expect(throws: BareSocket.Failed.self) {
                try await kiosk.askFromPhone("GET", "/sign-in", at: "127.0.0.3")
            }
            #expect(try await kiosk.listen("0.0.0.0").status == 200)
            #expect(try await kiosk.askFromPhone("GET", "/sign-in", at: "127.0.0.3").status == 200)
        }
    }

    @Test func `are shut out again, with their open streams`() async throws {
        try await withNetwork { kiosk, _ async throws in
            _ = try await kiosk.ask("PUT", "/api/access-code", body: code)
            _ = try await kiosk.listen("0.0.0.0")
            for isByChoice in [true, false] {
                let cookie = try #require(try await kiosk.askFromPhone("POST", "/api/sign-in", body: code).cookie)
                let (port, host) = (kiosk.port, kiosk.phone)
                let stream = try await onThread {
                    let socket = try BareSocket(to: port, at: WebKiosk.lan, from: WebKiosk.lan)
                    try socket.write("GET /api/events HTTP/1.1\r\nHost: \(host)\r\nCookie: \(cookie)\r\n\r\n")
                    var head = ""
                    while !head.contains("hello") { head += String(decoding: try socket.read(), as: UTF8.self) }
                    return socket
                }
                if isByChoice {
                    #expect(try await kiosk.listen(nil).status == 200)
                } else {
                    // Another program removes the code.
                    try await kiosk.library.setAccessCode(nil, at: kiosk.clock.now)
                }
                let hasEnded = try await onThread {
                    defer { stream.close() }
                    return try stream.ends()
                }
                #expect(hasEnded)
                if !isByChoice { try await wait(for: "the end") { try await kiosk.states()[WebKiosk.lan] == "closed" } }
                await #expect(throws: BareSocket.Failed.self) { try await kiosk.askFromPhone("GET", "/sign-in") }
                #expect(try await kiosk.ask("GET", "/home").status == 200)
                if isByChoice { #expect(try await kiosk.listen(WebKiosk.lan).status == 200) }
            }
        }
    }

    @Test func `are let in after a restart too`() async throws {
        let network = Network()
        let first = try await WebKiosk(network.set)
        _ = try await first.ask("PUT", "/api/access-code", body: code)
        _ = try await first.listen(WebKiosk.lan)
        try await first.kiosk.end()
        let again = try await WebKiosk(after: first, network.set)
        #expect(try await again.askFromPhone("GET", "/sign-in").status == 200)
        try await again.kiosk.stop()
    }

    @Test func `reach an address that the machine gets later, and no address that it has lost`() async throws {
        let network = Network()
        network.own.withLock { $0 = [] }
        try await withWebKiosk({ configuration, ports in
            network.set(&configuration, &ports)
            configuration.addressInterval = .milliseconds(20)
        }) { kiosk async throws in
            _ = try await kiosk.ask("PUT", "/api/access-code", body: code)
            _ = try await kiosk.listen("0.0.0.0")
            #expect(try await kiosk.states().isEmpty)
            network.own.withLock { $0 = [MachineAddress(WebKiosk.lan, interface: "lan0")] }
            try await wait(for: "the address") { try await kiosk.states()[WebKiosk.lan] == "listening" }
            #expect(try await kiosk.askFromPhone("GET", "/sign-in").status == 200)
            network.own.withLock { $0 = [] }
            try await wait(for: "its end") {
                do { return try await kiosk.askFromPhone("GET", "/sign-in").status == 0 } catch { return true }
            }
        }
    }

    @Test func `do not reach an address whose port is taken, and the page says so until it is free`() async throws {
        let network = Network()
        try await withWebKiosk({ configuration, ports in
            network.set(&configuration, &ports)
            configuration.addressInterval = .milliseconds(20)
        }) { kiosk async throws in
            _ = try await kiosk.ask("PUT", "/api/access-code", body: code)
            let other = try Holder(of: kiosk.port, at: WebKiosk.lan)
            #expect(try await kiosk.listen(WebKiosk.lan).status == 200)
            #expect(try await kiosk.states()[WebKiosk.lan] == "failed")
            let page = try await kiosk.ask("GET", "/settings").body
            #expect(page.contains("Not reachable at 127.0.0.2, port \(kiosk.port): another program uses the port."))
            #expect(!page.contains("class=\"qr-code\""))
            #expect(kiosk.log.lines.filter { $0.contains("cannot listen on 127.0.0.2") }.count == 1)
            other.close()
            try await wait(for: "the address") { try await kiosk.states()[WebKiosk.lan] == "listening" }
        }
    }

    @Test func `cannot be let in at an address that is not this machine's, or where it is fixed`() async throws {
        try await withNetwork { kiosk, network async throws in
            _ = try await kiosk.ask("PUT", "/api/access-code", body: code)
            for strange in ["192.0.2.1", "127.0.0.1", "shelf.local", ""] {
                let answer = try await kiosk.listen(strange)
                #expect(answer.status == 422 && network.choice.value == nil, "\(strange): \(answer.body)")
            }
        }
        try await withWebKiosk({ configuration, _ in configuration.addressSource = "BOOKPLATE_LISTEN" }) {
            kiosk async throws in
            _ = try await kiosk.ask("PUT", "/api/access-code", body: code)
            let fixed = try await kiosk.listen("0.0.0.0")
            #expect(fixed.status == 409 && fixed.text("error.code") == "fixed")
            let page = try await kiosk.ask("GET", "/settings").body
            #expect(page.contains("(BOOKPLATE_LISTEN)") && !page.contains("id=\"listen\""))
        }
    }

    @Test func `find the address on the page, with a QR code that leads there`() async throws {
        try await withNetwork { kiosk, _ async throws in
            let before = try await kiosk.ask("GET", "/settings").body
            #expect(before.contains("id=\"first-code\"") && !before.contains("id=\"listen\""))
            _ = try await kiosk.ask("PUT", "/api/access-code", body: code)
            _ = try await kiosk.listen("0.0.0.0")
            let page = try await kiosk.ask("GET", "/settings").body
            let address = "http://127.0.0.2:\(kiosk.port)/"
            #expect(page.contains("<strong>\(address)</strong>") && page.contains("http://127.0.0.3:\(kiosk.port)/"))
            let drawn = try #require(
                page.firstMatch(of: /class="qr-code" viewBox="0 0 (\d+) .*fill="#000" d="([^"]+)"/))
            #expect(try `A QR code`.read(try #require(Int(drawn.1)), String(drawn.2)) == [address])
        }
    }
}

/// A program that listens on an address.
private struct Holder {
    private let descriptor: Int32

    init(of port: Int, at address: String) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = in_port_t(port).bigEndian
        inet_pton(AF_INET, address, &name.sin_addr)
        let descriptor = descriptor
        let isBound = withUnsafePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        try #require(isBound && Glibc.listen(descriptor, 1) == 0)
    }

    func close() { Glibc.close(descriptor) }
}
