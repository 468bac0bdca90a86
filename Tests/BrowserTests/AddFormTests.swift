import Foundation
import Testing

extension `In a browser` {
    /// "Scan ISBN" on the Add page shows the camera's picture in a sheet and puts the next number into the form.
    @Suite struct `Scan ISBN in the Add form` {
        private static let isOpen = "document.getElementById('scanner').open"
        private static let isShut = "!document.getElementById('scanner').open"

        @Test func `captures a book held up to the camera, and fills in what is known of it`() async throws {
            // Before the first frame there is no picture.
            try await visit("add", options: ["--frames", "-"], excused: ["/api/station/preview"]) { kiosk, browser, _ in
                try await browser.click("#scan")
                try await browser.wait("the sheet", until: Self.isOpen)
                try kiosk.show("desk-1280x720.mjpeg")
                try await browser.wait("taken", until: Self.isShut)
                try await browser.wait("the title", until: "document.getElementById('title').value")
                #expect(try await field("isbnText", browser) == "978-0-14-143951-8")
                #expect(try await field("title", browser) == "Pride and prejudice")
                #expect(try await browser.value("document.activeElement.id") == "isbnText")
                // Saving also answers the capture: nothing waits in the queue.
                try await browser.click(".save .primary")
                try await browser.wait("saved", until: "location.pathname.startsWith('/books/')")
                #expect(try await kiosk.titles() == ["Pride and prejudice"])
                #expect(try await kiosk.rows().map { $0["standing"] as? String } == ["saved"])
                try await browser.open(kiosk.address + "/intake")
                try await browser.wait("an empty queue", until: "document.querySelector('#intake > .empty')")
            }
        }

        @Test func `captures a handheld scanner's number with keys alone`() async throws {
            try await visit("add") { kiosk, browser, _ in
                // This kiosk has no camera, which the sheet says.
                _ = try await browser.pageErrors()
                try await browser.driver.run("document.getElementById('scan').focus()")
                try await browser.type(Keys.enter)
                try await browser.wait("the sheet", until: Self.isOpen)
                try await browser.wait(
                    "no picture", until: "document.getElementById('noPicture').checkVisibility()")
                _ = try await browser.pageErrors()
                try await browser.scan("0441478123")
                try await browser.wait("taken", until: Self.isShut)
                try await browser.wait("the title", until: "document.getElementById('title').value")
                #expect(try await field("isbnText", browser) == "978-0-441-47812-5")
                #expect(try await field("title", browser) == "The Left Hand of Darkness")
            }
        }

        @Test func `captures nothing once it is closed`() async throws {
            try await visit("add", excused: ["/api/station/preview"]) { kiosk, browser, _ in
                for isByKey in [true, false] {
                    try await browser.click("#scan")
                    try await browser.wait("the sheet", until: Self.isOpen)
                    if isByKey {
                        try await browser.type(Keys.escape)
                    } else {
                        try await browser.click("#scanner button")
                    }
                    try await browser.wait("shut", until: Self.isShut)
                }
                try await browser.scan("9780141439518")
                try await browser.wait("captured", until: "document.querySelector('.toast a[href=\"/scan\"]')")
                #expect(try await field("isbnText", browser) == "")
                #expect(try await kiosk.rows().count == 1)
            }
        }

        private func field(_ name: String, _ browser: Browser) async throws -> String? {
            try await browser.value("document.getElementById('\(name)').value")
        }
    }
}
