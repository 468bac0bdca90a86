import Foundation
import Testing

/// The sheet at the end of a book, and the statistics that lead to books.
extension `In a browser` {
    @Suite struct `The end of a book` {
        @Test func `offers Read, stars, a note and the next volume, at the last page and after a session`() async throws
        {
            try await visit("books/BOOK", prepare: series) { kiosk, browser, book in
                try await browser.click("#update-page")
                try await browser.type("205" + Keys.enter)
                try await browser.wait("the sheet", until: "document.getElementById('finish-sheet')?.open")
                // Nothing is set yet.
                #expect(try await kiosk.status(of: book) == "reading")
                try await browser.expectAccess("finish-sheet")
                try await browser.expectFit("finish-sheet")
                try await browser.show(.shelf)
                try await browser.click("#not-yet")
                try await browser.wait("left", until: "!document.getElementById('finish-sheet')")
                #expect(try await kiosk.status(of: book) == "reading")

                try await browser.click("#update-page")
                try await browser.type("205" + Keys.enter)
                try await browser.wait("the sheet", until: "document.getElementById('finish-sheet')?.open")
                // By keyboard: the star, a quarter more, and the note.
                try await browser.type("4")
                try await browser.driver.run("document.getElementById('finish-rating').focus()")
                try await browser.type(Keys.right)
                #expect(try await browser.text(of: "#finish-stars")?.contains("4¼") == true)
                try await browser.driver.run("document.getElementById('finish-note').focus()")
                try await browser.type("Cold")
                try await browser.click("#finish-sheet label:has([value=reading])")
                try await browser.click("#finish-sheet .primary")
                try await browser.wait(
                    "read",
                    until:
                        "document.querySelector('#status-read[aria-pressed=true]') && document.querySelector('.toast [data-undo]')"
                )
                let whole = try await kiosk.ask("GET", "/api/books/\(book)") as? [String: Any]
                #expect(whole?["rating"] as? Double == 4.25)
                let next = try await kiosk.book("Atuan")
                #expect(try await kiosk.status(of: next) == "reading")
                try await browser.click(".toast [data-undo]")
                try await browser.wait("undone", until: "document.querySelector('#status-reading[aria-pressed=true]')")
                #expect(try await kiosk.status(of: next) == "toRead")
            }
        }

        @Test func `is offered on Home, by touch, after a page and after a session`() async throws {
            try await visit("home", on: .phone, prepare: series) { kiosk, browser, book in
                try await browser.click("[data-update]")
                try await browser.driver.run("document.getElementById('page-number').select()")
                try await browser.type("205" + Keys.enter)
                try await browser.wait("the sheet", until: "document.getElementById('finish-sheet')?.open")
                try await browser.click("#not-yet")
                try await kiosk.ask("POST", "/api/books/\(book)/progress", ["page": 200])
                try await kiosk.ask("POST", "/api/books/\(book)/sessions", [:])
                try await browser.wait("the clock", until: "document.querySelector('[data-stop]')")
                try await browser.click("[data-stop]")
                try await browser.wait("the stop", until: "document.getElementById('stop-sheet').open")
                try await browser.driver.run("document.getElementById('end-page').select()")
                try await browser.type("205" + Keys.enter)
                // A session of less than a minute is kept only if the person wants it.
                try await browser.wait("too short", until: "!document.querySelector('#stop-sheet .forced').hidden")
                try await browser.click("#stop-sheet .forced")
                try await browser.wait("the sheet", until: "document.getElementById('finish-sheet')?.open")
                try await browser.click("#finish-sheet [data-stars='5']")
                try await browser.click("#finish-sheet .primary")
                try await browser.wait("read", until: "document.querySelector('.read')?.textContent.includes('Wizard')")
                #expect(try await kiosk.status(of: book) == "read")
            }
        }

        /// Adds two volumes of a series, of which the first is being read.
        private func series(_ kiosk: KioskProcess) async throws -> String {
            for (title, number) in [("A Wizard of Earthsea", "1"), ("The Tombs of Atuan", "2")] {
                try await kiosk.scan(
                    "library", "add", "--title", title, "--author", "Ursula K. Le Guin", "--pages", "205", "--series",
                    "Earthsea", "--series-number", number)
            }
            try await kiosk.scan("reading", "page", "A Wizard of Earthsea", "145")
            return try await kiosk.book("Wizard")
        }
    }

