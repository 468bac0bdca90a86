import Foundation
import TestTools
import Testing

extension `In a browser` {
    @Suite struct `A phone at the shelf` {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        /// Opens the Scan page on a phone whose camera sees the book of a recording all the time.
        private func withCamera(_ body: (KioskProcess, Browser) async throws -> Void) async throws {
            let recording = try scratch.write(Array(try Self.framesWithBook()), to: "book.mjpeg")
            try await withPhone(options: [
                "--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream",
                "--use-file-for-fake-video-capture=\(recording)",
            ]) { phone async throws in
                try await body(phone.kiosk, phone.browser)
                // On a busy machine, the station asks the phone to send fewer frames.
                let slower = "/api/phones/frame - Failed to load resource: the server responded with a status of 429"
                try await phone.browser.expectQuiet("scan", excused: [slower])
            }
        }

        /// Returns the frames of a recording but for the first five, in which the book is not in view yet. Chromium
        /// repeats a recording without an end, so a slow station would see the book taken away and shown again.
        private static func framesWithBook() throws -> Data {
            let file = KioskProcess.root.appendingPathComponent("samples/frames/desk-1280x720.mjpeg")
            var frames = try Data(contentsOf: file)
            for _ in 0..<5 {
                let next = try #require(frames.dropFirst().range(of: Data([0xff, 0xd8, 0xff])))
                frames = frames[next.lowerBound...]
            }
            return frames
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

        @Test func `vibrates with each new book, and keeps its screen on while it scans`() async throws {
            try await withCamera { _, phone async throws in
                try await phone.driver.run(
                    """
                    window.vibrations = [];
                    navigator.vibrate = (time) => { vibrations.push(time); return true; };
                    const { request } = WakeLock.prototype;
                    WakeLock.prototype.request = async function(kind) { return window.lock = await request.call(this, kind); };
                    """)
                try await phone.click("#own-open")
                try await phone.wait("the vibration", until: "vibrations.length === 1")
                try await phone.wait("the lock", until: "window.lock?.released === false")
                try await phone.click("#own-open")
                try await phone.wait("its end", until: "window.lock.released")
            }
        }

        @Test func `offers its lenses, and remembers the chosen one`() async throws {
            try await withPhone(options: [
                "--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream=device-count=2",
            ]) { phone in
                let (browser, lens) = (phone.browser, "document.getElementById('own-lens')")
                func seen(_ name: String) -> String {
                    "document.getElementById('own-camera').srcObject?.getVideoTracks()[0]?.label === '\(name)'"
                }
                try await tap("own-open", browser)
                try await browser.wait("the lenses", until: "\(lens).checkVisibility() && \(lens).length === 2")
                try await browser.wait("the first", until: seen("fake_device_0"))
                try await browser.driver.run(
                    "\(lens).selectedIndex = 1; \(lens).dispatchEvent(new Event('change', { bubbles: true }));")
                try await browser.wait("the second", until: seen("fake_device_1"))
                try await phone.open("/scan")
                try await tap("own-open", browser)
                try await browser.wait("the second again", until: seen("fake_device_1"))
            }
        }

        @Test func `zooms, lights its lamp and keeps its focus, where the camera can`() async throws {
            try await withCamera { _, phone async throws in
                // The emulated camera can do nothing of this.
                try await phone.driver.run(
                    """
                    const track = MediaStreamTrack.prototype;
                    track.getCapabilities = () => ({ zoom: { min: 1, max: 8, step: 0.1 }, torch: true, focusMode: ["manual", "continuous"] });
                    track.applyConstraints = async ({ advanced }) => { window.applied = JSON.stringify(advanced[0]); };
                    """)
                try await tap("own-open", phone)
                try await phone.wait("zoom", until: #"window.applied === '{"focusMode":"continuous","zoom":2}'"#)
                try await tap("own-torch", phone)
                try await phone.wait(
                    "the lamp", until: #"window.applied === '{"focusMode":"continuous","zoom":2,"torch":true}'"#)
                try await phone.driver.run(
                    "const zoom = document.getElementById('own-zoom'); zoom.value = 3.5; zoom.dispatchEvent(new Event('input'));"
                )
                try await phone.wait(
                    "more zoom", until: #"window.applied === '{"focusMode":"continuous","zoom":3.5,"torch":true}'"#)
            }
        }

        @Test func `says what its pictures lack`() async throws {
            // One frame in the format YUV4MPEG2, which Chromium repeats; grey levels of 20, as in a dark room.
            let (luma, chroma) = (
                [UInt8](repeating: 20, count: 640 * 480), [UInt8](repeating: 128, count: 320 * 240 * 2)
            )
            let recording = try scratch.write(
                Array("YUV4MPEG2 W640 H480 F30:1 Ip A1:1 C420jpeg\nFRAME\n".utf8) + luma + chroma, to: "dark.y4m")
            try await withPhone(options: [
                "--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream",
                "--use-file-for-fake-video-capture=\(recording)",
            ]) { phone in
                try await tap("own-open", phone.browser)
                try await phone.browser.wait("the hint", until: Self.shows("more light"))
            }
        }

        /// True if the hint in the picture says this.
        private static func shows(_ hint: String) -> String {
            "document.getElementById('hint').checkVisibility() && document.getElementById('hint').textContent === '\(hint)'"
        }

        @Test func `goes on after it has slept, and after the network was away`() async throws {
            try await withCamera { kiosk, phone async throws in
                let outline = "document.querySelector('#outlines polygon')"
                try await tap("own-open", phone)
                try await phone.wait("the outline", until: outline)
                // A phone that sleeps hides the page and ends its camera without an event.
                try await phone.driver.run(
                    """
                    Object.defineProperty(document, "hidden", { value: true, configurable: true });
                    document.dispatchEvent(new Event("visibilitychange"));
                    for (const track of document.getElementById("own-camera").srcObject.getTracks()) track.stop();
                    document.getElementById("outlines").replaceChildren();
                    delete document.hidden;
                    document.dispatchEvent(new Event("visibilitychange"));
                    """)
                try await phone.wait("the camera", until: "document.getElementById('own-camera').srcObject?.active")
                try await phone.wait("the outline again", until: outline)
                kiosk.freeze()
                defer { kiosk.thaw() }
                let lost = "The station is not responding. Scanning continues as soon as it does."
                try await phone.wait("the notice", until: Self.shows(lost))
                kiosk.thaw()
                try await phone.wait("the outline after that", until: outline)
                #expect(try await kiosk.rows().count == 1, "it was in view all the time")
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
