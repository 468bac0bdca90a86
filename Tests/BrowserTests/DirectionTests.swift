import Foundation
import Testing

extension `In a browser` {
    /// Books in scripts that are written from right to left.
    @Suite struct `A book in Arabic or Hebrew` {
        private static let title = "ألف ليلة وليلة", author = "נתן אלתרמן", tag = "حكايات", shelf = "غرفة الجلوس"
        private static let word = "שלום (עולם)"

        @Test func `keeps the direction of its texts on every page`() async throws {
            try await visit("home", prepare: Self.prepare) { kiosk, browser, book in
                for page in Every.pages.map({ $0.replacing("BOOK", with: book) }) + [
                    "library?q=ليلة", "books/\(book)/sources",
                ] {
                    let path = page.addingPercentEncoding(withAllowedCharacters: .urlFragmentAllowed) ?? page
                    try await browser.open(kiosk.address + "/" + path)
                    try await browser.ready()
                    let lost: [String] = try await browser.value(Self.lost) ?? ["no answer"]
                    #expect(lost.isEmpty, "\(page): \(lost.joined(separator: "\n"))")
                }
            }
        }

        private typealias Every = `Every page`

        /// The texts from right to left outside an element with a direction of their own. Sentences of the page that
        /// name a book begin with a word of the page's language, which gives them its direction.
        private static let lost = """
            (() => {
              const foreign = /^[^\\p{L}]*[\\u0590-\\u08ff]/u, found = [];
              const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
              while (walker.nextNode()) {
                const { parentElement, data } = walker.currentNode;
                // A missing cover has the first letter of the title.
                if (data.trim().length > 1 && foreign.test(data) && !parentElement.closest("[dir=auto], bdi, [lang=en], textarea, script, option")) found.push(parentElement.outerHTML.slice(0, 160));
              }
              for (const field of document.querySelectorAll("input, textarea")) {
                if (foreign.test(field.value) && !["hidden", "checkbox", "radio"].includes(field.type) && getComputedStyle(field).unicodeBidi !== "plaintext") found.push(field.outerHTML.slice(0, 160));
              }
              return found;
            })()
            """

        private static func prepare(_ kiosk: KioskProcess) async throws -> String {
            try await kiosk.scan(
                "library", "add", "--title", title, "--author", author, "--pages", "300", "--tag", tag, "--shelf", shelf
            )
            let book = try await kiosk.book("")
            try await kiosk.ask(
                "PATCH", "/api/books/\(book)",
                [
                    "subtitle": word, "publisher": word, "series": word, "seriesNumber": "2", "description": word,
                    "subjects": [word], "recommendedBy": word,
                ])
            try await kiosk.ask("PUT", "/api/books/\(book)/status", ["status": "reading"])
            try await kiosk.ask("POST", "/api/books/\(book)/progress", ["page": 30])
            try await kiosk.ask("POST", "/api/books/\(book)/notes", ["text": word])
            try await kiosk.ask("POST", "/api/books/\(book)/notes", ["text": word, "kind": "discussion"])
            try await kiosk.ask("POST", "/api/books/\(book)/quotes", ["text": word, "page": 3])
            try await kiosk.scan("library", "add", "--title", title, "--author", author)
            let read = try await kiosk.book("")
            try await kiosk.ask("PUT", "/api/books/\(read)/status", ["status": "read"])
            let row = try #require(
                (try await kiosk.ask("POST", "/api/station/captures", ["text": "9783161484100", "origin": "typed"])
                    as? [String: Any])?["row"] as? [String: Any])
            try await kiosk.ask(
                "PATCH", "/api/station/rows/\(row["id"] ?? "")",
                ["title": title, "authors": [author], "publisher": word])
            return book
        }
    }
}