    @Suite struct `Statistics` {
        @Test func `tell the pages of books apart from pages logged, and every bar opens its books`() async throws {
            try await visit("stats", on: .laptop, prepare: shelf) { kiosk, browser, _ in
                let tiles = try #require(try await browser.text(of: ".tiles"))
                #expect(tiles.contains("887") && tiles.contains("pages of books read"), "\(tiles)")
                #expect(tiles.contains("40") && tiles.contains("pages logged"), "\(tiles)")
                // As many stars before one star as after five.
                let askew = try await browser.value(
                    """
                    (() => {
                      const chart = [...document.querySelectorAll("figure")].find((f) => f.querySelector("figcaption").textContent === "Ratings");
                      const middle = (e) => { const box = e.getBoundingClientRect(); return (box.left + box.right) / 2; };
                      const stars = [...chart.querySelectorAll("svg text")].filter((e) => e.textContent.includes("★")).map(middle);
                      const line = chart.querySelector("svg line").getBoundingClientRect();
                      return Math.round(Math.abs((stars[0] - line.left) - (line.right - stars.at(-1))));
                    })()
                    """, as: Int.self)
                #expect(askew.map { $0 < 8 } == true, "\(askew ?? -1)")
                try await browser.expectAccess("stats with books")
                try await browser.expectFit("stats-with-books")
                try await browser.show(.laptop)
                for link in ["#read0-title ~ svg a", ".shares a"] {
                    let count = try #require(
                        try await browser.value(
                            """
                            (() => { const a = document.querySelector('\(link)');
                              return a.getAttribute("aria-label")?.match(/(\\d+) book/)?.[1] ?? a.closest("tr").querySelectorAll("td")[1].textContent; })()
                            """, as: String.self))
                    try await browser.driver.run(
                        "document.querySelector('\(link)').dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true }))"
                    )
                    try await browser.wait("the books", until: "location.pathname === '/library'")
                    try await browser.ready()
                    let shown = try await browser.value("document.querySelectorAll('.hit').length", as: Int.self)
                    #expect(shown == Int(count), "\(link)")
                    try await browser.open(kiosk.address + "/stats")
                    try await browser.ready()
                }
            }
        }

        @Test func `look back on a year, as a page and as a picture to save`() async throws {
            let year = Calendar(identifier: .gregorian).component(.year, from: Date())
            try await visit("year/\(year)", on: .laptop, prepare: shelf) { kiosk, browser, _ in
                #expect(try await browser.text(of: "main")?.contains("Emma") == true)
                try await browser.expectAccess("year")
                try await browser.expectFit("year")
                // The file that the browser would save.
                let size =
                    try await browser.driver.run(
                        """
                        return new Promise((resolve) => {
                          const make = URL.createObjectURL;
                          URL.createObjectURL = (blob) => { createImageBitmap(blob).then(({ width, height }) => resolve([blob.type, width, height])); return make(blob); };
                          HTMLAnchorElement.prototype.click = () => {};
                          document.getElementById("save-png").click();
                        });
                        """) as? [Any]
                #expect(size?.first as? String == "image/png" && size?.last as? Int == 1350, "\(size ?? [])")
            }
        }

        /// Adds two books that were read today, and a session of 40 pages.
        private func shelf(_ kiosk: KioskProcess) async throws -> String {
            for (title, pages, rating) in [
                ("Emma", "474", "4.5"), ("Persuasion", "413", "3.75"), ("Sanditon", "90", ""),
            ] {
                try await kiosk.scan("library", "add", "--title", title, "--author", "Jane Austen", "--pages", pages)
                guard !rating.isEmpty else { continue }
                try await kiosk.scan("reading", "finish", title, "--rating", rating)
            }
            let book = try await kiosk.book("Sanditon")
            let start = ISO8601DateFormatter().string(from: Date().addingTimeInterval(-7_200))
            try await kiosk.ask(
                "POST", "/api/books/\(book)/sessions/past",
                ["start": start, "minutes": 30, "startPage": 0, "endPage": 40])
            return book
        }
    }
}

extension KioskProcess {
    fileprivate func status(of book: String) async throws -> String? {
        (try await ask("GET", "/api/books/\(book)") as? [String: Any])?["status"] as? String
    }
}
