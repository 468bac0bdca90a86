import Foundation
import Testing

/// Handheld scanners of every kind, on every page: they save, rate and select nothing, and no number is lost.
extension `In a browser` {
    @Suite struct `A handheld scanner` {
        private static let pride = "9780141439518", left = "9780441478125", things = "9780385474542"
        private static let cardOfLeft =
            "document.querySelector('#card [data-slot=title]')?.textContent.includes('Left Hand') "
            + "&& document.getElementById('card-save')"

        /// A kind of scanner: the milliseconds between its keys, and the keys after a number.
        struct Kind: Sendable, CustomTestStringConvertible {
            let pause: Int
            let end: String
            let name: String

            static let all = [0, 20, 60, 120, 200].flatMap { pause in
                [("Enter", Keys.enter), ("Enter twice", Keys.enter + Keys.enter), ("Tab", Keys.tab), ("nothing", "")]
                    .map { Kind(pause: pause, end: $0.1, name: $0.0) }
            }

            var testDescription: String { "\(pause) ms a key, ends with \(name)" }
        }

        @Test(arguments: Kind.all) func `captures its number without saving the previous book`(
            _ kind: Kind
        ) async throws {
            try await visit { kiosk, browser, _ in
                try await kiosk.capture(Self.left)
                try await browser.wait("the card", until: Self.cardOfLeft)
                try await browser.type(Self.pride + kind.end, pause: kind.pause)
                try await browser.wait("two rows", until: "document.querySelectorAll('#rows > li').length === 2")
                #expect(Set(try await isbns(kiosk)) == [Self.left, Self.pride])
                #expect(try await kiosk.titles() == [])
            }
        }

        @Test(arguments: [5, 60, 120, 200]) func `never rates a book, however slow it is, but a single digit does`(
            _ pause: Int
        ) async throws {
            try await visit("books/BOOK", prepare: book) { kiosk, browser, id in
                try await browser.type(Self.things + Keys.enter, pause: pause)
                try await browser.wait("captured", until: "document.querySelector('.toast a[href=\"/scan\"]')")
                #expect(try await isbns(kiosk) == [Self.things])
                #expect(try await rating(id, kiosk) == nil)
                try await browser.type("53", pause: 100)
                // A key without effect, to let time pass.
                try await browser.type(Keys.shift, pause: 400)
                try await browser.type("4", pause: 700)
                try await browser.wait("four stars", until: "document.querySelector('.toast button[data-key=u]')")
                #expect(try await rating(id, kiosk) == 4)
            }
        }

        @Test func `an ISBN-10 may end with an X without selecting books`() async throws {
            try await visit("library") { kiosk, browser, _ in
                try await browser.type("080442957X", pause: 120)
                try await browser.wait("captured", until: "document.querySelector('.toast a[href=\"/scan\"]')")
                #expect(try await isbns(kiosk) == ["9780804429573"])
                #expect(try await browser.value("document.getElementById('bulk').hidden") == true)
            }
        }

        @Test func `only numbers are taken from a field, and all other bursts stay in it as they were typed`()
            async throws
        {
            try await visit("library") { kiosk, browser, _ in
                let words = [
                    "Science fiction to lend", "Wüstenplanet", "sincerely yours, Anna 4711", "anna.1984@example.org",
                    "asin/B00K0IAZ6Y", "https://example.org/quiet", "2026-11-26",
                ]
                for text in words {
                    try await browser.open(kiosk.address + "/library")
                    try await browser.ready()
                    try await browser.click("#q")
                    try await browser.type(text + Keys.enter, pause: 5)
                    try await browser.wait("\(text) stays", until: "document.getElementById('q').value === '\(text)'")
                    #expect(try await browser.value("document.querySelector('.toast') === null") == true, "\(text)")
                }
                #expect(try await isbns(kiosk) == [])
                let numbers = [
                    ("978043902352851299", "9780439023528"), ("urn:isbn:0-14-143951-3", Self.pride),
                    ("https://example.org/isbn/9780441478125", Self.left), ("ISBN 978-0-385-47454-2", Self.things),
                    // A wrong number is refused, but it is not left in the field either.
                    ("9780141439519", nil),
                ]
                for (text, _) in numbers {
                    try await browser.open(kiosk.address + "/library")
                    try await browser.ready()
                    try await browser.click("#q")
                    try await browser.type(text + Keys.enter, pause: 5)
                    try await browser.wait("\(text) is announced", until: "document.querySelector('.toast') !== null")
                    #expect(try await browser.value("document.getElementById('q').value") == "", "\(text)")
                }
                #expect(Set(try await isbns(kiosk)) == Set(numbers.compactMap(\.1)))
            }
        }

