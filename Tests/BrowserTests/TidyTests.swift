import Foundation
import Testing

extension `In a browser` {
    @Suite struct `Tidying up` {
        private func add(_ book: [String: Any], to kiosk: KioskProcess) async throws {
            try await kiosk.ask("POST", "/api/books", book)
        }

        @Test func `two records become one book after a look at what happens, and Undo brings both back`() async throws
        {
            try await visit(
                "library/tidy", on: .laptop,
                prepare: { kiosk in
                    try await add(["title": "Dune", "authors": "Frank Herbert", "isbn": "9780441172719"], to: kiosk)
                    try await add(["title": "Dune", "authors": "Frank Herbert", "publisher": "Chilton"], to: kiosk)
                    return ""
                },
                { kiosk, browser, _ in
                    try await browser.expectFit("tidy")
                    try await browser.expectAccess("tidy")
                    try await browser.show(.laptop)
                    try await browser.click(".group .actions button")
                    try await browser.wait("the sheet", until: "document.getElementById('merge-sheet').open")
                    #expect(
                        try await browser.text(of: "#merge-filled")
                            == "The book that stays gets from the other: publisher.")
                    try await browser.expectAccess("tidy-sheet")
                    try await browser.type(Keys.enter)
                    try await browser.wait("one book", until: "!document.querySelector('.group')")
                    #expect(try await kiosk.titles() == ["Dune"])
                    try await browser.click(".toast [data-undo]")
                    try await browser.wait("two records", until: "document.querySelectorAll('.alike li').length === 2")
                    #expect(try await kiosk.titles() == ["Dune", "Dune"])
                })
        }

        @Test func `two records of different books are set aside with one tap, until Undo`() async throws {
            try await visit(
                "library/tidy", on: .shelf,
                prepare: { kiosk in
                    try await add(["title": "Poems", "authors": "Anne", "isbn": "9780441172719"], to: kiosk)
                    try await add(["title": "Poems", "authors": "Anne", "publisher": "Chilton"], to: kiosk)
                    return ""
                },
                { kiosk, browser, _ in
                    try await browser.click("[data-distinct]")
                    try await browser.wait("none", until: "!document.querySelector('.group')")
                    #expect(try await kiosk.titles() == ["Poems", "Poems"])
                    try await browser.click(".toast [data-undo]")
                    try await browser.wait("both", until: "document.querySelectorAll('.alike li').length === 2")
                })
        }

        @Test func `editions that differ are merged only after a warning`() async throws {
            try await visit(
                "library/tidy?editions=1", on: .shelf, excused: ["api/books/merge"],
                prepare: { kiosk in
                    try await add(["title": "Dune", "authors": "Frank Herbert", "isbn": "9780441172719"], to: kiosk)
                    try await add(["title": "Dune", "authors": "Frank Herbert", "isbn": "9780340960196"], to: kiosk)
                    return ""
                },
                { kiosk, browser, _ in
                    try await browser.click(".group .actions button")
                    try await browser.wait(
                        "the warning",
                        until: "document.getElementById('merge-warning').checkVisibility() "
                            + "&& document.getElementById('merge-warning').textContent.includes('different ISBNs')")
                    try await browser.click("#merge-sheet .primary")
                    try await browser.wait("one book", until: "!document.querySelector('.group')")
                    #expect(try await kiosk.titles() == ["Dune"])
                })
        }
    }
}
