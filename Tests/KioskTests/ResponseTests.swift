import Bookplate
import Foundation
import Hummingbird
import Testing

@testable import Kiosk

/// Properties of all responses.
@Suite struct `A response` {
    static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
        manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'
        """

    @Test func `in HTML has all security headers`() async throws {
        try await withWebKiosk { kiosk in
            let html = [("Accept", "text/html,application/xhtml+xml")]
            for (path, status) in [("/home", 200), ("/nowhere", 404), ("/assets/nothing", 404)] {
                let answer = try await kiosk.ask("GET", path, html)
                #expect(answer.status == status)
                #expect(answer["content-type"] == "text/html; charset=utf-8")
                #expect(answer["content-security-policy"] == Self.policy)
                #expect(answer["x-content-type-options"] == "nosniff")
                #expect(answer["referrer-policy"] == "no-referrer")
                #expect(answer["cross-origin-resource-policy"] == "same-origin")
            }
            let page = try await kiosk.askAsStranger("GET", "/sign-in", html)
            #expect(page.status == 200 && page["content-security-policy"] == Self.policy)
            #expect(
                page.body.contains("sign-in.js") && !page.body.contains("app.js") && !page.body.contains("/library"))
        }
    }

    @Test func `of the API is not cached`() async throws {
        try await withWebKiosk { kiosk in
            for path in ["/api/sign-ins", "/api/nothing", "/healthz"] {
                let answer = try await kiosk.ask("GET", path)
                #expect(answer["cache-control"] == "no-store" && answer["content-type"] == "application/json")
                #expect(answer["x-content-type-options"] == "nosniff" && answer["referrer-policy"] == "no-referrer")
            }
        }
    }

    @Test func `contains no inline script, style or handler`() async throws {
        try await withWebKiosk { kiosk in
            for body in [
                try await kiosk.ask("GET", "/home").body, try await kiosk.askAsStranger("GET", "/sign-in").body,
            ] {
                #expect(!body.contains("<style") && !body.contains(" style=") && !body.contains(" onclick"))
                for script in body.components(separatedBy: "<script").dropFirst() {
                    #expect(script.hasPrefix(" type=\"application/json\"") || script.contains("src=\"/assets/"))
                }
            }
        }
    }

    /// An error message with details that concern nobody at a browser.
    private static let secret = "SQLite error 1: SELECT * FROM copy - /home/reader/library.sqlite at Library.swift:12"

    @Test(arguments: [(RefusalKind.fault, 500), (.unavailable, 503)])
    func `to an error has no path, SQL or stack, and an id that is in the log`(
        _ kind: RefusalKind, _ status: Int
    ) async throws {
        let broken = Route(.get, "/api/broken", for: .everyone) { _, _ -> JSONResponse in
            throw KioskError(kind, Self.secret, namesFile: true)
        }
        let page = Route(.get, "/broken", for: .everyone) { _, _ -> JSONResponse in
            throw KioskError(kind, Self.secret, namesFile: true)
        }
        try await withWebKiosk(more: [broken, page]) { kiosk in
            let answer = try await kiosk.ask("GET", "/api/broken")
            #expect(answer.status == status)
            let id = try #require(answer.text("error.id"))
            #expect(kiosk.log.lines.contains { $0.contains(id) && $0.contains(Self.secret) })
            let html = try await kiosk.ask("GET", "/broken", [("Accept", "text/html")])
            #expect(html.status == status && html["content-type"]?.hasPrefix("text/html") == true)
            for body in [answer.body, html.body] {
                for word in ["SQL", "SELECT", "/home/", ".swift", "Library.swift"] { #expect(!body.contains(word)) }
            }
        }
    }

    @Test func `to a refused request has an id that is also in the log`() async throws {
        try await withWebKiosk { kiosk in
            let html = try await kiosk.ask("GET", "/nowhere", [("Accept", "text/html"), ("Accept-Language", "de")])
            #expect(html.status == 404 && html.body.contains("lang=\"de\""))
            #expect(html.body.contains("Seite nicht gefunden"))
            for answer in [
                try await kiosk.ask("GET", "/api/nowhere"), try await kiosk.ask("POST", "/api/sign-in", body: "{"),
                try await kiosk.send("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
                try await kiosk.send("nonsense\r\n\r\n"),
            ] {
                let id = try #require(answer.text("error.id"), "\(answer)")
                #expect(kiosk.log.lines.contains { $0.contains(id) })
            }
        }
    }

    @Test(arguments: [
        "/assets/../../../etc/passwd", "/assets/..%2f..%2f..%2fetc/passwd", "/assets/%2e%2e/%2e%2e/Package.swift",
        "/assets/....//texts/access.json", "/assets//etc/passwd", "/assets/%00", "/assets/base.css%00.js", "/..",
        "/assets/..\\..\\texts/access.json", "/assets/../texts/access.json", "/api/../assets/base.css/..",
    ])
    func `to a path that leaves the folder is 404`(_ path: String) async throws {
        try await withWebKiosk { kiosk in
            let answer = try await kiosk.ask("GET", path)
            #expect(answer.status == 404)
        }
    }
}
