import Foundation
import Testing

extension `In a browser` {
    @Suite struct `Find by title` {
        private static let page = KioskProcess.root.appendingPathComponent("samples/photos/printed-back-sideways.jpg")
            .path

        @Test func `takes the title from a photo, also from one in which the Scan page found no bar code`() async throws
        {
            try await visit("find") { kiosk, browser, _ in
                try await browser.give(Self.page, to: "#find-photo")
                try await browser.wait(
                    "the title", until: "document.getElementById('find-title').value === 'The Left Hand of Darkness'")
                try await browser.wait("the editions", until: "document.querySelector('.edition')")

                try await browser.open(kiosk.address + "/scan")
                try await browser.ready()
                try await browser.give(Self.page, to: "#photos")
                try await browser.wait("the offer", until: "document.querySelector('#unread [data-photo=title]')")
                try await browser.click("#unread [data-photo=title]")
                try await browser.wait(
                    "the title", until: "document.getElementById('find-title')?.value === 'The Left Hand of Darkness'")
            }
        }
    }
}
