import Bookplate
import Testing

@testable import Exchange

@Suite struct RecognitionTests {
    @Test(
        arguments: [
            (goodreadsHeader, ExchangeFormat.goodreads), (storyGraphHeader, .storyGraph),
            (libraryThingHeader, .libraryThing),
            (openreadsHeader, .openreads), (CSVWriter().header, .csv), ("title,Exclusive Shelf,AUTHOR", .goodreads),
            (openreadsHeader.replacing(",", with: ";"), .openreads),
            ("[\n{\"record\":\"library\",\"version\":1}\n]\n", .json),
            ("{\"record\":\"library\",\"version\":1}\n", .json), ("[{\"record\":\"library\",\"version\":1}]", .json),
        ])
    func `a file is recognised by its contents`(_ sample: (head: String, format: ExchangeFormat)) throws {
        #expect(try rows(Array(sample.head.utf8)).format == sample.format)
    }

    @Test(
        arguments: [
            ([0xFF, 0xD8, 0xFF, 0xE0], "a JPEG photo"), (Array("SQLite format 3\0".utf8), "a SQLite database"),
            ([0x50, 0x4B, 0x03, 0x04], "a ZIP archive"), (Array("  <!DOCTYPE HTML><html>".utf8), "a web page"),
            ([0x1F, 0x8B, 8, 0], "compressed with gzip"), (Array("%PDF-1.7".utf8), "a PDF"),
            (Array("<?xml version".utf8), "an XML"),
            ([0, 0, 0, 0, 0], "not a text file"), (Array("é\n".utf8), "not a text file"),
        ] as [([UInt8], String)])
    func `a file of another kind is named`(_ sample: (bytes: [UInt8], what: String)) throws {
        let error = #expect(throws: ExchangeError.self) { try rows(sample.bytes) }
        guard case .wrongKind(_, let what, let advice) = try #require(error) else { throw try #require(error) }
        #expect(what.hasPrefix(sample.what) && !advice.isEmpty)
    }

    @Test func `names the columns found and the formats known`() throws {
        let error = #expect(throws: ExchangeError.self) { try rows("Name,Price\nx,1\n") }
        let text = try #require(error).description
        #expect(text.contains("name, price") && text.contains("StoryGraph"))
        #expect(throws: ExchangeError.empty(file: "a.csv")) { try rows("") }
        #expect(throws: ExchangeError.empty(file: "a.csv")) { try rows("\n\n  \n") }
        #expect(throws: ExchangeError.self) { try rows("[1,2,3]") }
        #expect(throws: ExchangeError.self) { try rows("{\"a\":1}") }
    }

    @Test func `a person can name the format`() throws {
        let bytes = Array("Title,My Rating\nA,5\n".utf8)
        let all = try rows(bytes, as: .goodreads).rows
        guard case .book(let book) = all[0] else { throw LineError(description: "\(all)") }
        #expect(book.metadata.title == "A" && book.record.copy.rating == 5)
        #expect(throws: ExchangeError.notThatFormat(file: "a.csv", .goodreads)) {
            try rows(Array("Name\nx\n".utf8), as: .goodreads)
        }
    }

    @Test func `rows without title and ISBN are refused, with their number`() throws {
        let all = try rows("Title,Exclusive Shelf,Author,ISBN\nA,read,B,\n,read,B,12\n,read,B,9780441172719\n")
        #expect(all.count == 3)
        #expect(all[1] == .refused(row: 3, reason: "the row has neither a title nor an ISBN"))
        guard case .book(let book) = all[2] else { throw LineError(description: "\(all)") }
        #expect(book.metadata.title == nil && book.row == 4)
    }
}
