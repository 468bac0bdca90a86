import Foundation
import Testing

/// Finding books, reading and taking notes, as on a sofa.
extension `In a browser` {
    @Suite struct `The library's pages` {
        @Test func `find a book while typing, and show the match`() async throws {
            try await reading("library") { kiosk, browser, _ in
                try await browser.type("/")
                try await browser.type("wall")
                try await browser.wait(
                    "the note", until: "document.querySelector('.why mark')?.textContent.toLowerCase() === 'wall'")
                #expect(try await browser.driver.run("return location.search.includes('q=wall')") as? Bool == true)
                try await browser.type(String(repeating: "\u{E003}", count: 4))
                try await browser.type("dispo")
                try await browser.wait(
                    "the title",
                    until: "document.querySelector('.hit mark')?.textContent.toLowerCase().startsWith('dispo')")
            }
        }

        @Test func `show changes of another program at once`() async throws {
            try await reading("library") { kiosk, browser, _ in
                try await kiosk.scan("library", "add", "--title", "Middlemarch")
                try await browser.wait(
                    "the new book", until: "document.getElementById('hits').textContent.includes('Middlemarch')")
            }
        }

        @Test func `record the current page, and update the progress bar`() async throws {
            try await reading("books/BOOK") { kiosk, browser, _ in
                try await browser.type("p")
                try await browser.wait("the sheet", until: "document.getElementById('progress-sheet').open")
                try await browser.driver.run(
                    "document.getElementById('amount').value = ''; document.getElementById('amount').focus()")
                try await browser.type("191")
                try await browser.wait(
                    "the bar", until: "document.getElementById('preview').getAttribute('width').startsWith('50')")
                try await browser.type(Keys.enter)
                try await browser.wait(
                    "saved",
                    until:
                        "!document.getElementById('progress-sheet').open && document.body.textContent.includes('191')")
            }
        }

        @Test func `time a session, even across a reload`() async throws {
            try await reading("books/BOOK") { kiosk, browser, _ in
                try await browser.type("t")
                try await browser.wait("the clock", until: "document.querySelector('.clock-line .clock')")
                let first = try await browser.text(of: ".clock-line .clock")
                try await browser.wait(
                    "it ticks", until: "document.querySelector('.clock-line .clock').textContent !== '\(first ?? "")'")
                try await browser.reload()
                try await browser.ready()
                try await browser.wait(
                    "still there",
                    until:
                        "document.querySelector('.clock-line .clock')?.textContent.match(/00:(0[1-9]|[1-5]\\d)/)"
                )
                try await browser.type("t")
                try await browser.wait("the sheet", until: "document.getElementById('stop-sheet').open")
                try await browser.click("#stop-form button.primary")
                try await browser.wait(
                    "a minute at least",
                    until: "document.querySelector('#stop-wrong:not([hidden])')?.textContent.includes('1 minute')")
                try await browser.click("#force-session")
                try await browser.wait("over", until: "document.getElementById('start-session')")
            }
        }

        @Test func `finish a book whose session is running`() async throws {
            try await reading("books/BOOK") { kiosk, browser, id in
                let start = ISO8601DateFormatter().string(from: Date().addingTimeInterval(-1800))
                try await kiosk.ask("POST", "/api/books/\(id)/sessions", ["start": start])
                try await browser.wait("the clock in the head", until: "document.querySelector('#head-clock a')")
                let first = try await browser.text(of: "#head-clock .running-clock")
                try await browser.wait(
                    "it ticks",
                    until: "document.querySelector('#head-clock .running-clock').textContent !== '\(first ?? "")'")
                try await browser.wait("the session", until: "document.getElementById('stop-session')")
                try await browser.click("#status-read")
                try await browser.wait("the sheet", until: "document.getElementById('stop-sheet').open")
                try await browser.driver.run("document.getElementById('end-page').value = '300'")
                try await browser.click("#stop-form button.primary")
                try await browser.wait("no clock", until: "!document.querySelector('#head-clock a')")
                #expect(try await book(kiosk, id)["status"] as? String == "read")
            }
        }

