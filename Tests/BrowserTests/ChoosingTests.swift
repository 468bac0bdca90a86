import Foundation
import Testing

/// Many books at once on the Library page.
extension `In a browser` {
    @Suite struct `Choosing books` {
        @Test func `all that a search shows are chosen by one key, tagged, and given back by one undo`() async throws {
            try await withBooks("library?q=shelf") { kiosk, browser in
                try await browser.type("X")
                try await browser.wait(
                    "all", until: "document.getElementById('chosenCount').textContent === 'All selected: 70 books'")
                // One is spared.
                try await browser.click(".hit .pick")
                try await browser.wait(
                    "one less", until: "document.getElementById('chosenCount').textContent === '69 selected'")
                try await browser.expectFit("library-choosing")
                try await browser.show(.laptop)
                try await browser.click("[data-bulk=tag]")
                try await browser.type("chosen" + Keys.enter)
                try await browser.wait(
                    "done", until: "document.querySelector('.toast')?.textContent.includes('69 books')")
                #expect(try await total(kiosk, "tag=chosen") == 69)
                try await browser.click(".toast button")
                try await browser.wait("taken back", until: "document.body.textContent.includes('Undone')")
                #expect(try await total(kiosk, "tag=chosen") == 0)
            }
        }

        @Test func `another search lets go of all that were chosen; the button chooses them, too`() async throws {
            try await withBooks("library") { kiosk, browser in
                try await browser.click("#choose")
                try await browser.click("[data-bulk=all]")
                try await browser.wait(
                    "all", until: "document.querySelector('[data-bulk=all]').getAttribute('aria-pressed') === 'true'")
                try await browser.expectAccess("library-choosing")
                try await browser.show(.laptop)
                try await browser.driver.run("document.getElementById('q').focus()")
                try await browser.type("shelf 7")
                try await browser.wait(
                    "none", until: "document.getElementById('chosenCount').textContent === '0 selected'")
            }
        }

        @Test func `the trash is emptied after one question`() async throws {
            try await withBooks("library?trash=1", isTrash: true) { kiosk, browser in
                try await browser.expectFit("library-trash")
                try await browser.expectAccess("library-trash")
                try await browser.show(.laptop)
                try await browser.click("#empty-trash")
                try await browser.wait(
                    "the question",
                    until: "document.getElementById('for-good-title').textContent === 'Delete 70 books for good?'")
                try await browser.wait(
                    "Cancel", until: "document.activeElement.matches('#for-good-sheet [value=no]')")
                try await browser.type(Keys.enter)
                try await browser.wait("left", until: "!document.getElementById('for-good-sheet').open")
                #expect(try await total(kiosk, "trash=1") == 70)
                try await browser.click("[data-bulk=delete-for-good]")
                try await browser.click("#for-good-sheet [value=yes]")
                try await browser.wait("empty", until: "document.querySelector('.empty h2')")
                #expect(try await total(kiosk, "trash=1") == 0)
            }
        }

        private func total(_ kiosk: KioskProcess, _ query: String) async throws -> Int? {
            (try await kiosk.ask("GET", "/api/books?" + query) as? [String: Any])?["total"] as? Int
        }

        /// With 70 books, more than a page shows.
        private func withBooks(
            _ page: String, isTrash: Bool = false, _ body: (KioskProcess, Browser) async throws -> Void
        ) async throws {
            try await visit(
                page, on: .laptop,
                prepare: { kiosk in
                    let lines = (1...70).map { "Shelf \($0),Somebody,to-read" }
                    let file = kiosk.home.appendingPathComponent("books.csv")
                    try ("Title,Author,Exclusive Shelf\n" + lines.joined(separator: "\n") + "\n").write(
                        to: file, atomically: true, encoding: .utf8)
                    try kiosk.scan("import", file.path)
                    if isTrash { try await kiosk.ask("POST", "/api/books/trash", ["query": ""]) }
                    return ""
                }, { kiosk, browser, _ in try await body(kiosk, browser) })
        }
    }
}
