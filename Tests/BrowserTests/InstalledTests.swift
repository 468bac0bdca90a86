import Foundation
import TestTools
import Testing

extension `In a browser` {
    /// The pages on a phone that has installed them.
    @Suite struct `An installed page` {
        private static let pride = "9780141439518"

        private static func photo(_ name: String) -> String {
            KioskProcess.root.appendingPathComponent("samples/photos/\(name).jpg").path
        }

        /// Waits until the page is kept on the phone.
        private func isKept(_ phone: Phone) async throws {
            try await phone.browser.wait("the service worker", until: "navigator.serviceWorker.controller !== null")
        }

        private func type(_ number: String, _ browser: Browser) async throws {
            try await browser.click("#keypad-open")
            try await browser.type(number, pause: 100)
            try await browser.wait("right", until: "!document.getElementById('keypad-take').disabled")
            try await browser.click("#keypad-take")
        }

        /// Opens a page while the station is away, and leaves a number and a photo on it.
        private func keepTwo(_ phone: Phone) async throws {
            try await isKept(phone)
            phone.kiosk.kill()
            try await openAway("/library", phone)
            try await type(Self.pride, phone.browser)
            try await phone.browser.give(Self.photo("frontal"), to: "#photos")
            try await waiting(2, phone)
        }

        /// Opens a page while the station is away.
        private func openAway(_ path: String, _ phone: Phone) async throws {
            try await phone.browser.open(phone.origin + path)
            try await phone.browser.wait("the page", until: "document.body.classList.contains('page-away')")
            try await phone.browser.wait("its script", until: "document.body.hasAttribute('data-hears-keys')")
        }

        /// Waits until the page lists a number of things that wait for the station.
        private func waiting(_ count: Int, _ phone: Phone) async throws {
            try await phone.browser.wait(
                "\(count) wait", until: "document.querySelectorAll('#waiting li').length === \(count)")
        }

        /// Does what the browser does once the phone is in a network again.
        private func deliver(_ phone: Phone) async throws {
            try await phone.browser.driver.devTools("ServiceWorker.enable")
            try await phone.browser.driver.devTools(
                "ServiceWorker.dispatchSyncEvent",
                ["origin": phone.origin, "registrationId": "0", "tag": "outbox", "lastChance": false])
        }

        private func numbers(_ kiosk: KioskProcess) async throws -> [String] {
            try await kiosk.rows().compactMap { $0["isbn13"] as? String }.sorted()
        }

        @Test func `can be installed where the browser trusts its certificate`() async throws {
            try await withPhone { phone in
                try await isKept(phone)
                let (browser, driver) = (phone.browser, phone.browser.driver)
                let found = try await driver.devTools("Page.getInstallabilityErrors") as? [String: Any]
                #expect((found?["installabilityErrors"] as? [Any])?.isEmpty == true, "\(found ?? [:])")
                let manifest = try await driver.devTools("Page.getAppManifest") as? [String: Any]
                #expect((manifest?["errors"] as? [Any])?.isEmpty == true, "\(manifest ?? [:])")
                #expect(try await browser.value("document.getElementById('install-text').hidden") == true)
            }
        }

        @Test func `says why it cannot be installed where the browser does not trust its certificate`() async throws {
            try await withPhone(trusts: false) { phone in
                let line = "document.getElementById('install-text')"
                try await phone.browser.wait("the reason", until: "!\(line).hidden")
                #expect(try await phone.browser.value("\(line).querySelector('a').checkVisibility()") == true)
                #expect(try await phone.browser.text(of: "#install-text")?.contains("does not trust") == true)
                try await phone.browser.expectFit("untrusted")
                try await phone.browser.expectAccess("untrusted", excused: ["An SSL certificate error"])
            }
        }

        @Test func `opens while the station is away, and keeps numbers and photos until it is back`() async throws {
            try await withPhone { phone in
                try await keepTwo(phone)
                try await phone.browser.expectFit("away")
                try await phone.browser.expectAccess("away", excused: ["ERR_"])
                try await phone.browser.open("about:blank")
                let again = try await phone.restart()
                defer { again.stop() }
                try await phone.open("/scan")
                try await phone.browser.wait("both", until: "document.querySelectorAll('#rows > li').length === 2")
                #expect(try await numbers(again) == ["9780141439518", "9780441478125"])
                try await phone.browser.isEmptied()
            }
        }

        @Test func `goes on automatically once the station answers again`() async throws {
            try await withPhone { phone in
                try await keepTwo(phone)
                let again = try await phone.restart()
                defer { again.stop() }
                // The service worker sends all of it at the same time.
                try await deliver(phone)
                try await phone.browser.wait(
                    "the page",
                    until: "location.pathname === '/library' && document.body.classList.contains('page-library')")
                try await phone.open("/scan")
                try await phone.browser.isEmptied()
                #expect(try await numbers(again) == ["9780141439518", "9780441478125"])
            }
        }

