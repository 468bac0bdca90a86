import Foundation
import LibraryMaker
import Testing

extension `In a browser` {
    /// The link in the head of every page that is not a tab, and the key Esc.
    @Suite struct `The way back` {
        private static let hears = "document.body.hasAttribute('data-hears-keys')"
        private static let isBook = "location.pathname.startsWith('/books/') && \(hears)"

        private enum Way: String, CaseIterable { case link, key }

        private static func goBack(_ way: Way, _ browser: Browser) async throws {
            switch way {
            case .link: try await browser.click("#back")
            case .key: try await browser.type(Keys.escape)
            }
        }

        @Test func `leads to the list with its query and its place`() async throws {
            let home = FileManager.default.temporaryDirectory.appendingPathComponent(
                "bookplate-browser-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
            try await makeLibrary(at: home.appendingPathComponent("library.sqlite").path, copies: 200, sessions: 0)
            let query = "sort=title&reverse=1&owned=1"
            try await visit("library?" + query, home: home) { _, browser, _ in
                for way in Way.allCases {
                    // More books than the page begins with.
                    try await browser.driver.run("document.getElementById('more').scrollIntoView()")
                    try await browser.wait(
                        "more books", until: "document.querySelectorAll('#hits > .hit').length >= 100")
                    let place: Double = try #require(
                        try await browser.value(
                            """
                            (document.querySelector(".hit:nth-child(70)").scrollIntoView({ block: "center" }),
                              document.querySelector(".hit:nth-child(70)").getBoundingClientRect().top)
                            """))
                    try await browser.click(".hit:nth-child(70) .name")
                    try await browser.wait("the book", until: Self.isBook)
                    #expect(try await browser.text(of: "#back .where") == "Library")
                    try await Self.goBack(way, browser)
                    try await browser.wait("the list", until: "location.pathname === '/library' && \(Self.hears)")
                    // The address also says how many books there are, which may have become more meanwhile.
                    let address = try #require(try await browser.value("location.search", as: String.self))
                    let match = try #require(address.wholeMatch(of: /\?(.+)&limit=(\d+)/), "\(address)")
                    #expect(match.1 == query && Int(match.2) ?? 0 >= 100)
                    try await browser.wait(
                        "its place by \(way)",
                        until:
                            "Math.abs(document.querySelector('.hit:nth-child(70)').getBoundingClientRect().top - \(place)) < 60"
                    )
                }
            }
        }

        @Test func `names the page from which the person came, and skips a form that is saved`() async throws {
            try await visit("home", prepare: household) { _, browser, book in
                try await browser.click(".home .booktitle, .home h3 a")
                try await browser.wait("the book", until: Self.isBook)
                #expect(try await browser.text(of: "#back .where") == "Home")
                let title = try #require(try await browser.text(of: "h1"))
                try await browser.click("#open-form")
                try await browser.wait("the form", until: "document.getElementById('form') && \(Self.hears)")
                #expect(try await browser.text(of: "#back .where") == title)
                try await browser.driver.run("document.getElementById('shelf').value = 'Attic'")
                try await browser.click(".save .primary")
                try await browser.wait("the book", until: "!location.pathname.endsWith('/edit') && \(Self.isBook)")
                #expect(try await browser.text(of: "#back .where") == "Home")
                try await browser.type(Keys.escape)
                try await browser.wait("Home", until: "location.pathname === '/home'")
            }
        }

        @Test(arguments: [Browser.Screen.shelf, .phone])
        func `is in sight on every page that is not a tab`(_ screen: Browser.Screen) async throws {
            try await visit("home", on: screen, prepare: household) { kiosk, browser, book in
                for page in [
                    "books/\(book)", "books/\(book)/edit", "books/\(book)/sources", "add", "find", "stats/timeline",
                    "settings/tags", "settings/readers", "changes", "nowhere",
                ] {
                    try await browser.open(kiosk.address + "/" + page)
                    try await browser.ready()
                    let size: [Double] =
                        try await browser.value(
                            """
                            ((box) => [box.left, box.width, box.height, box.top])
                              (document.getElementById("back").getBoundingClientRect())
                            """) ?? []
                    #expect(
                        size.count == 4 && size[0] >= 0 && size[1] >= 44 && size[2] >= 44 && size[3] < 20, "\(page)")
                }
                _ = try await browser.pageErrors()
            }
        }

        @Test func `never leads to another site`() async throws {
            try await visit("home") { kiosk, browser, _ in
                // Another name of the same machine is another site.
                try await browser.open("http://localhost:\(kiosk.port)/stats")
                try await browser.ready()
                try await browser.open(kiosk.address + "/library")
                try await browser.ready()
                try await browser.type(Keys.escape)
                #expect(try await browser.value("location.href") == kiosk.address + "/library")
                try await browser.type("i")
                try await browser.wait("Intake", until: "location.pathname === '/intake' && \(Self.hears)")
                try await browser.type(Keys.escape)
                try await browser.wait("Library", until: "location.pathname === '/library' && \(Self.hears)")
                try await browser.type(Keys.escape)
                #expect(try await browser.value("location.href") == kiosk.address + "/library")
            }
        }
    }
}