        @Test func `digits that a person types on the Scan page go to the keypad, and Enter after them saves nothing`()
            async throws
        {
            try await visit { kiosk, browser, _ in
                try await kiosk.capture(Self.left)
                try await browser.wait("the card", until: Self.cardOfLeft)
                try await browser.type("97" + Keys.enter, pause: 150)
                try await browser.wait("the keypad", until: "!document.getElementById('keypad').hidden")
                #expect(try await kiosk.titles() == [])
                try await browser.type(String(Self.pride.dropFirst(2)), pause: 100)
                try await browser.wait("right", until: "!document.getElementById('keypad-take').disabled")
                try await browser.type(Keys.enter)
                try await browser.wait("two rows", until: "document.querySelectorAll('#rows > li').length === 2")
                #expect(try await kiosk.titles() == [])
            }
        }

        @Test func `a key that leads to the Scan page leaves the keypad closed`() async throws {
            try await visit("library") { _, browser, _ in
                try await browser.type("s")
                try await browser.wait("the Scan page", until: "document.getElementById('keypad')")
                try await browser.ready()
                #expect(try await browser.value("document.getElementById('keypad').hidden") == true)
            }
        }

        @Test func `is not lost while the station is offline, even if the tab is closed`() async throws {
            try await visit("library", excused: ["net::ERR_"]) { kiosk, browser, _ in
                try await browser.wait("it knows the run", until: "document.querySelector('#lamps > *')")
                kiosk.kill()
                for isbn in [Self.pride, Self.left] { try await browser.type(isbn + Keys.enter, pause: 5) }
                try await browser.wait(
                    "two wait", until: "document.getElementById('news').textContent.includes('2 numbers are waiting')")
                try await browser.open("about:blank")
                let second = try await KioskProcess(home: kiosk.home, port: kiosk.port)
                defer { second.remove() }
                try await browser.open(second.address + "/home")
                try await browser.wait(
                    "both are announced", until: "document.querySelector('.toast a[href=\"/scan\"]')")
                try await browser.isEmptied()
                #expect(Set(try await isbns(second)) == [Self.pride, Self.left])
                #expect(try await isbns(second).count == 2)
            }
        }

        @Test func `a number is captured even if the browser can keep nothing, and the page stays until then`()
            async throws
        {
            try await visit("home", excused: ["net::ERR_"]) { kiosk, browser, _ in
                try await browser.wait("it knows the run", until: "document.querySelector('#lamps > *')")
                // The number is not sent again before the page hears of the new station, which would then have it.
                try await browser.driver.run(
                    """
                    IDBDatabase.prototype.transaction = () => { throw new DOMException('', 'QuotaExceededError'); };
                    const later = window.setTimeout;
                    window.setTimeout = (act, wait) => act.name === 'send' ? 0 : later(act, wait);
                    """)
                kiosk.kill()
                try await browser.scan(Self.pride)
                try await browser.wait(
                    "it waits", until: "document.getElementById('news').textContent.includes('1 number is waiting')")
                let second = try await KioskProcess(home: kiosk.home, port: kiosk.port)
                defer { second.remove() }
                try await browser.wait(
                    "the page stays", until: "document.querySelector('#news [data-name=restarted]')")
                try await browser.wait(
                    "nothing waits", until: "document.querySelector('#news [data-name=kept]') === null")
                #expect(try await isbns(second) == [Self.pride])
            }
        }

        @Test func `a number that an earlier version of the pages has kept is captured`() async throws {
            try await visit("home") { kiosk, browser, _ in
                let key = "bookplate.kept.01a21daf-77f8-7cf6-8c84-0ea7ebd7c357.typed"
                try await browser.driver.run("localStorage.setItem(arguments[0], arguments[1])", [key, Self.pride])
                try await browser.reload()
                try await browser.ready()
                try await browser.wait("it is announced", until: "document.querySelector('.toast a[href=\"/scan\"]')")
                #expect(try await kiosk.rows().map { $0["origin"] as? String } == ["typed"])
                #expect(try await browser.value("localStorage.getItem('\(key)') === null") == true)
            }
        }

        @Test func `a number typed on the keypad is not lost while the station is offline`() async throws {
            try await visit("scan", excused: ["net::ERR_"]) { kiosk, browser, _ in
                try await browser.wait("it knows the run", until: "document.querySelector('#lamps > *')")
                try await browser.click("#keypad-open")
                try await browser.type(Self.pride, pause: 100)
                try await browser.wait("right", until: "!document.getElementById('keypad-take').disabled")
                kiosk.kill()
                try await browser.type(Keys.enter)
                try await browser.wait(
                    "it waits", until: "document.getElementById('news').textContent.includes('1 number is waiting')")
                #expect(try await browser.value("document.getElementById('typed').value") == "")
                try await browser.open("about:blank")
                let second = try await KioskProcess(home: kiosk.home, port: kiosk.port)
                defer { second.remove() }
                try await browser.open(second.address + "/scan")
                try await browser.wait("its row", until: "document.querySelectorAll('#rows > li').length === 1")
                let row = try #require(await second.rows().first)
                #expect(row["isbn13"] as? String == Self.pride && row["origin"] as? String == "typed", "\(row)")
                try await browser.isEmptied()
            }
        }

