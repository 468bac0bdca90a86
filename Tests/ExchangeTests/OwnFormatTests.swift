import Bookplate
import FoundationEssentials
import Library
import TestTools
import Testing

@testable import Exchange

private let noon = Date(timeIntervalSince1970: 1_795_262_400)

@Suite struct OwnFormatTests {
    private func richLibrary() async throws -> LibraryFile {
        let library = try LibraryFile.inMemory()
        let rows = try richRecords().enumerated().map { ImportRow.record($1, row: $0 + 1) }
        let results = try await LibraryImport(into: library, from: "rich").importRows(rows, at: noon)
        #expect(!results.contains { if case .refused = $0.outcome { true } else { false } }, "\(results)")
        return library
    }

    @Test func `what goes in comes out`() async throws {
        let library = try await richLibrary()
        #expect(try await library.records() == richRecords())
    }

    @Test func `JSON into an empty library gives the same JSON`() async throws {
        let first = try await richLibrary().json()
        let library = try LibraryFile.inMemory()
        let summary = try await library.take(first)
        #expect(summary.new == 2 && summary.refused == 0)
        #expect(try await library.json() == first)
        #expect(first.split(separator: "\n").count == richRecordsCount + 2)

        let before = try await library.changes(limit: 10).count
        let again = try await library.take(first)
        #expect(again.new == 0 && again.merged == 0 && again.unchanged == 2)
        #expect(try await library.json() == first)
        #expect(try await library.changes(limit: 10).count == before)
    }

    @Test func `corrected sort names are in JSON, CSV and BibTeX, and JSON brings them back`() async throws {
        let name = "Gabriel García Márquez", sorted = "García Márquez, Gabriel"
        let library = try LibraryFile.inMemory()
        try await library.take(
            "Book Id,Title,Author,Bookshelves,Exclusive Shelf\r\n1,Cien años,\(name),,read\r\n2,Emma,Jane Austen,,read\r\n"
        )
        _ = try await library.setSortName(of: name, to: sorted, at: noon)
        let json = try await library.json()
        #expect(json.contains(#"{"record":"author","name":"\#(name)","sortName":"\#(sorted)"}"#))
        #expect(!json.contains(#""name":"Jane Austen","sortName""#))
        let csv = try await library.csv()
        #expect(csv.contains("\"\(sorted)\"") && csv.contains("\"Austen, Jane\""))
        var writer = BibTeXWriter()
        let entries = try await library.records().map { writer.entry(for: $0) }.joined()
        #expect(entries.contains("author = {\(sorted)}") && entries.contains("author = {Jane Austen}"))

        let other = try LibraryFile.inMemory()
        try await other.take(json)
        #expect(try await other.json() == json)
        // A correction that was made here stays.
        _ = try await other.setSortName(of: name, to: "Gabo", at: noon)
        try await other.take(json)
        #expect(try await other.authors().first { $0.name == name }?.sortName == "Gabo")
    }

    private var richRecordsCount: Int { 10 }

    @Test func `JSON that another tool has reformatted is read`() async throws {
        let text = try await richLibrary().json()
        let library = try LibraryFile.inMemory()
        let pretty = text.replacing(
            "{\"record\":\"library\",\"version\":1}", with: "{\n  \"record\": \"library\",\n  \"version\": 1\n}")
        try await library.take(pretty.replacing(",\n{", with: ",{"))
        #expect(try await library.json() == text)
    }

    @Test(
        arguments: [
            ("\"rating\":4.25", "\"rating\":4.3", "rating"),
            ("\"isbn13\":\"9780441172719\"", "\"isbn13\":\"9780441172710\"", "isbn13"),
            ("\"state\":\"cancelled\"", "\"state\":\"lost\"", "state"),
            ("\"started\":\"2020\"", "\"started\":\"2020-02-30\"", "started"),
            ("\"pageCount\":604", "\"pageCount\":-1", "pageCount"),
            ("\"pageCount\":604", "\"pageCount\":1000001", "pageCount"),
            ("\"id\":\"0198aaaa-0000-7000-8000-000000000001\"", "\"id\":\"../x\"", "id"),
            ("\"page\":40", "\"page\":-40", "progress"), ("\"title\":\"''=odd\"", "\"title\":5", "title"),
        ])
    func `a wrong line is refused with the reason, and the others are imported`(
        _ sample: (right: String, wrong: String, what: String)
    ) async throws {
        let text = try await richLibrary().json()
        #expect(text.contains(sample.right))
        let library = try LibraryFile.inMemory()
        let file = try ImportFile(
            "a", next: chunks(Array(text.replacing(sample.right, with: sample.wrong).utf8), of: 4096))
        var run = ImportRun(file, into: LibraryImport(into: library, from: "a"))
        let results = try #require(try await run.next(at: noon))
        let refused = results.compactMap {
            if case .refused(let reason) = $0.outcome { (row: $0.row, reason: reason) } else { nil }
        }
        #expect(refused.count == 1 && refused[0].reason.contains(sample.what), "\(refused)")
        #expect(run.summary.new == 1)
    }

