import Foundation
import TestTools
import Testing

/// The station at the shelf, used with a book in one hand.
extension `In a browser` {
    @Suite struct `The Scan page` {
        private static let pride = "9780141439518"
        /// True once the card can be saved: before that, Enter does nothing.
        private static let card =
            "document.querySelector('#card [data-slot=title]')?.textContent.includes('Pride and prejudice') "
            + "&& document.getElementById('card-save')?.checkVisibility()"
        private static let saved = "document.querySelector('#card.look-done #card-book')"

        @Test func `shows a book held up to the camera, and Enter saves it`() async throws {
            try await visit(options: ["--frames", "-"]) { kiosk, browser, _ in
                try kiosk.show("desk-1280x720.mjpeg")
                try await browser.wait("the card", until: Self.card)
                try await browser.wait("the preview", until: "document.getElementById('preview').naturalWidth === 1280")
                try await browser.type(Keys.enter)
                try await browser.wait("saved", until: Self.saved)
                #expect(try await kiosk.titles() == ["Pride and prejudice"])
                try await browser.type("u")
                try await browser.wait("taken back", until: "document.querySelector('#card-save')")
                #expect(try await kiosk.titles() == [])
            }
        }

        @Test(arguments: ["scan", "library", "home", "stats"])
        func `captures what a handheld scanner types, on every page`(
            _ page: String
        ) async throws {
            try await visit(page) { kiosk, browser, _ in
                try await browser.scan(Self.pride)
                try await captured(kiosk, [Self.pride])
            }
        }

        @Test func `captures a scanner's number even while a field has the focus, and leaves the field alone`()
            async throws
        {
            try await visit("library") { kiosk, browser, _ in
                try await browser.click("#q")
                try await browser.type("em")
                try await browser.scan(Self.pride)
                try await captured(kiosk, [Self.pride])
                #expect(try await browser.driver.run("return document.getElementById('q').value") as? String == "em")
                try await browser.type("ma")
                try await browser.wait("typing goes on", until: "document.getElementById('q').value === 'emma'")
            }
        }

        @Test func `says why a number is no book, and captures nothing`() async throws {
            try await visit { kiosk, browser, _ in
                try await browser.scan("4006381333931")
                try await browser.wait(
                    "the reason", until: "document.querySelector('#refusal:not([hidden])')?.textContent.includes('978')"
                )
                try await browser.scan("9780141439519")
                try await browser.wait(
                    "the digit",
                    until: "document.querySelector('#refusal:not([hidden])')?.textContent.includes('should be 8')")
                try await captured(kiosk, [])
            }
        }

        @Test func `has a keypad that checks the number before capturing it`() async throws {
            try await visit { kiosk, browser, _ in
                try await browser.type("k")
                try await browser.wait("the keypad", until: "document.querySelector('#keypad:not([hidden])')")
                let place = "document.querySelector('[data-keypad=back]').getBoundingClientRect().top"
                let before: Double? = try await browser.value(place)
                for digit in "0141439517" { try await browser.click("[data-digit='\(digit)']") }
                try await browser.wait("hyphens", until: "document.getElementById('typed').value === '0-14-143951-7'")
                try await browser.wait("wrong", until: "document.getElementById('verdict').textContent.length > 3")
                // The line about the check digit does not move the keys under the finger.
                #expect(try await browser.value(place) == before)
                try await browser.click("[data-keypad=back]")
                try await browser.click("[data-digit='3']")
                try await browser.click("#keypad-take")
                try await captured(kiosk, [Self.pride])
            }
        }

        @Test func `keeps unanswered books when the page is reloaded or the service is killed and restarted`()
            async throws
        {
            try await visit(excused: ["net::ERR_"]) { kiosk, browser, _ in
                try await browser.scan(Self.pride)
                try await browser.wait("the card", until: Self.card)
                try await browser.reload()
                try await browser.ready()
                try await browser.wait("the card again", until: Self.card)
                kiosk.kill()
                try await browser.wait(
                    "the loss is announced",
                    until: "document.getElementById('news').textContent.includes('is not responding')"
                )
                let second = try await KioskProcess(home: kiosk.home, port: kiosk.port)
                defer { second.remove() }
                try await browser.wait(
                    "it reconnects automatically",
                    until: "!document.getElementById('news').textContent.includes('not responding') && (\(Self.card))")
                try await browser.type(Keys.enter)
                try await browser.wait("saved", until: Self.saved)
                #expect(try await second.titles() == ["Pride and prejudice"])
            }
        }

