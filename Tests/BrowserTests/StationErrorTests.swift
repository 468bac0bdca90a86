import Foundation
import Testing

extension `In a browser` {
    /// Messages of pages when the station is offline, busy or slow.
    @Suite struct `A station in trouble` {
        private static let toasts = "document.getElementById('toasts').textContent"
        private static let isBusy = """
            window.fetch = async () => new Response(
              JSON.stringify({ error: { code: "unavailable", message: "The library is busy." } }),
              { status: 503, headers: { "Content-Type": "application/json" } });
            """

        @Test func `is reported when the filters are opened, and only the newest response is shown`() async throws {
            try await visit("library", prepare: household) { _, browser, _ in
                let open = "document.getElementById('filters').click()"
                let shut = "document.getElementById('filter-panel').close()"
                let isDone = "!document.documentElement.hasAttribute('data-acting')"
                try await browser.driver.run(
                    "window.real = fetch; window.fetch = () => Promise.reject(new TypeError()); \(open)")
                try await browser.wait("away", until: Self.toasts + ".includes('is not responding')")
                try await browser.driver.run("\(shut); \(Self.isBusy) \(open)")
                try await browser.wait("busy", until: Self.toasts + ".includes('The library is busy.')")

                try await browser.driver.run(
                    "\(shut); window.fetch = () => new Promise((give) => { window.late = give; }); \(open)")
                try await browser.wait("it is asked", until: "window.late && !(\(isDone))")
                try await browser.driver.run("window.fetch = real; \(shut)")
                try await browser.driver.run(open)
                try await browser.wait("the filters", until: "document.querySelector('#facets details')")
                try await browser.driver.run(
                    "window.late(new Response('<form id=facets data-old></form>'))")
                try await browser.wait("both are there", until: isDone)
                #expect(try await browser.value("!!document.querySelector('#facets details')", as: Bool.self) == true)
            }
        }

        @Test func `is reported instead of empty lists of sign-ins and stations`() async throws {
            try await visit("settings") { _, browser, _ in
                // Runs the page's script again, as if the page were just opened.
                try await browser.driver.run(Self.isBusy + "return import('/assets/settings.js?again').then(() => {});")
                try await browser.wait("busy", until: Self.toasts + ".includes('The library is busy.')")
                #expect(try await browser.value("document.querySelectorAll('.toast').length", as: Int.self) == 1)
            }
        }

        @Test func `shows advice about a source in an accessible line`() async throws {
            try await visit("settings") { _, browser, _ in
                try await browser.driver.run(
                    """
                    window.fetch = async () => new Response(
                      JSON.stringify({ sources: [{ name: "Google Books", fine: false, fact: "needs a key", next: "Make one." }] }),
                      { headers: { "Content-Type": "application/json" } });
                    """)
                try await browser.click("#ask-sources")
                try await browser.wait(
                    "the way out",
                    until: "document.querySelector('#sources [lang=en].hint')?.textContent === 'Make one.'")
                for screen in [Browser.Screen.shelf, .phone] {
                    try await browser.show(screen)
                    try await browser.expectFit("sources")
                }
                try await browser.expectAccess("sources")
            }
        }

        @Test func `shows on the button that a page is being saved, without an error`() async throws {
            try await visit("home", prepare: household) { kiosk, browser, _ in
                try await browser.click("[data-update]")
                try await browser.wait("the sheet", until: "document.querySelector('#page-sheet[open]')")
                kiosk.freeze()
                defer { kiosk.thaw() }
                try await browser.click("#page-sheet .primary")
                try await browser.wait(
                    "its label",
                    until: "document.querySelector('#page-sheet .primary:disabled')?.textContent === 'Saving…'")
                #expect(
                    try await browser.value("document.querySelector('#page-sheet .wrong').hidden", as: Bool.self)
                        == true
                )
                kiosk.thaw()
                try await browser.wait("it is saved", until: "!document.querySelector('#page-sheet[open]')")
                try await browser.wait(
                    "the button as before",
                    until: "document.querySelector('#page-sheet .primary:enabled')?.textContent === 'Save'")
            }
        }
    }
}
