import Foundation
import Testing

extension `In a browser` {
    /// The Scan page's calls of Web Audio: a headless browser has no loudspeaker.
    @Suite struct `The sounds of the Scan page` {
        private static let pride = "9780141439518", left = "9780441478125", unknown = "9783161484100"
        private static let new = "660 990", owned = "587 587", attention = "494 330"

        @Test(arguments: [(pride, new), (left, owned), (unknown, "\(new) \(attention)")])
        func `distinguish a new book, an owned one, and one that needs attention`(
            _ isbn: String, _ tones: String
        ) async throws {
            try await listening { kiosk, browser in
                try await kiosk.scan("--isbn", Self.left, "--yes")
                try await openScan(kiosk, browser)
                try await kiosk.capture(isbn)
                try await browser.wait("the sounds", until: "window.heard.join(' ') === '\(tones)'")
                try await browser.wait(
                    "its card", until: "document.querySelector('#card[data-row] #card-acts button') && \(Self.isDark)")
                #expect(try await browser.value("window.heard.join(' ')") == tones)
            }
        }

        @Test func `are silent for codes that are no book`() async throws {
            try await listening { kiosk, browser in
                try await openScan(kiosk, browser)
                try await browser.scan("4006381333931")
                try await browser.wait("the reason", until: "!document.getElementById('refusal').hidden")
                #expect(try await browser.value("window.heard.length") == 0)
            }
        }

        @Test func `begin with the first touch, and the page says so until then`() async throws {
            try await listening { kiosk, browser in
                try await browser.open(kiosk.address + "/scan")
                try await browser.ready()
                try await browser.wait("the message", until: "document.getElementById('no-sound').checkVisibility()")
                try await kiosk.capture(Self.pride)
                try await browser.wait("its card", until: "document.getElementById('card-save') && \(Self.isDark)")
                #expect(try await browser.value("window.heard.length") == 0)
                try await browser.click("#picture")
                try await browser.wait("allowed", until: "document.getElementById('no-sound').hidden")
                try await kiosk.capture("9780385474542")
                try await browser.wait("the sounds", until: "window.heard.join(' ') === '\(Self.new)'")
            }
        }

        @Test func `are off if Settings say so, without a hint, and on as soon as they are switched on`() async throws {
            try await listening { kiosk, browser in
                let isListed = "document.getElementById('sounds-on').checkVisibility()"
                try await browser.open(kiosk.address + "/settings")
                try await browser.wait("the setting", until: isListed)
                try await browser.click("#sounds-on")
                try await browser.open(kiosk.address + "/scan")
                try await browser.ready()
                #expect(try await browser.value("document.getElementById('no-sound').hidden") == true)
                try await browser.click("#picture")
                try await kiosk.capture(Self.pride)
                try await browser.wait("its card", until: "document.getElementById('card-save') && \(Self.isDark)")
                #expect(try await browser.value("window.heard.length") == 0)
                try await browser.open(kiosk.address + "/settings")
                try await browser.wait("the setting", until: isListed)
                try await browser.click("#sounds-on")
                try await browser.wait("the sounds", until: "window.heard.join(' ') === '\(Self.new)'")
            }
        }

        // MARK: Helpers

        /// True when the flash of the last capture is over.
        private static let isDark = "document.getElementById('flash').getAnimations().length === 0"

        /// Replaces Web Audio before the page's scripts run; window.heard holds the frequencies that were started.
        private static let audio = """
            window.heard = [];
            window.AudioContext = class extends EventTarget {
              state = "suspended"; currentTime = 0; destination = {};
              async resume() { this.state = "running"; this.dispatchEvent(new Event("statechange")); }
              async suspend() { this.state = "suspended"; }
            };
            window.OscillatorNode = class {
              constructor(context, { frequency }) { this.frequency = frequency; }
              connect(next) { return next; }
              start() { window.heard.push(this.frequency); }
              stop() {}
            };
            window.GainNode = class {
              gain = { setValueAtTime() {}, linearRampToValueAtTime() {} };
              connect(next) { return next; }
            };
            """

        private func listening(_ body: (KioskProcess, Browser) async throws -> Void) async throws {
            try await visit("home") { kiosk, browser, _ in
                let added = try await browser.driver.devTools(
                    "Page.addScriptToEvaluateOnNewDocument", ["source": Self.audio])
                let script = try #require((added as? [String: Any])?["identifier"] as? String)
                let result: Result<Void, any Error>
                do { result = .success(try await body(kiosk, browser)) } catch { result = .failure(error) }
                try await browser.driver.devTools(
                    "Page.removeScriptToEvaluateOnNewDocument", ["identifier": script])
                try result.get()
            }
        }

        /// Opens the page and touches it, which browsers require before a page may play sounds.
        private func openScan(_ kiosk: KioskProcess, _ browser: Browser) async throws {
            try await browser.open(kiosk.address + "/scan")
            try await browser.ready()
            try await browser.click("#picture")
            try await browser.wait("allowed", until: "document.getElementById('no-sound').hidden")
        }
    }
}
