import Foundation
import TestTools
import Testing

@testable import Bookplate

/// Thursday, 26 November 2026.
private let thursday = CalendarDay(year: 2026, month: 11, day: 26) ?? CalendarDay(number: 0)

private func parse(_ text: String, isLenient: Bool = false, filters: [SavedFilter] = []) throws -> ParsedQuery {
    let context = QueryContext(
        today: thursday, readers: [Reader(id: ID(rawValue: "anna"), name: "Anna", colour: 0)], filters: filters)
    return try QueryParser(context, isLenient: isLenient).parse(text)
}

private func mistake(in text: String, filters: [SavedFilter] = []) -> QueryMistake? {
    do {
        _ = try parse(text, filters: filters)
        return nil
    } catch {
        return error as? QueryMistake
    }
}

@Suite struct QueryParserTests {
    private static let words: [(String, String)] = [
        ("dune", "dune"), ("  le   guin ", "le guin"), ("Dune: Messiah", "Dune: Messiah"),
        ("9780441478125", "9780441478125"),
        ("Quote: Unquote", "Quote: Unquote"), ("http://example.org/a", "http://example.org/a"),
        ("C++ primer", "C++ primer"),
        ("sci-fi", "sci-fi"), ("Dune - Messiah", "Dune Messiah"), ("f(x)", "f(x)"), ("main()", "main()"), (":)", ":)"),
        ("smile :) now", "smile now"), ("(dune -)", "dune"), ("OR", "OR"), ("or else", "or else"), ("¿", "¿"),
        ("Foundation (Book 1)", "Foundation Book 1"),
        ("O\"Brien", "O\"Brien"), ("titel:x", "titel:x"), ("a title- b", "a b"), ("3+ 4-", "3+ 4-"),
    ]

    @Test(arguments: words)
    func `leaves words as they are`(text: String, words: String) throws {
        let parsed = try parse(text)
        #expect(parsed.text == words)
        #expect(parsed.condition == nil)
    }

    private static let conditions: [(String, BookCondition)] = [
        ("author:camus", BookCondition.text(.author, "camus", isPhrase: false)),
        ("AUTHOR:Camus", .text(.author, "Camus", isPhrase: false)),
        ("author:\"le guin\"", .text(.author, "le guin", isPhrase: true)),
        ("author:“le guin”", .text(.author, "le guin", isPhrase: true)),
        ("tag:sf", .tag("sf", isBeginning: false)), ("tag:sci*", .tag("sci", isBeginning: true)),
        ("tag:\"a \\\"b\\\"\"", .tag("a \"b\"", isBeginning: false)),
        ("shelf:none", .lacks(.shelf)), ("shelf:\"none\"", .shelf("none", isBeginning: false)),
        ("status:reading", .status(.reading)), ("status:\"On Hold\"", .status(.onHold)), ("lang:DE", .language("de")),
        ("format:audiobook", .format(.audiobook)), ("pages:..200", .pages(0...200)), ("pages:300", .pages(300...300)),
        ("pages:200..300", .pages(200...300)), ("year:1960..", .year(1960...Int.max)), ("rating:4", .rating(16...19)),
        ("rating:4.0", .rating(16...16)), ("rating:4.5", .rating(18...18)), ("rating:4..", .rating(16...20)),
        ("rating:..3", .rating(0...12)),
        ("rating:unrated", .lacks(.rating)), ("missing:cover", .lacks(.cover)), ("has:isbn", .not(.lacks(.isbn))),
        ("is:favourite", .isFavourite), ("isbn:978-0-14", .isbn("978014")), ("id:3F9A", .id("3f9a")),
        ("readby:anna", .readBy(ID(rawValue: "anna"))), ("readby:nobody", .readByNobody),
        ("-tag:sf", .not(.tag("sf", isBeginning: false))), ("-dune", .not(.words("dune"))),
        ("-\"left hand\"", .not(.phrase("left hand", isOpen: false))),
        ("a OR b", .any([.words("a"), .words("b")])),
        ("a b OR c", .any([.words("a b"), .words("c")])),
        ("-(a OR tag:b)", .not(.any([.words("a"), .tag("b", isBeginning: false)]))),
        (
            "(tag:a tag:b) tag:c",
            .all([.tag("a", isBeginning: false), .tag("b", isBeginning: false), .tag("c", isBeginning: false)])
        ),
        ("(title:f(x))", .text(.title, "f(x)", isPhrase: false)),
        ("added:-30d..", .added(Period(from: CalendarDay(year: 2026, month: 10, day: 27)))),
        ("finished:\"last month\"", .finished(Period(CalendarDay(year: 2026, month: 10)!))),
    ]

