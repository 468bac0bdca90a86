import Foundation
import Testing

extension `In a browser` {
    /// The keyboard of the pages, on a touch screen of 800 x 480 pixels.
    @Suite struct `The keyboard of the pages` {
        @Test func `types a search, whose results come with every letter`() async throws {
            try await visit("library", prepare: Self.twoBooks) { _, browser, _ in
                try await browser.withTouchScreen {
                    try await browser.touch("#q")
                    try await browser.touchKeys("eartg")
                    try await browser.touchKey("back")
                    try await browser.touchKeys("h")
                    #expect(try await browser.value("document.getElementById('q').value") == "earth")
                    try await browser.wait("one book", until: "document.querySelectorAll('.hit').length === 1")
                    #expect(try await Self.isFieldVisible(browser))
                    try await browser.expectAccess("the keyboard")
                    // The field keeps the focus; Enter searches and makes room for the results.
                    #expect(try await browser.value("document.activeElement.id") == "q")
                    try await browser.touchKey("enter")
                    try await browser.wait("no keyboard", until: Browser.isKeyboardHidden)
                    try await browser.touch("#q")
                    try await browser.wait("the keyboard again", until: Browser.isKeyboardShown)
                    try await browser.touchKey("hide")
                    try await browser.wait("no keyboard", until: Browser.isKeyboardHidden)
                }
            }
        }

        @Test func `adds a book by hand, with capitals, accents, digits and an ISBN`() async throws {
            try await visit("add") { kiosk, browser, _ in
                try await browser.withTouchScreen {
                    try await browser.touch("#title")
                    try await browser.touchKeys("l")
                    // The first letter is a capital, and a held key offers its variants.
                    try await browser.touch("#keyboard [data-char=e]", isHeld: true)
                    try await browser.touch("#keyboard .more [data-char=é]")
                    try await browser.touchKeys("a 1.5")
                    #expect(try await browser.value("document.getElementById('title').value") == "Léa 1.5")
                    try await browser.touch("#isbnText")
                    try await browser.touchKeys("080442957X")
                    #expect(try await browser.value("document.getElementById('isbnText').value") == "080442957X")
                    try await browser.touch(".save .primary")
                    try await browser.wait("the book", until: "location.pathname.startsWith('/books/')")
                    try await browser.ready()
                    #expect(try await browser.text(of: "h1") == "Léa 1.5")
                    #expect(try await kiosk.titles() == ["Léa 1.5"])
                }
            }
        }

        @Test func `leaves room for the reason why a sheet is refused`() async throws {
            try await visit("home", prepare: Self.reading) { kiosk, browser, _ in
                try await browser.withTouchScreen {
                    try await browser.touch("[data-act$='/sessions']")
                    try await browser.touch("[data-stop]")
                    try await browser.touchKeys("150")
                    try await browser.touchKey("enter")
                    try await browser.wait(
                        "too short", until: "document.querySelector('#stop-sheet .wrong:not([hidden])')")
                    let room: Double? = try await browser.value(
                        "((wrong, acts) => acts.top - wrong.bottom)(...['.wrong', '.actions']"
                            + ".map((one) => document.querySelector('#stop-sheet ' + one).getBoundingClientRect()))")
                    #expect(try #require(room) >= 0)
                }
            }
        }

