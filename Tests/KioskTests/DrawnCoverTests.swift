import Bookplate
import Foundation
import Testing

@testable import Kiosk

@Suite struct `A drawn cover` {
    @Test(arguments: [
        ("The Dispossessed", "en", "D"), ("A Wizard of Earthsea", nil, "W"), ("Der Zauberberg", "de", "Z"),
        ("Das Parfum", nil, "P"), ("L’Étranger", "fr", "É"), ("Les Misérables", nil, "M"), ("Die Hard", "en", "D"),
        ("1984", nil, "1"), ("„Emma“", nil, "E"), ("éclair", nil, "É"), ("", nil, ""), ("…", nil, "…"),
    ])
    func `has the letter of the title without its article`(_ title: String, _ language: String?, _ initial: String) {
        #expect(DrawnCover(title: title, language: language).initial == initial)
    }

    @Test func `has one of eight colours, always the same for a title, and different ones for a shelf of books`() {
        let titles = (1...200).map { "The Book of \($0)" }
        let colours = titles.map { DrawnCover(title: $0, language: nil).colour }
        #expect(Set(colours) == Set((1...8).map(String.init)))
        #expect(titles.map { DrawnCover(title: $0, language: "en").colour } == colours)
    }

    @Test func `has white letters with a contrast of 4.5 or better`() throws {
        let style = String(decoding: try #require(try WebFolder.bundled.get().assets["base.css"]).bytes, as: UTF8.self)
        let colours = style.matches(of: /\.colour-\d \{ --tint: #([0-9a-f]{6})/).map { String($0.1) }
        #expect(colours.count == 8)
        for colour in colours {
            let parts = stride(from: 0, to: 6, by: 2).map { place -> Double in
                let start = colour.index(colour.startIndex, offsetBy: place)
                let value = Double(Int(colour[start..<colour.index(start, offsetBy: 2)], radix: 16) ?? 0) / 255
                return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
            }
            // WCAG 2.2, "contrast ratio".
            let luminance = 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
            #expect(1.05 / (luminance + 0.05) >= 4.5, "#\(colour)")
        }
    }

    @Test func `is on every page that shows a book without a picture, with its title and author`() async throws {
        try await withWebKiosk { kiosk in
            let body =
                #"{"title": "The Dispossessed", "authors": [{"name": "Ursula K. Le Guin", "role": "author"}], "status": "reading"}"#
            let id = try #require(try await kiosk.ask("POST", "/api/books", body: body).text("id"))
            let colour = DrawnCover(title: "The Dispossessed", language: nil).colour
            for (path, isWhole) in [
                ("/library", false), ("/library?view=grid", true), ("/home", true), ("/books/\(id)", true),
            ] {
                let page = try await kiosk.ask("GET", path).body
                #expect(page.contains("colour-\(colour)\""), "\(path)")
                let face = page.firstMatch(
                    of:
                        /placeholder( colour-\d)?"[^>]*><span[^>]*>The Dispossessed<\/span><small[^>]*>(<[^>]*>)?Ursula K. Le Guin/
                )
                #expect((face != nil) == isWhole, "\(path)")
            }
            #expect(try await kiosk.ask("GET", "/library").body.contains("data-initial=\"D\""))
        }
    }
}
