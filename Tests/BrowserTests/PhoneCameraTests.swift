import Foundation
import Testing

extension `In a browser` {
    @Suite struct `A phone at the shelf` {
        /// Opens the Scan page on a phone whose camera sees the book of a recording.
        private func withCamera(_ body: (KioskProcess, Browser) async throws -> Void) async throws {
            let recording = KioskProcess.root.appendingPathComponent("samples/frames/desk-1280x720.mjpeg").path
            try await withPhone(options: [
                "--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream",
                "--use-file-for-fake-video-capture=\(recording)",
            ]) { phone async throws in
                try await body(phone.kiosk, phone.browser)
                try await phone.browser.expectQuiet("scan", excused: [])
            }
        }

        private func tap(_ id: String, _ phone: Browser) async throws {
            try await phone.driver.run("document.getElementById('\(id)').click()")
        }

        @Test func `scans with its own camera after one tap, and stops after another`() async throws {
            try await withCamera { kiosk, phone async throws in
                let isOff = "return document.getElementById('own-camera').srcObject === null"
                #expect(try await phone.driver.run(isOff) as? Bool == true, "it is never opened on load")
                try await tap("own-open", phone)
                try await phone.wait("the outline", until: "document.querySelector('#outlines polygon')")
                try await phone.wait("the card", until: "document.getElementById('card').dataset.row")
                let rows = try await kiosk.rows()
                #expect(rows.count == 1, "it is in view all the time")
                #expect((rows.first?["station"] as? String)?.contains("Linux") == true, "the phone's name")
                try await tap("own-open", phone)
                #expect(try await phone.driver.run(isOff) as? Bool == true)
            }
        }

        @Test func `is not offered the station's own invitation, but its camera`() async throws {
            try await withCamera { _, phone async throws in
                let isAbsent = "return document.getElementById('phone-open') === null"
                #expect(try await phone.driver.run(isAbsent) as? Bool == true)
                #expect(
                    try await phone.driver.run("return document.getElementById('own-open').checkVisibility()") as? Bool
                        == true)
            }
        }

        @Test func `is let in by the address in a QR code, once`() async throws {
            try await withCamera { _, phone async throws in
                let ask = "headers: { 'Content-Type': 'application/json' }, body: '{}' })"
                let address = try #require(
                    try await phone.driver.run(
                        """
                        const made = await fetch("/api/phones/invitations", { method: "POST", \(ask);
                        const { address } = await made.json();
                        await fetch("/api/sign-out", { method: "POST", \(ask);
                        return address;
                        """) as? String)
                try await phone.open("about:blank")
                try await phone.open(address)
                try await phone.wait("the Scan page", until: "location.pathname === '/scan' && location.hash === ''")
                try await phone.ready()
                try await phone.open("about:blank")
                try await phone.open(address)
                try await phone.wait(
                    "the refusal", until: "document.getElementById('message').textContent.includes('used already')")
                try await phone.open("about:blank")
                _ = try await phone.pageErrors()
            }
        }

        @Test func `is invited at the station, which first needs an access code`() async throws {
            try await visit(excused: ["403"]) { _, browser, _ async throws in
                try await browser.driver.run("document.getElementById('phone-open').click()")
                try await browser.wait("the reason", until: "document.getElementById('phone-text').textContent !== ''")
                let link = "return document.getElementById('phone-settings').checkVisibility()"
                #expect(try await browser.driver.run(link) as? Bool == true)
            }
        }
    }
}
