import Foundation
import Testing

extension `In a browser` {
    /// The same book on two screens.
    @Suite struct `Two people at one book` {
        private static let wrong = "document.querySelector('.wrong:not([hidden])')?.textContent"

        @Test func `are warned of a conflict in a field, and saving again replaces it`() async throws {
            try await visit("books/BOOK", on: .laptop, excused: ["409"], prepare: book) { kiosk, browser, id in
                try await browser.click("#edit-publisher")
                try await browser.wait("the field", until: "document.querySelector('.in-place input')")
                _ = try await kiosk.ask("PATCH", "/api/books/\(id)", ["publisher": "Chilton"])
                try await browser.type("Hodder" + Keys.enter)
                try await browser.wait("warned", until: "\(Self.wrong)?.includes('The current value is: Chilton')")
                #expect(try await browser.value("document.querySelector('.in-place input').value") == "Hodder")
                #expect(try await publisher(kiosk, id) == "Chilton")
                try await browser.type(Keys.enter)
                try await browser.wait("replaced", until: "!document.querySelector('.in-place input')")
                #expect(try await publisher(kiosk, id) == "Hodder")
            }
        }

        @Test func `are warned of a conflict in the form, and neither loses a tag`() async throws {
            try await visit("books/BOOK/edit", on: .laptop, excused: ["409"], prepare: book) { kiosk, browser, id in
                _ = try await kiosk.ask("PATCH", "/api/books/\(id)", ["publisher": "Chilton", "tags": ["lent"]])
                try await browser.click("#tag")
                try await browser.type("sf" + Keys.enter)
                try await browser.driver.run("document.getElementById('details').open = true")
                try await browser.click("#publisher")
                try await browser.driver.run("document.getElementById('publisher').select()")
                try await browser.type("Hodder")
                try await browser.click(".save .primary")
                try await browser.wait("warned", until: "\(Self.wrong)?.includes('The current value is: Chilton')")
                #expect(try await browser.value("document.activeElement.id") == "publisher")
                try await browser.click(".save .primary")
                try await browser.wait("saved", until: "location.pathname === '/books/\(id)'")
                let saved = try await kiosk.ask("GET", "/api/books/\(id)", nil) as? [String: Any]
                #expect(saved?["tags"] as? [String] == ["lent", "sf"] && saved?["publisher"] as? String == "Hodder")
            }
        }

        @Test func `end one session, and a sheet that is still open ends no other`() async throws {
            try await visit("books/BOOK", on: .laptop, excused: ["422"], prepare: book) { kiosk, browser, id in
                try await browser.click("#start-session")
                try await browser.wait("the clock", until: "document.getElementById('stop-session')")
                try await browser.click("#stop-session")
                try await browser.wait("the sheet", until: "document.getElementById('stop-sheet').open")
                try await kiosk.scan("session", "stop", "--force")
                try await kiosk.scan("library", "add", "--title", "Emma", "--pages", "300")
                try await kiosk.scan("session", "start", "Emma")
                try await browser.type("212" + Keys.enter)
                try await browser.wait("warned", until: "\(Self.wrong)?.includes('already ended')")
                let running = try await kiosk.ask("GET", "/api/session", nil) as? [String: Any]
                #expect((running?["running"] as? [String: Any])?["title"] as? String == "Emma")
            }
        }

        private func book(_ kiosk: KioskProcess) async throws -> String {
            try await kiosk.scan("library", "add", "--title", "Dune", "--publisher", "Ace", "--pages", "412")
            return try await kiosk.book("Dune")
        }

        private func publisher(_ kiosk: KioskProcess, _ id: String) async throws -> String? {
            (try await kiosk.ask("GET", "/api/books/\(id)", nil) as? [String: Any])?["publisher"] as? String
        }
    }
}
