import Foundation
import Testing

extension `In a browser` {
    /// A household at a touch screen of 800 x 480 pixels, without keyboard and mouse. Every touch must hit an element
    /// of at least 44 pixels that nothing covers.
    @Suite struct `With a finger alone` {
        @Test func `a person adds a book, finds it, reads it and keeps what they think of it`() async throws {
            try await visit("home", excused: [" 422 "]) { kiosk, browser, _ in
                try await browser.withTouchScreen {
                    try await addByHand(browser)
                    let address = try #require(try await browser.value("location.pathname", as: String.self))
                    try await findAndStart(browser)
                    try await read(browser)
                    try await annotate(browser)
                    try await sort(browser)
                    try await finish(browser)
                    try await deleteAndRestore(browser)
                    let book = try #require(try await kiosk.ask("GET", "/api" + address) as? [String: Any])
                    #expect(book["title"] as? String == "Persuasion" && book["pageCount"] as? Int == 249)
                    #expect(book["shelf"] as? String == "attic 2" && book["tags"] as? [String] == ["classics"])
                    #expect(book["rating"] as? Double == 4 && book["status"] as? String == "read")
                    let reading = (book["readings"] as? [[String: Any]])?.first
                    #expect((reading?["finished"] as? String)?.hasSuffix("-01") == true)
                }
            }
        }

        @Test func `a person types a number at the shelf, saves its book, sets a goal and sees the year's figures`()
            async throws
        {
            try await visit("home") { kiosk, browser, _ in
                try await browser.withTouchScreen {
                    try await browser.touch("#tabs [href='/scan']")
                    try await browser.wait("Scan", until: "location.pathname === '/scan'")
                    try await browser.ready()
                    try await browser.touch("#keypad-open")
                    for digit in "9780141439518" { try await browser.touch("[data-digit='\(digit)']") }
                    try await browser.touch("#keypad-take")
                    try await browser.wait(
                        "the book",
                        until: "document.querySelector('#card [data-slot=title]').textContent.startsWith('Pride')")
                    try await browser.ready()
                    try await browser.touch("#save-all")
                    try await browser.wait("saved", until: "document.querySelector('#card.look-done #card-book')")
                    #expect(try await kiosk.titles() == ["Pride and prejudice"])

                    try await browser.touch("#tabs [href='/settings']")
                    try await browser.wait("Settings", until: "document.querySelector('#set-yearlyGoal')")
                    try await browser.ready()
                    try await browser.touch("#set-yearlyGoal", andType: "24")
                    try await browser.wait("the message", until: "document.querySelector('.toast')")

                    try await browser.touch("#tabs [href='/stats']")
                    try await browser.wait("Stats", until: "location.pathname === '/stats'")
                    try await browser.ready()
                    #expect(
                        try await browser.value("document.querySelector('main').innerText.includes('of 24')") == true)
                }
            }
        }

        private func addByHand(_ browser: Browser) async throws {
            try await browser.touch(".home [href='/add']")
            try await browser.wait(
                "the form", until: "document.querySelector('#form') && document.body.hasAttribute('data-hears-keys')")
            try await browser.touch("#title")
            try await browser.touchKeys("Persuasion")
            try await browser.touch(".person input")
            try await browser.touchKeys("Jane Austen")
            try await browser.touch("#details > summary")
            try await browser.touch("#pageCount")
            try await browser.touchKeys("249")
            try await browser.touchKey("hide")
            try await browser.touch(".save .primary")
            try await browser.wait("the book", until: "location.pathname.startsWith('/books/')")
            try await browser.ready()
        }

        private func findAndStart(_ browser: Browser) async throws {
            try await browser.touch("#tabs [href='/library']")
            try await browser.wait("the library", until: "document.querySelector('#q') !== null")
            try await browser.ready()
            try await browser.touch("#q")
            try await browser.touchKeys("persu")
            try await browser.wait("one book", until: "document.querySelectorAll('.hit mark').length === 1")
            try await browser.touchKey("enter")
            try await browser.touch(".hit .status")
            try await browser.touch("#statuses [data-status=reading]")
            try await browser.wait("reading", until: "document.querySelector('.hit[data-status=reading]')")
            try await browser.touch(".hit .name")
            try await browser.wait("the book", until: "document.querySelector('#update-page')")
            try await browser.ready()
        }

        private func read(_ browser: Browser) async throws {
            try await browser.touch("#update-page", andType: "50")
            try await browser.wait("page 50", until: "document.querySelector('.reached').textContent.startsWith('50 ')")
            try await browser.touch("[data-start]")
            try await browser.touch("[data-stop]", andType: "60")
            // The session was shorter than a minute.
            try await browser.wait("a way out", until: "!document.querySelector('#force-session').hidden")
            try await browser.touch("#force-session")
            try await browser.wait("page 60", until: "document.querySelector('.reached').textContent.startsWith('60 ')")
        }

        private func annotate(_ browser: Browser) async throws {
            try await browser.touch("#add-note")
            try await browser.touchKeys("Half agony, half hope")
            try await browser.touch("#note-sheet .primary")
            try await browser.wait(
                "a note", until: "document.querySelector('#notes .text')?.textContent === 'Half agony, half hope'")
            try await browser.touch("#add-quote")
            try await browser.touchKeys("You pierce my soul.")
            try await browser.touch("#quote-page", andType: "223")
            try await browser.wait(
                "a quote", until: "document.querySelector('#quotes .text')?.textContent === 'You pierce my soul.'")
        }

        private func sort(_ browser: Browser) async throws {
            try await browser.touch("#add-tag", andType: "classics")
            try await browser.wait("a tag", until: "document.querySelector('#tags a')?.textContent === 'classics'")
            try await browser.touch("#edit-shelf", andType: "attic 2")
            try await browser.wait("a shelf", until: "document.querySelector('#edit-shelf').textContent === 'attic 2'")
            try await browser.touch("#star-4")
            try await browser.wait(
                "four stars", until: "document.querySelector('#star-4').getAttribute('aria-pressed') === 'true'")
        }

        private func finish(_ browser: Browser) async throws {
            try await browser.touch("#status-read")
            try await browser.wait(
                "read", until: "document.querySelector('#status-read').getAttribute('aria-pressed') === 'true'")
            // A month ago to the first of this month.
            try await choose("started", isEarlier: true, browser)
            try await choose("finished", isEarlier: false, browser)
        }

        private func choose(_ field: String, isEarlier: Bool, _ browser: Browser) async throws {
            try await browser.touch("#details [data-field=\(field)]")
            try await browser.wait("the calendar", until: "document.querySelector('#date-sheet').open")
            if isEarlier { try await browser.touch("#date-back") }
            try await browser.touch("#date-grid [data-day$='-01']")
            try await browser.touch("#date-save")
            try await browser.wait("saved", until: "!document.querySelector('#date-sheet').open")
            // Until the page shows the day, its parts may still move.
            try await browser.wait(
                "the day", until: "document.querySelector('#details [data-field=\(field)]').textContent.includes('1 ')")
            try await browser.ready()
        }

        private func deleteAndRestore(_ browser: Browser) async throws {
            try await browser.touch("#delete-book")
            try await browser.touch("#restore")
            try await browser.wait("back", until: "document.querySelector('#delete-book')")
        }
    }
}
