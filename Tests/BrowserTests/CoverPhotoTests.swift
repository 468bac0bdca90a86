import Foundation
import Testing

extension `In a browser` {
    /// A person's own photo of a cover.
    @Suite struct `A cover photo` {
        private static let photo = KioskProcess.root.appendingPathComponent("samples/photos/no-code-front-cover.jpg")
            .path

        private func size(_ browser: Browser) async throws -> [Int] {
            try await browser.wait("the cover", until: "document.querySelector('#top img.cover')?.naturalWidth")
            return try #require(
                try await browser.value(
                    "(({naturalWidth: w, naturalHeight: h}) => [w, h])(document.querySelector('#top img.cover'))"))
        }

        private func slide(_ browser: Browser, _ edge: String, to value: Int) async throws {
            try await browser.driver.run(
                """
                const slider = document.querySelector("[data-edge=\(edge)]");
                slider.value = \(value);
                slider.dispatchEvent(new Event("input"));
                """)
        }

        @Test(arguments: [Browser.Screen.shelf, .phone])
        func `is turned twice and stored by a finger that finds the buttons where they were`(_ screen: Browser.Screen)
            async throws
        {
            try await visit("books/BOOK", on: screen, prepare: book) { kiosk, browser, _ in
                try await browser.withTouchScreen {
                    try await browser.touch("#open-cover")
                    try await browser.give(Self.photo, to: "#photo")
                    try await browser.wait("the editor", until: "!document.getElementById('photo-editor').hidden")
                    #expect(try await browser.value("document.getElementById('photo').files.length") == 1)
                    let places = """
                        ["photo-turn", "photo-keep"].map((id) => document.getElementById(id).getBoundingClientRect()).map(({ x, y }) => [x, y]).join()
                        """
                    let before: String? = try await browser.value(places)
                    let shape = "(({ width, height }) => width < height)(document.getElementById('photo-canvas'))"
                    let isUpright: Bool? = try await browser.value(shape)
                    for turn in 1...2 {
                        try await browser.touch("#photo-turn")
                        let expected = (turn == 2) == (isUpright == true)
                        try await browser.wait("a turn", until: "\(shape) === \(expected)")
                        #expect(try await browser.value(places) == before)
                    }
                    try await browser.touch("#photo-keep")
                    try await browser.wait("the cover", until: "document.querySelector('#top img.cover')")
                }
            }
        }

        private func book(_ kiosk: KioskProcess) async throws -> String {
            let added = try await kiosk.ask("POST", "/api/books", ["title": "The Dispossessed"]) as? [String: Any]
            return try #require(added?["id"] as? String)
        }

        @Test func `is cropped and turned before it is stored, and again afterwards`() async throws {
            try await visit("library") { kiosk, browser, _ in
                try await kiosk.scan("library", "add", "--title", "The Dispossessed")
                try await browser.wait("the book", until: "document.querySelector('main a[href^=\"/books/\"]')")
                let book: String? = try await browser.value("document.querySelector('main a[href^=\"/books/\"]').href")
                try await browser.open(try #require(book))
                try await browser.click("#open-cover")
                try await browser.give(Self.photo, to: "#photo")
                try await browser.wait("the editor", until: "!document.getElementById('photo-editor').hidden")
                try await browser.click("#photo-keep")
                let whole = try await size(browser)

                try await browser.click("#open-cover")
                try await browser.click("#edit-photo")
                try await browser.wait("the editor", until: "!document.getElementById('photo-editor').hidden")
                try await slide(browser, "left", to: 25)
                try await slide(browser, "right", to: 25)
                try await browser.click("#photo-turn")
                let before: String? = try await browser.value("document.querySelector('#top img.cover').src")
                try await browser.click("#photo-keep")
                try await browser.wait(
                    "the new cover", until: "document.querySelector('#top img.cover').src !== '\(before ?? "")'")
                let edited = try await size(browser)
                // After the turn the sides are exchanged, and half of the new width is cut off.
                #expect(abs(edited[0] - whole[1] / 2) <= 2 && abs(edited[1] - whole[0]) <= 2, "\(whole) \(edited)")
            }
        }
    }
}