    @Test(arguments: conditions)
    func `reads a condition`(text: String, condition: BookCondition) throws {
        let parsed = try parse(text)
        #expect(parsed.condition == condition)
        #expect(parsed.text == "")
    }

    @Test func `ranks by words and phrases that all books must have`() throws {
        let parsed = try parse("dune \"left hand\" -messiah tag:sf")
        #expect(parsed.text == "dune left hand")
        #expect(
            parsed.condition
                == .all([
                    .phrase("left hand", isOpen: false), .not(.words("messiah")), .tag("sf", isBeginning: false),
                ]))
    }

    private static let orders: [(String, BookQuery.Sort, Bool)] = [
        ("+title", BookQuery.Sort.title, false), ("title+", .title, false), ("title-", .title, true),
        ("added-", .added, false), ("+added", .added, true), ("dune rating-", .rating, false),
        ("added- title+", .title, false), ("(tag:a author-)", .author, true),
    ]

    @Test(arguments: orders)
    func `reads the order`(text: String, sort: BookQuery.Sort, isReversed: Bool) throws {
        let parsed = try parse(text)
        #expect(parsed.sort == sort)
        #expect(parsed.isReversed == isReversed)
    }

    private static let mistakes: [(String, String)] = [
        ("rating:x", "rating:x"), ("author:camus rating:6", "rating:6"), ("pages:300..200 dune", "pages:300..200"),
        ("pages:..", "pages:.."), ("year:99999", "year:99999"), ("status:gone", "status:gone"), ("tag:", "tag:"),
        ("tag:\"\"", "tag:\"\""), ("(tag:a", "("), ("a \"b", "\""), ("a OR", "OR"), ("a OR OR b", "OR"),
        ("missing:hat", "missing:hat"), ("is:new", "is:new"),
        ("added:soon", "added:soon"), ("added:2025..2024", "added:2025..2024"), ("readby:ben", "readby:ben"),
        ("filter:gone", "filter:gone"), ("isbn:abc", "isbn:abc"), ("isbn:-", "isbn:-"), ("dune title:???", "title:???"),
        ("-note:\"!\"", "-note:\"!\""), ("id:a%b", "id:a%b"), ("rating:4.1", "rating:4.1"),
    ]

    @Test(arguments: mistakes)
    func `points at a mistake, and leaves it out while a person types`(text: String, part: String) throws {
        let found = try #require(mistake(in: text))
        #expect(found.query == text)
        #expect(String(Array(text)[found.place]) == part)
        let lenient = try parse(text, isLenient: true)
        if part != "\"" { #expect(lenient.ignored.first?.place == found.place) }
    }

    @Test func `reads a phrase that is still being typed as the beginning of one`() throws {
        let parsed = try parse("\"left ha", isLenient: true)
        #expect(parsed.condition == .phrase("left ha", isOpen: true))
        #expect(parsed.ignored.isEmpty)
    }

    @Test func `never refuses what a person types letter by letter`() throws {
        let whole =
            "(author:\"le guin\" OR tag:sf*) -rating:..3 pages:100..200 added:\"last week\".. +title -\"left hand\""
        for end in 0...whole.count { _ = try parse(String(whole.prefix(end)), isLenient: true) }
    }

    @Test func `puts a saved filter in place of its name`() throws {
        let filters = [
            SavedFilter(name: "Short", query: "pages:..200 +title"),
            SavedFilter(name: "to lend", query: "filter:short is:owned OR tag:lend"),
            SavedFilter(name: "me", query: "tag:a filter:\"me too\""), SavedFilter(name: "me too", query: "filter:me"),
        ]
        let parsed = try parse("dune filter:short", filters: filters)
        #expect(parsed.text == "dune")
        #expect(parsed.condition == .pages(0...200))
        #expect(parsed.sort == .title)
        #expect(try parse("filter:short added-", filters: filters).sort == .added)
        #expect(
            try parse("filter:\"TO LEND\" tag:x", filters: filters).condition
                == .all([
                    .any([.all([.pages(0...200), .isOwned]), .tag("lend", isBeginning: false)]),
                    .tag("x", isBeginning: false),
                ]))
        #expect(mistake(in: "filter:me", filters: filters)?.reason.contains("contains itself") == true)
        #expect(try parse("filter:me", isLenient: true, filters: filters).condition == .tag("a", isBeginning: false))
    }

    @Test func `bounds what a query may cost`() throws {
        #expect(try parse(String(repeating: "word ", count: 300)).text.count == 1499)
        #expect(mistake(in: String(repeating: "a", count: 2001))?.reason == "A query has at most 2000 characters")
        #expect(mistake(in: String(repeating: "-a ", count: 101))?.reason == "A query has at most 100 conditions")
        #expect(
            mistake(in: String(repeating: "(", count: 30) + "a" + String(repeating: ")", count: 30))?.reason
                == "Parentheses are nested too deeply")
        let doubling = (0..<9).map { level in
            SavedFilter(name: "f\(level)", query: String(repeating: "tag:a filter:f\(level + 1) ", count: 40))
        }
        #expect(mistake(in: "filter:f0", filters: doubling) != nil)
        // The last filter has no condition at all.
        let empty = (0..<7).map { level in
            SavedFilter(name: "f\(level)", query: String(repeating: "filter:f\(level + 1) ", count: 200))
        }
        let tooMany = mistake(in: "filter:f0", filters: empty + [SavedFilter(name: "f7", query: "+title")])
        #expect(tooMany?.reason.contains("A query has at most 100 conditions") == true)
    }

    @Test(arguments: [
        ("isbn:abc", "\"abc\" is not the beginning of an ISBN. Write isbn:978014"),
        ("id:a%b", "\"a%b\" is not the end of an id. Write id:3f9a1c"),
        ("readby:ben", "\"ben\" is not a reader. Write readby:Anna, readby:nobody"),
        ("filter:gone", "There is no saved filter \"gone\". There are filter:\"to lend\", filter:\"a \\\"b\\\"\""),
    ])
    func `suggests conditions as they are typed`(text: String, reason: String) throws {
        let filters = [SavedFilter(name: "to lend", query: "tag:a"), SavedFilter(name: "a \"b\"", query: "tag:b")]
        #expect(mistake(in: text, filters: filters)?.reason == reason)
        for filter in filters {
            #expect(
                try parse(QueryField.filter.condition(filter.name), filters: filters) == parse(filter.query),
                "\(filter)")
        }
    }

    @Test(arguments: [
        (["le", "guin"], "le guin"), (["author:le guin"], "author:\"le guin\""),
        (["-shelf:living room"], "-shelf:\"living room\""),
        (["author:camus -tag:sf"], "author:camus -tag:sf"), (["author:camus pages:..200"], "author:camus pages:..200"),
        (["author:a OR author:b"], "author:a OR author:b"), (["(tag:a OR tag:b c)"], "(tag:a OR tag:b c)"),
        (["tag:\"a b\""], "tag:\"a b\""), (["Dune: Messiah"], "Dune: Messiah"),
        (["title:a b\\"], "title:a b\\"), (["title:x +title"], "title:x +title"),
    ])
    func `quotes an argument whose quotation marks the shell has removed`(arguments: [String], query: String) {
        #expect(QueryParser.query(fromArguments: arguments) == query)
    }

    /// Any text must be parsed or refused; a lenient parser refuses nothing. Places lie within the text.
    @Test(arguments: 1...40) func `survives any text`(seed: Int) throws {
        var random = SplitMix(seed: UInt64(seed))
        let pieces =
            QueryField.allCases.map { $0.rawValue + ":" } + QueryField.allCases.map(\.example)
            + [
                "(", ")", "\"", "“", "”", "-", "+", "OR", " OR ", " ", " ", " ", "..", "none", "*", "\\", ":", "title+",
                "\u{0}", "\n", "é",
                "👩‍👩‍👧", "ß", "漢字", "\u{301}", "-30d..", "1", "9780441478125", "a", "\u{202E}", "--", "()",
            ]
        for _ in 0..<500 {
            let text = (0..<Int.random(in: 0...14, using: &random)).map { _ in
                pieces.randomElement(using: &random) ?? ""
            }
            .joined()
            let lenient = try parse(text, isLenient: true)
            if let mistake = mistake(in: text) {
                #expect(mistake.place.lowerBound >= 0 && mistake.place.lowerBound < text.count, "\(text)")
                #expect(!mistake.place.isEmpty && mistake.place.upperBound <= text.count, "\(text)")
            } else {
                let strict = try parse(text)
                #expect(strict == lenient, "\(text)")
            }
        }
    }
}

