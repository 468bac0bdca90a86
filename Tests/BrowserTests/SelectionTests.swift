import Foundation
import Testing

/// Bulk actions on the Library page.
extension `In a browser` {
    @Suite struct `Selecting books` {
        @Test func `all results of a search are selected by one key, tagged, and reverted by one undo`() async throws {
            try await withBooks("library?q=shelf") { kiosk, browser in
                try await browser.type("X")
                try await browser.wait(
                    "all", until: "document.getElementById('chosenCount').textContent === 'All selected: 70 books'")
                // One book is excluded.
                try await browser.click(".hit .pick")
                try await browser.wait(
                    "one less", until: "document.getElementById('chosenCount').textContent === '69 selected'")
                try await browser.expectFit("library-choosing")
                try await browser.show(.laptop)
                try await browser.click("[data-bulk=tag]")
                try await browser.type("chosen" + Keys.enter)
                try await browser.wait(
                    "done", until: "document.querySelector('.toast')?.textContent.includes('69 books')")
                #expect(try await total(kiosk, "tag=chosen") == 69)
                try await browser.click(".toast button")
                try await browser.wait("taken back", until: "document.body.textContent.includes('Undone')")
                #expect(try await total(kiosk, "tag=chosen") == 0)
            }
        }

        @Test func `two tags with a comma between them are two tags, and one undo takes both back`() async throws {
            try await withBooks("library?q=shelf") { kiosk, browser in
                try await browser.type("X")
                try await browser.wait("the bar", until: "document.querySelector('[data-bulk=tag]')?.checkVisibility()")
                try await browser.show(.laptop)
                try await browser.click("[data-bulk=tag]")
                try await browser.type("chosen, work" + Keys.enter)
                try await browser.wait("done", until: "document.querySelector('.toast [data-undo]')")
                for tag in ["chosen", "work"] { #expect(try await total(kiosk, "tag=\(tag)") == 70) }
                try await browser.click(".toast [data-undo]")
                try await browser.wait("taken back", until: "document.body.textContent.includes('Undone')")
                for tag in ["chosen", "work"] { #expect(try await total(kiosk, "tag=\(tag)") == 0) }
            }
        }

        @Test func `another search clears the selection, and a button selects all as well`() async throws {
            try await withBooks("library") { kiosk, browser in
                try await browser.click("#choose")
                try await browser.click("[data-bulk=all]")
                try await browser.wait(
                    "all", until: "document.querySelector('[data-bulk=all]').getAttribute('aria-pressed') === 'true'")
                try await browser.expectAccess("library-choosing")
                try await browser.show(.laptop)
                try await browser.driver.run("document.getElementById('q').focus()")
                try await browser.type("shelf 7")
                try await browser.wait(
                    "none", until: "document.getElementById('chosenCount').textContent === '0 selected'")
            }
        }

        @Test func `the trash is emptied after one confirmation`() async throws {
            try await withBooks("library?trash=1", isTrash: true) { kiosk, browser in
                try await browser.expectFit("library-trash")
                try await browser.expectAccess("library-trash")
                try await browser.show(.laptop)
                try await browser.click("#empty-trash")
                try await browser.wait(
                    "the question",
                    until: "document.getElementById('for-good-title').textContent === 'Delete 70 books for good?'")
                try await browser.wait(
                    "Cancel", until: "document.activeElement.matches('#for-good-sheet [value=no]')")
                try await browser.type(Keys.enter)
                try await browser.wait("left", until: "!document.getElementById('for-good-sheet').open")
                #expect(try await total(kiosk, "trash=1") == 70)
                try await browser.click("[data-bulk=delete-for-good]")
                try await browser.click("#for-good-sheet [value=yes]")
                try await browser.wait("empty", until: "document.querySelector('.empty h2')")
                #expect(try await total(kiosk, "trash=1") == 0)
            }
        }

        @Test func `a click with Shift, a second long press, and Shift with an arrow key select a range`() async throws
        {
            try await withBooks("library") { kiosk, browser in
                let count = "document.getElementById('chosenCount').textContent"
                try await browser.click("#choose")
                try await browser.click(".hit:nth-child(2) .pick")
                func press(_ hit: Int, _ options: String) async throws {
                    try await browser.driver.run(
                        """
                        document.querySelector('.hit:nth-child(\(hit)) \(options.isEmpty ? ".pick" : ".by")').dispatchEvent(
                          new MouseEvent('click', { bubbles: true, cancelable: true, shiftKey: true }));
                        """)
                }
                try await press(9, "row")
                try await browser.wait("2 to 9", until: "\(count) === '8 selected'")
                // Another end replaces the end of the range.
                try await press(4, "")
                try await browser.wait("2 to 4", until: "\(count) === '3 selected'")
                #expect(
                    try await browser.value(
                        "[...document.querySelectorAll('.pick')].slice(0, 5).map((b) => +b.checked).join('')")
                        == "01110")
                // A second long press, as on a touch screen.
                try await browser.driver.run(
                    """
                    const row = document.querySelector('.hit:nth-child(6) .by');
                    row.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true, button: 0, pointerType: 'touch' }));
                    """)
                try await browser.wait("2 to 6", until: "\(count) === '5 selected'")
                try await browser.driver.run(
                    "document.querySelector('.hit').dispatchEvent(new PointerEvent('pointerup', { bubbles: true }))")
                try await browser.type(Keys.escape)
                try await browser.wait("none", until: "document.getElementById('bulk').hidden")
                // Keys: x, and then the arrow key with Shift.
                try await browser.driver.run("document.querySelector('.hit:nth-child(3) .name').focus()")
                try await browser.type("x")
                for key in ["ArrowDown", "ArrowDown", "ArrowUp", "ArrowUp", "ArrowUp"] {
                    try await browser.driver.run(
                        """
                        document.activeElement.dispatchEvent(
                          new KeyboardEvent('keydown', { key: '\(key)', shiftKey: true, bubbles: true, cancelable: true }))
                        """)
                }
                #expect(try await browser.value(count) == "2 selected")
                #expect(
                    try await browser.value(
                        "[...document.querySelectorAll('.pick')].slice(0, 5).map((b) => +b.checked).join('')")
                        == "01100")
            }
        }

