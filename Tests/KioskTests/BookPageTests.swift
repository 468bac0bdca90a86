import Bookplate
import Foundation
import Library
import Testing

@testable import Kiosk

@Suite struct `The Book page` {
    @Test func `shows all data of a complete book, in each language`() async throws {
        let kiosk = try await RunningKiosk()
        let book = try await kiosk.book("Dune", isbn: "9780441172719", status: .read) {
            $0.description = String(repeating: "Sand. ", count: 1600)
            $0.subjects = ["sf"]
            $0.series = "Dune"
            $0.infoLink = "https://example.org/dune"
            $0.identifiers = ["goodreads": ["44767458"]]
            $0.authors.append(Contributor(name: "Ann", role: .translator))
        }
        _ = try await kiosk.send(
            "PUT", "/api/books/\(book.id)/dates", #"{"started": "2026-01-01", "finished": "2026-01-18"}"#)
        _ = try await kiosk.send("POST", "/api/books/\(book.id)/quotes", #"{"text": "Fear.", "page": 8}"#)
        _ = try await kiosk.send("POST", "/api/books/\(book.id)/notes", #"{"text": "Spice."}"#)
        _ = try await kiosk.send(
            "PATCH", "/api/books/\(book.id)", #"{"tags": ["desert"], "rating": 4.5, "publisher": "Ace"}"#)
        for (language, words) in [
            (
                "en",
                [
                    "17 days", "1 January 2026", "Days to read", "Source of the details: Open Library",
                    "Did Not Finish",
                    "4½ of 5",
                ]
            ),
            ("de", ["17 Tage", "1. Januar 2026", "Lesedauer", "Abgebrochen"]),
            ("fr", ["17 jours", "1er janvier 2026", "Durée de lecture", "Abandonné"]),
        ] {
            let page = try await kiosk.send("GET", "/books/\(book.id)", headers: ["Accept-Language": language])
            #expect(page.status == 200)
            for word in words + [
                "Sand.", "978-0-441-17271-9", "Goodreads", "44767458", "Fear.", "Spice.", "desert", "Ann (",
            ] {
                #expect(page.text.contains(word), "\(language): \(word)")
            }
            // A missing text would be shown by its key.
            #expect(!page.text.replacing("/assets/book", with: "").contains(/\bbook\.[a-z]/))
            #expect(page.text.utf8.count < 90_000)
        }
        try await kiosk.stop()
    }

    @Test func `shows only the dates that make sense for the status`() async throws {
        let kiosk = try await RunningKiosk()
        let rows: [Copy.Status: [String]] = [
            .toRead: [], .reading: ["started"], .onHold: ["started"], .read: ["started", "finished"],
            .dnf: ["started", "stopped"],
        ]
        for (status, wanted) in rows {
            let book = try await kiosk.book("Dune \(status)", status: status)
            let page = try await kiosk.send("GET", "/books/\(book.id)").text
            let details = try #require(page.split(separator: "id=\"details\"").last?.split(separator: "</dl>").first)
            for date in ["started", "finished", "stopped"] {
                #expect(details.contains("data-field=\"\(date)\"") == wanted.contains(date), "\(status) \(date)")
            }
            #expect(page.contains("data-progress") == (status == .reading || status == .onHold), "\(status)")
        }
        try await kiosk.stop()
    }

    @Test func `shows hostile texts as text`() async throws {
        let kiosk = try await RunningKiosk()
        let evil = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{id}}{count}|{name}"
        let book = try await kiosk.book(evil) {
            $0.publisher = evil
            $0.description = evil
            $0.authors = [Contributor(name: evil), Contributor(name: evil, role: .editor)]
            $0.infoLink = "javascript:alert(1)"
            $0.subjects = [evil]
        }
        for (path, body) in [
            ("notes", ["text": evil]), ("quotes", ["text": evil]),
        ] {
            let json = JSONValue.object(body.map { (key: $0.key, value: .string($0.value)) }).text
            _ = try await kiosk.send("POST", "/api/books/\(book.id)/\(path)", json)
        }
        let labels = JSONValue.object([(key: "tags", value: JSONValue([evil])), (key: "shelf", value: .string(evil))])
        _ = try await kiosk.send("PATCH", "/api/books/\(book.id)", labels.text)
        let page = try await kiosk.send("GET", "/books/\(book.id)").text
        #expect(!page.contains("<script>alert") && !page.contains("<img src=x") && page.contains("&lt;script&gt;alert"))
        #expect(!page.contains("href=\"javascript:"))
        #expect(!page.contains(" style=\"") && !page.contains(" onclick=") && !page.contains("</script>\""))
        try await kiosk.stop()
    }

    @Test func `shows many sessions a page at a time, and all notes on request`() async throws {
        let kiosk = try await RunningKiosk()
        let book = try await kiosk.book("Dune", status: .reading)
        for index in 0..<45 {
            let start = Date(timeIntervalSinceNow: Double(-86_400 * 50 + index * 86_400))
            _ = try await kiosk.library.addSession(
                of: book.id, start: start, end: start.addingTimeInterval(1800), startPage: index, endPage: index + 1,
                at: Date())
            _ = try await kiosk.library.add(Note(text: "Note \(index).", created: start), to: book.id, at: Date())
        }
        func count(_ text: String, in page: Answered) -> Int { page.text.components(separatedBy: text).count - 1 }
        let first = try await kiosk.send("GET", "/books/\(book.id)")
        #expect(count("id=\"session-0", in: first) == 20 && first.text.contains("?sessions=20#history"))
        #expect(
            count("class=\"note\"", in: first) == 20 && first.text.contains("Note 44.") && first.text.contains("?all"))
        let last = try await kiosk.send("GET", "/books/\(book.id)?sessions=40&all")
        #expect(count("id=\"session-0", in: last) == 5 && last.text.contains("?sessions=20#history"))
        #expect(count("class=\"note\"", in: last) == 45)
        #expect(first.text.contains("<polyline points=\"0,") && first.text.contains("<desc"))
        let wrong = try await kiosk.send("GET", "/books/\(book.id)?sessions=x")
        #expect(wrong.status == 400)
        try await kiosk.stop()
    }
}

@Suite struct `The chart of a reading` {
    private func points(_ amounts: [ProgressEntry.Amount], pageCount: Int?) -> [ProgressPoint] {
        amounts.enumerated().map {
            ProgressPoint(day: CalendarDay(number: 20_000 + $0.offset), amount: $0.element, pageCount: pageCount)
        }
    }

    @Test func `goes from left to right, and up as one reads`() throws {
        let chart = try #require(
            HistoryChart(points([.page(0), .page(50), .page(300)], pageCount: 200), pageCount: 200))
        #expect(chart.line == "0,100 50,75 100,0" && chart.topPage == 200)
        #expect(chart.dots == "M0 100h0M50 75h0M100 0h0")
    }

    @Test func `of a book without page count goes up to the last page reached`() throws {
        let chart = try #require(
            HistoryChart(points([.page(10), .percent(50), .page(40)], pageCount: nil), pageCount: nil))
        #expect(chart.line == "0,75 100,0" && chart.topPage == 40)
        let percents = try #require(HistoryChart(points([.percent(10), .percent(50)], pageCount: nil), pageCount: nil))
        #expect(percents.line == "0,90 100,50" && percents.topPage == nil)
    }

    @Test func `needs two points, and never has more than it can show`() throws {
        #expect(HistoryChart(points([.page(3)], pageCount: 10), pageCount: 10) == nil)
        #expect(HistoryChart(points([.percent(3), .page(1)], pageCount: nil), pageCount: nil) == nil)
        let many = try #require(
            HistoryChart(points((0..<1000).map { .page($0) }, pageCount: 999), pageCount: 999))
        #expect(many.marks.count == HistoryChart.maxMarks && many.marks.last?.x == 100 && many.marks.last?.y == 0)
    }
}
