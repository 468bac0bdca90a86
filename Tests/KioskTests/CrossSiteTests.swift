import FoundationEssentials
import Logging
import Testing

@testable import Kiosk

/// Requests are accepted or refused by their origin.
@Suite struct `A request` {
    @Test func `with a foreign Host is refused, without one or with two it is invalid`() async throws {
        try await withWebKiosk { kiosk in
            let rows: [(String, Int)] = [
                ("Host: localhost:\(kiosk.port)\r\n", 200), ("Host: 127.0.0.1:\(kiosk.port)\r\n", 200),
                ("Host: [::1]:\(kiosk.port)\r\n", 200), ("Host: LocalHost.:\(kiosk.port)\r\n", 200),
                ("Host: \(WebKiosk.stranger)\r\n", 200), ("Host: \(WebKiosk.stranger):\(kiosk.port)\r\n", 200),
                ("Host: \(MachineAddress.hostName()).local:\(kiosk.port)\r\n", 200),
                ("Host: evil.example:\(kiosk.port)\r\n", 403), ("Host: localhost.evil.example:\(kiosk.port)\r\n", 403),
                ("Host: localhost:1\r\n", 403), ("Host: localhost\r\n", 403), ("Host: 10.0.0.1:\(kiosk.port)\r\n", 403),
                ("Host: localhost:\(kiosk.port), evil.example\r\n", 403),
                ("Host: user@localhost:\(kiosk.port)\r\n", 403),
                ("", 400), ("Host: \r\n", 400),
                ("Host: localhost:\(kiosk.port)\r\nHost: evil.example\r\n", 400),
                ("Host: localhost:\(kiosk.port)\r\nHost: localhost:\(kiosk.port)\r\n", 400),
            ]
            for (host, status) in rows {
                let answer = try await kiosk.send("GET /healthz HTTP/1.1\r\n\(host)\r\n")
                #expect(answer.status == status, "\(host)")
            }
            for target in ["http://evil.example/healthz", "http://\(kiosk.host)/healthz", "*", "healthz"] {
                let answer = try await kiosk.send("GET \(target) HTTP/1.1\r\nHost: \(kiosk.host)\r\n\r\n")
                #expect(answer.status == 400, "\(target)")
            }
            #expect(try await kiosk.send("GET /healthz HTTP/1.0\r\n\r\n").status == 400)
        }
    }

    @Test(arguments: [
        "/books/%zz", "/books/%4", "/books/%", "/books/%ff", "/library?q=%zz", "/library?q=%4", "/library?%=a",
        "/api/books?q=%C3%28", "/api/isbn?text=%", "/assets/%.css", "/nowhere%",
    ]) func `with a URL that cannot be decoded is refused on every route`(_ path: String) async throws {
        try await withWebKiosk { kiosk in
            let answer = try await kiosk.ask("GET", path)
            #expect(answer.status == 400)
            #expect(answer.text("error.code") == (path.contains("?") ? "badQuery" : "badTarget"))
        }
    }