        @Test func `finish a book, and delete its session of less than a minute`() async throws {
            try await reading("books/BOOK") { kiosk, browser, id in
                try await kiosk.ask("POST", "/api/books/\(id)/sessions", [:])
                try await browser.wait("the session", until: "document.getElementById('stop-session')")
                try await browser.click("#status-read")
                try await browser.wait(
                    "what the sheet does",
                    until: "document.getElementById('stop-sheet-title').textContent.includes('Read')")
                try await browser.click("#stop-form button.primary")
                try await browser.wait("the way out", until: "!document.getElementById('discard-session').hidden")
                try await browser.click("#discard-session")
                try await browser.wait("no clock", until: "!document.querySelector('#head-clock a')")
                #expect(try await book(kiosk, id)["status"] as? String == "read")
            }
        }

        @Test func `rate with one key, and undo it`() async throws {
            try await reading("books/BOOK") { kiosk, browser, id in
                try await browser.type("4")
                try await browser.wait("the toast", until: "document.querySelector('.toast button')")
                #expect(try await book(kiosk, id)["rating"] as? Double == 4)
                try await browser.click(".toast button")
                try await browser.wait(
                    "taken back",
                    until:
                        "document.querySelectorAll('.toast').length > 0 && document.body.textContent.includes('Undone')"
                )
                #expect(try await book(kiosk, id)["rating"] is NSNull)
            }
        }

        @Test func `keep a note exactly as written`() async throws {
            try await reading("books/BOOK") { kiosk, browser, _ in
                let text = #"<img src=x onerror="document.title='broken'"> & "quotes" ’"#
                try await browser.type("n")
                try await browser.wait("the sheet", until: "document.getElementById('note-sheet').open")
                try await browser.driver.run("document.getElementById('note-text').value = arguments[0]", [text])
                try await browser.click("#note-sheet button.primary")
                try await browser.wait(
                    "the note", until: "document.querySelector('main').textContent.includes('onerror=')")
                #expect(try await browser.driver.run("return document.title") as? String != "broken")
                #expect(
                    try await browser.driver.run("return document.querySelectorAll('main img[src=x]').length") as? Int
                        == 0)
            }
        }

        @Test func `add a book by hand, with its author completed`() async throws {
            try await reading("add") { kiosk, browser, _ in
                try await browser.driver.run("document.getElementById('title').focus()")
                try await browser.type("The Lathe of Heaven")
                try await browser.click("#authors input")
                try await browser.type("ursu")
                try await browser.wait(
                    "a suggestion",
                    until:
                        "[...document.querySelectorAll('[role=option]')].some((o) => o.textContent.includes('Le Guin'))"
                )
                try await browser.type(Keys.down + Keys.enter)
                try await browser.wait(
                    "taken", until: "document.querySelector('#authors input').value === 'Ursula K. Le Guin'")
                try await browser.click("#form button.primary")
                try await browser.wait(
                    "its page",
                    until:
                        "location.pathname.startsWith('/books/') && document.querySelector('h1')?.textContent.includes('Lathe')"
                )
                #expect(try await browser.text(of: "main")?.contains("Ursula K. Le Guin") == true)
            }
        }

        @Test func `show progress and the session's clock on the Home page`() async throws {
            try await reading("home") { kiosk, browser, _ in
                let words = try await browser.text(of: "main") ?? ""
                #expect(words.contains("The Dispossessed") && words.contains("145") && words.contains("382"))
            }
        }

