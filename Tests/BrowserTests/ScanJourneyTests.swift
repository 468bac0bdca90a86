import Foundation
import Testing

extension `In a browser` {
    /// Tests of the Scan page without books in front of the camera.
    @Suite struct `At the station` {
        private static let pride = "9780141439518", unknown = "9783161484100"
        private static let saved = "document.querySelector('#card.look-done #card-book')"

        @Test func `a title that is being typed stays while books are captured`() async throws {
            try await visit { kiosk, browser, _ in
                try await kiosk.capture(Self.unknown)
                try await browser.wait("the form", until: "document.querySelector('#card-form:not([hidden])')")
                try await browser.click("#card-title")
                try await browser.type("A Field ")
                try await kiosk.capture(Self.pride)
                try await browser.wait("two rows", until: "document.querySelectorAll('#rows > li').length === 2")
                try await browser.type("Guide")
                #expect(try await browser.value("document.activeElement.id") == "card-title")
                #expect(try await browser.value("document.getElementById('card-title').value") == "A Field Guide")
                // A scanner's number does not end up in the field, and its Enter does not save.
                try await browser.scan("9780441478125")
                try await browser.wait("three rows", until: "document.querySelectorAll('#rows > li').length === 3")
                #expect(try await browser.value("document.getElementById('card-title').value") == "A Field Guide")
                // An Enter so soon after a scan is the scanner's.
                try await browser.type(Keys.shift, pause: 500)
                try await browser.type(Keys.enter)
                try await browser.wait(
                    "saved", until: "document.getElementById('rows').textContent.includes('A Field Guide')")
                #expect(try await kiosk.titles() == ["A Field Guide"])
            }
        }

        @Test func `Enter twice saves one book`() async throws {
            try await visit { kiosk, browser, _ in
                try await kiosk.capture(Self.pride)
                try await browser.wait("the card", until: "document.getElementById('card-save')")
                try await browser.type(Keys.enter + Keys.enter, pause: 0)
                try await browser.wait("saved", until: Self.saved)
                try await browser.type(Keys.enter)
                #expect(try await kiosk.titles() == ["Pride and prejudice"])
            }
        }

        @Test func `the keypad works with keys alone, and distinguishes sheet music from books`() async throws {
            try await visit { kiosk, browser, _ in
                try await browser.type("k")
                try await browser.wait("the keypad", until: "document.querySelector('#keypad:not([hidden])')")
                try await browser.type("9790260000438")
                try await browser.wait(
                    "what it is",
                    until: "document.getElementById('verdict').classList.contains('state-problem') "
                        + "&& document.getElementById('verdict').textContent.includes('ISMN')")
                try await browser.type(Keys.enter)
                #expect(try await kiosk.rows().isEmpty)
                try await browser.type(String(repeating: Keys.back, count: 13))
                try await browser.type("0141439513")
                try await browser.wait("hyphens", until: "document.getElementById('typed').value === '0-14-143951-3'")
                try await browser.wait("right", until: "!document.getElementById('keypad-take').disabled")
                try await browser.type(Keys.enter)
                try await browser.wait("taken", until: "document.querySelectorAll('#rows > li').length === 1")
                try await browser.type(Keys.escape)
                try await browser.wait("closed", until: "document.getElementById('keypad').hidden")
                #expect(try await kiosk.rows().first?["isbn13"] as? String == Self.pride)
            }
        }

        @Test func `on a phone photos come first, and the preset stands above the list`()
            async throws
        {
            try await visit(on: .phone) { kiosk, browser, _ in
                #expect(try await browser.value("document.getElementById('photos').hasAttribute('capture')") == false)
                let order: Bool? = try await browser.value(
                    """
                    ((top) => top(".photos") < top("#preset-open") && top("#preset-open") < top("#card") && top("#card") < top("#rows"))
                      ((name) => document.querySelector(name).getBoundingClientRect().top)
                    """)
                #expect(order == true)
                #expect(try await browser.value("document.getElementById('preset').checkVisibility()") == false)
                try await browser.click("#preset-open")
                #expect(try await browser.value("document.getElementById('preset').checkVisibility()") == true)
                try await browser.click("#preset-shelf")
                try await browser.type("Attic 2" + Keys.enter)
                try await browser.wait(
                    "the line says it", until: "document.getElementById('preset-text').textContent.includes('Attic 2')"
                )
                try await browser.expectFit("scan-presets")
            }
        }

        @Test func `the preset applies to the next books`() async throws {
            try await visit(on: .laptop) { kiosk, browser, _ in
                try await browser.click("#preset-shelf")
                try await browser.type("Attic 2" + Keys.enter)
                try await browser.click("#preset-tag")
                try await browser.type("moved" + Keys.enter)
                try await browser.wait("the tag", until: "document.querySelector('[data-untag=moved]')")
                try await browser.driver.run("document.activeElement.blur()")
                try await browser.scan(Self.pride)
                try await browser.wait("the card", until: "document.getElementById('card-save')")
                try await browser.click("#card-save")
                try await browser.wait("saved", until: Self.saved)
                let id = try await kiosk.book("Pride")
                let book = try await kiosk.ask("GET", "/api/books/\(id)") as? [String: Any]
                #expect(book?["shelf"] as? String == "Attic 2")
                #expect(book?["tags"] as? [String] == ["moved"])
            }
        }

        @Test(arguments: [false, true]) func `the whole screen lights up, unless the user prefers reduced motion`(
            _ isStill: Bool
        ) async throws {
            try await visit(on: Browser.Screen(width: 800, height: 480, isStill: isStill)) { kiosk, browser, _ in
                try await browser.driver.run(
                    """
                    const flash = document.getElementById("flash"), animate = flash.animate;
                    flash.animate = function (...all) { window.flashes = (window.flashes ?? 0) + 1; return animate.apply(this, all); };
                    """)
                try await kiosk.capture(Self.pride)
                try await browser.wait("the card", until: "document.getElementById('card-save')")
                #expect(try await browser.value("window.flashes ?? 0") == (isStill ? 0 : 1))
            }
        }

        @Test func `the Intake page works with keys alone, including undo`() async throws {
            try await visit("intake") { kiosk, browser, _ in
                for isbn in [Self.pride, "9780441478125", "9780385474542"] { try await kiosk.capture(isbn) }
                try await browser.wait("three", until: "document.querySelectorAll('.candidate.look-new').length === 3")
                try await browser.type(Keys.right)
                try await browser.wait("the first", until: "document.activeElement.matches('.candidate')")
                let first: String? = try await browser.value("document.activeElement.id")
                try await browser.type(Keys.space)
                try await browser.wait(
                    "no longer ticked",
                    until: "document.querySelector('#\(first ?? "") .tick').getAttribute('aria-checked') === 'false'")
                #expect(try await browser.value("document.activeElement.id") == first)
                try await browser.type(Keys.right + Keys.delete)
                try await browser.wait("two", until: "document.querySelectorAll('.candidate').length === 2")
                try await browser.type("u")
                try await browser.wait("three again", until: "document.querySelectorAll('.candidate').length === 3")
                try await browser.type(Keys.enter)
                try await browser.wait("one is left", until: "document.querySelectorAll('.candidate').length === 1")
                #expect(try await kiosk.titles().count == 2)
                #expect(try await browser.value("document.querySelector('.candidate').id") == first)
            }
        }
    }
}
