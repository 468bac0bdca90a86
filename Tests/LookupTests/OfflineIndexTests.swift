import Bookplate
import FaultServer
import Foundation
import GRDB
import TestTools
import Testing

@testable import Lookup

@Suite struct OfflineIndexTests: IndexBuilding {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    @Test func `an edition is joined with its authors in any order of rows and files`() async throws {
        let edition = row(
            "edition", "/books/OL1M",
            #"{"key": "/books/OL1M", "title": "The Odyssey", "works": [{"key": "/works/OL5W"}], "subtitle": "S", "authors": [{"key": "/authors/OL2A"}, {"key": "/authors/OL1A"}], "publishers": ["Penguin"], "publish_date": "March 2009", "number_of_pages": 541, "languages": [{"key": "/languages/eng"}], "isbn_13": ["978-0-14-026886-7"], "covers": [295580], "series": ["Classics ; 3"], "physical_format": "Paperback", "contributors": [{"name": "Fagles", "role": "Translator"}]}"#,
            modified: "2021-05-06T07:08:09.1")
        let authors = [
            row("author", "/authors/OL1A", #"{"name": "Second"}"#),
            row("author", "/authors/OL2A", #"{"name": "First"}"#),
        ]
        let files = [
            try dump([edition], "editions.txt"),
            try scratch.write(gzip(Array(authors.joined().utf8)), to: "authors.txt.gz"),
        ]
        for files in [files, files.reversed()] {
            _ = try OfflineIndexBuilder.build(dumpFiles: files, to: scratch.file("index.sqlite"))
            let book = try #require(try await record(.odyssey))
            #expect(book.title == "The Odyssey" && book.subtitle == "S" && book.publisher == "Penguin")
            #expect(
                book.authors == [
                    Contributor(name: "First"), Contributor(name: "Second"),
                    Contributor(name: "Fagles", role: .translator),
                ])
            #expect(book.publishedDate == CalendarDay("2009-03") && book.publishedDateText == "March 2009")
            #expect(book.pageCount == 541 && book.language == "en" && book.format == .physical)
            #expect(book.series == "Classics" && book.seriesNumber == "3")
            #expect(book.coverURL == "https://covers.openlibrary.org/b/id/295580-L.jpg")
            #expect(book.identifiers == ["openlibrary": ["OL1M"], "openlibrary_work": ["OL5W"]])
            #expect(book.sources[.title] == .offlineIndex)
        }
        let info = try OfflineIndex(path: scratch.file("index.sqlite")).info()
        #expect(info.editions == 1 && info.isbns == 1 && info.authors == 2)
        #expect(info.builtFrom == ["authors.txt.gz", "editions.txt"])
        #expect(info.newest == "2021-05-06T07:08:09.1")
        #expect(info.bytes > 0)
    }

