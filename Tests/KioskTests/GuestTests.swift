import Bookplate
import Foundation
import Testing

@testable import Kiosk

/// Guests see the library read-only.
@Suite struct `A guest` {
    /// Runs the body with a book that has notes, a quote, a session and a tag, and another one in the trash.
    private func withGuests(_ body: (WebKiosk, _ book: String, _ trashed: String) async throws -> Void) async throws {
        try await withWebKiosk { kiosk in
            func act(_ method: String, _ path: String, _ body: String) async throws -> WebAnswer {
                let answer = try await kiosk.ask(method, path, body: body)
                #expect((200...201).contains(answer.status), "\(path): \(answer.body)")
                return answer
            }
            let book = try #require(
                try await act("POST", "/api/books", #"{"title": "Dune", "authors": [{"name": "Frank Herbert"}]}"#).text(
                    "id"))
            _ = try await act("PUT", "/api/books/\(book)/status", #"{"status": "reading"}"#)
            _ = try await act(
                "PATCH", "/api/books/\(book)",
                #"{"tags": ["desert"], "shelf": "A3", "rating": 4.5, "recommendedBy": "Chani", "dailyGoal": 77}"#)
            _ = try await act("POST", "/api/books/\(book)/notes", #"{"text": "Melange."}"#)
            _ = try await act("POST", "/api/books/\(book)/notes", #"{"text": "Muaddib?", "kind": "discussion"}"#)
            _ = try await act("POST", "/api/books/\(book)/quotes", #"{"text": "Litany."}"#)
            let past = #"{"start": "2026-11-20T20:00:00Z", "minutes": 30, "startPage": 1, "endPage": 20}"#
            _ = try await act("POST", "/api/books/\(book)/sessions/past", past)
            _ = try await act("POST", "/api/books/\(book)/sessions", "{}")
            let trashed = try #require(try await act("POST", "/api/books", #"{"title": "Emma"}"#).text("id"))
            _ = try await act("DELETE", "/api/books/\(trashed)", "{}")
            try await kiosk.library.set("guestView", to: "1", at: kiosk.clock.now)
            try await body(kiosk, book, trashed)
        }
    }

    @Test func `gets pages without actions, forms and sheets`() async throws {
        try await withGuests { kiosk, book, _ in
            for path in ["/home", "/library", "/library?q=nothing", "/stats", "/stats/timeline", "/books/\(book)"] {
                let page = try await kiosk.askAsStranger("GET", path, [("Accept", "text/html")])
                #expect(page.status == 200, "\(path)")
                for act in [
                    "data-act", "data-edit", "data-bulk", "<dialog", "method=\"dialog\"", "href=\"/add",
                    "href=\"/scan", "href=\"/settings", "href=\"/intake", "id=\"lamps\"",
                ] { #expect(!page.body.contains(act), "\(path): \(act)") }
                for form in page.body.split(separator: "<form").dropFirst() {
                    #expect(form.prefix { $0 != ">" }.contains("method=\"get\""), "\(path)")
                }
                // Whoever has the code can sign in.
                #expect(page.body.contains("href=\"/sign-in\""), "\(path)")
                let own = try await kiosk.ask("GET", path, [("Accept", "text/html")]).body
                #expect(own.contains("id=\"lamps\"") && !own.contains("href=\"/sign-in\""), "\(path)")
            }
        }
    }

    @Test func `sees books, but not their notes, sessions and recommendations`()
        async throws
    {
        try await withGuests { kiosk, book, _ in
            let page = try await kiosk.askAsStranger("GET", "/books/\(book)", [("Accept", "text/html")]).body
            for word in ["Dune", "Frank Herbert", "desert", "A3", "4½", "Reading"] {
                #expect(page.contains(word), "\(word)")
            }
            let json = try await kiosk.askAsStranger("GET", "/api/books/\(book)")
            #expect(json.status == 200 && json.text("title") == "Dune")
            let timeline = try await kiosk.askAsStranger("GET", "/api/stats/timeline").body
            let home = try await kiosk.askAsStranger("GET", "/api/home").body
            let list = try await kiosk.askAsStranger("GET", "/api/books").body
            for text in [page, json.body, timeline, home, list] {
                for word in [
                    "Chani", "\"dailyGoal\":77", "Melange", "Muaddib", "Litany", "\"flags\"", "\"session\"",
                    "startPage\":1",
                ] {
                    #expect(!text.contains(word), "\(word)")
                }
            }
            for path in ["notes", "quotes", "sessions", "figures"] {
                #expect(try await kiosk.askAsStranger("GET", "/api/books/\(book)/\(path)").status == 401, "\(path)")
            }
            for path in ["session", "station", "station/lamps"] {
                #expect(try await kiosk.askAsStranger("GET", "/api/\(path)").status == 401, "\(path)")
            }
        }
    }

    @Test func `finds nothing by notes and quotes`() async throws {
        try await withGuests { kiosk, _, _ in
            for word in ["melange", "muaddib", "litany", "dune melange"] {
                let query = word.replacing(" ", with: "+")
                #expect(try await kiosk.ask("GET", "/api/books?q=\(query)").body.contains("\"total\":1"), "\(word)")
                for path in ["/api/books?q=\(query)", "/api/books?q=\(query)&sort=title"] {
                    #expect(try await kiosk.askAsStranger("GET", path).body.contains("\"total\":0"), "\(path)")
                }
                let page = try await kiosk.askAsStranger("GET", "/library?q=\(query)").body
                #expect(!page.contains("class=\"hit\""), "\(word)")
                let counts = try await kiosk.askAsStranger("GET", "/api/books/facets?q=\(query)").body
                #expect(!counts.contains("desert"), "\(word)")
            }
            #expect(try await kiosk.askAsStranger("GET", "/api/books?q=desert").body.contains("\"total\":1"))
        }
    }

    @Test func `sees nothing of the trash`() async throws {
        try await withGuests { kiosk, _, trashed in
            for path in [
                "/api/books?trash=1", "/api/books/facets?trash=1", "/library?trash=1", "/library/filters?trash=yes",
            ] {
                #expect(try await kiosk.ask("GET", path).status == 200, "\(path)")
                #expect(try await kiosk.askAsStranger("GET", path).status == 401, "\(path)")
            }
            for path in ["/api/books/\(trashed)", "/books/\(trashed)"] {
                #expect(try await kiosk.ask("GET", path).status == 200, "\(path)")
                #expect(try await kiosk.askAsStranger("GET", path).status == 404, "\(path)")
            }
            let library = try await kiosk.askAsStranger("GET", "/library").body
            #expect(!library.contains("trash=1") && !library.contains("/library/tidy"))
        }
    }
}
