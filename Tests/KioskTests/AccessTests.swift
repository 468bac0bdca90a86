import Bookplate
import FoundationEssentials
import Logging
import TestTools
import Testing

@testable import Kiosk

extension Kiosk.Caller {
    fileprivate var name: String { if case .station(let station) = self { station.name } else { "\(self)" } }
}

@Suite struct `Access from the network` {
    private static let forAll: [Route] = [
        Route(.get, "/seen", for: .guests) { _, context in JSONResponse(["isGuest": .bool(context.isGuest)]) },
        Route(.get, "/api/hub/who", for: .stations) { _, context in JSONResponse(["who": .string(context.caller.name)])
        },
        Route(.post, "/api/hub/said", for: .stations) { _, context in
            JSONResponse(["who": .string(context.caller.name)])
        },
    ]

    @Test func `needs a sign-in: 401 for the API, the page to sign in for pages`() async throws {
        try await withWebKiosk { kiosk in
            for (method, path) in [("GET", "/api/sign-ins"), ("POST", "/api/sign-out"), ("GET", "/api/events")] {
                let answer = try await kiosk.askAsStranger(method, path)
                #expect(answer.status == 401 && answer.text("error.code") == "signInNeeded", "\(path)")
            }
            let page = try await kiosk.askAsStranger("GET", "/home", [("Accept", "text/html")])
            #expect(page.status == 303 && page["location"] == "/sign-in?to=/home")
            for path in ["/sign-in", "/assets/base.css", "/healthz"] {
                #expect(try await kiosk.askAsStranger("GET", path).status == 200, "\(path)")
            }
        }
    }

    @Test func `is refused to strangers and other sites on every route, and to guests unless it is for them`()
        async throws
    {
        try await withWebKiosk { kiosk in
            let ports = KioskPorts(library: kiosk.library)
            let routes = try KioskParts(.init(), ports: ports, logger: Logger(label: "routes")).routes
                .filter { [.guests, .household].contains($0.audience) }
            #expect(routes.count > 100)
            for isOpenToGuests in [false, true] {
                try await kiosk.library.set("guestView", to: isOpenToGuests ? "1" : "0", at: kiosk.clock.now)
                for route in routes where !isOpenToGuests || route.audience == .household {
                    let (method, path) = (route.method.rawValue, route.path.replacing(/:\w+/, with: "x"))
                    let body = route.method == .get ? nil : "{}"
                    let stranger = try await kiosk.askAsStranger(method, path, body: body)
                    #expect(stranger.text("error.code") == "signInNeeded", "\(method) \(path)")
                    guard route.method != .get else { continue }
                    let foreign = try await kiosk.ask(method, path, [("Origin", "http://evil.example")], body: body)
                    #expect(foreign.text("error.code") == "foreignOrigin", "\(method) \(path)")
                }
            }
        }
    }

    @Test(arguments: [
        ("Forwarded", "for=10.0.0.9"), ("X-Forwarded-For", "10.0.0.9"), ("X-Real-IP", "10.0.0.9"), ("Via", "1.1 proxy"),
        ("CF-Connecting-IP", "10.0.0.9"), ("True-Client-IP", "10.0.0.9"), ("X-Client-IP", "10.0.0.9"),
    ])
    func `through a proxy on this machine is not access from this machine`(
        _ name: String, _ value: String
    ) async throws {
        try await withWebKiosk { kiosk in
            let passedOn = try await kiosk.ask("GET", "/api/sign-ins", [(name, value)])
            #expect(passedOn.status == 401)
            #expect(try await kiosk.ask("GET", "/api/sign-ins").status == 200)
        }
    }