        @Test func `digits typed by touch survive a restart of the station`() async throws {
            try await visit("scan", excused: ["net::ERR_"]) { kiosk, browser, _ in
                try await browser.wait("it knows the run", until: "document.querySelector('#lamps > *')")
                try await browser.click("#keypad-open")
                for digit in "978014143" { try await browser.click("[data-digit='\(digit)']") }
                try await browser.wait("hyphens", until: "document.getElementById('typed').value === '978-0-14-143'")
                try await browser.driver.run("window.isOld = true")
                kiosk.kill()
                let second = try await KioskProcess(home: kiosk.home, port: kiosk.port)
                defer { second.remove() }
                try await browser.wait(
                    "the page is loaded again", until: "!window.isOld && document.body.dataset.connected === ''")
                try await browser.wait("the digits", until: "document.getElementById('typed').value === '978-0-14-143'")
                for digit in "9518" { try await browser.click("[data-digit='\(digit)']") }
                try await browser.wait("right", until: "!document.getElementById('keypad-take').disabled")
                try await browser.click("#keypad-take")
                try await browser.wait("its row", until: "document.querySelectorAll('#rows > li').length === 1")
                #expect(try await isbns(second) == [Self.pride])
                try await browser.wait("the keypad is empty", until: "document.getElementById('typed').value === ''")
                try await browser.reload()
                try await browser.ready()
                #expect(try await browser.value("document.getElementById('keypad').hidden") == true)
            }
        }

        @Test func `the keypad is empty after a capture, even if the hyphens came meanwhile`() async throws {
            try await visit("scan") { kiosk, browser, _ in
                // Keeps these two requests until the test lets them go.
                try await browser.driver.run(
                    """
                    const send = window.fetch;
                    window.held = {};
                    window.fetch = (...request) => {
                      const path = String(request[0]).split("?")[0];
                      if (!["/api/isbn", "/api/station/captures"].includes(path)) return send(...request);
                      return new Promise((resolve) => { window.held[path] = () => resolve(send(...request)); });
                    };
                    """)
                try await browser.click("#keypad-open")
                try await browser.type(Self.pride, pause: 100)
                try await browser.click("#keypad-take")
                try await browser.wait("the capture", until: "window.held['/api/station/captures']")
                try await browser.driver.run("window.held['/api/isbn']()")
                try await browser.wait("hyphens", until: "document.getElementById('typed').value.includes('-')")
                try await browser.driver.run("window.held['/api/station/captures']()")
                try await browser.wait("it is empty", until: "document.getElementById('typed').value === ''")
                #expect(try await isbns(kiosk) == [Self.pride])
            }
        }

        // MARK: Drafts

        @Test func `a note that is being typed survives Esc and a restart of the station`() async throws {
            try await visit("books/BOOK", excused: ["net::ERR_"], prepare: book) { kiosk, browser, _ in
                let isOpen = "document.querySelector('#note-sheet[open]')"
                try await browser.type("n")
                try await browser.wait("the sheet", until: isOpen)
                try await browser.type("half a " + Keys.escape)
                try await browser.wait("shut", until: "!\(isOpen)")
                try await browser.type("n")
                try await browser.wait("the sheet again", until: isOpen)
                kiosk.kill()
                let second = try await KioskProcess(home: kiosk.home, port: kiosk.port)
                defer { second.remove() }
                try await browser.wait(
                    "the restart is announced", until: "document.querySelector('#news [data-name=restarted] button')")
                try await browser.type("thought")
                #expect(try await browser.value("document.getElementById('note-text').value") == "half a thought")
                try await browser.click("#note-sheet .primary")
                try await browser.wait("saved", until: "document.body.textContent.includes('half a thought')")
                #expect(try await browser.value("document.getElementById('note-text').value") == "")
            }
        }

