import Foundation
import Testing

/// The order of the Library page, its letters, and the page of a series.
extension `In a browser` {
    @Suite struct `The letters of a list` {
        /// Opens the list by title, with 120 books of which every 26th begins with the same letter.
        private func withShelf(_ body: (KioskProcess, Browser, String) async throws -> Void) async throws {
            try await visit(
                "library?sort=title", on: .laptop,
                prepare: { kiosk in
                    let rows = (0..<120).map { number in
                        let letter = Character(Unicode.Scalar(UInt8(97 + number % 26)))
                        return "The \(letter)\(100 + number),Ann \(letter)other,to-read,\(number == 12 ? "Attic" : "")"
                    }
                    let file = kiosk.home.appendingPathComponent("shelf.csv")
                    let text = "Title,Author,Exclusive Shelf,Shelf\r\n" + rows.joined(separator: "\r\n")
                    try Data(text.utf8).write(to: file)
                    try await kiosk.scan("import", file.path)
                    return ""
                }, body)
        }

        @Test func `lead to the books that begin with them, and earlier books are put before these`() async throws {
            try await withShelf { kiosk, browser, _ in
                #expect(try await browser.text(of: ".hit .name") == "The a100")
                try await browser.click("#letters a[aria-label^='M:']")
                try await browser.wait("M", until: "document.querySelector('.hit .name')?.textContent === 'The m112'")
                try await browser.ready()
                #expect(try await browser.value("document.querySelector('#sort').value") == "title")
                try await browser.expectFit("library-letters")
                try await browser.expectAccess("library-letters")
                try await browser.show(.laptop)
                try await browser.click("#earlier")
                try await browser.wait(
                    "earlier books", until: "document.querySelector('.hit .name').textContent !== 'The m112'")
                // They are shown again after a reload.
                let first: String = try #require(
                    try await browser.value("document.querySelector('.hit .name').textContent"))
                try await browser.reload()
                try await browser.ready()
                #expect(try await browser.value("document.querySelector('.hit .name').textContent") == first)
            }
        }

        @Test func `a series has a page in order with its gaps, and an author's sort name can be corrected`()
            async throws
        {
            try await visit(
                "library?sort=author", on: .laptop,
                prepare: { kiosk in
                    for (title, author, number) in [
                        ("Third", "Ursula K. Le Guin", "3"), ("First", "Ursula K. Le Guin", "1"),
                        ("Emma", "Jane Austen", ""),
                    ] {
                        try await kiosk.scan(
                            "library", "add", "--title", title, "--author", author, "--shelf", "Attic",
                            "--series", number.isEmpty ? "Novels" : "Earthsea", "--series-number",
                            number.isEmpty ? "9" : number)
                    }
                    return ""
                }
            ) { kiosk, browser, _ in
                // Family names decide.
                #expect(try await browser.text(of: ".hit .name") == "Emma")
                #expect(try await browser.text(of: ".hit .shelf") == "Attic")
                try await browser.click(".hit a.series[href$=Earthsea]")
                try await browser.wait("the series", until: "document.querySelector('h1')?.textContent === 'Earthsea'")
                try await browser.ready()
                let words = try await browser.text(of: "main") ?? ""
                #expect(words.contains("2 is missing"))
                #expect(try await browser.text(of: ".hit .name") == "First")
                try await browser.expectFit("series")
                try await browser.expectAccess("series")
                try await browser.open(kiosk.address + "/settings/authors")
                try await browser.ready()
                try await browser.click("[data-sort='Ursula K. Le Guin']")
                try await browser.wait("the sheet", until: "document.getElementById('sort-sheet').open")
                try await browser.type("Aardvark, Ursula" + Keys.enter)
                try await browser.wait(
                    "corrected",
                    until: "document.getElementById('names').textContent.includes('Aardvark, Ursula (corrected)')")
                try await browser.open(kiosk.address + "/library?sort=author")
                try await browser.ready()
                #expect(try await browser.text(of: ".hit .name") == "First")
            }
        }
    }
}
