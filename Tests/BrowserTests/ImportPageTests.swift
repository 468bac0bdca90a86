import Foundation
import TestTools
import Testing

extension `In a browser` {
    @Suite struct `A first visit and an import` {
        /// Small files as other apps write them, each with a book, and what the page calls them.
        private static let files: [(name: String, format: String, text: String)] = [
            (
                "storygraph.csv", "StoryGraph",
                "Title,Authors,Contributors,ISBN/UID,Format,Read Status,Date Added,Last Date Read,Dates Read,Read Count,"
                    + "Star Rating,Review,Tags,Owned?\nMomo,Michael Ende,,9783522202107,hardcover,read,2024/01/02,"
                    + "2024/02/03,2024/01/05-2024/02/03,1,4.5,,\"children, time\",Yes\n"
            ),
            (
                "librarything.tsv", "LibraryThing",
                "Book Id\tTitle\tPrimary Author\tPrimary Author Role\tPublication\tDate\tReview\tRating\tTags\t"
                    + "Collections\tISBN\tEntry Date\tWork id\n7\tThe Dispossessed\tLe Guin, Ursula K.\t\tAvon (1975)\t"
                    + "1975\t\t5\tsf\tYour library\t[0380003821]\t2020-05-06\t55\n"
            ),
            (
                "openreads.csv", "Openreads",
                "title,subtitle,author,description,status,favourite,deleted,rating,pages,publisher,publication_year,"
                    + "isbn,olid,tags,my_review,notes,book_format,readings,date_added,date_modified\n"
                    + "Piranesi,,Susanna Clarke,,for_later,false,false,,272,,2020,9781526622426,,,,,paperback,,,\n"
            ),
            (
                "own.csv", "Bookplate’s CSV",
                "Title,Author,ISBN13,Exclusive Shelf,Bookplate Id,Shelf\nSolaris,Stanisław Lem,9780156027601,to-read,,Hall\n"
            ),
        ]

        @Test func `begins with four ways, takes a file of each app, and undoes its import`() async throws {
            let scratch = try Scratch()
            try await visit("") { kiosk, browser, _ in
                // The first visit.
                #expect(try await browser.value("location.pathname") == "/home")
                for screen in Browser.Screen.all {
                    try await browser.show(screen)
                    let ways = try await browser.value(
                        """
                        [...document.querySelectorAll('.begin a, .begin label')]
                          .filter((way) => way.getBoundingClientRect().height >= 88).length
                        """, as: Int.self)
                    #expect(ways == 4, "\(screen)")
                }
                try await browser.expectFit("first-visit")
                try await browser.expectAccess("first-visit")
                try await browser.show(.shelf)
                try await browser.click(".begin a[href='/import']")

                // Goodreads: a dry run, the import, its result, and undo.
                try await give(samples, to: browser)
                try await browser.wait("the dry run", until: "document.getElementById('import-start')")
                #expect(try await browser.text(of: "#import h2")?.contains("Goodreads") == true)
                #expect(try await counts(browser) == ["new": "4", "flagged": "1"])
                #expect(try await browser.text(of: "#import-problems")?.contains("Frühlings Erwachen") == true)
                #expect(try await kiosk.titles().isEmpty)
                try await check("import-checked", browser)
                // The state is the service's: a reload and another tab show it.
                try await browser.reload()
                try await browser.wait("still there", until: "document.getElementById('import-start')")
                // The choices.
                try await browser.click("#import-choices summary")
                try await browser.click("#import-tags")
                try await browser.type("from goodreads, old")
                try await browser.click("#import-choices .actions button")
                // The new page has the choices folded up.
                try await browser.wait(
                    "checked again", until: "document.querySelector('#import-choices:not([open]) [name=tags]')")
                #expect(
                    try await browser.value("document.getElementById('import-tags').value") == "from goodreads, old")
                try await browser.click("#import-start")
                try await browser.wait("the result", until: "document.getElementById('import-done')")
                #expect(try await kiosk.titles().count == 4)
                let tagged = try await kiosk.ask("GET", "/api/books?tag=old") as? [String: Any]
                #expect(tagged?["total"] as? Int == 4)
                try await check("import-done", browser)
                try await browser.click("#import-undo")
                try await browser.wait("undone", until: "document.getElementById('import-redo')")
                #expect(try await kiosk.titles().isEmpty)
                #expect(try await browser.text(of: "#import-done") == "The import has been undone.")
                #expect(try await browser.value("document.querySelector('#import-problems a') === null") == true)
                try await browser.click("#import-redo")
                try await browser.wait("redone", until: "document.getElementById('import-undo')")
                // The books of the result are links.
                try await browser.click("#import-added a")
                try await browser.wait("a book", until: "location.pathname.startsWith('/books/')")
                try await browser.open(kiosk.address + "/")
                #expect(try await browser.value("location.pathname") == "/scan")

                // The other formats, one after the other on the same page.
                try await browser.open(kiosk.address + "/import")
                try await browser.ready()
                for (name, format, text) in Self.files {
                    try await browser.click("#import-discard")
                    try await browser.wait("the choice", until: "document.getElementById('import-file')")
                    try await give(scratch.write(Array(text.utf8), to: name), to: browser)
                    try await browser.wait(name, until: "document.getElementById('import-start')")
                    #expect(try await browser.text(of: "#import h2")?.contains(format) == true, "\(name)")
                    try await browser.click("#import-start")
                    try await browser.wait("imported \(name)", until: "document.getElementById('import-done')")
                }
                #expect(try await kiosk.titles().count == 8)

                // Our own JSON changes nothing in the library that it came from.
                try await kiosk.scan("export", "json", "--to", scratch.path + "/own.json")
                try await browser.click("#import-discard")
                try await browser.wait("the choice", until: "document.getElementById('import-file')")
                try await give(scratch.path + "/own.json", to: browser)
                try await browser.wait("own.json", until: "document.querySelector('[data-count=unchanged] b')")
                #expect(try await browser.value("document.getElementById('import-start') === null") == true)
            }
        }

