import Foundation
import Testing

extension `In a browser` {
    @Suite struct `A backup` {
        @Test func `is restored from the page alone, and so is the library that it replaced`() async throws {
            try await visit(
                "settings",
                excused: ["net::ERR_"],
                prepare: { kiosk in
                    try await kiosk.ask("POST", "/api/books", ["title": "Dune"])
                    return ""
                }
            ) { kiosk, browser, _ in
                try await browser.click("[data-act='POST /api/backups']")
                try await browser.wait("the backup", until: "document.querySelector('.toast')")
                try await kiosk.ask("POST", "/api/books", ["title": "Emma"])

                try await browser.click("a[href='/restore']")
                try await browser.wait("the list", until: "document.querySelector('#backups a')")
                try await browser.expectAccess("restore")
                try await browser.expectFit("restore")
                try await browser.show(.shelf)
                try await choose("1 book", browser)
                #expect(try await browser.text(of: "#lost")?.hasPrefix("1 change has been made") == true)
                #expect(try await browser.text(of: ".compared")?.contains("2 books") == true)
                try await browser.expectAccess("restore-comparison")
                try await browser.expectFit("restore-comparison")
                try await browser.show(.shelf)

                try await restore(browser)
                #expect(try await browser.text(of: "#outcome")?.contains("Restored: 1 book") == true)
                #expect(try await kiosk.titles() == ["Dune"])
                try await browser.click("a[href='/restore']")
                try await choose("2 books", browser)
                try await restore(browser)
                #expect(try await Set(kiosk.titles()) == ["Dune", "Emma"])
                // The service ends at a signal as before.
                #expect(kiosk.stop() == 0)
            }
        }

        /// Chooses the backup with so many books. There may be one more: the day's backup.
        private func choose(_ books: String, _ browser: Browser) async throws {
            let link = "[...document.querySelectorAll('#backups a')].find((a) => a.innerText.includes('\(books)'))"
            try await browser.wait("the list", until: link)
            try await browser.driver.run("\(link).click()")
            try await browser.wait("the comparison", until: "document.getElementById('lost')")
        }

        private func restore(_ browser: Browser) async throws {
            try await browser.click("[data-opens='restore-sheet']")
            try await browser.wait("the question", until: "document.querySelector('#restore-sheet[open]')")
            try await browser.click("#restore-now")
            try await browser.wait("the outcome", until: "document.getElementById('outcome')")
            try await browser.ready()
        }
    }
}