        @Test func `an unsaved new book is offered again until it is saved`() async throws {
            try await visit("add") { kiosk, browser, _ in
                let offer = "document.querySelector('#news [data-name=draft] button')"
                try await browser.click("#title")
                try await browser.type("A Long Way")
                try await browser.open(kiosk.address + "/home")
                try await browser.open(kiosk.address + "/add")
                try await browser.wait("the offer", until: offer)
                try await browser.click("#news [data-name=draft] button")
                #expect(try await browser.value("document.getElementById('title').value") == "A Long Way")
                try await browser.click(".save .primary")
                try await browser.wait("saved", until: "location.pathname.startsWith('/books/')")
                try await browser.open(kiosk.address + "/add")
                #expect(try await kiosk.titles() == ["A Long Way"])
                #expect(try await browser.value("sessionStorage.getItem('bookplate.add') === null") == true)
            }
        }

        // MARK: Keys and messages

        @Test func `u shows the last change of any screen, u again undoes it, and both say if there is none`()
            async throws
        {
            // Undoing a scanned book would return its number to the queue, which could be undone too.
            let add = { (kiosk: KioskProcess) in
                try await kiosk.scan("library", "add", "--title", "Middlemarch")
                return ""
            }
            try await visit("library", prepare: add) { kiosk, browser, _ in
                try await browser.type("u")
                try await browser.wait(
                    "shown", until: "document.querySelector('.toast')?.textContent.includes('Middlemarch')")
                #expect(try await kiosk.titles() == ["Middlemarch"])
                try await browser.type("u")
                try await browser.wait(
                    "taken back", until: "document.querySelector('.toast')?.textContent.includes('Undone')")
                #expect(try await kiosk.titles() == [])
                try await browser.click(".toast [data-redo]")
                try await browser.wait(
                    "redone", until: "document.querySelector('.toast')?.textContent.includes('Redone')")
                #expect(try await kiosk.titles() == ["Middlemarch"])
                try await browser.open(kiosk.address + "/scan")
                try await browser.ready()
                try await browser.type("u")
                try await browser.wait(
                    "nothing there", until: "document.querySelector('.toast')?.textContent.includes('nothing to undo')")
            }
        }

        @Test func `the first arrow key on the Library page moves to the first book, and x selects it`() async throws {
            try await visit("library", prepare: book) { _, browser, _ in
                try await browser.type(Keys.down)
                #expect(try await browser.value("document.activeElement.matches('.hit:first-child .name')") == true)
                try await browser.driver.run("document.activeElement.blur()")
                try await browser.type("x")
                try await browser.wait("chosen", until: "document.querySelector('.hit:first-child .pick:checked')")
            }
        }

        @Test(arguments: [Browser.Screen.shelf, .phone])
        func `saving all is announced in one line that covers no button`(
            _ screen: Browser.Screen
        ) async throws {
            try await visit(on: screen) { kiosk, browser, _ in
                for isbn in [Self.pride, Self.left, Self.things] { try await kiosk.capture(isbn) }
                try await browser.wait(
                    "three ticked", until: "document.querySelectorAll('#rows [aria-checked=true]').length === 3")
                try await browser.click("#save-all")
                try await browser.wait(
                    "announced", until: "document.querySelector('.toast')?.textContent.includes('3 saved')")
                try await browser.wait(
                    "said", until: "document.getElementById('announcement').textContent === '3 saved.'")
                let isOver = try await browser.value(
                    """
                    ((toast) => [...document.querySelectorAll("main button")].filter((one) => one.checkVisibility())
                      .map((one) => one.getBoundingClientRect())
                      .some(({ top, bottom, left, right }) => top < toast.bottom && bottom > toast.top && left < toast.right && right > toast.left))
                      (document.querySelector(".toast").getBoundingClientRect())
                    """, as: Bool.self)
                #expect(isOver == false)
                try await browser.click(".toast button")
                try await browser.wait(
                    "three again", until: "document.querySelectorAll('#rows [aria-checked=true]').length === 3")
                #expect(try await kiosk.titles() == [])
            }
        }

        @Test func `a frozen picture is announced`() async throws {
            try await visit(options: ["--frames", "-"]) { kiosk, browser, _ in
                try kiosk.show("desk-1280x720.mjpeg")
                try await browser.wait("the preview", until: "document.getElementById('preview').naturalWidth === 1280")
                try await browser.wait(
                    "announced", until: "document.getElementById('picture').classList.contains('is-still')")
            }
        }

        // MARK: Helpers

        private func isbns(_ kiosk: KioskProcess) async throws -> [String] {
            try await kiosk.rows().compactMap { $0["isbn13"] as? String }
        }

        private func book(_ kiosk: KioskProcess) async throws -> String {
            try await kiosk.scan("--isbn", Self.pride, "--yes")
            return try await kiosk.book("Pride")
        }

        private func rating(_ id: String, _ kiosk: KioskProcess) async throws -> Double? {
            (try await kiosk.ask("GET", "/api/books/\(id)") as? [String: Any])?["rating"] as? Double
        }
    }
}