    @Test func `that changes something needs the service's own Origin`() async throws {
        try await withWebKiosk { kiosk in
            let own = "http://\(kiosk.host)"
            let rows: [([(String, String)], Int)] = [
                ([("Origin", own)], 200), ([("Origin", own), ("Sec-Fetch-Site", "same-origin")], 200),
                ([("Origin", "https://\(kiosk.host)")], 200),
                ([], 403), ([("Referer", own + "/")], 403), ([("Origin", "null")], 403),
                ([("Origin", "http://evil.example")], 403), ([("Origin", "http://localhost:1")], 403),
                ([("Origin", "http://127.0.0.1:\(kiosk.port)")], 403), ([("Origin", own + ".evil.example")], 403),
                ([("Origin", "file://")], 403), ([("Origin", own), ("Sec-Fetch-Site", "cross-site")], 403),
                ([("Origin", own), ("Sec-Fetch-Site", "same-site")], 403),
                ([("Origin", own), ("Sec-Fetch-Site", "none")], 403),
            ]
            for (headers, status) in rows {
                let answer = try await kiosk.ask("POST", "/api/sign-out", headers, body: "{}", asPage: false)
                #expect(answer.status == status, "\(headers)")
                #expect(answer["access-control-allow-origin"] == nil)
            }
            let two = try await kiosk.send(
                "POST /api/sign-out HTTP/1.1\r\nHost: \(kiosk.host)\r\nOrigin: \(own)\r\nOrigin: http://evil.example\r\n"
                    + "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
            #expect(two.status == 403)
        }
    }

    @Test func `to embed something in another site's page is refused, a link from there is not`() async throws {
        try await withWebKiosk { kiosk in
            let image = [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "no-cors")]
            let shown = try await kiosk.ask("GET", "/assets/base.css", image)
            #expect(shown.status == 403)
            let link = [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate")]
            #expect(try await kiosk.ask("GET", "/home", link).status == 200)
        }
    }

    @Test(arguments: [
        ("text/plain", 415), ("application/x-www-form-urlencoded", 415), ("multipart/form-data; boundary=x", 415),
        ("application/jsonp", 415), ("", 415), ("image/png", 415), ("application/json; charset=utf-8", 200),
        ("Application/JSON", 200),
    ])
    func `needs a body in JSON or none`(_ type: String, _ status: Int) async throws {
        try await withWebKiosk { kiosk in
            let answer = try await kiosk.ask("POST", "/api/sign-out", [("Content-Type", type)], body: "{}")
            #expect(answer.status == status)
            let bodiless = try await kiosk.ask("POST", "/api/sign-out")
            #expect(bodiless.status == 200)
            #expect(try await kiosk.ask("POST", "/api/sign-in").status == 415)
        }
    }

    @Test func `with a wrong method gets the allowed ones`() async throws {
        try await withWebKiosk { kiosk in
            for (method, path, allowed) in [
                ("GET", "/api/sign-in", "POST"), ("POST", "/home", "GET, HEAD"), ("DELETE", "/healthz", "GET, HEAD"),
                ("PUT", "/api/sign-ins/1", "DELETE"), ("PATCH", "/assets/base.css", "GET, HEAD"),
                ("OPTIONS", "/home", "GET, HEAD"), ("TRACE", "/home", "GET, HEAD"), ("BREW", "/home", "GET, HEAD"),
            ] {
                let answer = try await kiosk.ask(method, path)
                // The parser refuses unknown methods.
                #expect(answer.status == (method == "BREW" ? 400 : 405), "\(method) \(path)")
                if method != "BREW" { #expect(answer["allow"] == allowed) }
                #expect(!answer.headers.contains { $0.name.hasPrefix("access-control-") })
            }
            let preflight = try await kiosk.send(
                "OPTIONS /api/sign-in HTTP/1.1\r\nHost: \(kiosk.host)\r\nOrigin: http://evil.example\r\n"
                    + "Access-Control-Request-Method: POST\r\n\r\n")
            #expect(preflight.status == 403)
            #expect(!preflight.headers.contains { $0.name.hasPrefix("access-control-") })
            #expect(try await kiosk.ask("HEAD", "/home", [("Connection", "close")]).status == 200)
        }
    }

    @Test func `by GET changes nothing on any route`() async throws {
        try await withWebKiosk { kiosk in
            let ports = KioskPorts(library: kiosk.library)
            let server = try KioskParts(KioskServer.Configuration(), ports: ports, logger: Logger(label: "routes"))
            let before = try await kiosk.library.changes(limit: 100).count
            for route in server.routes where route.method == .get && route.path != "/api/events" {
                let parts = route.path.split(separator: "/").map { part in
                    part.hasPrefix(":") ? "1" : part == "**" ? "x" : String(part)
                }
                let answer = try await kiosk.ask("GET", "/" + parts.joined(separator: "/"))
                #expect(answer.status != 0 && answer.status != 500, "\(route.path)")
            }
            #expect(try await kiosk.library.changes(limit: 100).count == before)
        }
    }
}

@Suite struct `The host names of the service` {
    @Test(arguments: [
        ("localhost:80", 80, HostNames.Kind?.some(.loopback)), ("localhost", 80, .loopback),
        ("[::1]:8278", 8278, .loopback),
        ("127.0.0.1:8278", 8278, .loopback), ("shelf:8278", 8278, .machine), ("SHELF.local:8278", 8278, .machine),
        ("192.168.1.5:8278", 8278, .machine), ("[fe80::1]:8278", 8278, nil), ("10.0.0.7:8278", 8278, .machine),
        ("books.example", 8278, .machine), ("books.example:8278", 8278, .machine), ("books.example:443", 8278, nil),
        ("192.168.1.6:8278", 8278, nil), ("shelf:8279", 8278, nil), ("127.0.0.2:8278", 8278, nil), ("", 8278, nil),
        (":8278", 8278, nil), ("[::1:8278", 8278, nil), ("[::1]x", 8278, nil), ("localhost:", 8278, nil),
        ("localhost:+80", 80, nil), ("localhost:080808", 80, nil), ("[localhost]:8278", 8278, nil),
        ("localhost#:8278", 8278, nil), ("::1", 8278, nil),
    ])
    func `are the machine's and the configured ones, and no others`(
        _ host: String, _ port: Int, _ kind: HostNames.Kind?
    ) {
        let names = HostNames(address: "192.168.1.5", names: ["Books.example"], host: "Shelf")
        #expect(names.kind(of: host, local: "::ffff:10.0.0.7", port: port) == kind)
    }
}