        @Test func `stays in the dialog of its field, and Enter sends the form`() async throws {
            try await visit("books/BOOK", prepare: Self.reading) { kiosk, browser, book in
                try await browser.withTouchScreen {
                    try await browser.touch("#update-page")
                    try await browser.wait("the keyboard", until: Browser.isKeyboardShown)
                    #expect(
                        try await browser.value("document.querySelector('#progress-sheet #keyboard') !== null") == true)
                    #expect(
                        try await browser.value("document.querySelector('#keyboard [data-char=a]')") as String? == nil)
                    try await browser.touchKeys("150")
                    #expect(try await Self.isFieldVisible(browser))
                    try await browser.touchKey("enter")
                    try await browser.wait(
                        "saved", until: "document.querySelector('.reached')?.textContent.includes('150')")
                    try await browser.wait("no keyboard", until: Browser.isKeyboardHidden)
                    try await browser.touch("#add-note")
                    try await browser.touchKeys("On the ice")
                    try await browser.touchKey("enter")
                    try await browser.touchKeys("Cold")
                    try await browser.touch("#note-sheet .primary")
                    try await browser.wait(
                        "a note", until: "document.querySelector('#notes .text')?.textContent === 'On the ice\\nCold'")
                }
            }
        }

        @Test func `leaves Save visible below a value that is edited in place`() async throws {
            try await visit("books/BOOK", prepare: Self.reading) { _, browser, _ in
                try await browser.withTouchScreen {
                    for field in ["pageCount", "authors"] {
                        try await browser.touch("#edit-\(field)")
                        try await browser.wait("the keyboard", until: Browser.isKeyboardShown)
                        try await browser.wait(
                            "Save of \(field)",
                            until: "\(Self.edge(".in-place .primary", "bottom")) <= \(Self.edge("#keyboard", "top"))")
                        #expect(try await Self.isFieldVisible(browser), "\(field)")
                        try await browser.touch(".in-place [type=button]")
                    }
                }
            }
        }

        @Test func `has the letters of the page's language in their usual places`() async throws {
            for (language, rows) in [
                ("de", "qwertzuiopü asdfghjklöä ⇧yxcvbnmß⌫"), ("fr", "azertyuiop qsdfghjklm ⇧wxcvbnéèàç⌫"),
                ("en", "qwertyuiop asdfghjkl ⇧zxcvbnm'⌫"),
            ] {
                try await visit("library", prepare: Self.twoBooks) { kiosk, browser, _ in
                    try await browser.speak(language)
                    try await browser.open(kiosk.address + "/library")
                    try await browser.ready()
                    try await browser.withTouchScreen {
                        try await browser.touch("#q")
                        try await browser.wait("the keyboard", until: Browser.isKeyboardShown)
                        let shown: String? = try await browser.value(
                            "[...document.querySelectorAll('#keyboard > div')].slice(0, 3).map((row) => row.textContent).join(' ')"
                        )
                        #expect(shown == rows)
                        let small = try await browser.smallTargets()
                        #expect(small.isEmpty, "\(small)")
                        #expect(try await browser.overhang().isEmpty)
                    }
                }
            }
        }

        @Test func `comes only with a touch, and goes with a real key, but not with a scan`() async throws {
            try await visit("library", prepare: Self.twoBooks) { kiosk, browser, _ in
                try await browser.click("#q")
                try await browser.type("a")
                #expect(try await browser.value(Browser.isKeyboardHidden) == true)
                try await browser.driver.run("sessionStorage.clear()")
                try await browser.withTouchScreen {
                    try await browser.touch("#q")
                    try await browser.wait("the keyboard", until: Browser.isKeyboardShown)
                    try await browser.scan("9780441478125")
                    try await browser.wait("a toast", until: "document.querySelector('.toast')")
                    #expect(try await browser.value(Browser.isKeyboardShown) == true)
                    try await browser.type("b")
                    try await browser.wait("no keyboard", until: Browser.isKeyboardHidden)
                    #expect(try await browser.value("document.activeElement.id") == "q")
                    // The person has a keyboard, so the next touch does not bring another one.
                    try await browser.touch("#q")
                    #expect(try await browser.value(Browser.isKeyboardHidden) == true)
                    // Unless they want it.
                    try await browser.driver.run("localStorage.setItem('bookplate.keyboard', 'always')")
                    try await browser.touch("#q")
                    try await browser.wait("the keyboard", until: Browser.isKeyboardShown)
                    try await browser.open(kiosk.address + "/settings")
                    try await browser.ready()
                    #expect(try await browser.value("document.getElementById('keyboard-choice').value") == "always")
                    try await browser.driver.run(
                        "const choice = document.getElementById('keyboard-choice'); choice.value = 'never'; choice.dispatchEvent(new Event('change'))"
                    )
                    try await browser.driver.run("sessionStorage.clear()")
                    try await browser.touch("#set-dailyGoal")
                    #expect(try await browser.value("document.activeElement.id") == "set-dailyGoal")
                    #expect(try await browser.value(Browser.isKeyboardHidden) == true)
                }
            }
        }

        // MARK: Helpers

        private static func edge(_ selector: String, _ edge: String) -> String {
            "document.querySelector('\(selector)').getBoundingClientRect().\(edge)"
        }

        /// True if the field with the focus is between the head and the keyboard.
        private static func isFieldVisible(_ browser: Browser) async throws -> Bool {
            try await browser.value(
                """
                (() => {
                  const box = document.activeElement.getBoundingClientRect();
                  const top = document.activeElement.closest("dialog") ? 0 : document.querySelector(".bar").getBoundingClientRect().bottom;
                  return box.top >= top && box.bottom <= document.getElementById("keyboard").getBoundingClientRect().top;
                })()
                """) == true
        }

        private static func twoBooks(_ kiosk: KioskProcess) async throws -> String {
            for title in ["A Wizard of Earthsea", "Emma"] {
                try await kiosk.ask("POST", "/api/books", ["title": title])
            }
            return ""
        }

        private static func reading(_ kiosk: KioskProcess) async throws -> String {
            let book: [String: Any] = ["title": "The Left Hand of Darkness", "pageCount": 304, "status": "reading"]
            let added = try await kiosk.ask("POST", "/api/books", book) as? [String: Any]
            return try #require(added?["id"] as? String)
        }
    }
}