    @Test func `authors are taken from the work if the edition has none`() async throws {
        try build([
            row("author", "/authors/OL7A", #"{"name": "Lem"}"#),
            row(
                "edition", "/books/OL1M",
                #"{"title": "Solaris", "works": [{"key": "/works/OL5W"}], "isbn_10": ["0156027607"]}"#),
            row(
                "work", "/works/OL5W",
                #"{"authors": [{"type": "/type/author_role", "author": {"key": "/authors/OL7A"}}]}"#),
        ])
        #expect(try await record(.solaris)?.authorNames == ["Lem"])
    }

    @Test(arguments: [
        "9780140268867", "978-0-14-026886-7", "0140268863", "0-14-026886-3 (pbk.)", "ISBN 0140268863", "0140268863 :",
    ])
    func `ISBNs are accepted in any form`(_ text: String) async throws {
        try build([row("edition", "/books/OL1M", #"{"title": "T", "isbn_10": ["\#(text)"]}"#)])
        #expect(try await record(.odyssey)?.title == "T")
    }

    @Test func `of several editions with one ISBN the most complete wins, then the newest`() async throws {
        func edition(_ number: Int, _ rest: String, _ modified: String) -> String {
            row(
                "edition", "/books/OL\(number)M", #"{"title": "\#(number)", "isbn_13": ["9780140268867"]\#(rest)}"#,
                modified: modified)
        }
        try build([
            edition(1, "", "2024-01-01"), edition(2, #", "publishers": ["P"], "number_of_pages": 5"#, "2020-01-01"),
            edition(3, #", "publishers": ["P"]"#, "2025-01-01"),
        ])
        #expect(try await record(.odyssey)?.title == "2")
        try build([edition(1, "", "2020-01-01"), edition(2, "", "2024-01-01"), edition(3, "", "2022-01-01")])
        #expect(try await record(.odyssey)?.title == "2")
    }

    @Test func `of several revisions of one record the highest counts, wherever it is`() async throws {
        func edition(_ title: String, _ revision: Int) -> String {
            row("edition", "/books/OL1M", #"{"title": "\#(title)", "isbn_13": ["9780140268867"]}"#, revision: revision)
        }
        try build([edition("two", 2), edition("ten", 10), edition("three", 3)])
        #expect(try await record(.odyssey)?.title == "ten")
    }

    @Test func `rows that cannot be parsed are counted and skipped`() async throws {
        let long = String(repeating: "x", count: DumpReader.maxLength + 1)
        let good = row("edition", "/books/OL9M", #"{"title": "Good", "isbn_13": ["9780140268867"]}"#)
        let report = try build([
            "one\tcolumn too few\t1\t2020\n", row("edition", "/books/OL1M", "{}\tsix"), "\n",
            row("edition", "/books/OL2M", "{cut"),
            row("edition", "/books/../x", "{}"), row("edition", "/books/OL3M", "[]"),
            row("author", "/authors/OL1A", #"{"name": 5}"#),
            row("edition", "/books/OL4M", #"{"title": "No ISBN"}"#),
            row("edition", "/books/OL5M", #"{"isbn_13": ["9780140268867"]}"#),
            row("edition", "/books/OL6M", #"{"title": "Wrong digit", "isbn_13": ["9780140268868"]}"#),
            row("redirect", "/books/OL7M", "{}"), row("edition", "/books/OL8M", long),
            row("edition", "/books/OL8M", long + long),
            String(good.dropLast()),
        ])
        #expect(report.editions == 3)
        #expect(report.wrongColumns == 3)
        #expect(report.junk == 3)
        #expect(report.tooLong == 2)
        #expect(report.withoutISBN == 2)
        #expect(try await record(.odyssey)?.title == "Good")
    }

    @Test func `the same dumps give the same bytes`() throws {
        let rows =
            (0..<500).map { number in
                row(
                    "edition", "/books/OL\(number + 1)M",
                    #"{"title": "T\#(number)", "isbn_13": ["\#(ISBN.sample(numbered: number))"], "authors": [{"key": "/authors/OL\#(number % 7 + 1)A"}]}"#
                )
            } + (1...7).map { row("author", "/authors/OL\($0)A", #"{"name": "A\#($0)"}"#) }
        try build(rows)
        let first = try Data(contentsOf: URL(fileURLWithPath: scratch.file("index.sqlite")))
        try build(rows)
        #expect(try Data(contentsOf: URL(fileURLWithPath: scratch.file("index.sqlite"))) == first)
    }

    @Test func `a file that is not an index is refused by name`() throws {
        let foreign = scratch.file("other.sqlite")
        try DatabaseQueue(path: foreign).write { try $0.execute(sql: "CREATE TABLE t (x)") }
        #expect(throws: OfflineIndexError.foreign(path: foreign)) { try OfflineIndex(path: foreign) }
        let text = try scratch.write(
            Array("a text that is no database, long enough for a header of one hundred bytes".utf8)
                + [UInt8](repeating: 32, count: 100), to: "text")
        #expect(throws: OfflineIndexError.foreign(path: text)) { try OfflineIndex(path: text) }
        let missing = scratch.file("missing")
        #expect(throws: OfflineIndexError.missing(path: missing)) { try OfflineIndex(path: missing) }
    }

    @Test func `a damaged index is reported as such, never as "no such book"`() async throws {
        let rows = (0..<2000).map {
            row("edition", "/books/OL\($0 + 1)M", #"{"title": "T", "isbn_13": ["\#(ISBN.sample(numbered: $0))"]}"#)
        }
        try build(rows)
        let path = scratch.file("index.sqlite")
        var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        for place in 4096..<bytes.count { bytes[place] = 0xA5 }
        try scratch.write(bytes, to: "damaged.sqlite")
        do {
            let index = try OfflineIndex(path: scratch.file("damaged.sqlite"))
            guard case .badData? = await index.lookUp([.sample(numbered: 5)])[.sample(numbered: 5)] else {
                throw NoAnswer()
            }
        } catch let error as OfflineIndexError {
            guard case .damaged = error else { throw error }
        }
    }

    @Test func `two thousand ISBNs are answered in batches, known and unknown`() async throws {
        try build(
            (0..<1000).map {
                row(
                    "edition", "/books/OL\($0 + 1)M",
                    #"{"title": "T\#($0)", "isbn_13": ["\#(ISBN.sample(numbered: $0))"]}"#)
            })
        let index = try OfflineIndex(path: scratch.file("index.sqlite"))
        let asked = (0..<2000).map { ISBN.sample(numbered: $0) }
        var found = 0
        for start in stride(from: 0, to: asked.count, by: index.batchSize) {
            let answers = await index.lookUp(Array(asked[start..<start + index.batchSize]))
            #expect(answers.count == index.batchSize)
            found += answers.values.count { if case .found = $0 { true } else { false } }
        }
        #expect(found == 1000)
        // The query searches by number and never scans a table, whatever the size of the index.
        let plan = try await DatabaseQueue(path: scratch.file("index.sqlite")).read { db in
            try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + IndexSchema.query, arguments: [0]).map {
                $0["detail"] as String
            }
        }
        #expect(!plan.contains { $0.hasPrefix("SCAN") }, "\(plan)")
    }
}
