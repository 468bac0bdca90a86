import Bookplate
import Foundation
import Testing

@testable import Kiosk

@Suite struct `The order of the Library page` {
    private func fill(_ kiosk: StatsKiosk, _ count: Int = 60) async throws {
        for number in 0..<count {
            let letter = Character(Unicode.Scalar(UInt8(97 + number % 26)))
            try await kiosk.book("The \(letter)\(number)", by: "Ann \(letter)uthor")
        }
    }

    @Test func `has letters that lead to the books, with every filter, and a way back`() async throws {
        try await StatsKiosk.run { kiosk async throws in
            try await fill(kiosk)
            let page = try await kiosk.ask("/library?sort=title&status=toRead").text
            #expect(page.contains("id=\"letters\"") && page.contains("aria-label=\"M: 2 books\""))
            let answer = try await kiosk.ask("/api/books/letters?sort=title&status=toRead")
            #expect(try answer.value("letters.12.letter") == "M" && answer.value("letters.12.count") == "2")
            let start = try answer.value("letters.12.after")
            #expect(page.contains("href=\"/library?sort=title&amp;status=toRead&amp;after=\(start)\""))
            let jumped = try await kiosk.ask("/library?sort=title&status=toRead&after=\(start)").text
            #expect(jumped.contains("The m12") && !jumped.contains("The l11"))
            #expect(jumped.contains("id=\"earlier\" href=\"/library?sort=title&amp;status=toRead&amp;before="))
            let earlier = try await kiosk.ask("/library?sort=title&before=\(start)").text
            #expect(earlier.contains("The l11") && !earlier.contains("The m12"))
            // Other orders have no letters, nor has a list of one page.
            for path in ["/library", "/library?sort=rating", "/library?sort=title&limit=500"] {
                #expect(try await !kiosk.ask(path).text.contains("id=\"letters\""), "\(path)")
            }
            let others = try await kiosk.ask("/api/books/letters?sort=added")
            #expect(others.status == 200 && others.text == #"{"letters":[]}"#)
        }
    }

    @Test func `offers additions once`() async throws {
        try await StatsKiosk.run { kiosk async throws in
            try await kiosk.book("Dune")
            for path in ["/library", "/library?sort=added", "/library?q=dune", "/library?sort=added&reverse=1"] {
                let page = try await kiosk.ask(path).text
                #expect(page.components(separatedBy: ">Recently added<").count == 2, "\(path)")
                #expect(!page.contains("Date added"))
            }
            #expect(try await kiosk.ask("/library").text.contains("href=\"/library?sort=added&amp;reverse=1\""))
        }
    }

    @Test func `shows shelf and series in every row, and the series on a page of its own`() async throws {
        try await StatsKiosk.run { kiosk async throws in
            for (title, number) in [("Third", "3"), ("First", "1"), ("Sixth & last", "6")] {
                let body = """
                    {"title": "\(title)", "authors": [{"name": "U. K."}], "series": "Earth/sea", "seriesNumber": "\(number)",
                    "shelf": "Bedroom <1>"}
                    """
                #expect(try await kiosk.ask("POST", "/api/books", body).status == 201)
            }
            let row =
                "<span class=\"tag shelf\" dir=\"auto\">Bedroom &lt;1&gt;</span><a class=\"tag series\" href=\"/series?name=Earth%2Fsea\" dir=\"auto\">Earth/sea 1</a>"
            for path in ["/library", "/library?q=first", "/library?series=earth%2FSEA"] {
                #expect(try await kiosk.ask(path).text.contains(row), "\(path)")
            }
            #expect(try await kiosk.ask("/api/books?q=first").value("hits.0.shelf") == "Bedroom <1>")
            #expect(try await kiosk.ask("/api/books?series=earth/sea").value("total") == "3")
            let page = try await kiosk.ask("/series?name=Earth%2Fsea").text
            let order = ["First", "2 is missing", "Third", "4–5 are missing", "Sixth &amp; last"].map {
                page.range(of: $0)?.lowerBound
            }
            #expect(order.allSatisfy { $0 != nil } && order.compactMap(\.self) == order.compactMap(\.self).sorted())
            #expect(page.contains("3 books") && page.contains("Missing: 2, 4–5") && page.contains("Bedroom &lt;1&gt;"))
            let id = try await kiosk.ask("/api/books?q=first").value("hits.0.id")
            #expect(try await kiosk.ask("/books/\(id)").text.contains("href=\"/series?name=Earth%2Fsea\""))
            #expect(try await kiosk.ask("/series?name=none").status == 404)
            #expect(try await kiosk.ask("/series").status == 404)
        }
    }

    @Test func `follows the sort name that a person enters`() async throws {
        try await StatsKiosk.run { kiosk async throws in
            try await kiosk.book("Solitude", by: "Gabriel García Márquez")
            #expect(try await kiosk.ask("/settings/authors").text.contains("Márquez, Gabriel García"))
            let put = try await kiosk.ask(
                "PUT", "/api/authors/sort-name",
                #"{"name": "Gabriel García Márquez", "sortName": "García Márquez, Gabriel"}"#)
            #expect(
                put.status == 200 && put.text.contains(#""sortName":"García Márquez, Gabriel","sortNameEdited":true"#))
            #expect(
                try await kiosk.ask("/settings/authors").text.contains("<bdi>García Márquez, Gabriel</bdi> (corrected)")
            )
            let reset = try await kiosk.ask(
                "PUT", "/api/authors/sort-name", #"{"name": "Gabriel García Márquez", "sortName": ""}"#)
            #expect(try reset.value("sortName") == "Márquez, Gabriel García")
            _ = try await kiosk.library.undo(ID<Change>(rawValue: try reset.value("change")), at: StatsKiosk.now)
            #expect(try await kiosk.library.authors().map(\.sortName) == ["García Márquez, Gabriel"])
            let settings = try await kiosk.ask("/settings").text
            #expect(settings.contains("set-ignoreArticles") && settings.contains("set-authorsByFamilyName"))
        }
    }
}