        @Test func `refuses other files with the reason, and a large import goes on without its page`() async throws {
            let scratch = try Scratch()
            try await visit("import") { kiosk, browser, _ in
                let zip = try scratch.write(Array("PK\u{3}\u{4}bomb".utf8), to: "books.zip.csv")
                for (path, words) in [
                    (KioskProcess.root.path + "/samples/photos/frontal.jpg", "a JPEG photo"), (zip, "a ZIP archive"),
                    (try scratch.write(Array("Name,Price\nx,1\n".utf8), to: "prices.csv"), "name, price"),
                    (try scratch.write([], to: "empty.csv"), "is empty"),
                ] {
                    try await give(path, to: browser)
                    try await browser.wait("refused \(words)", until: "document.getElementById('import-failure')")
                    #expect(try await browser.text(of: "#import-failure")?.contains(words) == true, "\(words)")
                    if words.contains("price") { try await check("import-refused", browser) }
                    try await browser.click("#import-discard")
                    try await browser.wait("the choice", until: "document.getElementById('import-file')")
                }

                let rows = (0..<3000).map { "\($0),Volume \($0),Somebody,,,\($0 % 6),read" }.joined(separator: "\n")
                let header = "Book Id,Title,Author,ISBN,ISBN13,My Rating,Exclusive Shelf\n"
                try await give(scratch.write(Array((header + rows + "\n").utf8), to: "many.csv"), to: browser)
                try await browser.wait("the dry run", until: "document.getElementById('import-start')")
                try await browser.click("#import-start")
                try await browser.wait("it has begun", until: "!document.getElementById('import-start')")
                try await browser.open(kiosk.address + "/home")
                try await browser.open(kiosk.address + "/import")
                try await browser.wait("the result", until: "document.getElementById('import-done')", within: 300)
                #expect(try await counts(browser)["new"] == "3,000")
                #expect(try await browser.text(of: "#import")?.contains("and 2,950 more books") == true)
            }
        }

        private func check(_ name: String, _ browser: Browser) async throws {
            try await browser.expectAccess(name)
            try await browser.expectFit(name)
            try await browser.show(.shelf)
        }

        private var samples: String { KioskProcess.root.path + "/samples/exports/goodreads.csv" }

        private func give(_ path: String, to browser: Browser) async throws {
            try await browser.wait("the file chooser", until: "document.getElementById('import-file')")
            try await browser.give(path, to: "#import-file")
        }

        private func counts(_ browser: Browser) async throws -> [String: String] {
            let counts = try await browser.value(
                """
                Object.fromEntries([...document.querySelectorAll('#import-counts li')]
                  .map((item) => [item.dataset.count, item.querySelector('b').textContent]))
                """, as: [String: String].self)
            return try #require(counts)
        }
    }
}
