import Bookplate
import SystemCalls
import FoundationEssentials
import GRDB
import Testing
import Glibc

@testable import Library

/// Noon of the day on which most tests take place.
let noon = Date(timeIntervalSince1970: 1_795_262_400)

let dune = try! ISBN("978-0-441-17271-9")
let odyssey = try! ISBN("9780140449266")

/// Returns one of many valid ISBNs by its number.
func isbn(_ number: Int) -> ISBN {
    let digits = "978" + String(String(1_000_000_000 + number).dropFirst())
    let sum = digits.utf8.enumerated().reduce(0) { $0 + Int($1.element - 48) * ($1.offset.isMultiple(of: 2) ? 1 : 3) }
    return try! ISBN(ean13: digits + String((10 - sum % 10) % 10))
}

/// Returns a record as a source would give it.
func record(
    _ title: String, by authors: [String] = ["Frank Herbert"], from source: SourceName = .openLibrary,
    _ more: (inout Metadata) -> Void = { _ in }
) -> Metadata {
    var metadata = Metadata()
    metadata.title = title
    metadata.authors = authors.map { Contributor(name: $0) }
    more(&metadata)
    metadata.attribute(to: source)
    return metadata
}

/// Returns a book that a person has typed and confirmed.
func confirmed(
    _ isbn: ISBN?, _ metadata: Metadata, preset: Preset = Preset(), anotherCopy: Bool = false,
    request: String = ID<Confirmed>().rawValue
) throws -> Confirmed {
    try Confirmed(
        enteredBy: .form, request: request, isbn: isbn, isbnText: isbn?.hyphenated, metadata: metadata,
        preset: preset, anotherCopy: anotherCopy)
}

extension LibraryFile {
    /// Captures ISBNs without leasing the items.
    func capture(_ detections: [Detection], preset: Preset = Preset(), at now: Date = noon) async throws -> [QueueItem]
    {
        try await enqueue(detections, preset: preset, lease: .zero, at: now)
    }

    /// Updates the stored book to `book`.
    func update(_ book: Book, at now: Date) async throws -> ID<Change> {
        try #require(await update(book.id, at: now) { $0 = book }.change)
    }

    /// Captures one ISBN, gives the captured item a record, and returns the item as a candidate.
    func candidate(_ isbn: ISBN, _ metadata: Metadata, preset: Preset = Preset()) async throws -> Candidate {
        let items = try await capture(
            [Detection(isbn: isbn, raw: isbn.digits, origin: .photo)], preset: preset, at: noon)
        let answer = LookupAnswer(isbn: isbn, outcome: .found(metadata, from: .openLibrary))
        let found = try await record([items[0].id: answer], at: noon)
        return Candidate(item: found[0])
    }

    /// Saves one book, and returns it as it is stored.
    @discardableResult
    func save(_ isbn: ISBN?, _ metadata: Metadata, preset: Preset = Preset(), at now: Date = noon) async throws -> Book
    {
        let result = try await add([confirmed(isbn, metadata, preset: preset)], at: now)[0]
        guard case .saved(let id, _) = result, let book = try await book(id) else {
            throw LibraryError.noSuchBook(ID(rawValue: "\(result)"))
        }
        return book
    }

    func find(_ text: String, _ more: (inout BookQuery) -> Void = { _ in }) async throws -> [String] {
        var query = BookQuery()
        query.text = text
        query.sort = .title
        more(&query)
        return try await books(matching: query).books.map(\.displayTitle)
    }

    /// Returns, as text, every row of every table that is logged in changes.
    func dump() async throws -> [String] {
        try await read { db in
            // The first reader has a random id.
            try trackedTables.filter { $0.name != "reader" }.flatMap { table in
                let columns = table.columns?.sorted().joined(separator: ", ") ?? "*"
                return try Row.fetchAll(db, sql: "SELECT \(columns) FROM \(table.name)")
                    .map { "\(table.name) \($0.description)" }.sorted()
            }
        }
    }
}

/// A folder that is removed at the end of the test.
final class Folder: Sendable {
    let path: String

    init() {
        var template = Array("/tmp/bookplate-test-XXXXXX".utf8CString)
        path = template.withUnsafeMutableBufferPointer { String(cString: mkdtemp($0.baseAddress!)) }
    }

    deinit { remove(path) }

    func callAsFunction(_ name: String) -> String { path + "/" + name }

    private func remove(_ path: String) {
        for name in fileNames(in: path) where rmdir(path + "/" + name) != 0 && unlink(path + "/" + name) != 0 {
            remove(path + "/" + name)
        }
        rmdir(path)
    }
}

/// Returns the sorted names in a folder, without the side file that has the locks.
func names(in folder: String) -> [String] {
    fileNames(in: folder).filter { !$0.hasSuffix("-lock") }.sorted()
}

func bytes(of path: String) throws -> [UInt8] { try readFile(path, limit: 1 << 30) }

func write(_ bytes: [UInt8], to path: String) throws { try replaceFile(path, with: bytes, mode: 0o600) }

/// Returns the content of every file in a folder, except locks and the files in its folders.
func snapshot(_ folder: String) throws -> [String: [UInt8]] {
    let files = try names(in: folder).filter { try fileFacts(folder + "/" + $0)!.st_mode & S_IFMT == S_IFREG }
    return try Dictionary(uniqueKeysWithValues: files.map { ($0, try bytes(of: folder + "/" + $0)) })
}