        @Test func `date a reading in the calendar with keys alone`() async throws {
            try await reading("books/BOOK") { kiosk, browser, id in
                let before = try await started(kiosk, id)
                try await browser.driver.run("document.querySelector('[data-date][data-field=started]').focus()")
                try await browser.type(Keys.enter)
                try await browser.wait("the sheet", until: "document.getElementById('date-sheet').open")
                try await browser.wait("a day", until: "document.activeElement.dataset.day === '\(before)'")
                try await browser.keepPicture("date-sheet-1280x800")
                // A week and a day earlier.
                try await browser.type(Keys.up + Keys.left)
                let wanted: String = try #require(try await browser.value("document.activeElement.dataset.day"))
                #expect(wanted < before)
                try await browser.type(Keys.enter)
                try await browser.wait("chosen", until: "document.activeElement.dataset.day === '\(wanted)'")
                try await browser.driver.run("document.getElementById('date-save').focus()")
                try await browser.type(Keys.enter)
                try await browser.wait("closed", until: "!document.getElementById('date-sheet').open")
                #expect(try await started(kiosk, id) == wanted)
                // Esc discards the edit.
                try await browser.driver.run("document.querySelector('[data-date][data-field=started]').focus()")
                try await browser.type(Keys.enter)
                try await browser.wait("the sheet", until: "document.getElementById('date-sheet').open")
                try await browser.type(Keys.down + Keys.escape)
                try await browser.wait("closed", until: "!document.getElementById('date-sheet').open")
                #expect(try await started(kiosk, id) == wanted)
            }
        }

        @Test func `tag many books at once, and undo it at once`() async throws {
            try await reading("library") { kiosk, browser, _ in
                try await kiosk.scan("library", "add", "--title", "Middlemarch")
                try await browser.wait("two", until: "document.querySelectorAll('.hit').length === 2")
                try await browser.click("#choose")
                for number in 1...2 { try await browser.click(".hit:nth-child(\(number)) .pick") }
                try await browser.keepPicture("selection-1280x800")
                try await browser.click("[data-bulk=tag]")
                try await browser.wait("the sheet", until: "document.getElementById('label').open")
                try await browser.type("to lend" + Keys.enter)
                try await browser.wait(
                    "both",
                    until:
                        "[...document.querySelectorAll('.hit .tag')].filter((t) => t.textContent === 'to lend').length === 2"
                )
                try await browser.click(".toast button")
                try await browser.wait(
                    "neither", until: "!document.getElementById('hits').textContent.includes('to lend')")
            }
        }

        @Test func `keep settings, in the library and in this browser`() async throws {
            try await reading("settings") { kiosk, browser, _ in
                try await browser.click("#set-yearlyGoal")
                try await browser.type("24" + Keys.enter)
                try await browser.wait("the message", until: "document.querySelector('.toast')")
                let settings = try await kiosk.ask("GET", "/api/settings")
                #expect("\(settings ?? "")".contains("24"))
                try await browser.click("#single-keys")
                try await browser.reload()
                try await browser.ready()
                try await browser.wait("kept", until: "document.getElementById('single-keys')?.checked === false")
                try await browser.driver.run("document.activeElement.blur()")
                try await browser.type("l")
                try await browser.type(Keys.tab)
                #expect(try await browser.value("location.pathname") == "/settings")
                try await browser.click("#single-keys")
                try await browser.driver.run("document.activeElement.blur()")
                try await browser.type("l")
                try await browser.wait("the library", until: "location.pathname === '/library'")
            }
        }

        // MARK: Helpers

        /// Opens a page with a book that is being read, at page 145 of 382, and has a note.
        private func reading(
            _ page: String, on screen: Browser.Screen = .laptop,
            _ body: (KioskProcess, Browser, String) async throws -> Void
        ) async throws {
            try await visit(
                page, on: screen,
                prepare: { kiosk in
                    try await kiosk.scan(
                        "library", "add", "--title", "The Dispossessed", "--author", "Ursula K. Le Guin", "--pages",
                        "382")
                    try await kiosk.scan("reading", "page", "The Dispossessed", "145")
                    try await kiosk.scan("note", "add", "The Dispossessed", "A wall, and what it shuts out.")
                    return try await kiosk.book("Dispossessed")
                }, body)
        }

        private func started(_ kiosk: KioskProcess, _ id: String) async throws -> String {
            let readings = try await book(kiosk, id)["readings"] as? [[String: Any]]
            return try #require(readings?.first?["started"] as? String)
        }

        private func book(_ kiosk: KioskProcess, _ id: String) async throws -> [String: Any] {
            try #require(try await kiosk.ask("GET", "/api/books/\(id)") as? [String: Any])
        }
    }
}
