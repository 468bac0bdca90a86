import Foundation
import Testing

extension `In a browser` {
    @Suite struct `A draft` {
        private static let card = "document.getElementById('card').dataset.row"
        private static let title = "document.getElementById('card-title')?.value"

        @Test func `in a card survives answering other rows`() async throws {
            try await visit("scan") { kiosk, browser, _ in
                try await browser.scan("9780441478125")
                try await browser.scan("9780000000040")
                try await browser.wait("the card", until: "document.getElementById('card-title')")
                try await browser.wait("both", until: "document.querySelectorAll('#rows > li').length === 2")
                let first: String? = try await browser.value(Self.card)
                try await browser.click("#card-title")
                try await browser.type("Half a ti")
                try await browser.click("#rows > li:not(.is-current) a")
                try await browser.wait("the other", until: "\(Self.card) && \(Self.card) !== '\(first ?? "")'")
                try await browser.click("#row-\(first ?? "") a")
                try await browser.wait("the draft", until: "\(Self.title) === 'Half a ti'")
                // Once the row is answered on another screen, there is nothing left to type.
                _ = try await kiosk.ask("POST", "/api/station/rows/\(first ?? "")/skip", [:])
                try await browser.wait("the end of the form", until: "!document.getElementById('card-title')")
            }
        }

        @Test
        func `in the form accepts a scanner in its number, and saving is announced with undo`()
            async throws
        {
            try await visit("add", excused: ["404"]) { kiosk, browser, _ in
                try await kiosk.capture("9780441478125")
                try await browser.click("#isbnText")
                try await browser.scan("9780441478125")
                try await browser.wait("filled in", until: "document.getElementById('title').value")
                #expect(try await kiosk.rows().count == 1, "the scanner's number went into the form alone")
                try await browser.click(".save .primary")
                try await browser.wait(
                    "the message", until: "document.querySelector('.toast')?.textContent.includes('Saved')")
                #expect(try await kiosk.titles() == ["The Left Hand of Darkness"])
                try await browser.type("u")
                try await browser.wait(
                    "undone",
                    until: "[...document.querySelectorAll('.toast')].some((one) => one.textContent.includes('Undone'))")
                #expect(try await kiosk.titles() == [])
            }
        }

        @Test func `in two fields of a book has a label for each`() async throws {
            let added: @Sendable (KioskProcess) async throws -> String = { kiosk in
                let answer = try await kiosk.ask("POST", "/api/books", ["title": "Dune", "publisher": "Ace"])
                return try #require((answer as? [String: Any])?["id"] as? String)
            }
            try await visit("books/BOOK", prepare: added) { kiosk, browser, _ in
                try await browser.click("#edit-authors")
                try await browser.type("Frank Herb")
                try await browser.click("#edit-publisher")
                try await browser.click(".fact .in-place label")
                #expect(try await browser.value("document.activeElement.value") == "Ace")
                try await browser.type("Chilton" + Keys.enter)
                try await browser.wait("saved", until: "document.querySelectorAll('.in-place').length === 1")
                #expect(try await browser.value("document.querySelector('.in-place textarea').value") == "Frank Herb")
                try await browser.type(Keys.escape)
            }
        }
    }
}
