import Foundation
import Testing

extension `In a browser` {
    @Suite struct `On paper` {
        @Test func `the library is a table with title, author, year, ISBN and shelf, and nothing to press`()
            async throws
        {
            try await visit(
                "library?view=grid",
                prepare: { kiosk in
                    try await kiosk.ask(
                        "POST", "/api/books",
                        [
                            "title": "The Left Hand of Darkness",
                            "authors": [["name": "Ursula K. Le Guin", "role": "author"]],
                            "isbnText": "9780441478125", "publishedDate": "1969-03", "shelf": "Attic", "wishlist": true,
                        ])
                    return ""
                }
            ) { kiosk, browser, _ in
                for page in ["library?view=grid", "library?wishlist=1"] {
                    try await browser.open(kiosk.address + "/" + page)
                    try await browser.ready()
                    try await Self.print(browser)
                    let lines: [String] = try await Self.lines(browser)
                    #expect(
                        lines.last == "The Left Hand of Darkness|Ursula K. Le Guin|1969 · 978-0-441-47812-5 · Attic",
                        "\(lines)")
                    #expect(try await browser.text(of: "h1") == (page.contains("wishlist") ? "Wishlist" : "Library"))
                    try await Self.expectPlain(browser, page)
                }
            }
        }

        @Test func `the year has its figures and charts in black on white, in the dark as well`() async throws {
            try await visit(
                "stats?period=year",
                prepare: { kiosk in
                    try await kiosk.ask(
                        "POST", "/api/books", ["title": "Emma", "pageCount": 400, "status": "read", "rating": 4])
                    return ""
                }
            ) { _, browser, _ in
                try await browser.show(.init(width: 1280, height: 800, isDark: true))
                try await Self.print(browser)
                try await Self.expectPlain(browser, "stats")
                #expect(try await browser.value("document.querySelectorAll('.tiles li').length") ?? 0 > 2)
            }
        }

        @Test func `a series has the number and the status of each book`() async throws {
            try await visit(
                "series?name=Dune",
                prepare: { kiosk in
                    let book = ["title": "Children of Dune", "series": "Dune", "seriesNumber": "3", "status": "read"]
                    try await kiosk.ask("POST", "/api/books", book)
                    return ""
                }
            ) { _, browser, _ in
                try await Self.print(browser)
                let line: String? = try await browser.value("document.querySelector('.hit').innerText")
                #expect(line?.contains("3") == true && line?.contains("Read") == true, "\(line ?? "")")
                try await Self.expectPlain(browser, "series")
            }
        }

        // MARK: Helpers

        private static func print(_ browser: Browser) async throws {
            try await browser.driver.devTools("Emulation.setEmulatedMedia", ["media": "print"])
        }

        /// The lines of the list, with a bar between their columns.
        private static func lines(_ browser: Browser) async throws -> [String] {
            try await browser.driver.run(
                """
                return [...document.querySelectorAll(".hit")].map((hit) => [...hit.querySelector(".what").children]
                  .filter((part) => part.checkVisibility()).map((part) => part.innerText.trim()).join("|"));
                """) as? [String] ?? []
        }

        /// Expects black text on white, nothing that can be pressed or filled in, and no book or chart that is cut.
        private static func expectPlain(_ browser: Browser, _ page: String) async throws {
            let seen =
                try await browser.driver.run(
                    """
                    const visible = [...document.querySelectorAll("body *")].filter((e) => e.checkVisibility({ visibilityProperty: true }));
                    const isPlain = (e) => ["rgb(0, 0, 0)", "rgb(51, 51, 51)"].includes(getComputedStyle(e).color);
                    return [
                      ...visible.filter((e) => e.matches("button, input, select, textarea, nav, header.bar, dialog, .button")),
                      ...visible.filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) && !isPlain(e)),
                      ...visible.filter((e) => e.matches(".hit, .card") && getComputedStyle(e).breakInside !== "avoid"),
                    ].map((e) => e.outerHTML.slice(0, 120));
                    """) as? [String]
            #expect(seen == [], "\(page)")
            #expect(
                try await browser.value("getComputedStyle(document.documentElement).backgroundColor")
                    == "rgb(255, 255, 255)")
        }
    }
}
