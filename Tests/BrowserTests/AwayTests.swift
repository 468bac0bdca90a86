import Foundation
import Testing

extension `In a browser` {
    /// A service that does not answer: its machine is off, or the wireless network is out of reach.
    @Suite struct `While the service is away` {
        private static let waits = "document.querySelector('#news [data-name=leaving]')?.checkVisibility()"
        private static let failed = ["/healthz", "ERR_"]

        @Test func `a tap keeps the page, says so, and leads on when the service is back`() async throws {
            try await visit("home", excused: Self.failed) { kiosk, browser, _ in
                // A frozen service keeps its connections open, so that the page knows nothing of it yet.
                kiosk.freeze()
                defer { kiosk.thaw() }
                try await browser.click("#tabs [href='/library']")
                try await browser.wait("the message", until: Self.waits)
                #expect(try await browser.value("location.pathname") == "/home")
                try await browser.expectAccess("away")
                kiosk.thaw()
                try await browser.wait("Library", until: "location.pathname === '/library'")
                try await browser.ready()
            }
        }

        @Test func `a key and a form keep the page, and staying is possible`() async throws {
            try await visit("settings/tags", excused: Self.failed) { kiosk, browser, _ in
                kiosk.freeze()
                defer { kiosk.thaw() }
                try await browser.type("l")
                try await browser.wait("the message", until: Self.waits)
                try await browser.click("#news [data-name=leaving] button")
                #expect(try await browser.value("document.querySelector('#news [data-name=leaving]') === null") == true)
                try await browser.driver.run("document.querySelector('[name=q]').value = 'sf'")
                try await browser.click("[role=search] button")
                try await browser.wait("the message", until: Self.waits)
                #expect(try await browser.value("location.pathname + location.search") == "/settings/tags")
                kiosk.thaw()
                try await browser.wait("the search", until: "location.search === '?q=sf'")
                try await browser.ready()
            }
        }

        @Test func `a page that the person wanted opens after a restart too`() async throws {
            try await visit("home", excused: Self.failed) { kiosk, browser, _ in
                let (home, port) = (kiosk.home, kiosk.port)
                kiosk.kill()
                try await browser.click("#tabs [href='/stats']")
                try await browser.wait("the message", until: Self.waits)
                #expect(try await browser.value("location.pathname") == "/home")
                let again = try await KioskProcess(home: home, port: port)
                defer { again.stop() }
                try await browser.wait("Stats", until: "location.pathname === '/stats'")
                try await browser.ready()
            }
        }

        @Test func `a page that is being left is not loaded again after a restart`() async throws {
            try await visit("home") { _, browser, _ in
                let leave = """
                    return import("/assets/leave.js").then(async ({ leave }) => {
                      await leave(() => {});
                      return !document.dispatchEvent(new CustomEvent("restarted", { cancelable: true }));
                    });
                    """
                let isKept = try await browser.driver.run(leave) as? Bool
                #expect(isKept == true)
            }
        }

        @Test func `Esc keeps the page`() async throws {
            try await visit("home", excused: Self.failed) { kiosk, browser, _ in
                try await browser.type("l")
                try await browser.wait("Library", until: "location.pathname === '/library'")
                try await browser.ready()
                kiosk.freeze()
                defer { kiosk.thaw() }
                try await browser.type(Keys.escape)
                try await browser.wait("the message", until: Self.waits)
                kiosk.thaw()
                try await browser.wait("Home", until: "location.pathname === '/home'")
                try await browser.ready()
            }
        }
    }
}
