import Foundation
import Testing

extension `In a browser` {
    /// The list of captured books, and the acts beside it.
    @Suite struct `The list on the Scan page` {
        private static let pride = "9780141439518", left = "9780441478125", things = "9780385474542"

        @Test func `has one Undo, for the last act, and skips the book in the card under another name and key`()
            async throws
        {
            try await visit { kiosk, browser, _ in
                try await kiosk.capture(Self.pride)
                try await browser.wait("the card", until: "document.getElementById('card-save')")
                try await browser.type(Keys.enter)
                try await browser.wait("saved", until: "document.getElementById('undo-act')")
                let undos = """
                    [...document.querySelectorAll("main button")].filter((one) => one.checkVisibility() && /undo/i.test(one.innerText)).length
                    """
                #expect(try await browser.value(undos) == 1)
                try await kiosk.capture(Self.left)
                try await browser.wait("the next card", until: "document.getElementById('card-skip')")
                #expect(try await browser.text(of: "#card-skip") == "Skip")
                #expect(try await browser.value(undos) == 1)
                try await browser.type("u")
                try await browser.wait(
                    "both open", until: "document.querySelectorAll('#rows [aria-checked=true]').length === 2")
                #expect(try await kiosk.titles() == [])
                try await browser.click("#row-\(try #require(await kiosk.rows().first?["id"] as? String)) a")
                try await browser.type(Keys.delete)
                try await browser.wait("skipped", until: "document.querySelectorAll('#rows > li').length === 1")
                try await browser.type("u")
                try await browser.wait("again", until: "document.querySelectorAll('#rows > li').length === 2")
            }
        }

        @Test func `keeps the focus on a box that a person clears`() async throws {
            try await visit { kiosk, browser, _ in
                for isbn in [Self.left, Self.things] { try await kiosk.capture(isbn) }
                try await browser.wait(
                    "two ticked", until: "document.querySelectorAll('#rows [aria-checked=true]').length === 2")
                // The list may be replaced at any moment, so the box is found and clicked in one step.
                try await browser.driver.run(
                    """
                    const box = document.querySelector("#rows > li:last-of-type .tick");
                    box.focus();
                    box.click();
                    """)
                try await browser.wait("cleared", until: "document.querySelector('#rows [aria-checked=false]')")
                let hasFocus = "document.activeElement === document.querySelector('#rows [aria-checked=false]')"
                #expect(try await browser.value(hasFocus) == true)
            }
        }

        @Test func `waits 0.8 s from one fetch to the next while one book is captured after another`() async throws {
            try await visit { kiosk, browser, _ in
                // No time passes for the page, so a fetch that follows another waits for the whole time. The time is a
                // whole number, so that sums with it are exact.
                let freeze = """
                    ((now, later) => {
                      window.waits = [];
                      performance.now = () => now;
                      window.setTimeout = (act, wait) => { waits.push(wait); return later(act, wait); };
                      return true;
                    })(Math.ceil(performance.now()), setTimeout)
                    """
                #expect(try await browser.value(freeze) == true)
                for count in 1...3 {
                    try await kiosk.capture(Self.left)
                    try await browser.wait(
                        "row \(count)", until: "document.querySelectorAll('#rows > li[id]').length === \(count)")
                }
                #expect(try await browser.value("waits.filter((wait) => wait === 800).length >= 2") == true)
            }
        }

        @Test func `shows a question about a book with all its buttons on a low screen`() async throws {
            try await visit { kiosk, browser, _ in
                try await browser.wait("the notice", until: "document.querySelector('#news button')")
                try await browser.click("#news button")
                for _ in 1...2 { try await kiosk.capture(Self.left) }
                try await browser.wait("the question", until: "document.getElementById('card-copy')")
                let room: Double? = try await browser.value(
                    "((card, button) => card.bottom - button.bottom)"
                        + "(...['card', 'card-copy'].map((id) => document.getElementById(id).getBoundingClientRect()))")
                #expect(try #require(room) > 0)
                // The button that unfolds the preset says for which books it is, so the preset does not repeat it.
                try await browser.click("#preset-open")
                #expect(try await browser.value("document.querySelector('#preset .scope').checkVisibility()") == false)
            }
        }

