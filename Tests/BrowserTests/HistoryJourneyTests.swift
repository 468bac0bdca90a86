import Foundation
import Testing

/// Corrections of the reading history and books in the trash, on the Book page.
extension `In a browser` {
    @Suite struct `The Book page, afterwards` {
        @Test func `corrects a mistyped page with keys alone, says why a page is invalid, and undoes it`() async throws
        {
            try await withHistory { kiosk, browser, id in
                try await browser.driver.run("document.querySelector('[data-entry]').focus()")
                try await browser.type(Keys.enter)
                try await browser.wait("the sheet", until: "document.getElementById('entry-sheet').open")
                try await browser.wait("the field", until: "document.activeElement.id === 'entry-amount'")
                try await browser.type("9999999" + Keys.enter)
                try await browser.wait(
                    "the reason",
                    until:
                        "document.querySelector('#entry-form .wrong:not([hidden])')?.textContent.includes('1000000')")
                try await browser.driver.run("document.getElementById('entry-amount').select()")
                try await browser.type("150" + Keys.enter)
                try await browser.wait(
                    "put right",
                    until:
                        "!document.getElementById('entry-sheet').open && document.getElementById('now').textContent.includes('150 of 382')"
                )
                // The keyboard focus stays where it was.
                try await browser.wait("the focus", until: "document.activeElement.matches('[data-entry]')")
                #expect(try await page(kiosk, id) == 150)
                try await browser.click(".toast button")
                try await browser.wait(
                    "taken back", until: "document.getElementById('now').textContent.includes('145 of 382')")
            }
        }

        @Test func `deletes an entry of the history in an accessible sheet`() async throws {
            try await withHistory { kiosk, browser, id in
                try await browser.click("[data-entry]")
                try await browser.wait("the sheet", until: "document.getElementById('entry-sheet').open")
                try await browser.expectAccess("entry-sheet")
                try await browser.expectFit("entry-sheet")
                try await browser.click("#entry-delete")
                try await browser.wait(
                    "gone", until: "document.getElementById('now').textContent.includes('14 of 382')")
                #expect(try await page(kiosk, id) == 14)
            }
        }

        @Test func `lists a session once, with its pages and its pace`() async throws {
            try await withHistory { kiosk, browser, id in
                try await kiosk.ask(
                    "POST", "/api/books/\(id)/sessions/past",
                    ["start": "2026-01-02T20:00:00Z", "minutes": 30, "startPage": 1, "endPage": 9])
                try await browser.wait(
                    "the session", until: "document.querySelector('[data-session]:not([data-session=\"\"])')")
                let lines =
                    "[...document.querySelectorAll('#history .entry')].filter((e) => e.textContent.includes('2 January 2026'))"
                #expect(try await browser.driver.run("return \(lines).length") as? Int == 1)
                let text = try #require(try await browser.driver.run("return \(lines)[0].textContent") as? String)
                #expect(text.contains("30 min") && text.contains("16 pages"), "\(text)")
                try await browser.click("[data-session]:not([data-session=\"\"])")
                try await browser.wait("the sheet", until: "document.getElementById('session-sheet').open")
                try await browser.expectFit("session-sheet")
                try await browser.click("#session-delete")
                try await browser.wait("gone", until: "\(lines).length === 0")
            }
        }

        @Test func `is read-only for a book in the trash until it is restored`() async throws {
            try await withHistory { kiosk, browser, id in
                try await browser.click("#delete-book")
                try await browser.wait("the trash", until: "document.getElementById('restore')")
                #expect(
                    try await browser.driver.run(
                        "return document.querySelectorAll('article [data-edit], article [data-entry], article [data-date]').length"
                    ) as? Int == 0)
                try await browser.expectAccess("books-trash")
                try await browser.expectFit("books-trash")
                try await browser.show(.laptop)
                try await browser.click("#restore")
                try await browser.wait("back", until: "document.getElementById('edit-title')")
                #expect(try await page(kiosk, id) == 145)
            }
        }

        @Test func `asks before deleting a book for good, and Enter cancels`() async throws {
            // The page learns of the change before it is left, and loads the book again.
            try await withHistory(excused: ["status of 404"]) { kiosk, browser, id in
                try await kiosk.ask("DELETE", "/api/books/\(id)", [:])
                try await browser.wait("the trash", until: "document.getElementById('for-good')")
                try await browser.driver.run("document.getElementById('for-good').focus()")
                try await browser.type(Keys.enter)
                try await browser.wait("the question", until: "document.getElementById('for-good-sheet').open")
                try await browser.expectAccess("for-good-sheet")
                try await browser.expectFit("for-good-sheet")
                try await browser.type(Keys.enter)
                try await browser.wait("left", until: "!document.getElementById('for-good-sheet').open")
                _ = try await kiosk.ask("GET", "/api/books/\(id)")
                try await browser.show(.laptop)
                try await browser.click("#for-good")
                try await browser.click("#for-good-sheet [value=yes]")
                try await browser.wait("the list", until: "location.pathname === '/library'")
                let trash = try await kiosk.ask("GET", "/api/books?trash=1") as? [String: Any]
                #expect(trash?["total"] as? Int == 0)
            }
        }

        @Test func `uses the space of a wide screen`() async throws {
            try await withHistory { kiosk, browser, id in
                // Progress is beside the cover, and the sections are side by side below, visible without scrolling.
                let places =
                    try await browser.driver.run(
                        """
                        const box = (selector) => document.querySelector(selector).getBoundingClientRect();
                        const [cover, now, details, notes] = [".picture", "#now", "#details", "#notes"].map(box);
                        return [now.left >= cover.right, now.top < cover.bottom, notes.left >= details.right, Math.abs(notes.top - details.top) < 2,
                          details.top < innerHeight * .65];
                        """) as? [Bool] ?? []
                #expect(places == [true, true, true, true, true])
            }
        }

        private func page(_ kiosk: KioskProcess, _ id: String) async throws -> Int? {
            let book = try await kiosk.ask("GET", "/api/books/\(id)") as? [String: Any]
            return (book?["readings"] as? [[String: Any]])?.last?["page"] as? Int
        }

        /// Adds a book of 382 pages that is being read, with progress entries for pages 14 and 145.
        private func withHistory(
            excused: [String] = [], _ body: (KioskProcess, Browser, String) async throws -> Void
        ) async throws {
            try await visit(
                "books/BOOK", on: .laptop, excused: excused,
                prepare: { kiosk in
                    try await kiosk.scan(
                        "library", "add", "--title", "The Dispossessed", "--author", "Ursula K. Le Guin", "--pages",
                        "382")
                    try await kiosk.scan("reading", "page", "The Dispossessed", "14")
                    try await kiosk.scan("reading", "page", "The Dispossessed", "145")
                    return try await kiosk.book("Dispossessed")
                }, body)
        }
    }
}
