import Foundation
import Testing

/// The filters of the Library page, and saved filters.
extension `In a browser` {
    @Suite struct `Filtering books` {
        private static let wide = Browser.Screen(width: 1280, height: 800)
        private static let phone = Browser.Screen(width: 390, height: 844)
        private static let hits = "document.querySelectorAll('.hit').length"

        @Test func `a rail beside the books filters them, with live counts, and stays closed once it was closed`()
            async throws
        {
            try await withBooks(on: Self.wide) { _, browser in
                try await browser.wait("the rail", until: "document.querySelector('#rail #facets details')")
                // The books are beside the filters, and not below them.
                let top = "document.getElementById('hits').getBoundingClientRect().top"
                #expect(try await browser.value("\(top) < 300", as: Bool.self) == true)
                try await browser.keepPicture("filter-rail-1280x800")
                try await click("status", "read", browser)
                try await browser.wait("filtered", until: "\(Self.hits) === 6")
                try await browser.wait(
                    "the other counts",
                    until: "\(Self.count("tag", "sf")) === '3' && \(Self.count("status", "toRead")) === '6'")
                #expect(try await browser.value("location.search") == "?status=read")
                // The focus stays on the filter, although the panel was replaced.
                #expect(try await browser.value("document.activeElement.value") == "read")
                try await browser.driver.run("document.querySelector('#facets details[data-name=missing]').open = true")
                try await click("missing", "shelf", browser)
                try await browser.wait("both", until: "\(Self.hits) === 2")
                #expect(
                    try await browser.value("document.querySelector('[data-name=missing]').open", as: Bool.self) == true
                )
                try await browser.click("#filters")
                try await browser.wait("closed", until: "!document.querySelector('#columns').hasAttribute('data-rail')")
                try await browser.reload()
                try await browser.ready()
                #expect(
                    try await browser.value("document.getElementById('filters').getAttribute('aria-expanded')")
                        == "false")
                #expect(try await browser.value("!!document.querySelector('#facets')", as: Bool.self) == false)
            }
        }

        @Test func `a sheet on a phone says how many books it will show, and Back and Esc close it`() async throws {
            try await withBooks(on: Self.phone) { _, browser in
                #expect(try await browser.value("!!document.querySelector('#facets')", as: Bool.self) == false)
                try await browser.click("#filters")
                try await browser.wait("12", until: Self.shows("Show 12 books"))
                try await click("tag", "sf", browser)
                try await browser.wait("6", until: Self.shows("Show 6 books"))
                try await click("status", "toRead", browser)
                try await browser.wait("3", until: Self.shows("Show 3 books"))
                try await browser.keepPicture("filter-sheet-390x844")
                try await browser.click("#show-found")
                try await browser.wait(
                    "the list", until: "!document.getElementById('filter-panel').open && \(Self.hits) === 3")
                try await browser.wait(
                    "in history", until: "history.state === null && location.search.includes('tag=sf')")

                try await browser.click("#filters")
                try await browser.wait("open", until: Self.shows("Show 3 books"))
                try await browser.driver.run("history.back()")
                try await browser.wait("back", until: "!document.getElementById('filter-panel').open")
                #expect(try await browser.value("location.search.includes('tag=sf')", as: Bool.self) == true)
                try await browser.click("#filters")
                try await browser.wait("open", until: "document.getElementById('filter-panel').open")
                try await browser.type(Keys.escape)
                try await browser.wait("shut", until: "!document.getElementById('filter-panel').open")
                try await browser.click(".chip.chosen")
                try await browser.wait("one less", until: "\(Self.hits) === 6")
            }
        }

        @Test func `saved filters scroll sideways on a phone, and the page does not`() async throws {
            try await withBooks(on: Self.phone) { kiosk, browser in
                for number in 1...4 {
                    let filter = ["name": "A filter with number \(number)", "query": "status:read"]
                    try await kiosk.ask("POST", "/api/filters", filter)
                }
                try await browser.reload()
                try await browser.ready()
                #expect(try await browser.overhang().isEmpty)
            }
        }

        @Test func `years, formats, publishers and series are chosen, and dates in the calendar or with one tap`()
            async throws
        {
            try await withBooks(on: Self.wide) { _, browser in
                try await browser.wait("the rail", until: "document.querySelector('#rail #facets details')")
                try await open("year", browser)
                try await browser.click("[data-range=year] [data-end=from]")
                try await browser.type("1965" + Keys.tab)
                try await browser.wait("since 1965", until: "location.search === '?year=1965..'")
                try await browser.wait("8", until: "\(Self.hits) === 8")
                // The station sends the value with the new rail, which replaces what is typed into the old one.
                try await browser.wait(
                    "the rail of these books",
                    until:
                        "document.querySelector('[data-range=year] [data-end=from]')?.getAttribute('value') === '1965'")
                try await browser.driver.run("document.querySelector('[data-range=year] [data-end=to]').focus()")
                try await browser.type("1968" + Keys.enter)
                try await browser.wait(
                    "until 1968", until: "location.search === '?year=1965..1968' && \(Self.hits) === 4")
                try await clear(browser)

                for (name, value, count) in [("publisher", "Ace", 6), ("series", "Saga", 4)] {
                    try await open(name, browser)
                    try await browser.wait("its books", until: "\(Self.count(name, value)) === '\(count)'")
                    try await click(name, value, browser)
                    try await browser.wait(
                        value, until: "\(Self.hits) === \(count) && location.search === '?\(name)=\(value)'")
                    try await clear(browser)
                }

                try await open("added", browser)
                try await click("added", "last year", browser)
                try await browser.wait("none", until: "\(Self.hits) === 0")
                try await click("added", "this year", browser)
                try await browser.wait("all", until: "\(Self.hits) === 12")
                try await browser.click("#added-to")
                try await browser.wait("the calendar", until: "document.getElementById('date-sheet').open")
                try await browser.driver.run("document.querySelector('#date-sheet [value=year]').click()")
                try await browser.driver.run(
                    "const y = document.getElementById('date-year'); y.value = 2001; y.dispatchEvent(new Event('input'))"
                )
                try await browser.click("#date-save")
                try await browser.wait("until 2001", until: "location.search === '?added=..2001' && \(Self.hits) === 0")
                try await browser.wait(
                    "the chip", until: "document.querySelector('.chip.chosen')?.textContent.includes('2001 or earlier')"
                )
            }
        }

        @Test func `one that was cleared does not come back with the next, even if its panel is still there`()
            async throws
        {
            try await withBooks("library?series=Saga", on: Self.wide) { _, browser in
                try await browser.wait("the rail", until: Self.field("status", "read"))
                // Both in one step, so that the panel is still that of the series.
                try await browser.driver.run(
                    "document.getElementById('clear-filters').click(); \(Self.field("status", "read")).click()")
                try await browser.wait("six", until: "location.search === '?status=read' && \(Self.hits) === 6")
            }
        }

        @Test func `a year that a person is typing is kept, and no half of it is applied, while the library changes`()
            async throws
        {
            try await withBooks(on: Self.wide) { kiosk, browser in
                try await browser.wait("the rail", until: "document.querySelector('#rail #facets details')")
                try await open("year", browser)
                try await browser.click("[data-range=year] [data-end=from]")
                try await browser.type("19")
                for number in 13...14 {
                    try await kiosk.ask("POST", "/api/books", ["title": "Book \(number)", "publishedDate": "1990"])
                    try await browser.wait("\(number) books", until: "\(Self.hits) === \(number)")
                }
                #expect(try await browser.value("document.activeElement.value") == "19")
                #expect(try await browser.value("location.search") == "")
                try await browser.type("65" + Keys.enter)
                try await browser.wait("since 1965", until: "location.search === '?year=1965..'")
                try await browser.wait("their counts", until: "\(Self.count("tag", "sf")) === '4'")
            }
        }

        @Test func `a filter is saved with its order, shown beside the views, renamed, and deleted until undo`()
            async throws
        {
            try await withBooks("library?status=read&missing=shelf&sort=title&reverse=1", on: .laptop) {
                kiosk, browser in
                let titles = "[...document.querySelectorAll('.hit .name')].map((a) => a.textContent).join()"
                let before: String? = try await browser.value(titles)
                try await browser.click("#save-filter")
                try await browser.wait("the sheet", until: "document.getElementById('filter-sheet').open")
                try await browser.keepPicture("filter-save-1280x800")
                try await browser.type("to put away" + Keys.enter)
                try await browser.wait(
                    "its chip",
                    until: "document.querySelector('.saved[aria-current]')?.textContent.includes('to put away')")
                #expect(try await browser.value(titles) == before)
                #expect(try await browser.value("document.getElementById('q').value") == "filter:\"to put away\"")
                let saved = try await kiosk.ask("GET", "/api/filters") as? [String: [[String: Any]]]
                #expect(saved?["filters"]?.first?["query"] as? String == "status:read missing:shelf title-")

                try await browser.click("#rename-filter")
                try await browser.wait("the sheet", until: "document.getElementById('filter-sheet').open")
                try await browser.type("Attic" + Keys.enter)
                try await browser.wait(
                    "renamed", until: "document.querySelector('.saved[aria-current]')?.textContent.includes('Attic')")
                #expect(try await browser.value(titles) == before)
                try await browser.click("#delete-filter")
                try await browser.wait("gone", until: "!document.querySelector('.saved') && \(Self.hits) === 12")
                try await browser.click(".toast button")
                try await browser.wait("back", until: "document.querySelector('.saved')")
                try await browser.click(".saved")
                try await browser.wait("its books", until: "\(Self.hits) === 2")
            }
        }

        // MARK: Helpers

        private static func field(_ name: String, _ value: String) -> String {
            "document.querySelector('#facets input[name=\"\(name)\"][value=\"\(value)\"]')"
        }

        private static func count(_ name: String, _ value: String) -> String {
            "\(field(name, value))?.closest('label').querySelector('.number')?.textContent"
        }

        private static func shows(_ label: String) -> String {
            "document.getElementById('show-found')?.textContent === '\(label)'"
        }

        private func click(_ name: String, _ value: String, _ browser: Browser) async throws {
            let field = Self.field(name, value)
            try await browser.wait("\(name) \(value)", until: field)
            try await browser.driver.run("\(field).focus(); \(field).click()")
        }

        private func clear(_ browser: Browser) async throws {
            try await browser.wait("Clear", until: "document.getElementById('clear-filters')")
            // The panel may be replaced at any moment, so the link is found and clicked in one step.
            try await browser.driver.run("document.getElementById('clear-filters').click()")
            try await browser.wait("all", until: "\(Self.hits) === 12")
        }

        private func open(_ name: String, _ browser: Browser) async throws {
            try await browser.driver.run("document.querySelector('#facets details[data-name=\(name)]').open = true")
        }

        /// Opens the Library page with twelve books: half of them read and half on a shelf, half with a tag, and from
        /// two publishers.
        private func withBooks(
            _ page: String = "library", on screen: Browser.Screen, _ body: (KioskProcess, Browser) async throws -> Void
        ) async throws {
            try await visit(
                page, on: screen,
                prepare: { kiosk in
                    for number in 1...12 {
                        var book: [String: Any] = [
                            "title": "Book \(number)", "publisher": number % 2 == 0 ? "Ace" : "Gollancz",
                            "publishedDate": "\(1960 + number)", "status": number <= 6 ? "read" : "toRead",
                        ]
                        if number % 3 != 0 { book["shelf"] = "Attic" } else { book["series"] = "Saga" }
                        if number % 2 == 0 { book["tags"] = ["sf"] }
                        try await kiosk.ask("POST", "/api/books", book)
                    }
                    return ""
                }, { kiosk, browser, _ in try await body(kiosk, browser) })
        }
    }
}