        @Test func `breaks no word of its buttons on a phone`() async throws {
            try await visit("home", on: .phone) { kiosk, browser, _ in
                try await browser.speak("de")
                try await browser.open(kiosk.address + "/scan")
                try await browser.ready()
                // A range over a whole word has one rectangle for each line that the word is on.
                let broken = """
                    [...document.querySelectorAll(".ways > :not(.quiet)")].flatMap((one) => [...one.childNodes]).filter((node) => node.nodeType === 3)
                      .flatMap((node) => [...node.data.matchAll(/\\S+/g)].filter((word) => {
                        const range = document.createRange();
                        range.setStart(node, word.index);
                        range.setEnd(node, word.index + word[0].length);
                        return range.getClientRects().length > 1;
                      })).map((word) => word[0]).join()
                    """
                #expect(try await browser.value(broken) == "")
            }
        }

        @Test func `puts saved books below the open ones, and clears them with one press`() async throws {
            let own = { (kiosk: KioskProcess) in
                try await kiosk.scan("--isbn", Self.things, "--yes", "--shelf", "Bedroom 1")
                return ""
            }
            try await visit(prepare: own) { kiosk, browser, _ in
                for isbn in [Self.left, Self.things, Self.pride] { try await kiosk.capture(isbn) }
                try await browser.wait("the card", until: "document.getElementById('card-save')")
                // The shelf of an owned book is in its row and on its card.
                try await browser.wait(
                    "its shelf",
                    until: "document.querySelector('#rows .look-owned small')?.textContent === 'owned, Bedroom 1'")
                try await browser.click("#rows .look-owned a")
                try await browser.wait(
                    "its card", until: "document.querySelector('#card.look-owned')?.textContent.includes('Bedroom 1')")
                try await browser.click("#save-all")
                let looks =
                    "[...document.querySelectorAll('#rows > li')].map((row) => row.className.split(' ')[0]).join()"
                try await browser.wait("the order", until: "\(looks) === 'look-owned,divider,look-done,look-done'")
                try await browser.expectFit("saved-rows")
                try await browser.expectAccess("saved-rows")
                try await browser.click("#clear-saved")
                try await browser.wait("cleared", until: "\(looks) === 'look-owned'")
                #expect(try await kiosk.titles().count == 3)
                try await browser.reload()
                try await browser.ready()
                #expect(try await browser.value(looks) == "look-owned")
                try await browser.click("#undo-act")
                try await browser.wait("open again", until: "document.querySelectorAll('#rows > li').length === 3")
                #expect(try await kiosk.titles().count == 1)
            }
        }

        @Test(arguments: [Browser.Screen.shelf, .laptop, .phone])
        func `has the room of the picture where there is no camera`(_ screen: Browser.Screen) async throws {
            try await visit(on: screen) { kiosk, browser, _ in
                for isbn in [Self.left, Self.things, Self.pride] { try await kiosk.capture(isbn) }
                try await browser.wait("three", until: "document.querySelectorAll('#rows > li').length === 3")
                // The line says how to scan without a camera, on the page's own background.
                #expect(try await browser.text(of: "#no-picture")?.contains("No camera here: type an ISBN") == true)
                #expect(
                    try await browser.value(
                        "getComputedStyle(document.getElementById('picture')).backgroundColor") == "rgba(0, 0, 0, 0)")
                #expect(try await browser.value("document.getElementById('picture').offsetHeight < 90") == true)
                if screen.width > 640 {
                    let top = "document.querySelector('main').getBoundingClientRect().top"
                    #expect(
                        try await browser.value(
                            "document.querySelector('.list').getBoundingClientRect().top - \(top) < 24") == true)
                }
                // The keypad takes the place of the picture or the card, and never covers the list.
                try await browser.click("#keypad-open")
                let isApart = """
                    ((pad, list) => pad.height > 150 && (pad.right <= list.left || pad.bottom <= list.top))
                      (document.getElementById("keypad").getBoundingClientRect(), document.querySelector(".list").getBoundingClientRect())
                    """
                #expect(try await browser.value(isApart) == true)
                try await browser.keepPicture("blind-keypad-\(screen.width)x\(screen.height)")
                try await browser.click("[data-keypad=close]")
                try await browser.expectFit("blind")
            }
        }
    }
}