        @Test func `is the same on two screens, and a book that both save is saved once`() async throws {
            try await visit { kiosk, first, _ in
                try await Browser.during { second in
                    try await second.open(kiosk.address + "/scan")
                    try await second.ready()
                    try await first.scan(Self.pride)
                    for screen in [first, second] { try await screen.wait("the card", until: Self.card) }
                    async let one: Void = first.type(Keys.enter)
                    async let two: Void = second.type(Keys.enter)
                    _ = try await (one, two)
                    for screen in [first, second] {
                        try await screen.wait(
                            "saved",
                            until: Self.saved
                        )
                    }
                    #expect(try await kiosk.titles() == ["Pride and prejudice"])
                }
            }
        }

        @Test func `saves all ticked books with one key, and undoes it with one`() async throws {
            try await visit { kiosk, browser, _ in
                let books = ["9780141439518", "9780441478125", "9780385474542"]
                for book in books { try await browser.scan(book) }
                try await captured(kiosk, books)
                try await browser.wait(
                    "three ticked", until: "document.querySelectorAll('#rows [aria-checked=true]').length === 3")
                try await browser.click("#save-all")
                try await browser.wait("the undo", until: "document.querySelector('#undo-act')")
                #expect(try await kiosk.titles().count == 3)
                try await browser.click("#undo-act")
                try await browser.wait(
                    "three again", until: "document.querySelectorAll('#rows [aria-checked=true]').length === 3")
                #expect(try await kiosk.titles() == [])
            }
        }

        @Test func `offers another copy of an owned book, and never saves one automatically`() async throws {
            try await visit { kiosk, browser, _ in
                try await kiosk.scan("--isbn", Self.pride, "--yes", "--shelf", "Bedroom 1")
                try await browser.scan(Self.pride)
                try await browser.wait(
                    "owned", until: "document.querySelector('#card.look-owned')?.textContent.includes('Bedroom 1')")
                // The card is drawn from the event, the rest of the page a moment later.
                try await browser.wait("nothing to save", until: "document.querySelector('#save-all') === null")
                try await browser.type("c")
                try await browser.wait("saved", until: Self.saved)
                #expect(try await kiosk.titles() == ["Pride and prejudice", "Pride and prejudice"])
            }
        }

        @Test func `reads the photos that a phone sends`() async throws {
            try await visit { kiosk, browser, _ in
                let photo = KioskProcess.root.appendingPathComponent("samples/photos/three-books.jpg").path
                try await browser.give(photo, to: "#photos")
                try await browser.wait("three rows", until: "document.querySelectorAll('#rows > li').length === 3")
            }
        }

        @Test(arguments: ["en", "de", "fr"]) func `weighs at most 60 kB as it is sent, with a full list`(
            _ language: String
        ) async throws {
            let numbers = try String(
                contentsOf: KioskProcess.root.appendingPathComponent("samples/isbns.txt"), encoding: .utf8)
            try await visit { kiosk, browser, _ in
                for line in numbers.split(separator: "\n").prefix(40) {
                    // One in ten has a wrong check digit; the others are captured.
                    let text = String(line.drop { "]E0".contains($0) && line.hasPrefix("]") })
                    _ = try? await kiosk.ask("POST", "/api/station/captures", ["text": text, "origin": "typed"])
                }
                try await browser.wait("thirty", until: "document.querySelectorAll('#rows > li').length === 30")
                try await browser.speak(language)
                try await browser.reload()
                try await browser.ready()
                let weight: Int? = try await browser.value(
                    """
                    [performance.getEntriesByType("navigation")[0], ...performance.getEntriesByType("resource")]
                      .filter(({ name, initiatorType }) => !/covers|thumbnail/.test(name)
                        // Parts that are loaded again for a new book do not count.
                        && !(initiatorType === "fetch" && name === location.href))
                      .reduce((sum, one) => sum + one.encodedBodySize, 0)
                    """)
                #expect((1...60_000).contains(weight ?? 0), "\(weight ?? 0)")
            }
        }

        // MARK: Helpers

        /// Waits until the queue holds exactly these.
        private func captured(_ kiosk: KioskProcess, _ isbns: [String]) async throws {
            var found: [String] = []
            try await TestTools.wait(for: "\(isbns.count) rows", every: .milliseconds(50)) {
                found = try await kiosk.rows().compactMap { $0["isbn13"] as? String }
                return found.count == isbns.count
            }
            #expect(Set(found) == Set(isbns))
        }
    }
}
