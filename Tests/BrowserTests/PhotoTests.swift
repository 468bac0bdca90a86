import Foundation
import TestTools
import Testing

extension `In a browser` {
    /// Photos that a person chooses on the Scan page.
    @Suite struct `A photo` {
        private static let row = "document.querySelector('#unread li')"

        private static func sample(_ name: String) -> String {
            KioskProcess.root.appendingPathComponent("samples/photos/\(name)").path
        }

        @Test func `that could not be read is a row with its reason, until its ISBN is typed or it is dismissed`()
            async throws
        {
            try await visit { kiosk, browser, _ in
                try await browser.give(Self.sample("no-code-table.jpg"), to: "#photos")
                try await browser.wait("the row", until: Self.row)
                let text = try await browser.text(of: "#unread li") ?? ""
                #expect(text.contains("no-code-table.jpg") && text.contains("No bar code was found"), "\(text)")
                let isDrawn = """
                    ((canvas) => canvas.getContext("2d").getImageData(20, 20, 1, 1).data[3] === 255)
                      (document.querySelector("#unread canvas"))
                    """
                try await browser.wait("the thumbnail", until: isDrawn)
                #expect(try await browser.value("document.querySelector('.toast') === null") == true)
                #expect(try await kiosk.rows().isEmpty)
                try await browser.expectFit("unread-photo")
                try await browser.expectAccess("unread-photo")

                try await browser.show(.shelf)
                try await browser.reload()
                try await browser.ready()
                try await browser.wait("the row after a reload", until: Self.row)
                try await browser.wait("the thumbnail again", until: isDrawn)
                try await browser.click("#unread summary")
                try await browser.click("[data-photo=again]")
                try await browser.wait(
                    "read again", until: "document.getElementById('photo-news').textContent.includes('read: 1')")
                try await browser.wait("still not read", until: Self.row)

                try await browser.click("[data-photo=type]")
                for digit in "9780141439518" { try await browser.click("[data-digit='\(digit)']") }
                try await browser.wait("right", until: "!document.getElementById('keypad-take').disabled")
                try await browser.click("#keypad-take")
                try await browser.wait("the book", until: "document.querySelectorAll('#rows > li').length === 1")
                try await browser.wait("the photo is done", until: "!\(Self.row)")

                try await browser.give(Self.sample("no-code-table.jpg"), to: "#photos")
                try await browser.wait("another row", until: Self.row)
                try await browser.click("[data-photo=dismiss]")
                try await browser.wait("dismissed", until: "!\(Self.row)")
                let kept = """
                    return new Promise((resolve) => {
                      indexedDB.open("bookplate").onsuccess = ({ target }) => {
                        target.result.transaction("photos").objectStore("photos").count().onsuccess =
                          (event) => resolve(event.target.result);
                      };
                    })
                    """
                #expect(try await browser.driver.run(kept) as? Int == 0)
            }
        }

        @Test func `that could not be read is done once its print has led to the book`() async throws {
            try await visit { kiosk, browser, _ in
                try await browser.give(Self.sample("no-code-table.jpg"), to: "#photos")
                try await browser.wait("the row", until: Self.row)
                let photo = """
                    return new Promise((resolve) => {
                      indexedDB.open("bookplate").onsuccess = ({ target }) => {
                        target.result.transaction("photos").objectStore("photos").getAllKeys().onsuccess =
                          (event) => resolve(event.target.result[0]);
                      };
                    })
                    """
                let id = try #require(try await browser.driver.run(photo) as? String)
                // As after Read its title, which needs another program.
                try await browser.open(kiosk.address + "/find?line=Penguin&isbn=9780141439518#" + id)
                try await browser.ready()
                try await browser.click("main button[data-act$=captures]")
                try await browser.wait("captured", until: "document.querySelector('.toast')")
                try await TestTools.wait(for: "the photo to be forgotten", every: .milliseconds(50)) {
                    try await browser.driver.run(photo) as? String == nil
                }
                try await browser.open(kiosk.address + "/scan")
                try await browser.ready()
                try await browser.wait("the book", until: "document.querySelectorAll('#rows > li').length === 1")
                #expect(try await browser.driver.run(photo) as? String == nil)
            }
        }

