import Foundation
import Testing

extension `In a browser` {
    @Suite(.enabled(if: Network.address != nil, "needs an address beside the loopback's")) struct `A preset` {
        private static let pride = "9780141439518", left = "9780441478125"
        private static let isWish = "document.getElementById('preset-wishlist').checked"
        private static let shelf = "document.getElementById('preset-shelf').value"
        private static let scope = "document.querySelector('#preset .scope').innerText"

        @Test func `belongs to its browser: what a phone sets changes nothing at the station, and the other way round`()
            async throws
        {
            let home = FileManager.default.temporaryDirectory.appendingPathComponent(
                "bookplate-browser-\(UUID().uuidString)")
            let first = try await KioskProcess(home: home)
            try await first.scan("kiosk", "code", input: "correct horse\n")
            first.stop()
            let kiosk = try await KioskProcess(home: home, options: ["--frames", "-", "--listen", "0.0.0.0"])
            defer { kiosk.remove() }
            let browser = try #require(`In a browser`.browser)
            // Both are the same browser, but with the cookies of different hosts.
            let phone = "http://\(try #require(Network.address)):\(kiosk.port)"
            let station = "http://127.0.0.1:\(kiosk.port)"
            func scanPage(at address: String) async throws {
                try await browser.open(address + "/scan")
                try await browser.ready()
            }

            try await browser.show(.laptop)
            try await browser.open(phone + "/scan")
            try await browser.wait("the sign-in", until: "document.getElementById('code')")
            try await browser.click("#code")
            try await browser.type("correct horse" + Keys.enter)
            try await browser.wait("the page", until: "document.getElementById('preset-wishlist')")
            try await browser.ready()
            #expect(try await browser.value(Self.scope) == "For all unsaved books from this device")
            try await browser.scan(Self.left)
            try await browser.wait("its row", until: "document.querySelectorAll('#rows > li').length === 1")
            try await browser.click("#preset-wishlist")
            try await browser.wait(
                "it is set", until: "document.getElementById('preset-text').textContent.includes('Wishlist')")

            try await scanPage(at: station)
            #expect(try await browser.value(Self.isWish) == false)
            #expect(try await browser.value(Self.scope) == "For all unsaved books from this station")
            try await browser.wait(
                "the phone's book differs",
                until: "document.getElementById('rows').textContent.includes('as: Wishlist')")
            try await browser.click("#preset-shelf")
            try await browser.type("Attic 2" + Keys.enter)
            try await browser.driver.run("document.activeElement.blur()")
            try kiosk.show("desk-1280x720.mjpeg")
            try await browser.wait(
                "the camera's book",
                until: "document.getElementById('rows').textContent.includes('Pride and prejudice')")
            let presets =
                try await browser.driver.run(
                    """
                    return fetch("/api/station").then((answer) => answer.json()).then(({ rows }) =>
                      Object.fromEntries(rows.map(({ isbn13, preset }) => [isbn13, `${preset.shelf} ${preset.wishlist}`])));
                    """) as? [String: String]
            #expect(presets?[Self.left] == "null true" && presets?[Self.pride] == "Attic 2 false", "\(presets ?? [:])")

            try await scanPage(at: phone)
            #expect(try await browser.value(Self.isWish) == true)
            #expect(try await browser.value(Self.shelf) == "")
            try await browser.driver.command(.delete, "cookie")
            try await browser.leave()
        }
    }
}