    @Test func `the rows before a read error are imported`() async throws {
        struct Broken: Error {}
        var parts = ["Title,Author,Exclusive Shelf" + String(repeating: " ", count: 600), "\nA,B,read\nC,D,read\n"]
        let file = try ImportFile("a", as: .goodreads) {
            guard !parts.isEmpty else { throw Broken() }
            return Array(parts.removeFirst().utf8)
        }
        let library = try LibraryFile.inMemory()
        var run = ImportRun(file, into: LibraryImport(into: library, from: "a"))
        let results = try #require(try await run.next(at: noon))
        #expect(results.map(\.title) == ["A", "C"] && run.summary.new == 2)
        await #expect(throws: Broken.self) { try await run.next(at: noon) }
    }

    @Test(arguments: [
        "[\n{\"record\":\"library\",\"version\":3}\n]\n", "[{\"record\":\"library\",\n\"version\":3}]",
    ])
    func `a newer version of the export is refused entirely`(_ text: String) throws {
        let error = #expect(throws: ExchangeError.self) { try rows(text) }
        #expect(error?.description.contains("version 3") == true, "\(String(describing: error))")
    }

    @Test(arguments: [2, 4])
    func `a truncated file is reported after its valid rows`(_ cut: Int) async throws {
        let text = try await richLibrary().json()
        #expect(text.hasSuffix("}\n]\n"))
        let library = try LibraryFile.inMemory()
        let file = try ImportFile("a", next: chunks(Array(text.utf8.dropLast(cut)), of: 4096))
        var run = ImportRun(file, into: LibraryImport(into: library, from: "a"))
        let results = try #require(try await run.next(at: noon))
        #expect(results.count == richRecordsCount && run.summary.new == (cut == 2 ? 2 : 1))
        let error = await #expect(throws: ExchangeError.self) { try await run.next(at: noon) }
        #expect(error?.description.contains("is cut off") == true)
    }

    @Test func `editions that share title and author come back one by one`() async throws {
        let library = try LibraryFile.inMemory()
        let rows = ["9780441172719", nil, nil, "9780140449266"].enumerated().map { place, number in
            var data = Metadata()
            data.title = "Poems"
            data.authors = [Contributor(name: "Ada Example")]
            let isbn = number.flatMap { try? ISBN($0) }
            let edition = Edition(
                id: ID(rawValue: "0198aaaa-0000-7000-8000-00000000000\(place)"), isbn: isbn, isbnText: number,
                metadata: data)
            var copy = CopyRecord(
                copy: Copy(id: ID(rawValue: "0198aaaa-0000-7000-8000-00000000001\(place)"), added: noon))
            copy.notes = [Note(text: "note \(place)", created: noon)]
            return ImportRow.record(.book(BookRecord(edition: edition, copies: [copy])), row: place)
        }
        _ = try await LibraryImport(into: library, from: "a").importRows(rows, at: noon)
        let json = try await library.json()
        #expect(json.split(separator: "\n").count == 7)
        let fromJSON = try LibraryFile.inMemory()
        try await fromJSON.take(json)
        #expect(try await fromJSON.json() == json)
        let csv = try await library.csv()
        let fromCSV = try LibraryFile.inMemory()
        try await fromCSV.take(csv)
        #expect(try await fromCSV.csv() == csv)
    }

    @Test func `a flag that is too long is truncated, and its book is imported`() async throws {
        let text = try await richLibrary().json()
        let long = String(repeating: "é", count: 1 << 20)
        #expect(text.contains("\"what\":\"cut\",\"raw\":\"a,b"))
        let library = try LibraryFile.inMemory()
        let summary = try await library.take(
            text.replacing("\"what\":\"cut\",\"raw\":\"a,b", with: "\"what\":\"\(long)\",\"raw\":\"\(long)"))
        #expect(summary.refused == 0 && summary.new == 2)
    }

