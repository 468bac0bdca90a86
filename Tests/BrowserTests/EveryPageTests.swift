import Foundation
import Testing

extension `In a browser` {
    /// Requirements on every page.
    @Suite struct `Every page` {
        /// The paths of all pages; "BOOK" stands for a book's id.
        static let pages = [
            "scan", "home", "library", "library?view=grid", "library?q=the", "library?wishlist=yes", "books/BOOK",
            "books/BOOK/edit", "add", "find", "find?title=left%20hand", "intake", "stats", "stats/timeline", "settings",
            "settings/tags",
            "settings/shelves",
            "settings/authors", "settings/readers", "changes", "wishlist-links", "import", "restore",
            "library/tidy",
        ]

        @Test func `has no serious finding of axe, in light and dark`() async throws {
            try await onEachPage { browser, page in try await browser.expectAccess(page) }
        }

        @Test func `fits every screen without scrolling sideways, with targets 44 pixels high`() async throws {
            try await onEachPage { browser, page in try await browser.expectFit(page) }
        }

        @Test func `loads at most 60 kB without covers and nothing from elsewhere, and runs without an error`()
            async throws
        {
            try await onEachPage { browser, page in
                // The browser also logs what violates the content security policy.
                let errors = try await browser.pageErrors()
                #expect(errors.isEmpty, "\(page): \(errors.joined(separator: "\n"))")
                let loaded =
                    try await browser.driver.run(
                        """
                        return [performance.getEntriesByType("navigation")[0], ...performance.getEntriesByType("resource")]
                          .map((entry) => [entry.name, entry.encodedBodySize]);
                        """) as? [[Any]] ?? []
                let weight = loaded.filter { !"\($0[0])".contains("/covers/") && !"\($0[0])".contains("/thumbnail") }
                    .reduce(0) { $0 + ($1[1] as? Int ?? 0) }
                #expect((1...60_000).contains(weight), "\(page) weighs \(weight)")
                #expect(loaded.allSatisfy { "\($0[0])".hasPrefix("http://127.0.0.1:") }, "\(page)")
            }
        }

        @Test func `can be traversed with the Tab key alone, with a visible focus`() async throws {
            try await onEachPage { browser, page in
                try await browser.driver.run("document.activeElement?.blur(); window.scrollTo(0, 0)")
                let stops =
                    try await browser.driver.run(
                        "return [...document.querySelectorAll('a[href],button,input,select,textarea,summary')].filter((e) => !e.disabled && e.tabIndex >= 0 && e.checkVisibility()).length"
                    ) as? Int ?? 0
                var seen: Set<String> = []
                for _ in 0..<min(stops, 12) {
                    try await browser.type(Keys.tab, pause: 0)
                    let state =
                        try await browser.driver.run(
                            """
                            const now = document.activeElement, style = getComputedStyle(now);
                            return [now === document.body, now.matches(":focus-visible")
                              && (parseFloat(style.outlineWidth) >= 2 || style.boxShadow !== "none"), now.outerHTML.slice(0, 120)];
                            """) as? [Any] ?? []
                    #expect(state.first as? Bool == false, "\(page): Tab leads nowhere")
                    #expect(
                        state.dropFirst().first as? Bool == true,
                        "\(page): the focus is not seen on \(state.last ?? "")")
                    seen.insert("\(state.last ?? "")")
                }
                #expect(seen.count >= min(stops, 12) / 2, "\(page): Tab goes round in a small circle")
            }
        }

        @Test(arguments: [("de-DE,de", "de", "Bibliothek"), ("fr", "fr", "Bibliothèque"), ("es", "en", "Library")])
        func `speaks the browser's language`(_ languages: String, _ language: String, _ word: String) async throws {
            try await visit("library") { _, browser, _ in
                try await browser.speak(languages)
                for page in ["library", "scan", "stats", "settings"] {
                    try await browser.open(try #require(browser.value("location.origin")) + "/" + page)
                    #expect(try await browser.value("document.documentElement.lang") == language)
                    #expect(try await browser.text(of: "nav")?.contains(word) == true)
                    for screen in [Browser.Screen.shelf, .phone] {
                        try await browser.show(screen)
                        let wide = try await browser.overhang()
                        #expect(wide.isEmpty, "\(page) at \(screen) in \(language): \(wide)")
                        try await browser.keepPicture("\(page)-\(screen.width)-\(language)")
                    }
                }
            }
        }

        /// Opens one page after the other, with books in the library, a capture in the queue, and a running session.
        private func onEachPage(_ body: (Browser, String) async throws -> Void) async throws {
            try await visit(prepare: household) { kiosk, browser, book in
                for page in Self.pages {
                    try await browser.show(.shelf)
                    _ = try await browser.pageErrors()
                    try await browser.open(kiosk.address + "/" + page.replacing("BOOK", with: book))
                    try await browser.ready()
                    let title: String = try await browser.value("document.title") ?? ""
                    #expect(
                        title.contains("Bookplate") && !title.contains("Page not found"), "\(page) is no page: \(title)"
                    )
                    try await body(browser, page)
                }
            }
        }
    }
}

/// Fills the library with data for every page, and returns the id of the book being read.
func household(_ kiosk: KioskProcess) async throws -> String {
    try await kiosk.scan("import", KioskProcess.root.appendingPathComponent("samples/exports/goodreads.csv").path)
    try await kiosk.scan(
        "library", "add", "--title", "Emma", "--author", "Jane Austen", "--isbn", "9780141439587", "--wishlist")
    try await kiosk.scan(
        "library", "add", "--title", "The Dispossessed", "--author", "Ursula K. Le Guin", "--pages", "382", "--tag",
        "sf", "--shelf", "Living room")
    try await kiosk.scan("reading", "page", "The Dispossessed", "145")
    try await kiosk.scan("note", "add", "The Dispossessed", "A wall, and what it shuts out.")
    try await kiosk.scan("session", "start", "The Dispossessed")
    // Waits in the queue.
    try await kiosk.scan("--isbn", "9780141439518", giving: 4)
    return try await kiosk.book("Dispossessed")
}
