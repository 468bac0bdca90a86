import Foundation
import Testing

extension `In a browser` {
    /// The sheet to choose dates, used with keys alone.
    @Suite struct `The calendar sheet` {
        @Test func `moves by month, year and end of week, and keeps the Tab key inside`() async throws {
            try await reading { kiosk, browser, id in
                let first = try await open(browser)
                try await browser.type(Keys.pageUp)
                let month = try await day(browser)
                #expect(try await browser.value(Self.months(from: month, to: first)) == 1)
                try await browser.type(Keys.pageDown)
                #expect(try await day(browser).prefix(7) == first.prefix(7))
                try await browser.type(Keys.home)
                let monday = try await day(browser)
                #expect(try await browser.value("new Date('\(monday)').getUTCDay()") == 1)
                try await browser.type(Keys.end)
                let sunday = try await day(browser)
                #expect(try await browser.value("new Date('\(sunday)').getUTCDay()") == 0)
                var seen: Set<String> = []
                for _ in 0..<10 {
                    try await browser.type(Keys.tab)
                    let isOutside: Bool? = try await browser.value(
                        "document.activeElement !== document.body && !document.activeElement.closest('#date-sheet')")
                    #expect(isOutside == false)
                    if let stop: String = try await browser.value("document.activeElement.id") { seen.insert(stop) }
                }
                #expect(seen.isSuperset(of: ["date-back", "date-month", "date-year", "date-on"]))
                try await browser.type(Keys.escape)
                try await browser.wait("shut", until: Self.isShut)
                #expect(try await started(kiosk, id) == first)
            }
        }

        @Test func `keeps a month or a year if the day is unknown, or no date at all`() async throws {
            try await reading { kiosk, browser, id in
                let first = try await open(browser)
                // A refresh while the sheet is open may replace the button that opened it.
                try await browser.driver.run(
                    """
                    const button = document.querySelector("[data-date][data-field=started]");
                    button.replaceWith(button.cloneNode(true));
                    document.querySelector("[name=precision]:checked").focus();
                    """)
                try await browser.type(Keys.right)
                try await press("date-save", browser)
                #expect(try await started(kiosk, id) == String(first.prefix(7)))
                // The focus returns to where it was.
                try await browser.wait("the focus", until: "document.activeElement.dataset.field === 'started'")
                _ = try await open(browser)
                try await browser.driver.run("document.querySelector('[name=precision]:checked').focus()")
                try await browser.type(Keys.right)
                try await browser.driver.run("document.getElementById('date-year').select()")
                try await browser.type("2019" + Keys.enter)
                try await browser.wait("shut", until: Self.isShut)
                #expect(try await started(kiosk, id) == "2019")
                _ = try await open(browser)
                try await press("date-clear", browser)
                #expect(try await started(kiosk, id) == nil)
            }
        }

        // MARK: Helpers

        private static let isShut = "!document.getElementById('date-sheet').open"

        private static func months(from first: String, to last: String) -> String {
            "((y, m, z, n) => (z - y) * 12 + n - m)(...'\(first)'.split('-').slice(0, 2).map(Number), "
                + "...'\(last)'.split('-').slice(0, 2).map(Number))"
        }

        private func reading(_ body: (KioskProcess, Browser, String) async throws -> Void) async throws {
            try await visit(
                "books/BOOK", on: .laptop,
                prepare: { kiosk in
                    try await kiosk.scan("library", "add", "--title", "The Dispossessed", "--pages", "382")
                    try await kiosk.scan("reading", "page", "The Dispossessed", "145")
                    return try await kiosk.book("Dispossessed")
                }, body)
        }

        /// Opens the sheet on the day when the reading began, and returns the focused element.
        private func open(_ browser: Browser) async throws -> String {
            try await browser.driver.run("document.querySelector('[data-date][data-field=started]').focus()")
            try await browser.type(Keys.enter)
            try await browser.wait("the sheet", until: "document.getElementById('date-sheet').open")
            // A year alone has no grid.
            return try await browser.value("document.activeElement.dataset.day ?? ''") ?? ""
        }

        private func day(_ browser: Browser) async throws -> String {
            try #require(try await browser.value("document.activeElement.dataset.day"))
        }

        private func press(_ id: String, _ browser: Browser) async throws {
            try await browser.driver.run("document.getElementById(arguments[0]).focus()", [id])
            try await browser.type(Keys.enter)
            try await browser.wait("shut", until: Self.isShut)
        }

        private func started(_ kiosk: KioskProcess, _ id: String) async throws -> String? {
            let book = try await kiosk.ask("GET", "/api/books/\(id)") as? [String: Any]
            return (book?["readings"] as? [[String: Any]])?.first?["started"] as? String
        }
    }
}
