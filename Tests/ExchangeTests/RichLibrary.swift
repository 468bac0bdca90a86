import Bookplate
import FoundationEssentials
import Library

@testable import Exchange

private let noon = Date(timeIntervalSince1970: 1_795_262_400)

/// A library with one of everything, as its records.
func richRecords() throws -> [LibraryRecord] {
    func at(_ seconds: Double) -> Date {
        Date(timeIntervalSince1970: Double(1_700_000_000_123 + Int(seconds * 1000)) / 1000)
    }
    var data = Metadata()
    data.title = "=Dune \"quoted\", 'sand', and more"
    data.subtitle = "'tis"
    data.authors = [
        Contributor(name: "Frank Herbert"), Contributor(name: "Zoë, Jr.", role: .translator),
        Contributor(name: "Frank Herbert", role: .narrator),
    ]
    data.publisher = "-Ace"
    data.publishedDate = CalendarDay("1965-08")
    data.publishedDateText = "August 1965"
    data.pageCount = 604
    data.language = "en"
    data.originalLanguage = "en"
    data.authorNationality = "US"
    data.format = .audiobook
    data.series = "Dune"
    data.seriesNumber = "1"
    data.description = "Long\n\ttext 🐛"
    data.subjects = ["Sand", "@Desert"]
    data.coverURL = "https://covers.openlibrary.org/b/id/1-L.jpg"
    data.identifiers = ["goodreads": ["1"], "oclc": ["2", "3"]]
    data.sources = [.title: .person, .pageCount: .openLibrary]
    let edition = Edition(
        id: ID(rawValue: "0198aaaa-0000-7000-8000-000000000001"), isbn: try ISBN("9780441172719"),
        isbnText: "0-441-17271-7",
        metadata: data, editedFields: [.title, .series])

    var copy = Copy(id: ID(rawValue: "0198aaaa-0000-7000-8000-000000000002"), added: at(0))
    copy.status = .reading
    copy.isFavourite = true
    copy.shelf = "Living room"
    copy.tags = ["a, b", "Zoë"]
    copy.rating = 4.25
    copy.isPublic = true
    copy.recommendedBy = "Kim"
    copy.wouldRecommend = false
    copy.dailyGoal = 20
    copy.countsForCulturalGoal = true
    copy.culturalGoalCategory = "Translated Works"
    var first = CopyRecord(copy: copy)
    let session = Session(
        id: ID(rawValue: "0198aaaa-0000-7000-8000-000000000010"), start: at(10), end: at(3610.5), startPage: 3,
        endPage: 40)
    let running = Session(id: ID(rawValue: "0198aaaa-0000-7000-8000-000000000011"), start: at(9000), startPage: 40)
    first.readings = [
        ReadingRecord(
            Reading(
                id: ID(rawValue: "0198aaaa-0000-7000-8000-000000000020"), state: .cancelled,
                started: CalendarDay("2020"))),
        ReadingRecord(
            Reading(
                id: ID(rawValue: "0198aaaa-0000-7000-8000-000000000021"), state: .finished,
                started: CalendarDay("2022-03"),
                finished: CalendarDay("2022-02-01"))),
        ReadingRecord(
            Reading(id: ID(rawValue: "0198aaaa-0000-7000-8000-000000000022"), started: CalendarDay("2023-11-14")),
            entries: [
                ProgressEntry(
                    id: ID(rawValue: "0198aaaa-0000-7000-8000-000000000030"), at: at(5), amount: .percent(33.33),
                    isAutomatic: true),
                ProgressEntry(
                    id: ID(rawValue: "0198aaaa-0000-7000-8000-000000000031"), at: at(3610.5), amount: .page(40),
                    session: session.id),
            ], sessions: [session, running]),
    ]
    first.notes = [
        Note(id: ID(rawValue: "0198aaaa-0000-7000-8000-000000000040"), text: "+one", created: at(1)),
        Note(
            id: ID(rawValue: "0198aaaa-0000-7000-8000-000000000041"), kind: .discussion, text: "two\n\"q\"",
            created: at(2)),
    ]
    first.quotes = [
        Quote(id: ID(rawValue: "0198aaaa-0000-7000-8000-000000000050"), text: "Fear…", page: 8, created: at(3))
    ]
    first.flags = [ImportFlag(source: "goodreads", what: "cut", raw: "a,b\n\"c", at: at(4))]
    first.requests = ["goodreads:1", "typed"]

    var second = CopyRecord(copy: Copy(id: ID(rawValue: "0198aaaa-0000-7000-8000-000000000003"), added: at(7)))
    second.copy.isOwned = false
    second.copy.isOnWishlist = true
    var trashed = CopyRecord(copy: Copy(id: ID(rawValue: "0198aaaa-0000-7000-8000-000000000004"), added: at(8)))
    trashed.copy.deleted = noon
    var bare = Metadata()
    bare.title = "''=odd"
    let other = Edition(
        id: ID(rawValue: "0198aaaa-0000-7000-8000-000000000005"), isbn: nil, isbnText: "12-34", metadata: bare)
    return [
        .library(version: 1), .setting(name: "dailyGoal", value: "30"), .author("Nobody's"), .shelf("Attic"),
        .shelf("Living room"), .tag("a, b"), .tag("Unused"), .tag("Zoë"),
        .book(BookRecord(edition: edition, copies: [first, second])),
        .book(BookRecord(edition: other, copies: [trashed])),
    ]
}

extension LibraryFile {
    func json(isForOthers: Bool = false) async throws -> String {
        let records = try await records()
        var writer = JSONWriter()
        return records.compactMap { isForOthers ? $0.forOthers : $0 }.map { writer.text(of: $0) }.joined() + writer.end
    }

    func csv() async throws -> String {
        var writer = CSVWriter()
        return try await writer.header + records().map { writer.rows(of: $0) }.joined()
    }

    func records() async throws -> [LibraryRecord] {
        let taken = Taken()
        try await export { taken.add($0) }
        return taken.all
    }

    @discardableResult
    func take(_ text: String, rowsAtOnce: Int = 3) async throws -> ImportSummary {
        let file = try ImportFile("a", next: chunks(Array(text.utf8), of: 1 << 16))
        var run = ImportRun(file, into: LibraryImport(into: self, from: "a"), rowsAtOnce: rowsAtOnce)
        while try await run.next(at: noon) != nil {}
        return run.summary
    }
}

// Only one reading transaction at a time writes to this object.
private final class Taken: @unchecked Sendable {
    private(set) var all: [LibraryRecord] = []
    func add(_ record: LibraryRecord) { all.append(record) }
}
