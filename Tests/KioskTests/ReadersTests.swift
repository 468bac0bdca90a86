import Bookplate
import FoundationEssentials
import Logging
import Testing

@testable import Kiosk

/// Ben and Anna read the books of one library. Anna has a PIN, and private notes.
@Suite struct `Readers in the kiosk` {
    /// A browser with its cookies.
    private struct Browser {
        let kiosk: WebKiosk
        var cookies: [String: String] = [:]
        var headers: [(String, String)] = []
        var isStranger = false

        mutating func ask(_ method: String, _ path: String, _ body: String? = nil) async throws -> WebAnswer {
            var sent = headers
            if !cookies.isEmpty {
                let cookie = cookies.map { "\($0.key)=\($0.value)" }.sorted().joined(separator: "; ")
                sent.append(("Cookie", cookie))
            }
            let answer = try await kiosk.ask(
                method, path, host: isStranger ? WebKiosk.stranger : nil, sent, body: body)
            for header in answer.headers where header.name == "set-cookie" {
                let pair = header.value.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
                cookies[String(pair[0])] = pair.count > 1 ? String(pair[1]) : nil
            }
            return answer
        }
    }

    private struct Household {
        let kiosk: WebKiosk
        let (ben, anna): (String, String)
        let book: String
        let (note, quote, session): (String, String, String)

        func browser(_ headers: [(String, String)] = []) -> Browser { Browser(kiosk: kiosk, headers: headers) }
    }

    private static let pin = #"{"pin": "2718"}"#

