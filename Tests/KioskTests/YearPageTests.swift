import Bookplate
import Foundation
import Testing

@testable import Kiosk

@Suite struct `The review of a year` {
    private func withYear(_ body: (StatsKiosk, ID<Copy>) async throws -> Void) async throws {
        try await StatsKiosk.run { kiosk async throws in
            let (library, now) = (kiosk.library, StatsKiosk.now)
            try await library.set("yearlyGoal", to: "3", at: now)
            let emma = try await kiosk.book("Emma & <Co>", by: "Jane Austen", pages: 474, shelf: "Attic")
            _ = try await library.update(emma, at: now) { $0.copy.tags = ["secret"] }
            _ = try await library.setStatus(
                .read, of: emma, on: CalendarDay("2026-02-03"), ending: nil,
                opinion: Opinion(rating: 4.5, note: Note(text: "Private thoughts", created: now)), then: nil, at: now)
            let short = try await kiosk.book("The Lottery", by: "Shirley Jackson", pages: 34)
            _ = try await library.setStatus(.read, of: short, on: CalendarDay("2026-04-01"), at: now)
            _ = try await library.addSession(
                of: emma, start: now.addingTimeInterval(-7_200), end: now.addingTimeInterval(-3_600), startPage: 0,
                endPage: 40, at: now)
            try await body(kiosk, emma)
        }
    }

    @Test func `shows the books, the figures, the favourites and the landmarks`() async throws {
        try await withYear { kiosk, emma async throws in
            let html = try await kiosk.ask("/year/2026").text
            for text in [
                "2026 in books", "<strong>2</strong>", "<strong>508</strong>", "Emma &amp; &lt;Co&gt;",
                "3 February 2026", "474 pages", "34 pages", "2 of 3 books", "/books/\(emma.rawValue)", "/year/2025",
                "★★★★½",
            ] { #expect(html.contains(text), "\(text)") }
            #expect(!html.contains("/year/2027"))
            #expect(try await kiosk.ask("/year/2025").text.contains("Nothing was read in this year."))
            #expect(try await kiosk.ask("/stats?period=year").text.contains("href=\"/year/2026\""))
            for path in ["/year/26", "/year/2026.png", "/year/abcd", "/year/0000"] {
                #expect(try await kiosk.ask(path).status == 404, "\(path)")
            }
        }
    }

    @Test func `has nothing private, on the page and in the picture`() async throws {
        try await withYear { kiosk, _ async throws in
            for path in ["/year/2026", "/year/2026.svg", "/year/2026.svg?name=1"] {
                let text = try await kiosk.ask(path).text
                for secret in ["secret", "Private thoughts", "Attic"] { #expect(!text.contains(secret), "\(path)") }
            }
        }
    }

    @Test(arguments: [
        ("en", "My year in books", "books read"), ("de", "Mein Lesejahr", "Bücher gelesen"),
        ("fr", "Mon année de lecture", "livres lus"),
    ])
    func `is a picture that loads nothing`(_ language: String, _ title: String, _ books: String) async throws {
        try await withYear { kiosk, _ async throws in
            let svg = try await kiosk.ask("/year/2026.svg", language: language).text
            for text in [title, books, ">508</text>", "Emma &amp; &lt;Co&gt;", ">2026</text>"] {
                #expect(svg.contains(text), "\(text)")
            }
            for reference in ["href", "url(", "<image", "style=", "<style", "<script"] {
                #expect(!svg.contains(reference), "\(reference)")
            }
            let parser = XMLDocumentCheck(svg)
            #expect(parser.isWellFormed)
        }
    }

    @Test func `names the reader in the picture only if that is asked for`() async throws {
        try await withYear { kiosk, _ async throws in
            _ = try await kiosk.library.addReader("Ben", naming: "Anna", at: StatsKiosk.now)
            #expect(try await kiosk.ask("/year/2026").text.contains("With the name Anna"))
            let (plain, named) = (try await kiosk.ask("/year/2026.svg"), try await kiosk.ask("/year/2026.svg?name=1"))
            #expect(!plain.text.contains("Anna") && named.text.contains("Anna’s year in books"))
            #expect(!named.text.contains("Ben"))
            #expect(try await kiosk.ask("/year/2026.svg?reader=Ben").text.contains(">0</text>"))
        }
    }

    @Test(arguments: [
        String(repeating: "W", count: 400), "漢字" + String(repeating: "漢", count: 200), "a\u{FFFE}\u{1}b ]]> & \u{202E}",
    ])
    func `cuts and escapes any title`(_ title: String) async throws {
        try await StatsKiosk.run { kiosk async throws in
            let book = try await kiosk.book(title, by: title)
            _ = try await kiosk.library.setStatus(.read, of: book, on: CalendarDay("2026-02-03"), at: StatsKiosk.now)
            let svg = try await kiosk.ask("/year/2026.svg").text
            #expect(XMLDocumentCheck(svg).isWellFormed)
            #expect(!svg.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" || $0.value & 0xFFFE == 0xFFFE })
            #expect(svg.matches(of: /<text[^>]*>([^<]*)<\/text>/).allSatisfy { $0.1.count < 120 })
        }
    }

    @Test func `is a picture without favourites, too`() async throws {
        try await StatsKiosk.run { kiosk async throws in
            let book = try await kiosk.book("Emma")
            _ = try await kiosk.library.setStatus(.read, of: book, on: CalendarDay("2026"), at: StatsKiosk.now)
            #expect(XMLDocumentCheck(try await kiosk.ask("/year/2026.svg").text).isWellFormed)
            #expect(XMLDocumentCheck(try await kiosk.ask("/year/2020.svg").text).isWellFormed)
        }
    }
}

/// Checks that tags are balanced and that no text has a bare `<` or `&`.
private struct XMLDocumentCheck {
    let isWellFormed: Bool

    init(_ text: String) {
        var open: [Substring] = []
        var isRight = true
        for tag in text.matches(of: /<(\/?)([A-Za-z]+)((?:\s+[\w:-]+="[^"<]*")*)\s*(\/?)>/) {
            if !tag.1.isEmpty {
                isRight = isRight && open.popLast() == tag.2
            } else if tag.4.isEmpty {
                open.append(tag.2)
            }
        }
        let rest = text.replacing(/<\/?[A-Za-z]+(?:\s+[\w:-]+="[^"<]*")*\s*\/?>/, with: "")
            .replacing(/&(?:lt|gt|amp|quot|#39);/, with: "")
        isWellFormed = isRight && open.isEmpty && !rest.contains { "<&".contains($0) }
    }
}
