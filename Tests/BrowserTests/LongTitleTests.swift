import Foundation
import Testing

extension `In a browser` {
    @Suite struct `A title of 512 characters` {
        @Test(arguments: [String(repeating: "Dune ", count: 102), String(repeating: "Dune", count: 128)])
        func `is shortened on the Book page, and complete in the tooltip and the field`(_ title: String)
            async throws
        {
            let words = title.trimmingCharacters(in: .whitespaces)
            try await visit(
                "books/BOOK", prepare: { try await $0.longTitled(words) }
            ) { kiosk, browser, book in
                for screen in [Browser.Screen.shelf, .phone] {
                    try await browser.show(screen)
                    let height: Double? = try await browser.value(
                        "document.querySelector('h1').getBoundingClientRect().height / innerHeight")
                    #expect((0.01..<0.5).contains(height ?? 1), "\(screen): \(height ?? -1)")
                    #expect(try await browser.overhang().isEmpty)
                    #expect(try await browser.value("document.getElementById('edit-title').title") == words)
                    #expect(
                        try await browser.value("document.getElementById('edit-title').getAttribute('aria-label')")
                            == "Title: " + words)
                }
                try await browser.click("#edit-title")
                try await browser.wait("the field", until: "document.querySelector('.in-place input')")
                #expect(try await browser.value("document.querySelector('.in-place input').value") == words)
                try await browser.type(Keys.escape)
            }
        }
    }
}

extension KioskProcess {
    fileprivate func longTitled(_ title: String) async throws -> String {
        let answer = try await ask("POST", "/api/books", ["title": title])
        return try #require((answer as? [String: Any])?["id"] as? String)
    }
}