    private func withHousehold(_ body: (Household) async throws -> Void) async throws {
        try await withWebKiosk { kiosk in
            func act(_ method: String, _ path: String, _ body: String) async throws -> WebAnswer {
                let answer = try await kiosk.ask(method, path, body: body)
                #expect((200...201).contains(answer.status), "\(path): \(answer.body)")
                return answer
            }
            let book = try #require(
                try await act("POST", "/api/books", #"{"title": "Dune", "authors": [{"name": "Frank Herbert"}]}"#)
                    .text("id"))
            let anna = try #require(
                try await act("POST", "/api/readers", #"{"name": "Anna", "first": "Ben"}"#).text("id"))
            let ben = try #require(try await kiosk.library.readers().first?.id.rawValue)
            let path = "/api/books/\(book)"
            let note = try await act(
                "POST", path + "/notes?reader=anna", #"{"text": "heliotrope velvet", "private": true}"#)
            let quote = try await act(
                "POST", path + "/quotes?reader=Anna", #"{"text": "heliotrope velvet", "private": true}"#)
            _ = try await act("POST", path + "/notes?reader=Anna", #"{"text": "Sand for everybody"}"#)
            let session = try await act("POST", path + "/sessions?reader=Anna", #"{"page": 17}"#)
            _ = try await act("PUT", "/api/readers/\(anna)/pin", Self.pin)
            try await body(
                Household(
                    kiosk: kiosk, ben: ben, anna: anna, book: book, note: try #require(note.text("id")),
                    quote: try #require(quote.text("id")), session: try #require(session.text("id"))))
        }
    }

    @Test func `are not spoken of while there is one`() async throws {
        try await withWebKiosk { kiosk in
            _ = try await kiosk.ask("POST", "/api/books", body: #"{"title": "Dune"}"#)
            for path in ["/home", "/library", "/stats", "/scan", "/settings/tags"] {
                let page = try await kiosk.ask("GET", path, [("Accept", "text/html")])
                #expect(
                    page.status == 200 && !page.body.contains("id=\"readers\"") && !page.body.contains("data-reader"))
            }
            let refused = try await kiosk.ask("POST", "/api/readers", body: #"{"name": "Anna"}"#)
            #expect(refused.status == 422 && refused.text("error.code") == "reader")
        }
    }

    @Test func `are chosen with one request, which the browser remembers`() async throws {
        try await withHousehold { household in
            var (first, second) = (household.browser(), household.browser())
            let path = "/api/books/\(household.book)"
            #expect(try await first.ask("GET", path).text("status") == "toRead")
            #expect(try await first.ask("POST", "/api/readers/\(household.anna)/choose", Self.pin).status == 200)
            #expect(try await first.ask("GET", path).text("status") == "reading")
            #expect(try await second.ask("GET", path).text("status") == "toRead")
            let page = try await first.ask("GET", "/home")
            #expect(page.body.contains("aria-label=\"Reader: Anna\"") && page.body.contains("data-clock"))
            #expect(try await !second.ask("GET", "/home").body.contains("data-clock"))
            // A page that shows Anna acts for her, also after Ben was chosen in another window.
            _ = try await first.ask("POST", "/api/readers/\(household.ben)/choose", "{}")
            var open = household.browser([("Bookplate-Reader", household.anna)])
            open.cookies = first.cookies
            #expect(try await open.ask("PATCH", path, #"{"rating": 4}"#).status == 200)
            #expect(try await first.ask("GET", path + "?reader=Anna").body.contains("\"rating\":4"))
            #expect(try await first.ask("GET", path).body.contains("\"rating\":null"))
            #expect(try await first.ask("GET", "/api/home?reader=cleo").text("error.code") == "reader")
            // Nothing is written for a reader whom nobody chose.
            var unknown = household.browser()
            unknown.cookies[ReaderChoice.cookie] = "gone"
            #expect(try await unknown.ask("GET", path).status == 200)
            #expect(try await unknown.ask("PATCH", path, #"{"rating": 1}"#).status == 404)
            // A reader whom the browser remembers may be deleted.
            _ = try await open.ask("POST", "/api/readers/\(household.anna)/choose", Self.pin)
            #expect(try await second.ask("DELETE", "/api/readers/\(household.anna)", "{}").status == 200)
            #expect(try await first.ask("GET", "/home").status == 200)
            #expect(try await open.ask("GET", path).text("error.code") == "notThere")
        }
    }

    @Test func `with a PIN are chosen only with it`() async throws {
        try await withHousehold { household in
            var browser = household.browser()
            let choose = "/api/readers/\(household.anna)/choose"
            let locked = try await browser.ask("POST", choose, "{}")
            #expect(locked.status == 422 && locked.text("error.code") == "readerLocked")
            let wrong = try await browser.ask("POST", choose, #"{"pin": "0000"}"#)
            #expect(wrong.status == 403 && wrong.text("error.code") == "wrongPIN" && wrong["set-cookie"] == nil)
            let right = try await browser.ask("POST", choose, Self.pin)
            #expect(right.status == 200)
            for header in right.headers where header.name == "set-cookie" {
                #expect(header.value.contains("HttpOnly; SameSite=Strict"))
            }
            let path = "/api/books/\(household.book)"
            #expect(try await browser.ask("GET", path).body.contains("velvet"))
            #expect(try await browser.ask("POST", choose, "{}").status == 200)
            // Choosing another reader locks.
            _ = try await browser.ask("POST", "/api/readers/\(household.ben)/choose", "{}")
            #expect(try await !browser.ask("GET", path + "?reader=anna").body.contains("velvet"))
            #expect(try await browser.ask("POST", choose, "{}").text("error.code") == "readerLocked")
            _ = try await browser.ask("POST", choose, Self.pin)
            household.kiosk.clock.advance(by: Reader.unlockedFor)
            let later = try await browser.ask("GET", path)
            #expect(later.text("status") == "reading" && !later.body.contains("velvet"))
            #expect(try await browser.ask("GET", "/home").body.contains("Private notes are locked"))
            _ = try await browser.ask("POST", choose, Self.pin)
            #expect(try await browser.ask("GET", path).body.contains("velvet"))
            _ = try await browser.ask("POST", "/api/readers/\(household.anna)/lock", "{}")
            #expect(try await !browser.ask("GET", path).body.contains("velvet"))
            for _ in 0..<5 { _ = try await browser.ask("POST", choose, #"{"pin": "0000"}"#) }
            #expect(try await browser.ask("POST", choose, Self.pin).status == 429)
            #expect(try await browser.ask("PUT", "/api/readers/\(household.anna)/pin", #"{"pin": null}"#).status == 422)
        }
    }

    @Test func `with a PIN are locked again by signing out`() async throws {
        try await withHousehold { household in
            try await household.kiosk.library.setAccessCode(WebKiosk.code, at: household.kiosk.clock.now)
            var browser = household.browser()
            browser.isStranger = true
            let code = #"{"code":"\#(WebKiosk.code)"}"#
            let path = "/api/books/\(household.book)"
            _ = try await browser.ask("POST", "/api/sign-in", code)
            _ = try await browser.ask("POST", "/api/readers/\(household.anna)/choose", Self.pin)
            #expect(try await browser.ask("GET", path).body.contains("velvet"))
            _ = try await browser.ask("POST", "/api/sign-out", "{}")
            _ = try await browser.ask("POST", "/api/sign-in", code)
            let again = try await browser.ask("GET", path)
            #expect(again.text("status") == "reading" && !again.body.contains("velvet"))
        }
    }

    /// Everybody who must not see Anna's private texts.
    private enum Viewer: CaseIterable { case ben, annaLocked, guest, guestAsAnna }

    @Test func `see nobody else's private texts, on any address`() async throws {
        try await withHousehold { household in
            try await household.kiosk.library.set("guestView", to: "1", at: household.kiosk.clock.now)
            let parts = try KioskParts(
                .init(), ports: KioskPorts(library: household.kiosk.library), logger: Logger(label: "routes"))
            let paths = parts.routes.filter { $0.method == .get && !$0.path.contains("events") }.map { route in
                (route.path.contains("notes/:id") ? route.path.replacing(":id", with: household.note) : route.path)
                    .replacing("quotes/:id", with: "quotes/\(household.quote)")
                    .replacing("sessions/:id", with: "sessions/\(household.session)")
                    .replacing(":id", with: household.book)
            }
            #expect(paths.contains("/api/books/\(household.book)") && paths.contains("/changes"))
            var sawOwn = false
            for path in paths + ["/library?q=heliotrope", "/api/books?q=heliotrope", "/library?q=everybody"] {
                for viewer in Viewer.allCases {
                    var browser = household.browser([("Accept", path.hasPrefix("/api") ? "*/*" : "text/html")])
                    browser.isStranger = viewer == .guest || viewer == .guestAsAnna
                    if viewer == .annaLocked || viewer == .guestAsAnna {
                        browser.cookies[ReaderChoice.cookie] = household.anna
                    }
                    let answer = try await browser.ask("GET", path)
                    let body = answer.body
                    #expect(!body.contains("velvet"), "\(viewer) sees it at \(path)")
                    if browser.isStranger {
                        #expect(!body.contains("Sand for everybody"), "\(viewer) sees a note at \(path)")
                        #expect(!body.contains(household.session), "\(viewer) sees a session at \(path)")
                    } else if body.contains("Sand for everybody") {
                        sawOwn = true
                    }
                }
            }
            #expect(sawOwn)
        }
    }

    @Test func `are named, coloured, deleted and restored on their page`() async throws {
        try await withHousehold { household in
            var browser = household.browser()
            let path = "/api/readers/\(household.anna)"
            #expect(try await browser.ask("PATCH", path, #"{"name": "Anne"}"#).text("name") == "Anne")
            #expect(try await browser.ask("PATCH", path, #"{"colour": 5}"#).body.contains("\"colour\":5"))
            #expect(try await browser.ask("PATCH", path, #"{"colour": 9}"#).status == 422)
            #expect(try await browser.ask("PATCH", path, "{}").status == 400)
            let page = try await browser.ask("GET", "/settings/readers")
            #expect(page.body.contains("Anne") && page.body.contains("colour-5") && page.body.contains("PIN of Ben"))
            let deleted = try await browser.ask("DELETE", path, "{}")
            let change = try #require(deleted.text("change"))
            #expect(try await browser.ask("GET", "/settings/readers").body.contains("Restore Anne"))
            #expect(try await !browser.ask("GET", "/home").body.contains("id=\"readers\""))
            #expect(try await browser.ask("DELETE", "/api/readers/\(household.ben)", "{}").status == 422)
            #expect(try await browser.ask("POST", path + "/restore", "{}").status == 200)
            _ = try await browser.ask("DELETE", path, "{}")
            #expect(try await browser.ask("POST", "/api/undo", "{\"change\": \"\(change)\"}").status >= 400)
        }
    }

    @Test func `see what the others have done with a book`() async throws {
        try await withHousehold { household in
            var browser = household.browser()
            let path = "/api/books/\(household.book)"
            _ = try await browser.ask("PATCH", path + "?reader=Anna", #"{"rating": 4.5}"#)
            let page = try await browser.ask("GET", "/books/\(household.book)")
            #expect(page.body.contains("Anna · Reading 2026 · ★ 4.5"))
            #expect(page.body.contains("Sand for everybody") && !page.body.contains("data-act=\"DELETE /api/notes/"))
            let json = try await browser.ask("GET", path)
            #expect(json.body.contains("\"others\":[{\"reader\":\"\(household.anna)\",\"name\":\"Anna\""))
            let note = try #require(
                try await household.kiosk.library.notes(of: ID(rawValue: household.book)).first?.id.rawValue)
            let refused = try await browser.ask("PATCH", "/api/notes/\(note)", #"{"text": "mine"}"#)
            #expect(refused.status == 422 && refused.body.contains("Anna"))
        }
    }
}