    @Test(
        arguments: [(0.25, "1"), (0.5, "1"), (1.25, "1"), (2.5, "3"), (4.75, "5"), (nil, "0")] as [(Double?, String)])
    func `the largest page count that can be entered and every rating survive the CSV`(
        rating: Double?, inGoodreads: String
    ) async throws {
        var copy = Copy(added: noon)
        copy.rating = rating
        var metadata = Metadata()
        metadata.title = "Long"
        metadata.pageCount = NumberLimit.pages.upperBound
        let record = BookRecord(edition: Edition(isbn: nil, metadata: metadata), copies: [CopyRecord(copy: copy)])
        var writer = CSVWriter()
        let csv = writer.header + writer.rows(of: .book(record))
        let library = try LibraryFile.inMemory()
        try await library.take(csv)
        let book = try #require(try await library.book(copy.id))
        #expect(book.edition.metadata.pageCount == 1_000_000 && book.copy.rating == rating)
        let cells = try #require(csv.split(separator: "\r\n").last).split(
            separator: ",", omittingEmptySubsequences: false)
        #expect(cells[7] == inGoodreads)
    }

    @Test func `CSV into an empty library gives the same CSV, guards and all`() async throws {
        let rich = try await richLibrary()
        let first = try await rich.csv()
        #expect(first.hasPrefix("Book Id,Title,"))
        #expect(first.contains("\"=\"\"9780441172719\"\"\""))
        #expect(first.contains("'=Dune"))
        let library = try LibraryFile.inMemory()
        let summary = try await library.take(first)
        #expect(summary.new == 2 && summary.flagged == 0 && summary.refused == 0)
        #expect(try await library.csv() == first)
        let again = try await library.take(first)
        #expect(again.unchanged == 2 && again.new == 0 && again.merged == 0)
        // The library from which the file came recognises its rows by their ids.
        let home = try await rich.json()
        #expect(try await rich.take(first).unchanged == 2)
        #expect(try await rich.json() == home)
    }

    @Test func `our CSV is a Goodreads export to Goodreads`() async throws {
        let text = try await richLibrary().csv()
        let goodreads = text.replacing("Bookplate Id", with: "x")
        let library = try LibraryFile.inMemory()
        #expect(try rows(Array(goodreads.utf8)).format == .goodreads)
        let summary = try await library.take(goodreads)
        #expect(summary.refused == 0)
    }

    @Test(
        arguments: [
            ("=1+1", "'=1+1"), ("+1", "'+1"), ("-x", "'-x"), ("@x", "'@x"), ("\tx", "'\tx"), ("\rx", "'\rx"),
            ("'tis", "'tis"),
            ("'=x", "''=x"), ("''-x", "'''-x"), ("plain", "plain"), ("", ""), ("'", "'"), ("a=1", "a=1"),
        ])
    func `a guard is added and removed again`(_ sample: (text: String, guarded: String)) {
        #expect(CSVWriter.guarded(sample.text) == sample.guarded)
        #expect(CSVWriter.unguarded(sample.guarded) == sample.text)
    }

    @Test func `an export for others holds what is public and nothing private`() async throws {
        let text = try await richLibrary().json(isForOthers: true)
        #expect(text.split(separator: "\n").count == 4)
        for secret in [
            "Kim", "+one", "Fear", "Living room", "Attic", "goodreads:1", "dailyGoal\":20", "000000000003",
            "sessions\":[{",
        ] {
            #expect(!text.contains(secret), "\(secret)")
        }
        #expect(text.contains("\"rating\":4.25") && text.contains("2022-03"))
    }

    @Test func `random bytes in our JSON never crash it`() async throws {
        let text = Array(try await richLibrary().json().utf8)
        var random = SplitMix(seed: 5)
        for _ in 0..<60 {
            var bytes = text
            for _ in 0..<(1 + random.below(6)) { bytes[40 + random.below(bytes.count - 40)] = UInt8(random.below(256)) }
            let library = try LibraryFile.inMemory()
            let file = try ImportFile("a", next: chunks(bytes, of: 4096))
            var run = ImportRun(file, into: LibraryImport(into: library, from: "a"))
            while try await run.next(at: noon) != nil {}
            #expect(run.summary.new <= 2)
        }
    }

    @Test(arguments: [
        0, 0.001, 0.123, 0.999, 86_399.999, -0.001, 1_700_000_000.123, -62_135_596_800, 253_402_300_799.999,
    ])
    func `instants keep their milliseconds`(_ seconds: Double) throws {
        let date = Date(timeIntervalSince1970: seconds)
        let text = date.rfc3339
        let back = try #require(Date(rfc3339: text))
        #expect(back.rfc3339 == text)
        #expect(abs(back.timeIntervalSince1970 - seconds) < 0.0006)
    }
}
