import Foundation
import Testing

extension `In a browser` {
    @Suite struct `Tidying up` {
        /// Opens a page of a library that has two records of one book.
        ///
        /// - Parameter second: the values that only the second record has.
        private func withTwoRecords(
            _ page: String, second: [String: Any], on screen: Browser.Screen, excused: [String] = [],
            _ body: (KioskProcess, Browser) async throws -> Void
        ) async throws {
            let prepare = { (kiosk: KioskProcess) in
                for values: [String: Any] in [["isbnText": "9780441172719"], second] {
                    let book: [String: Any] = ["title": "Dune", "authors": [["name": "Frank Herbert"]]]
                    try await kiosk.ask("POST", "/api/books", book.merging(values) { $1 })
                }
                return ""
            }
            try await visit(page, on: screen, excused: excused, prepare: prepare) { kiosk, browser, _ in
                try await body(kiosk, browser)
            }
        }

        @Test func `two records become one book after a look at what happens, and Undo brings both back`() async throws
        {
            try await withTwoRecords("library/tidy", second: ["publisher": "Chilton"], on: .laptop) { kiosk, browser in
                try await browser.expectFit("tidy")
                try await browser.expectAccess("tidy")
                try await browser.show(.laptop)
                try await browser.click(".group [id^=merge-]")
                try await browser.wait("the sheet", until: "document.getElementById('merge-sheet').open")
                #expect(
                    try await browser.text(of: "#merge-filled")
                        == "The book that stays gets from the other: publisher.")
                try await browser.expectAccess("tidy-sheet")
                try await browser.click("#merge-sheet .primary")
                try await browser.wait("one book", until: "!document.querySelector('.group')")
                #expect(try await kiosk.titles() == ["Dune"])
                try await browser.click(".toast [data-undo]")
                try await browser.wait("two records", until: "document.querySelectorAll('.alike li').length === 2")
                #expect(try await kiosk.titles() == ["Dune", "Dune"])
            }
        }

        @Test func `two records of different books are set aside with one tap, until Undo`() async throws {
            try await withTwoRecords("library/tidy", second: ["publisher": "Chilton"], on: .shelf) { kiosk, browser in
                try await browser.click("[data-distinct]")
                try await browser.wait("none", until: "!document.querySelector('.group')")
                #expect(try await kiosk.titles() == ["Dune", "Dune"])
                try await browser.click(".toast [data-undo]")
                try await browser.wait("both", until: "document.querySelectorAll('.alike li').length === 2")
            }
        }

        @Test func `editions that differ are merged only after a warning`() async throws {
            try await withTwoRecords(
                "library/tidy?editions=1", second: ["isbnText": "9780340960196"], on: .shelf,
                excused: ["api/books/merge"]
            ) { kiosk, browser in
                try await browser.click(".group [id^=merge-]")
                try await browser.wait(
                    "the warning",
                    until: "document.getElementById('merge-warning').checkVisibility() "
                        + "&& document.getElementById('merge-warning').textContent.includes('different ISBNs')")
                try await browser.click("#merge-sheet .primary")
                try await browser.wait("one book", until: "!document.querySelector('.group')")
                #expect(try await kiosk.titles() == ["Dune"])
            }
        }
    }
}
