import Foundation
import LibraryMaker
import Testing

extension `In a browser` {
    /// Pages without data, with much data, and with errors fit every screen and are accessible.
    @Suite struct `Pages in every state` {
        @Test func `the card of a new book, an owned one, one that no source knows, and a refusal`() async throws {
            try await visit { kiosk, browser, _ in
                try await kiosk.scan("--isbn", "9780441478125", "--yes", "--shelf", "Bedroom 1")
                for (name, isbn, look) in [
                    ("new", "9780141439518", "new"), ("owned", "9780441478125", "owned"),
                    ("unknown", "9783161484100", "attention"),
                ] {
                    try await kiosk.capture(isbn)
                    try await browser.wait(
                        name, until: "document.querySelector('#card.look-\(look) #card-acts button')")
                    try await browser.wait(
                        "the light is out", until: "document.getElementById('flash').getAnimations().length === 0")
                    try await check("scan card \(name)", browser)
                }
                try await browser.scan("4006381333931")
                try await browser.wait("refused", until: "!document.getElementById('refusal').hidden")
                try await browser.show(.shelf)
                try await browser.keepPicture("scan-refused-800x480")
            }
        }

        @Test func `the keypad, a batch of thirty, the keys`() async throws {
            try await visit { kiosk, browser, _ in
                let numbers = try String(
                    contentsOf: KioskProcess.root.appendingPathComponent("samples/isbns.txt"), encoding: .utf8)
                for line in numbers.split(separator: "\n").prefix(34) {
                    // One in ten has a wrong check digit; the others are captured.
                    try? await kiosk.capture(String(line.drop { "]E0".contains($0) && line.hasPrefix("]") }))
                }
                try await browser.wait("thirty", until: "document.querySelectorAll('#rows > li').length >= 30")
                try await check("scan batch", browser)
                try await browser.click("#keypad-open")
                for digit in "978014143" { try await browser.click("[data-digit='\(digit)']") }
                try await check("scan keypad", browser)
                try await browser.type(Keys.escape)
                try await browser.open(kiosk.address + "/intake")
                try await check("intake of thirty", browser)
                try await browser.type("?")
                try await browser.wait("the keys", until: "document.querySelector('#keys-dialog[open]')")
                try await check("keys", browser)
            }
        }

        @Test func `sheets: the page, the note, the stop of a session, a date`() async throws {
            try await visit("books/BOOK", prepare: household) { _, browser, _ in
                for (name, selector) in [
                    ("progress sheet", "#update-page"), ("date sheet", "[data-date][data-field=started]"),
                    ("stop sheet", "[data-key=t]"), ("note sheet", "[data-opens=note-sheet]"),
                ] {
                    try await browser.click(selector)
                    try await browser.wait(name, until: "document.querySelector('dialog[open]')")
                    try await check(name, browser)
                    try await browser.driver.run("document.querySelector('dialog[open]').close()")
                }
            }
        }

        @Test func `sheets of Home`() async throws {
            try await visit("home", prepare: household) { _, browser, _ in
                for (name, selector) in [("home page sheet", "[data-update]"), ("home stop sheet", "[data-stop]")] {
                    try await browser.click(selector)
                    try await browser.wait(name, until: "document.querySelector('dialog[open]')")
                    try await check(name, browser)
                    try await browser.driver.run("document.querySelector('dialog[open]').close()")
                }
            }
        }

        @Test(arguments: ["scan", "home", "library", "library?q=zz", "library?trash=yes", "intake", "stats", "changes"])
        func `with an empty library`(_ page: String) async throws {
            try await visit(page) { _, browser, _ in try await check("empty \(page)", browser) }
        }

        @Test func `with a thousand books, the filters open, and books selected`() async throws {
            let home = FileManager.default.temporaryDirectory.appendingPathComponent(
                "bookplate-browser-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
            try await makeLibrary(at: home.appendingPathComponent("library.sqlite").path, copies: 1000, sessions: 400)
            try await visit("library", home: home) { kiosk, browser, _ in
                for page in ["home", "stats", "stats?period=all", "library", "settings/authors"] {
                    try await browser.open(kiosk.address + "/" + page)
                    try await browser.ready()
                    try await check("thousand \(page)", browser)
                }
                try await browser.open(kiosk.address + "/library")
                try await browser.click("#filters")
                try await browser.wait("the facets", until: "document.querySelector('#facets details')")
                try await check("filters", browser)
                try await browser.driver.run("document.getElementById('filter-panel').close()")
                try await browser.click("#choose")
                try await browser.click(".hit:nth-child(2) .pick")
                try await check("selection", browser)
            }
        }

        private func check(_ name: String, _ browser: Browser) async throws {
            let file = name.replacing(" ", with: "-")
            try await browser.expectAccess(file)
            try await browser.expectFit(file)
            try await browser.show(.shelf)
        }
    }
}
