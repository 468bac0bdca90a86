import Foundation
import Testing

extension `In a browser` {
    /// The frame of every page: tabs, the progress indicator, and messages.
    @Suite struct `The frame around all pages` {
        private static let pride = "9780141439518"
        private static let isActing = "document.documentElement.hasAttribute('data-acting')"

        @Test(arguments: ["en", "de", "fr"]) func `shows all tabs at the bottom of a phone in every language`(
            _ language: String
        ) async throws {
            try await visit(prepare: household) { kiosk, browser, _ in
                try await browser.speak(language)
                try await browser.show(.phone)
                for page in ["scan", "settings"] {
                    try await browser.open(kiosk.address + "/" + page)
                    try await browser.ready()
                    let hidden: Int? = try await browser.value(
                        """
                        [...document.querySelectorAll("#tabs a")].filter((tab) => {
                          const box = tab.getBoundingClientRect();
                          return box.left < 0 || box.right > innerWidth || box.height < 43.5 || box.bottom !== innerHeight
                            || tab.scrollWidth > tab.clientWidth;
                        }).length + Math.max(0, document.getElementById("tabs").scrollWidth - document.getElementById("tabs").clientWidth)
                        """)
                    #expect(hidden == 0, "\(page)")
                }
            }
        }

        @Test(arguments: ["en", "de", "fr"]) func `has one line on the station's screen in every language`(
            _ language: String
        ) async throws {
            try await visit(prepare: household) { kiosk, browser, book in
                try await kiosk.ask("POST", "/api/readers", ["name": "Ada", "first": "Berta"])
                try await browser.speak(language)
                for page in ["scan", "library", "books/\(book)", "settings/readers"] {
                    try await browser.open(kiosk.address + "/" + page)
                    try await browser.wait(
                        "clock, reader and lamps",
                        until:
                            "document.querySelector('#head-clock a') && document.getElementById('readers') && document.querySelector('#lamps > *')"
                    )
                    #expect(
                        try await browser.value("document.querySelector('.bar').offsetHeight <= 52") == true, "\(page)")
                    let cut: [String] =
                        try await browser.value(
                            """
                            [...document.querySelectorAll(".bar a, .bar summary")].filter((one) => {
                              const box = one.getBoundingClientRect();
                              return one.checkVisibility() && !one.matches(".skip") && (box.left < 0 || box.right > innerWidth);
                            }).map((one) => one.outerHTML)
                            """) ?? []
                    #expect(cut.isEmpty, "\(page): \(cut)")
                    #expect(try await browser.overhang().isEmpty, "\(page)")
                }
            }
        }

        @Test func `leaves room on a phone: the first book is near the top, and no bar covers the tabs`() async throws {
            try await visit("library", on: .phone, prepare: household) { kiosk, browser, book in
                try await browser.wait("offline", until: "document.querySelector('#news [data-name=offline]')")
                try await browser.click("#news [data-name=offline] button")
                let top: Double? = try await browser.value("document.querySelector('.hit').getBoundingClientRect().top")
                #expect(try #require(top) <= 205)
                try await browser.click("#choose")
                try await Self.expectRoom(browser, for: "#bulk", "the selection")
                for (page, bar) in [("scan", "#savebar"), ("intake", "#savebar"), ("add", ".save")] {
                    try await browser.open(kiosk.address + "/" + page)
                    try await browser.ready()
                    try await Self.expectRoom(browser, for: bar, page)
                }
            }
        }

        /// Expects a bar to end where the tabs begin, and the end of the page to be above both.
        private static func expectRoom(_ browser: Browser, for bar: String, _ name: String) async throws {
            let edges: [Double] =
                try await browser.value(
                    """
                    (scrollTo(0, document.documentElement.scrollHeight), [
                      document.querySelector("\(bar)").getBoundingClientRect().bottom,
                      document.getElementById("tabs").getBoundingClientRect().top,
                    ])
                    """) ?? []
            #expect(edges.count == 2 && edges[0] <= edges[1], "\(name): \(edges)")
        }

        @Test func `hides the line that the station is offline once it is read, until the state changes`() async throws
        {
            let isShown = "document.querySelector('#news [data-name=offline]')?.checkVisibility()"
            try await visit("home") { kiosk, browser, _ in
                try await browser.wait("offline", until: isShown)
                try await browser.click("#news [data-name=offline] button")
                #expect(try await browser.value("document.getElementById('news').hidden") == true)
                try await browser.click("#tabs [href='/library']")
                try await browser.wait(
                    "the lamps", until: "location.pathname === '/library' && document.querySelector('#lamp-network')")
                #expect(try await browser.value("document.getElementById('news').hidden") == true)
                // No source is asked for it.
                try await kiosk.capture("9783161484100")
                try await browser.wait("a new state", until: isShown)
            }
        }

        @Test(arguments: [false, true]) func `shows that an action is in progress while the station is slow`(
            _ isStill: Bool
        ) async throws {
            try await visit(on: Browser.Screen(width: 800, height: 480, isStill: isStill)) { kiosk, browser, _ in
                try await kiosk.ask("POST", "/api/station/captures", ["text": Self.pride, "origin": "typed"])
                try await browser.wait("its card", until: "document.getElementById('save-all')")
                // The hint about sounds disappears with the first touch.
                try await browser.click("#picture")
                try await browser.wait("at rest", until: "document.getElementById('no-sound').hidden")
                let boxes = """
                    [...document.querySelectorAll("header *, main *")].filter((one) => one.checkVisibility())
                      .map((one) => Object.values(one.getBoundingClientRect().toJSON()).join()).join(";")
                    """
                let before: String? = try await browser.value(boxes)
                kiosk.freeze()
                defer { kiosk.thaw() }
                try await browser.click("#save-all")
                try await browser.wait(
                    "a sign", until: "\(Self.isActing) && document.querySelector('#save-all[aria-busy=true]')")
                #expect(try await browser.value(boxes) == before)
                #expect(
                    try await browser.value(
                        "getComputedStyle(document.querySelector('.bar'), '::after').animationName", as: String.self)
                        == (isStill ? "none" : "acting"))
                kiosk.thaw()
                try await browser.wait("it is done", until: "!\(Self.isActing) && document.getElementById('undo-act')")
                #expect(try await kiosk.titles() == ["Pride and prejudice"])
            }
        }

        @Test(arguments: [Browser.Screen.shelf, .phone])
        func `shortens a long message to three lines, and shows all of it on request`(
            _ screen: Browser.Screen
        ) async throws {
            try await visit("home", on: screen) { _, browser, _ in
                try await browser.driver.run(
                    """
                    return import("/assets/messages.js").then(({ toast }) => {
                      toast("The library is busy: another program keeps it locked. ".repeat(8), { isError: true });
                    });
                    """)
                let lines =
                    "Math.round(document.querySelector('.toast span').clientHeight "
                    + "/ parseFloat(getComputedStyle(document.querySelector('.toast span')).lineHeight))"
                #expect(try await browser.value(lines) == 3)
                try await browser.expectFit("a long line")
                try await browser.expectAccess("a long line")
                try await browser.show(screen)
                try await browser.click(".toast button:last-child")
                #expect(
                    try await browser.value(
                        """
                        ((line) => line === document.activeElement
                          && (line.scrollHeight <= line.clientHeight || getComputedStyle(line).overflowY === "auto"))
                          (document.querySelector(".toast span"))
                        """) == true)
                #expect(try await browser.value("document.querySelectorAll('.toast button').length") == 1)
            }
        }
    }
}
