import Bookplate
import FoundationEssentials
import Logging
import Testing

@testable import Kiosk

/// Texts of sources and people are untrusted: every page shows them as text.
@Suite struct `A hostile text` {
    private static let hostile = [
        "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "\"><svg onload=alert(1)>", "'-alert(1)-'",
        "{{{title}}}{{#books}}", "</title></script><b>", "javascript:alert(1)",
    ]

    private func fill(_ kiosk: WebKiosk) async throws -> [ID<Copy>] {
        let controls = "\u{202E}\u{2066}gnp.exe\u{1B}[2J\u{7}"
        var books: [Confirmed] = []
        for text in Self.hostile {
            var metadata = Metadata()
            metadata.title = text + controls
            metadata.authors = [Contributor(name: text + controls)]
            metadata.publisher = text
            metadata.description = text
            let preset = Preset(shelf: text, tags: [text], status: .reading)
            books.append(try Confirmed(enteredBy: .form, isbn: nil, metadata: metadata, preset: preset))
        }
        return try await kiosk.library.add(books, at: kiosk.clock.now).compactMap { result in
            if case .saved(let id, _) = result { id } else { nil }
        }
    }

    @Test func `of the library is shown as text on every page`() async throws {
        try await withWebKiosk { kiosk in
            let ids = try await fill(kiosk)
            #expect(ids.count == Self.hostile.count)
            let ports = KioskPorts(library: kiosk.library)
            let routes = try KioskParts(KioskServer.Configuration(), ports: ports, logger: Logger(label: "routes"))
                .routes
            for route in routes where route.method == .get && !route.path.hasPrefix("/api") && !route.path.contains("*")
            {
                for id in route.path.contains(":") ? ids : [ids[0]] {
                    let parts = route.path.split(separator: "/").map { $0.hasPrefix(":") ? id.rawValue : String($0) }
                    let answer = try await kiosk.ask(
                        "GET", "/" + parts.joined(separator: "/"), [("Accept", "text/html")])
                    let body = answer.body.lowercased()
                    for tag in ["<script>", "<img src=x", "<svg onload", "</title></script>"] {
                        #expect(!body.contains(tag), "\(route.path)")
                    }
                    #expect(!body.contains("href=\"javascript:"), "\(route.path)")
                    #expect(!answer.body.unicodeScalars.contains { Self.isControl($0) }, "\(route.path)")
                }
            }
        }
    }

    @Test(arguments: [
        "/%3Cscript%3Ealert(1)%3C/script%3E", "/home?x=%3Cscript%3Ealert(1)%3C/script%3E",
        "/sign-in?to=/%22%3E%3Cscript%3E",
    ])
    func `in a URL is shown as text`(_ path: String) async throws {
        try await withWebKiosk { kiosk in
            let answer = try await kiosk.askAsStranger("GET", path, [("Accept", "text/html")])
            #expect(!answer.body.contains("<script>"))
        }
    }

    @Test(arguments: ["tag", "shelf", "author", "language", "q"])
    func `of a query is shown without its control characters`(_ name: String) async throws {
        try await withWebKiosk { kiosk in
            let answer = try await kiosk.ask(
                "GET", "/library?\(name)=sea%1B%5B2J%07%E2%80%AE%E2%81%A6fic", [("Accept", "text/html")])
            #expect(answer.status == 200 && answer.body.contains("fic"))
            #expect(!answer.body.unicodeScalars.contains { Self.isControl($0) })
            // The links do not have them either.
            #expect(!answer.body.contains("%1B") && !answer.body.contains("%E2%80%AE"))
        }
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        let value = scalar.value
        return (value < 0x20 && value != 10 && value != 13 && value != 9) || (0x202A...0x202E).contains(value)
            || (0x2066...0x2069).contains(value)
    }
}
