import Foundation
import Testing

extension `In a browser` {
    /// Ben and Anna, who has a PIN, read the same library.
    @Suite struct `Two readers` {
        private func readers(_ kiosk: KioskProcess) async throws -> String {
            let book = try await household(kiosk)
            try await kiosk.scan("reader", "add", "Anna", "--first", "Ben")
            try await kiosk.scan("library", "edit", book, "--rating", "4", "--reader", "anna")
            try await kiosk.scan("note", "add", book, "Only mine.", "--private", "--reader", "anna")
            try await kiosk.scan("note", "add", book, "For all.", "--reader", "anna")
            return book
        }

        /// Chooses a reader with the head's menu, and waits for the page that shows the reader.
        private func choose(_ name: String, _ browser: Browser) async throws {
            try await browser.click("#readers summary")
            try await browser.click("#readers [data-name=\(name)]")
            try await browser.wait(
                "the page of \(name)",
                until:
                    "document.querySelector('#readers summary')?.getAttribute('aria-label').includes('\(name)') && document.body.hasAttribute('data-connected')"
            )
            try await browser.ready()
        }

        @Test func `switch with one tap each, and read one copy at once on two screens`() async throws {
            try await visit("books/BOOK", prepare: readers) { kiosk, browser, book in
                // Ben's session runs already. To a browser, the other name of the machine is another screen.
                let other = kiosk.address.replacing("127.0.0.1", with: "localhost")
                #expect(try await browser.value("document.querySelector('#head-clock [data-clock]') !== null") == true)
                #expect(try await browser.text(of: ".others")?.contains("Anna · ★ 4") == true)
                #expect(try await browser.text(of: "#notes")?.contains("Only mine.") == false)
                try await choose("Anna", browser)
                #expect(try await browser.value("document.querySelector('#head-clock [data-clock]') === null") == true)
                #expect(try await browser.text(of: "#notes")?.contains("Only mine.") == true)
                try await browser.click("#start-session")
                try await browser.wait("her clock", until: "document.querySelector('#head-clock [data-clock]')")
                try await browser.open(other + "/home")
                try await browser.ready()
                #expect(
                    try await browser.value("document.querySelector('#readers summary').getAttribute('aria-label')")
                        == "Reader: Ben")
                #expect(try await browser.value("document.querySelector('#head-clock [data-clock]') !== null") == true)
                try await browser.open(kiosk.address + "/home")
                try await browser.ready()
                #expect(
                    try await browser.value("document.querySelector('#readers summary').getAttribute('aria-label')")
                        == "Reader: Anna")
                #expect(try await browser.value("document.querySelector('#head-clock [data-clock]') !== null") == true)
            }
        }

        @Test func `are asked for a PIN, and see if it is wrong`() async throws {
            try await visit("home", excused: ["422", "403"], prepare: readers) { kiosk, browser, _ in
                try await choose("Anna", browser)
                try await browser.open(kiosk.address + "/settings/readers")
                try await browser.ready()
                try await browser.click("#own-pin")
                try await browser.type("2718" + Keys.enter)
                try await browser.wait("the PIN", until: "document.querySelector('#readers .lock')")
                try await browser.click("#readers summary")
                try await browser.click("#readers [data-name=Anna]")
                try await browser.wait("the question", until: "document.getElementById('pin-sheet').open")
                try await browser.expectAccess("the PIN")
                try await browser.type("0000" + Keys.enter)
                try await browser.wait("the reason", until: "!document.querySelector('#pin-sheet .wrong').hidden")
                try await browser.type("2718" + Keys.enter)
                try await browser.wait(
                    "the open lock",
                    until: "document.body.hasAttribute('data-connected') && !document.querySelector('#readers .lock')")
            }
        }

        @Test func `have pages that axe finds no fault with, and that fit every screen`() async throws {
            try await visit(prepare: readers) { kiosk, browser, book in
                for page in [
                    "home", "home?readers=all", "books/\(book)", "stats", "stats?readers=all",
                    "stats/timeline?readers=all", "library/filters", "library?readBy=Anna", "settings/readers", "scan",
                ] {
                    try await browser.open(kiosk.address + "/" + page)
                    try await browser.ready()
                    if page == "settings/readers" {
                        try await browser.driver.run("document.querySelector('.readers-list details').open = true")
                    }
                    try await browser.expectAccess(page)
                    try await browser.expectFit("two " + page)
                    try await browser.driver.run("document.getElementById('readers').open = true")
                    try await browser.expectFit("two menu " + page)
                }
                for language in ["de", "fr"] {
                    try await browser.speak(language)
                    for page in ["home", "settings/readers", "books/\(book)", "library/filters"] {
                        try await browser.open(kiosk.address + "/" + page)
                        try await browser.ready()
                        try await browser.driver.run("document.getElementById('readers').open = true")
                        try await browser.expectFit("two \(language) " + page)
                    }
                }
                try await browser.speak(nil)
            }
        }
    }
}