        @Test func `travels with at most 2,000 pixels, and as a whole only if no code or small ones were found`()
            async throws
        {
            try await visit { kiosk, browser, _ in
                try await browser.driver.run(
                    """
                    const real = window.fetch;
                    window.sent = [];
                    window.fetch = async (address, options) => {
                      if (String(address).startsWith("/api/station/photos")) {
                        const { width, height } = await createImageBitmap(options.body);
                        window.sent.push(`${width}x${height}`);
                      }
                      return real(address, options);
                    };
                    """)
                try await browser.give(Self.sample("twelve-megapixel.jpg"), to: "#photos")
                try await browser.wait("its book", until: "document.querySelectorAll('#rows > li').length > 0")
                #expect(try await browser.value("window.sent.join()") == "2000x1500")

                // Codes that are far away in a large photo.
                func take(_ drawn: [(name: String, place: [Int])]) async throws {
                    let pictures = try drawn.map { name, place -> [Any] in
                        let bytes = try Data(contentsOf: URL(fileURLWithPath: Self.sample(name)))
                        return [bytes.base64EncodedString(), place]
                    }
                    try await browser.driver.run(
                        """
                        window.sent = [];
                        const canvas = document.createElement("canvas");
                        [canvas.width, canvas.height] = [3900, 3000];
                        return Promise.all(arguments[0].map(async ([text, place]) => {
                          const bytes = Uint8Array.from(atob(text), (byte) => byte.charCodeAt(0));
                          canvas.getContext("2d").drawImage(await createImageBitmap(new Blob([bytes])), ...place);
                        })).then(async () => {
                          const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg", 0.95));
                          const files = new DataTransfer(), input = document.getElementById("photos");
                          files.items.add(new File([blob], "far.jpg", { type: "image/jpeg" }));
                          input.files = files.files;
                          input.dispatchEvent(new Event("change"));
                        });
                        """, [pictures])
                }
                let news = "document.getElementById('photo-news').textContent"
                try await take([("isbn-979.jpg", [300, 300, 675, 900])])
                try await browser.wait("it is read", until: "window.sent.length === 2 && \(news).includes('found: 1')")
                #expect(try await browser.value("window.sent.join()") == "2000x1538,3900x3000")
                // Only the nearer one of two can be read in the small copy.
                try await take([
                    ("frontal.jpg", [100, 100, 1500, 2000]), ("isbn-979.jpg", [2400, 300, 1000, 1333]),
                ])
                try await browser.wait(
                    "both are read", until: "window.sent.length === 2 && \(news).includes('found: 2')")
                #expect(try await browser.value("window.sent.join()") == "2000x1538,3900x3000")
                try await browser.expectQuiet("scan")
            }
        }

        @Test func `chosen while the station is offline is sent later, even after a reload`() async throws {
            try await visit(excused: ["net::ERR_"]) { kiosk, browser, _ in
                try await browser.wait("it knows the run", until: "document.querySelector('#lamps > *')")
                kiosk.kill()
                try await browser.wait("the loss is announced", until: "!document.getElementById('news').hidden")
                for name in ["three-books.jpg", "webcam-640x480.jpg"] {
                    let photo = KioskProcess.root.appendingPathComponent("samples/photos/\(name)").path
                    try await browser.give(photo, to: "#photos")
                }
                try await browser.wait(
                    "the message", until: "document.querySelector('.toast')?.textContent.includes('are kept')")
                let second = try await KioskProcess(home: kiosk.home, port: kiosk.port)
                defer { second.remove() }
                try await browser.wait("both are read", until: "document.querySelectorAll('#rows > li').length >= 4")
                #expect(try await second.rows().count == 4)
            }
        }
    }
}
