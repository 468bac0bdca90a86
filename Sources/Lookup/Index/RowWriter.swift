import Bookplate
import GRDB

/// Writes the rows of the dumps to the staging tables.
struct RowWriter {
    private(set) var newest = ""
    private(set) var wrongColumns = 0
    private(set) var junk = 0
    private(set) var withoutISBN = 0

    private let edition: Statement
    private let work: Statement
    private let author: Statement

    init(_ db: Database) throws {
        edition = try db.makeStatement(sql: IndexSchema.upsert("edition", IndexSchema.editionColumns))
        work = try db.makeStatement(sql: IndexSchema.upsert("work", ["id", "revision", "authors"]))
        author = try db.makeStatement(sql: IndexSchema.upsert("author", ["id", "revision", "name"]))
    }

    mutating func take(_ row: DumpRow) throws {
        switch row {
        case .junk(.columns): wrongColumns += 1
        case .junk(.content): junk += 1
        case .other: break
        case .edition(let id, let version, let record):
            newest = max(newest, version.modified)
            try take(edition: id, version, record)
        case .work(let id, let version, let authors):
            newest = max(newest, version.modified)
            try work.execute(arguments: [id, version.revision, Self.json(authors)])
        case .author(let id, let version, let name):
            newest = max(newest, version.modified)
            try author.execute(arguments: [id, version.revision, name])
        }
    }

    private mutating func take(edition id: Int64, _ version: DumpRow.Version, _ record: JSON) throws {
        let metadata = OpenLibraryEdition.metadata(record)
        let isbns = Self.isbns(record)
        guard let title = metadata.title, !isbns.isEmpty else {
            withoutISBN += 1
            return
        }
        let work = record["works"]?.items.first?["key"]?.string.flatMap {
            OpenLibraryEdition.number(in: $0, "/works/OL", "W")
        }
        let contributors = metadata.authors.filter { $0.role != .author }.map {
            JSONValue.object([("name", .string($0.name)), ("role", .string($0.role.rawValue))])
        }
        try edition.execute(arguments: [
            id, version.revision, version.modified, Self.json(isbns), work, Self.json(DumpRow.authorNumbers(record)),
            JSONValue.array(contributors).text, title, metadata.subtitle, metadata.publisher,
            metadata.publishedDateText,
            metadata.pageCount, metadata.language, metadata.originalLanguage, metadata.format?.rawValue,
            metadata.series,
            metadata.seriesNumber, metadata.coverURL,
        ])
    }

    /// The sound ISBNs among what the record lists, as numbers, each once.
    private static func isbns(_ record: JSON) -> [Int64] {
        var numbers: [Int64] = []
        for text in OpenLibraryEdition.numbers(record) {
            let isbn: ISBN
            do throws(ISBNRefusal) { isbn = try ISBN(text) } catch {
                // "0140449264 (pbk.)": what follows the number is a remark.
                let number = text.prefix { $0.isHexDigit || "-‐ xX".contains($0) }
                do throws(ISBNRefusal) { isbn = try ISBN(String(number)) } catch { continue }
            }
            if let number = Int64(isbn.digits), !numbers.contains(number) { numbers.append(number) }
        }
        return numbers
    }

    private static func json(_ numbers: [Int64]) -> String {
        "[" + numbers.map(String.init).joined(separator: ",") + "]"
    }
}