        @Test func `every field of many books is edited in one sheet, with a preview and one undo`() async throws {
            try await withBooks("library?q=shelf") { kiosk, browser in
                try await browser.type("X")
                try await browser.click("[data-bulk=edit]")
                try await browser.wait(
                    "the sheet", until: "document.getElementById('edit-title')?.textContent === 'Edit 70 books'")
                #expect(
                    try await browser.value("document.querySelector('#edit-many .primary').disabled", as: Bool.self)
                        == true)
                try await browser.expectFit("bulk-edit")
                try await browser.expectAccess("bulk-edit")
                try await browser.show(.laptop)
                try await browser.driver.run(
                    """
                    const form = document.getElementById('edit-many'), notify = (f) => f.dispatchEvent(new Event('input', { bubbles: true }));
                    for (const [name, value] of [['rating', '4'], ['favourite', 'true'], ['format', 'audiobook'],
                      ['publisher', 'Ace'], ['addTags', 'one, two'], ['language', 'de'], ['series', 'Shelves']]) {
                      form.elements[name].value = value;
                      notify(form.elements[name]);
                    }
                    document.getElementById('edit-translator').value = 'Ann Other';
                    notify(document.getElementById('edit-translator'));
                    """)
                try await browser.wait(
                    "the preview",
                    until:
                        "document.getElementById('edit-preview').textContent.includes('Rating: changes in 70 of 70 books')"
                )
                try await browser.keepPicture("bulk-edit-filled-1280x800")
                try await browser.click("#edit-many .primary")
                try await browser.wait(
                    "done", until: "document.querySelector('.toast')?.textContent.includes('Changed 70 books')")
                let book = try #require(
                    try await kiosk.ask("GET", "/api/books/\(try await kiosk.book("shelf"))") as? [String: Any])
                #expect(book["rating"] as? Double == 4 && book["favourite"] as? Bool == true)
                #expect(book["format"] as? String == "audiobook" && book["publisher"] as? String == "Ace")
                #expect(book["tags"] as? [String] == ["one", "two"] && book["series"] as? String == "Shelves")
                let people = book["authors"] as? [[String: Any]]
                #expect(people?.compactMap { $0["name"] as? String }.sorted() == ["Ann Other", "Somebody"])
                try await browser.click(".toast button")
                try await browser.wait("taken back", until: "document.body.textContent.includes('Undone')")
                #expect(try await total(kiosk, "tag=one") == 0)
                #expect(try await total(kiosk, "rating=4") == 0)
            }
        }

        private func total(_ kiosk: KioskProcess, _ query: String) async throws -> Int? {
            (try await kiosk.ask("GET", "/api/books?" + query) as? [String: Any])?["total"] as? Int
        }

        /// With 70 books, more than a page shows.
        private func withBooks(
            _ page: String, isTrash: Bool = false, _ body: (KioskProcess, Browser) async throws -> Void
        ) async throws {
            try await visit(
                page, on: .laptop,
                prepare: { kiosk in
                    let lines = (1...70).map { "Shelf \($0),Somebody,to-read" }
                    let file = kiosk.home.appendingPathComponent("books.csv")
                    try ("Title,Author,Exclusive Shelf\n" + lines.joined(separator: "\n") + "\n").write(
                        to: file, atomically: true, encoding: .utf8)
                    try await kiosk.scan("import", file.path)
                    if isTrash { try await kiosk.ask("POST", "/api/books/trash", ["query": ""]) }
                    return ""
                }, { kiosk, browser, _ in try await body(kiosk, browser) })
        }
    }
}