@Suite struct DayPhraseTests {
    private static let days: [(String, String)] = [
        ("2024-03-17", "2024-03-17"), ("2024-03", "2024-03"), ("2024", "2024"), ("today", "2026-11-26"),
        ("Yesterday", "2026-11-25"),
        ("-3d", "2026-11-23"), ("-2w", "2026-11-12"), ("-6m", "2026-05-26"), ("-1y", "2025-11-26"),
        ("-9m", "2026-02-26"),
        ("3 days ago", "2026-11-23"), ("a week ago", "2026-11-19"), ("one month ago", "2026-10-26"),
        ("10 years ago", "2016-11-26"),
        ("thursday", "2026-11-26"), ("last thursday", "2026-11-19"), ("monday", "2026-11-23"),
        ("last mon", "2026-11-23"),
        ("fri", "2026-11-20"), ("this month", "2026-11"), ("last month", "2026-10"), ("this year", "2026"),
        ("last year", "2025"),
    ]

    @Test(arguments: days)
    func `reads a day as people write it`(text: String, day: String) {
        #expect(CalendarDay(phrase: text, today: thursday)?.description == day)
    }

    @Test(arguments: [
        "", "soon", "-3", "3d", "-3x", "ago", "x days ago", "last", "last day", "-99999d", "2024-13", "0 0 0", "th",
        "-0y0",
    ])
    func `refuses any other text`(text: String) { #expect(CalendarDay(phrase: text, today: thursday) == nil) }

    @Test func `takes the last day of a shorter month`() throws {
        let last = try #require(CalendarDay(year: 2024, month: 3, day: 31))
        #expect(CalendarDay(phrase: "-1m", today: last)?.description == "2024-02-29")
        #expect(
            CalendarDay(phrase: "last month", today: try #require(CalendarDay(year: 2024, month: 1, day: 5)))?
                .description == "2023-12")
    }

    private static let periods: [(String, String?, String?)] = [
        ("last week", "2026-11-16", "2026-11-22"), ("this week", "2026-11-23", "2026-11-29"),
        ("-7d..", "2026-11-19", nil),
        ("last monday..yesterday", "2026-11-23", "2026-11-25"), ("..2024", nil, "2024-12-31"),
        ("2024", "2024-01-01", "2024-12-31"),
    ]

    @Test(arguments: periods)
    func `reads a period`(text: String, from: String?, to: String?) throws {
        let period = try Period(phrase: text, today: thursday)
        #expect(period.from?.description == from)
        #expect(period.to?.description == to)
    }
}
