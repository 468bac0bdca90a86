import Foundation
import Testing

extension `In a browser` {
    /// A new machine, and a phone in its network, which uses another address of this machine.
    @Suite(.enabled(if: Network.address != nil, "needs an address beside the loopback's")) struct `A new machine` {
        @Test func `lets a phone in from its page alone, also after a restart, until it shuts it out`() async throws {
            let lan = try #require(Network.address)
            let kiosk = try await KioskProcess()
            let port = kiosk.port
            let (phone, settings) = ("http://\(lan):\(port)", kiosk.address + "/settings")
            let browser = try #require(`In a browser`.browser)
            try await browser.show(.shelf)
            try await browser.open(settings)
            try await browser.click("#first-code")
            // The message about a code that is refused goes when the next one is sent. The browser itself refuses a
            // short code only if it comes from a real keyboard.
            try await browser.driver.run("document.getElementById('first-code').value = 'abc'")
            try await browser.type(Keys.enter)
            try await browser.wait("a refusal", until: "document.querySelector('.toast.is-error')")
            try await browser.driver.run("document.getElementById('first-code').select()")
            try await browser.type("correct horse" + Keys.enter)
            // The section is replaced although the field has the focus, because what was typed has been sent.
            try await browser.wait("the choice", until: "document.getElementById('listen')")
            #expect(try await browser.value("document.querySelector('.toast.is-error') === null") == true)
            #expect(try await browser.value("document.querySelector('.qr-code') === null") == true)
            try await browser.expectFit("settings-code")
            try await browser.driver.run("document.getElementById('listen').value = '0.0.0.0'")
            try await browser.click("#listen + button")
            try await browser.wait("the code", until: "document.querySelector('.qr-code')")
            #expect(try await browser.text(of: "#other-devices")?.contains("\(phone)/") == true)
            try await browser.expectAccess("settings-other-devices")
            try await browser.expectFit("settings-other-devices")
            // On the phone.
            try await browser.show(.phone)
            try await browser.open(phone + "/scan")
            try await browser.wait("the sign-in", until: "location.pathname === '/sign-in'")
            try await browser.click("#code")
            try await browser.type("correct horse" + Keys.enter)
            try await browser.wait("the Scan page", until: "location.pathname === '/scan'")
            try await browser.open(phone + "/settings")
            try await browser.wait("the section", until: "document.getElementById('other-devices')")
            #expect(try await browser.value("document.getElementById('listen') === null") == true)
            #expect(try await browser.text(of: "#other-devices")?.contains("only at the station itself") == true)
            // A wrong code changes nothing, and Cancel leaves the page as it is.
            try await browser.driver.run("document.body.dataset.first = ''")
            try await browser.click("[data-opens=change-code]")
            try await browser.type("wrong horse")
            try await browser.click("#new-code")
            try await browser.type("another horse" + Keys.enter)
            try await browser.wait("a refusal", until: "document.querySelector('.toast.is-error')")
            try await browser.click("#change-code [data-closes]")
            try await browser.open(phone + "/settings#other-devices")
            #expect(try await browser.value("'first' in document.body.dataset") == true)
            // After a restart.
            try await browser.leave()
            kiosk.stop()
            let again = try await KioskProcess(home: kiosk.home, port: port)
            defer { again.remove() }
            try await browser.open(phone + "/scan")
            try await browser.wait("the Scan page", until: "location.pathname === '/scan'")
            // Only this machine again: the phone loses its stream, and says so.
            try await again.ask("PUT", "/api/network", ["listen": NSNull()])
            try await browser.wait("the loss", until: "'lost' in document.body.dataset")
            try await browser.leave()
            try await browser.open(settings)
            try await browser.ready()
            #expect(try await browser.value("document.querySelector('.qr-code') === null") == true)
            try await browser.driver.command(.delete, "cookie")
            try await browser.leave()
        }
    }

    @Suite struct `A wishlist link on a page` {
        @Test func `is made, shown once with its QR code, opened by anybody, and revoked`() async throws {
            try await visit("library?wishlist=1", excused: ["404"]) { kiosk, browser, _ in
                try await kiosk.ask(
                    "POST", "/api/books", ["title": "The Fifth Season", "owned": false, "wishlist": true])
                try await browser.reload()
                try await browser.ready()
                try await browser.click("a[href='/wishlist-links']")
                try await browser.wait("the page", until: "document.getElementById('make-link')")
                try await browser.click("#make-link")
                try await browser.wait("the link", until: "document.querySelector('#links li')")
                #expect(try await browser.value("document.querySelector('.qr-code path + path') !== null") == true)
                let link: String = try #require(
                    try await browser.value("document.getElementById('link-address').value"))
                #expect(link.contains(/\/w\/[0-9a-f]{32}$/))
                try await browser.expectFit("wishlist-links")
                try await browser.expectAccess("wishlist-links")
                try await browser.open(link)
                try await browser.wait("the wish", until: "document.querySelector('.wishes li')")
                #expect(try await browser.text(of: "main")?.contains("The Fifth Season") == true)
                try await browser.expectAccess("shared-wishlist")
                try await browser.expectFit("shared-wishlist")
                try await browser.open(kiosk.address + "/wishlist-links")
                try await browser.ready()
                // The link is not shown again.
                #expect(try await browser.value("document.getElementById('new-link').hidden") == true)
                try await browser.click("#links button")
                try await browser.wait("its end", until: "!document.querySelector('#links li')")
                try await browser.open(link)
                try await browser.wait("no page", until: "!document.querySelector('.wishes')")
            }
        }
    }
}