    @Test func `with --behind-proxy is never access from this machine`() async throws {
        try await withWebKiosk({ configuration, _ in configuration.isBehindProxy = true }) { kiosk in
            try await kiosk.library.setAccessCode(WebKiosk.code, at: kiosk.clock.now)
            // As nginx forwards requests by default: to the address of the service, without further headers.
            #expect(try await kiosk.ask("GET", "/api/sign-ins").status == 401)
            let signIn = try await kiosk.ask("POST", "/api/sign-in", body: #"{"code":"\#(WebKiosk.code)"}"#)
            let cookie = try #require(signIn.cookie)
            #expect(try await kiosk.ask("GET", "/api/sign-ins", [("Cookie", cookie)]).status == 200)
        }
    }

    @Test func `under a configured name from this machine is logged as a warning, once`() async throws {
        try await withWebKiosk { kiosk in
            func warnings() -> [String] { kiosk.log.lines.filter { $0.contains("--behind-proxy") } }
            _ = try await kiosk.ask("GET", "/healthz")
            #expect(warnings().isEmpty)
            for _ in 0..<3 { _ = try await kiosk.askAsStranger("GET", "/healthz") }
            #expect(warnings().count == 1 && warnings()[0].contains(WebKiosk.stranger))
        }
    }

    @Test func `with the code sets a cookie that scripts and other sites cannot read, and that survives a restart`()
        async throws
    {
        let kiosk = try await WebKiosk()
        try await kiosk.library.setAccessCode(WebKiosk.code, at: kiosk.clock.now)
        let answer = try await kiosk.signIn()
        #expect(answer.status == 200)
        let attributes = try #require(answer["set-cookie"]).split(separator: ";").map { $0.drop { $0 == " " } }
        #expect(attributes[0].hasPrefix("bookplate=") && attributes[0].utf8.count == 10 + 64)
        #expect(Set(attributes.dropFirst()) == ["Path=/", "Max-Age=34560000", "HttpOnly", "SameSite=Strict"])
        let cookie = try #require(answer.cookie)
        #expect(try await kiosk.askAsStranger("GET", "/api/sign-ins", [("Cookie", "a=b; \(cookie)")]).status == 200)
        // Browsers may send the cookie with other sites' requests too, so it does not replace the check of Origin.
        let foreign = try await kiosk.askAsStranger(
            "POST", "/api/sign-out", [("Cookie", cookie), ("Origin", "http://evil.example")], body: "{}")
        #expect(foreign.status == 403)
        try await kiosk.kiosk.end()

        let again = try await WebKiosk(after: kiosk)
        #expect(try await again.askAsStranger("GET", "/api/sign-ins", [("Cookie", cookie)]).status == 200)
        let other = cookie.dropLast() + (cookie.hasSuffix("0") ? "1" : "0")
        #expect(try await again.askAsStranger("GET", "/api/sign-ins", [("Cookie", String(other))]).status == 401)
        let page = try await again.askAsStranger("GET", "/sign-in?to=/stats", [("Cookie", cookie)])
        #expect(page.status == 303 && page["location"] == "/stats")
        again.clock.advance(by: SignIn.unusedFor + 1)
        #expect(try await again.askAsStranger("GET", "/api/sign-ins", [("Cookie", cookie)]).status == 401)
        try await again.kiosk.stop()
    }

    @Test func `is recorded with the wrong codes, where the household sees it`() async throws {
        try await withWebKiosk { kiosk in
            try await kiosk.library.setAccessCode(WebKiosk.code, at: kiosk.clock.now)
            #expect(try await kiosk.ask("GET", "/settings").body.contains("id=\"attempts\"") == false)
            _ = try await kiosk.signIn("kumquat 8", from: "127.0.0.9")
            _ = try await kiosk.signIn(from: "127.0.0.7")
            for (language, right, wrong) in [
                ("en", "accepted", "wrong code"), ("de", "angenommen", "falscher Code"),
                ("fr", "accepté", "code erroné"),
            ] {
                let page = try await kiosk.ask("GET", "/settings", [("Accept-Language", language)]).body
                let (first, second) = (page.range(of: right), page.range(of: wrong))
                #expect(first != nil && second != nil && first!.lowerBound < second!.lowerBound)
                #expect(page.contains("127.0.0.7") && page.contains("127.0.0.9") && !page.contains("kumquat"))
            }
            #expect(try await kiosk.askAsStranger("GET", "/settings", [("Accept", "text/html")]).status == 303)
        }
    }

    @Test func `over https sets a cookie that is never sent over plain HTTP`() async throws {
        try await withWebKiosk { kiosk in
            try await kiosk.library.setAccessCode(WebKiosk.code, at: kiosk.clock.now)
            for (scheme, isSecure) in [("https", true), ("http", false)] {
                let answer = try await kiosk.askAsStranger(
                    "POST", "/api/sign-in", [("Origin", "\(scheme)://\(WebKiosk.stranger)")],
                    body: #"{"code":"\#(WebKiosk.code)"}"#)
                #expect(answer.status == 200)
                #expect(answer["set-cookie"]?.hasSuffix("; Secure") == isSecure)
            }
        }
    }

    @Test func `is listed, and ends by signing out, from another device, and with a new code`() async throws {
        try await withWebKiosk { kiosk in
            try await kiosk.library.setAccessCode(WebKiosk.code, at: kiosk.clock.now)
            let phone = "Mozilla/5.0 (Android 14; Mobile; rv:130.0) Gecko/130.0 Firefox/130.0"
            let code = #"{"code":"\#(WebKiosk.code)"}"#
            let first = try await kiosk.askAsStranger("POST", "/api/sign-in", [("User-Agent", phone)], body: code)
            let second = try await kiosk.askAsStranger(
                "POST", "/api/sign-in", [("User-Agent", "<b>\u{202E}x")], body: code)
            let (one, two) = (try #require(first.cookie), try #require(second.cookie))
            #expect(first.text("signIn.device") == "Firefox, Android")
            #expect(second.text("signIn.device")?.contains("\u{202E}") == false)
            let list = try await kiosk.ask("GET", "/api/sign-ins").body
            #expect(list.contains("Firefox, Android") && !list.contains(one.dropFirst(10)))
            // From the other device.
            let id = try #require(first.text("signIn.id"))
            let ended = try await kiosk.askAsStranger("DELETE", "/api/sign-ins/\(id)", [("Cookie", two)])
            #expect(ended.status == 200)
            #expect(try await kiosk.ask("DELETE", "/api/sign-ins/\(id)").status == 404)
            #expect(try await kiosk.askAsStranger("GET", "/api/sign-ins", [("Cookie", one)]).status == 401)
            let out = try await kiosk.askAsStranger("POST", "/api/sign-out", [("Cookie", two)], body: "{}")
            #expect(out.status == 200 && out["set-cookie"]?.contains("Max-Age=0") == true)
            #expect(try await kiosk.askAsStranger("GET", "/api/sign-ins", [("Cookie", two)]).status == 401)
            let third = try #require(try await kiosk.signIn().cookie)
            try await kiosk.library.setAccessCode("another code", at: kiosk.clock.now)
            #expect(try await kiosk.askAsStranger("GET", "/api/sign-ins", [("Cookie", third)]).status == 401)
            #expect(try await kiosk.signIn().status == 401)
            #expect(try await kiosk.signIn("another code").status == 200)
        }
    }

    @Test func `ends at once with its sign-in, including open streams`() async throws {
        try await withWebKiosk { kiosk in
            try await kiosk.library.setAccessCode(WebKiosk.code, at: kiosk.clock.now)
            let answer = try await kiosk.signIn()
            let (cookie, id) = (try #require(answer.cookie), try #require(answer.text("signIn.id")))
            let port = kiosk.port
            let stream = try await onThread {
                let socket = try BareSocket(to: port)
                try socket.write(
                    "GET /api/events HTTP/1.1\r\nHost: \(WebKiosk.stranger)\r\nCookie: \(cookie)\r\n\r\n")
                var head = ""
                while !head.contains("hello") { head += String(decoding: try socket.read(), as: UTF8.self) }
                return socket
            }
            #expect(try await kiosk.ask("DELETE", "/api/sign-ins/\(id)").status == 200)
            let ended = try await onThread {
                defer { stream.close() }
                return try stream.ends()
            }
            #expect(ended)
        }
    }

    @Test func `of a guest ends with the guest view, including open streams`() async throws {
        try await withWebKiosk { kiosk in
            try await kiosk.library.set("guestView", to: "1", at: kiosk.clock.now)
            let port = kiosk.port
            let stream = try await onThread {
                let socket = try BareSocket(to: port)
                try socket.write("GET /api/events HTTP/1.1\r\nHost: \(WebKiosk.stranger)\r\n\r\n")
                var head = ""
                while !head.contains("hello") { head += String(decoding: try socket.read(), as: UTF8.self) }
                return socket
            }
            try await kiosk.library.set("guestView", to: "0", at: kiosk.clock.now)
            let ended = try await onThread {
                defer { stream.close() }
                return try stream.ends()
            }
            #expect(ended)
            #expect(try await kiosk.askAsStranger("GET", "/api/events").status == 401)
        }
    }

    @Test func `is refused while no code is set`() async throws {
        try await withWebKiosk { kiosk in
            let answer = try await kiosk.signIn()
            #expect(answer.status == 403 && answer.text("error.code") == "noCode")
            let body = try await kiosk.askAsStranger("POST", "/api/sign-in", body: #"{"code":7}"#)
            #expect(body.status == 400)
        }
    }

    @Test func `as a guest is read-only, and needs the setting`() async throws {
        try await withWebKiosk(more: Self.forAll) { kiosk in
            #expect(try await kiosk.askAsStranger("GET", "/seen").status == 401)
            try await kiosk.library.set("guestView", to: "1", at: kiosk.clock.now)
            #expect(try await kiosk.askAsStranger("GET", "/seen").body == #"{"isGuest":true}"#)
            #expect(try await kiosk.ask("GET", "/seen").body == #"{"isGuest":false}"#)
            #expect(try await kiosk.askAsStranger("GET", "/home", [("Accept", "text/html")]).status == 200)
            #expect(try await kiosk.askAsStranger("GET", "/api/sign-ins").status == 401)
            #expect(try await kiosk.askAsStranger("POST", "/api/sign-out", body: "{}").status == 401)
            #expect(try await kiosk.askAsStranger("GET", "/sign-in").status == 200)
        }
    }

    @Test func `of a paired station needs its token, no Origin, and covers its own routes only`() async throws {
        try await withWebKiosk(more: Self.forAll) { kiosk in
            let (station, right) = try await kiosk.library.pair(ID(), named: "kitchen", at: .now)
            func ask(_ method: String, _ path: String, _ token: String?, _ more: [(String, String)] = []) async throws
                -> WebAnswer
            {
                let headers = token.map { [("Authorization", "Bearer \($0)")] } ?? []
                return try await kiosk.ask(
                    method, path, host: WebKiosk.stranger, headers + more, body: method == "GET" ? nil : "{}",
                    asPage: false)
            }
            let item = try await ask("POST", "/api/hub/said", right)
            #expect(item.status == 200 && item.text("who") == station.name)
            #expect(try await ask("GET", "/api/hub/who", right).status == 200)
            #expect(try await ask("POST", "/api/hub/said", "wrong").status == 401)
            #expect(try await ask("GET", "/api/hub/who", nil).status == 401)
            #expect(try await ask("POST", "/api/hub/said", nil).status == 403)
            #expect(try await ask("POST", "/api/sign-out", right).status == 403)
            #expect(try await ask("GET", "/seen", right).status == 403)
            // The household may not use it either.
            #expect(try await kiosk.ask("GET", "/api/hub/who").status == 401)
        }
    }

    @Test(arguments: [
        ("/stats", "/stats"), ("//evil.example", "/"), ("/\\evil.example", "/"), ("https://evil.example", "/"),
        ("javascript:alert(1)", "/"), ("/a b", "/"), ("/\u{202E}", "/"), ("", "/"),
    ])
    func `leads back to a page of this service and nowhere else`(_ wanted: String, _ place: String) {
        #expect(SignInPage.destination(wanted) == place)
        #expect(SignInPage.destination(nil) == "/")
    }
}
