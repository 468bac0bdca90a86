import Bookplate
import Foundation
import Library

// The fields of the lists. Each is derived from the JSON of a sample, so a new key of the JSON is a field at once.

extension RowFields {
    static let books = RowFields(
        of: BookHit(book: sampleBook, match: BookHit.Match(field: .title, snippet: Snippet(parts: []))).json,
        defaults: [
            "id", "isbn13", "title", "authors", "publishedDate", "pageCount", "status", "shelf", "tags", "rating",
        ], aliases: ["pages": "pageCount", "isbn": "isbn13"])

    static let authors = RowFields(
        of: Author(name: "", books: 0, roles: [:]).json, defaults: ["name", "books"], hasShortIDs: false)

    static let labels = RowFields(
        of: Label(kind: .tag, name: "", books: 0).json, defaults: ["name", "books"], hasShortIDs: false)

    static let filters = RowFields(
        of: SavedFilter(name: "", query: "").json, defaults: ["name", "query"], hasShortIDs: false)

    static let readers = RowFields(
        of: Reader(name: nil, colour: 0).json, defaults: ["id", "name", "colour", "pin"], hasShortIDs: false)

    static let notes = RowFields(
        of: Annotation(Note(text: "", created: sampleDate, reader: sampleReader, isPrivate: true), on: sampleBook)
            .json,
        defaults: ["id", "created", "kind", "title", "text"])

    static let quotes = RowFields(
        of: Annotation(Quote(text: "", created: sampleDate, reader: sampleReader, isPrivate: true), on: sampleBook)
            .json,
        defaults: ["id", "created", "page", "title", "text"])

    static let sessions = RowFields(
        of: SessionRecord(
            session: Session(start: sampleDate), reading: ID(), copy: ID(), title: nil, isbn: nil, pageCount: nil,
            isInTrash: false
        ).json(at: sampleDate),
        defaults: ["id", "start", "end", "minutes", "startPage", "endPage", "title"])

    static let changes = RowFields(
        of: Change(id: ID(), at: sampleDate, device: "", kind: .save, summary: "").json,
        defaults: ["id", "at", "station", "kind", "summary", "undone"])

    static let backups = RowFields(
        of: StoredBackup(path: "", at: sampleDate, bytes: 0).json, defaults: ["at", "bytes", "books", "path"],
        hasShortIDs: false)

    static let intake = RowFields(
        of: sampleISBN.map {
            QueueItem(isbn: $0, raw: "", origin: .typed, device: "", captured: sampleDate).json
        } ?? .null,
        defaults: ["id", "isbn13", "captured", "state", "title", "authors", "outcome"])

    private static let sampleDate = Date(timeIntervalSince1970: 0)
    // This number is valid, so it is never `nil`.
    private static let sampleISBN = try? ISBN("9780441478125")
    private static let sampleReader = ReaderName(id: ID(), name: "")

    private static let sampleBook: Book = {
        var metadata = Metadata()
        metadata.authors = [Contributor(name: "")]
        var copy = Copy(added: sampleDate)
        copy.readings = [Reading()]
        return Book(edition: Edition(isbn: nil, metadata: metadata), copy: copy)
    }()
}
