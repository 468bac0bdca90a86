import Foundation
import Testing

@testable import Kiosk

/// The link in the head of a page as the service sends it, before a script knows from where the person came.
@Suite struct `The way back` {
    private static func link(_ html: String) -> (address: String, title: String)? {
        html.firstMatch(
            of: /<a class="back" id="back" href="([^"]*)">.*<span class="where" dir="auto">([^<]*)<\/span><\/a>/
        )
        .map { (String($0.1), String($0.2)) }
    }

    @Test func `leads from every page that is not a tab to the page above it`() async throws {
        try await RunningKiosk().use { kiosk in
            let book = try await kiosk.book("Dune").id.rawValue
            for (path, address, title) in [
                ("/books/\(book)", "/library", "Library"), ("/books/\(book)/edit", "/books/\(book)", "Dune"),
                ("/add", "/library", "Library"), ("/find", "/scan", "Scan"), ("/stats/timeline", "/stats", "Stats"),
                ("/settings/tags", "/settings", "Settings"), ("/settings/readers", "/settings", "Settings"),
                ("/changes", "/settings", "Settings"), ("/keys", "/home", "Home"), ("/nowhere", "/home", "Home"),
            ] {
                let page = try await kiosk.send("GET", path, headers: ["Accept": "text/html", "Accept-Language": "en"])
                let link = try #require(Self.link(page.text), "\(path)")
                #expect(link.address == address && link.title == title, "\(path)")
            }
            for tab in ["scan", "home", "library", "intake", "stats", "settings"] {
                #expect(Self.link(try await kiosk.send("GET", "/\(tab)").text) == nil, "\(tab)")
            }
        }
    }

    @Test func `is not offered where the caller may not go`() async throws {
        try await withWebKiosk { kiosk in
            let page = try await kiosk.askAsStranger("GET", "/sign-in", [("Accept", "text/html")])
            #expect(page.status == 200 && !page.body.contains("id=\"back\""))
        }
    }
}