        @Test func `goes on without a sign-in to a page that needs none`() async throws {
            try await withPhone { phone in
                try await isKept(phone)
                try await phone.browser.driver.run(
                    """
                    await fetch("/api/sign-out", { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" });
                    """)
                phone.kiosk.kill()
                try await openAway("/sign-in", phone)
                let again = try await phone.restart()
                defer { again.stop() }
                try await phone.browser.wait("the page", until: "document.getElementById('sign-in')")
            }
        }

        @Test func `delivers each number once when it is open twice`() async throws {
            try await withPhone { phone in
                try await keepTwo(phone)
                let driver = phone.browser.driver
                let tab = try await driver.command(.post, "window/new", ["type": "tab"]) as? [String: Any]
                try await driver.command(.post, "window", ["handle": try #require(tab?["handle"] as? String)])
                try await openAway("/scan", phone)
                try await waiting(2, phone)
                try await type("9780743273565", phone.browser)
                try await waiting(3, phone)
                let again = try await phone.restart()
                defer { again.stop() }
                // Both tabs go on, and each delivers what is kept.
                try await phone.browser.wait("the page", until: "document.body.classList.contains('page-scan')")
                try await phone.browser.isEmptied()
                #expect(try await numbers(again) == ["9780141439518", "9780441478125", "9780743273565"])
            }
        }

        @Test func `captures a number while a page of an earlier version holds the browser's database`() async throws {
            try await withPhone { phone in
                try await isKept(phone)
                let version = try await phone.browser.driver.run(
                    """
                    const done = (request) => new Promise((resolve, reject) => {
                      request.onsuccess = () => resolve(request.result);
                      request.onerror = () => reject(request.error);
                    });
                    // Together, so that the page cannot open it in between.
                    const requests = [indexedDB.deleteDatabase("bookplate"), indexedDB.open("bookplate", 1)];
                    [, window.held] = await Promise.all(requests.map(done));
                    return held.version;
                    """)
                #expect(version as? Int == 1)
                try await type(Self.pride, phone.browser)
                try await phone.browser.wait("the card", until: "document.getElementById('card').dataset.row")
                #expect(try await numbers(phone.kiosk) == [Self.pride])
                // That page is closed, and the next one keeps what is typed.
                phone.kiosk.kill()
                try await openAway("/library", phone)
                try await type("9780743273565", phone.browser)
                try await waiting(1, phone)
                try await phone.browser.open("about:blank")
                try await openAway("/library", phone)
                try await waiting(1, phone)
            }
        }

        @Test func `delivers what it kept without being open, where the browser can`() async throws {
            try await withPhone { phone in
                try await keepTwo(phone)
                try await phone.browser.open("about:blank")
                let again = try await phone.restart()
                defer { again.stop() }
                try await deliver(phone)
                var found: [String] = []
                try await wait(for: "both books") {
                    found = try await numbers(again)
                    return found.count == 2
                }
                #expect(found == ["9780141439518", "9780441478125"])
                try await phone.open("/scan")
                try await phone.browser.isEmptied()
                #expect(try await numbers(again).count == 2)
            }
        }

        @Test(.timeLimit(.minutes(30)))
        func `delivers each number and photo once, wherever the connection is cut`() async throws {
            try await withPhone(cutBy: 5) { phone in
                let (relay, browser) = (try #require(phone.relay), phone.browser)
                let type = "return import('/assets/scanner.js').then((page) => page.captureTyped(arguments[0]))"
                var sent: [String] = []
                for name in ["frontal", "dim-light"] {
                    relay.cutsLeft = 50
                    try await browser.give(Self.photo(name), to: "#photos")
                    while relay.cutsLeft > 0 {
                        sent.append(Self.isbn(sent.count))
                        try await browser.driver.run(type, [sent[sent.count - 1]])
                    }
                    // The page is left with what it keeps.
                    try await browser.open("about:blank")
                    try await phone.open("/scan")
                }
                try await browser.isEmptied()
                let expected = sent + ["9780441478125", "9780743273565"]
                let items = try await phone.kiosk.scan("intake", "list", "--json").split(separator: "\n")
                let captured = try items.compactMap {
                    (try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])?["isbn13"] as? String
                }
                #expect(captured.sorted() == expected.sorted())
                print("outbox: 100 cuts, \(sent.count) numbers and 2 photos, none lost or double")
            }
        }

        /// Returns a valid ISBN for each number.
        private static func isbn(_ number: Int) -> String {
            let digits = "97801414" + String(10_000 + number).dropFirst()
            let sum = digits.enumerated().reduce(0) { $0 + $1.element.wholeNumberValue! * ($1.offset % 2 == 0 ? 1 : 3) }
            return digits + String((10 - sum % 10) % 10)
        }
    }
}
