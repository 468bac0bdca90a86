import Foundation
import Testing

extension `In a browser` {
    /// The sheets in which a person enters the page reached, on the Book page and on Home.
    @Suite struct `The sheet for a page` {
        @Test func `says in the person's words and language why a page is none, while typing and on saving`()
            async throws
        {
            try await visit("books/BOOK", prepare: Self.reading) { kiosk, browser, book in
                try await browser.speak("de")
                for (path, opener, field, wrong, preview) in [
                    ("books/\(book)", "#update-page", "#amount", "#progress-wrong", "#preview-text"),
                    ("home", "[data-update]", "#page-number", "#page-sheet .wrong", "#page-sheet .preview"),
                ] {
                    try await browser.open(kiosk.address + "/" + path)
                    try await browser.ready()
                    try await browser.click(opener)
                    for (typed, reason) in [
                        ("-5", "Seiten zählen ab 0. Ist noch nichts gelesen, 0 eingeben."),
                        ("abc", "Die Seite als Zahl eingeben, zum Beispiel 145."),
                        ("12,5", "Eine Seite ist eine ganze Zahl. Für einen Anteil „Prozent“ wählen."),
                    ] {
                        try await browser.driver.run("document.querySelector(arguments[0]).select()", [field])
                        try await browser.type(typed)
                        #expect(try await browser.text(of: preview) == reason)
                        try await browser.type(Keys.enter)
                        #expect(try await browser.text(of: wrong) == reason)
                        #expect(try await Self.isOpen(browser))
                        #expect(try await browser.value("document.activeElement.matches('\(field)')") == true)
                    }
                    // A page that no book has is refused by the station.
                    try await browser.type("9999999" + Keys.enter)
                    try await browser.wait(
                        "a refusal", until: "document.querySelector('\(wrong)').textContent.startsWith('Kein Buch hat')"
                    )
                    try await browser.driver.run("document.querySelector(arguments[0]).select()", [field])
                    try await browser.type("150" + Keys.enter)
                    try await browser.wait("saved", until: "!document.querySelector('dialog[open]')")
                }
            }
        }

        private static func isOpen(_ browser: Browser) async throws -> Bool {
            try await browser.value("document.querySelector('dialog[open]') !== null") == true
        }

        private static func reading(_ kiosk: KioskProcess) async throws -> String {
            let book: [String: Any] = ["title": "The Left Hand of Darkness", "pageCount": 304, "status": "reading"]
            let added = try await kiosk.ask("POST", "/api/books", book) as? [String: Any]
            return try #require(added?["id"] as? String)
        }
    }
}
