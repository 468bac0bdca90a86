import Foundation
import Testing

extension `In a browser` {
    /// The frame of every page: tabs, the progress indicator, and messages.
    @Suite struct `The frame around all pages` {
        private static let pride = "9780141439518"
        private static let isActing = "document.documentElement.hasAttribute('data-acting')"

        @Test(arguments: ["en", "de", "fr"]) func `shows all tabs on a phone in every language`(
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
                          return box.left < 0 || box.right > innerWidth || box.height < 43.5;
                        }).length + Math.max(0, document.getElementById("tabs").scrollWidth - document.getElementById("tabs").clientWidth)
                        """)
                    #expect(hidden == 0, "\(page)")
                }
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
                try await browser.slowDown(milliseconds: 1500)
                try await browser.click("#save-all")
                try await browser.wait(
                    "a sign", until: "\(Self.isActing) && document.querySelector('#save-all[aria-busy=true]')")
                #expect(try await browser.value(boxes) == before)
                #expect(
                    try await browser.value(
                        "getComputedStyle(document.querySelector('.bar'), '::after').animationName", as: String.self)
                        == (isStill ? "none" : "acting"))
                try await browser.slowDown(milliseconds: 0)
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

extension Browser {
    /// Delays every response; 0 for none.
    func slowDown(milliseconds: Int) async throws {
        try await driver.devTools(
            "Network.emulateNetworkConditions",
            ["offline": false, "latency": milliseconds, "downloadThroughput": -1, "uploadThroughput": -1])
    }
}
