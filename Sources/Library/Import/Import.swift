import Bookplate
import FoundationEssentials
import GRDB

/// One import into a library: all that it takes is one change, which undo takes back at once.
public actor LibraryImport: BookImport {
    private let library: LibraryFile
    private let name: String
    private var change: ID<Change>?
    /// Copies that rows with identities of their own have become, so that two copies of one edition stay two.
    private var claimed: Set<Int64> = []
    private var books = 0

    /// - Parameter name: what history calls the file.
    public init(into library: LibraryFile, from name: String) {
        self.library = library
        self.name = name
    }

    public func importRows(_ rows: [ImportRow], at now: Date) async throws -> [ImportResult] {
        try await library.setConnection(.manyRows)
        let taken: Result<[ImportResult], any Error>
        do {
            taken = .success(try await takeAll(rows, at: now))
        } catch {
            taken = .failure(error)
        }
        // Back after each call: nobody has to say when an import ends, and the connection may live for months. In a task of its
        // own, because in one that was cancelled GRDB refuses to work.
        try await Task { [library] in try await library.setConnection(.ordinary) }.value
        return try taken.get()
    }

    private func takeAll(_ rows: [ImportRow], at now: Date) async throws -> [ImportResult] {
        do {
            return try await take(rows, at: now, eachByItself: false)
        } catch LibraryError.constraint {
            // A row that the schema refuses must not keep its neighbours out. Rare, so that only then each has its savepoint.
            return try await take(rows, at: now, eachByItself: true)
        }
    }

    private func take(_ rows: [ImportRow], at now: Date, eachByItself: Bool) async throws -> [ImportResult] {
        let (name, claimed, books) = (name, claimed, books)
        let part = try await library.change(.importing, continuing: change, at: now) { db, id in
            var saving = ImportSaving(db: db, now: now, claimed: claimed)
            let results = try rows.map { row in try eachByItself ? saving.takeAlone(row) : saving.take(row) }
            let count = books + results.count { $0.isBookInLibrary }
            let part = Part(results: results, change: id, claimed: saving.claimed, books: count)
            return (part, "imported \(count) book\(count == 1 ? "" : "s") from \(name)")
        }
        change = part.change
        self.claimed = part.claimed
        self.books = part.books
        return part.results
    }

    private struct Part: Sendable {
        var results: [ImportResult]
        var change: ID<Change>
        var claimed: Set<Int64>
        var books: Int
    }
}

extension ImportResult {
    fileprivate var isBookInLibrary: Bool {
        switch outcome {
        case .new, .merged: true
        case .unchanged, .other, .refused: false
        }
    }
}

/// How large the transactions are that the writing connection is fit for.
struct ConnectionUse {
    /// In KiB.
    let cache: Int
    /// How long the log grows before it is folded in, in pages.
    let checkpoint: Int

    /// Where statement journals and sorts are kept. Every logged INSERT can fail half-way in its triggers, so SQLite keeps a
    /// journal of it: in files, measured, a hundred small writes a book and a third of an import's time.
    let temporaries: Temporaries

    /// Source: https://www.sqlite.org/pragma.html#pragma_temp_store
    enum Temporaries: Int { case inFiles = 0, inMemory = 2 }

    /// SQLite's defaults.
    static let ordinary = ConnectionUse(cache: 2000, checkpoint: 1000, temporaries: .inFiles)
    /// Hundreds of books: with the defaults the same pages were written over and over.
    static let manyRows = ConnectionUse(cache: 32_768, checkpoint: 8000, temporaries: .inMemory)
}

extension LibraryFile {
    func setConnection(_ use: ConnectionUse) async throws {
        do {
            try await database.writeWithoutTransaction { db in
                try db.execute(
                    sql: """
                        PRAGMA cache_size = -\(use.cache); PRAGMA wal_autocheckpoint = \(use.checkpoint);
                        PRAGMA temp_store = \(use.temporaries.rawValue)
                        """)
            }
        } catch {
            throw LibraryError.translated(error, path: path ?? ":memory:")
        }
    }
}

/// Takes rows into the library, inside one change. A book that is there already gets only what it lacks: what a person has put in
/// is never overwritten.
struct ImportSaving {
    let db: Database
    let now: Date
    /// Copies that rows with identities of their own have become.
    var claimed: Set<Int64>

    private var matching: ImportMatching { ImportMatching(db: db) }

    mutating func take(_ row: ImportRow) throws -> ImportResult {
        switch row {
        case .refused(let row, let reason): return ImportResult(row: row, outcome: .refused(reason: reason))
        case .record(let record, let row): return try take(record, row: row)
        case .book(let book):
            do {
                return try save(ConfirmedImport(book))
            } catch let refusal as TextRefusal {
                return ImportResult(row: book.row, outcome: .refused(reason: refusal.description), doubts: book.doubts)
            }
        }
    }

    /// The same, so that a row which the schema refuses takes nothing with it.
    mutating func takeAlone(_ row: ImportRow) throws -> ImportResult {
        let before = claimed
        var result: ImportResult?
        do {
            try db.inSavepoint {
                result = try take(row)
                return .commit
            }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            claimed = before
            result = ImportResult(row: row.number, outcome: .refused(reason: Self.reason(error)))
        }
        return result ?? ImportResult(row: row.number, outcome: .refused(reason: "nothing came of it"))
    }

    /// Which rule of the library a row breaks, and what to do. SQLite names the table, or the condition.
    private static func reason(_ error: DatabaseError) -> String {
        let message = error.message ?? ""
        let rest = message.firstIndex(of: ":").map { message[message.index(after: $0)...] } ?? ""
        let what = String(rest).cleanedLine.prefix(80)
        switch error.extendedResultCode {
        case .SQLITE_CONSTRAINT_UNIQUE, .SQLITE_CONSTRAINT_PRIMARYKEY:
            return
                "something in it has the identity of another thing in the library (\(what)). Give it an id of its own in the file, or none"
        case .SQLITE_CONSTRAINT_CHECK:
            return "a value in it is none that the library keeps (\(what)). Put it right in the file"
        case .SQLITE_CONSTRAINT_NOTNULL: return "a value is missing (\(what)). Fill it in in the file"
        default:
            return "it does not fit what is in the library (\(what)). Import it by itself, or enter the book by hand"
        }
    }

    private mutating func save(_ item: ConfirmedImport) throws -> ImportResult {
        let (book, confirmed) = (item.book, item.confirmed)
        func result(_ outcome: ImportResult.Outcome) -> ImportResult {
            ImportResult(
                row: book.row, title: book.metadata.title ?? book.isbn?.hyphenated, outcome: outcome,
                doubts: book.doubts)
        }
        if let known = try matching.copy(ofRequest: confirmed.request) ?? book.id.flatMap(matching.copy(_:)) {
            if book.id != nil { claimed.insert(known) }
            return result(try merge(item, into: known, isKnown: true))
        }
        let own = try book.edition.flatMap(matching.edition(_:))
        // What our own export calls an edition is one, whatever others are called.
        var edition =
            try own
            ?? (book.edition == nil
                ? matching.edition(confirmed.isbn, confirmed.metadata) : matching.edition(confirmed.isbn))
        // A copy that is not among those of its own edition was never there.
        if let edition, own == nil,
            let copy = try matching.copy(of: edition, except: book.id == nil ? [] : claimed)
        {
            if book.id != nil { claimed.insert(copy) }
            return result(try merge(item, into: copy, isKnown: false))
        }
        if edition == nil {
            edition = try StoredEdition.insert(
                Edition(
                    id: book.edition ?? ID(), isbn: confirmed.isbn,
                    isbnText: confirmed.isbnText?.storable(TextLimit.name),
                    metadata: confirmed.metadata.storable), db
            ).row
        }
        var record = book.record
        if let id = book.id { record.copy.id = id }
        // The days that it stays in the trash begin here.
        if record.copy.deleted != nil { record.copy.deleted = now }
        if !book.hasAdded {
            record.copy.added = now
            for index in record.notes.indices { record.notes[index].created = now }
        }
        if book.id == nil { record.requests = [confirmed.request] }
        record.flags = flags(book)
        guard let edition else { return result(.refused(reason: "nothing came of it")) }
        let copy = try ImportedRows(db: db).insert(record, of: edition)
        if book.id != nil { claimed.insert(copy) }
        return result(.new(record.copy.id))
    }

    private func merge(_ item: ConfirmedImport, into copy: Int64, isKnown: Bool) throws -> ImportResult.Outcome {
        guard let stored = try StoredBooks.fetch(db, "WHERE copy.id = ?", [copy]).first else {
            throw RowDecodingError(what: "a request without its copy")
        }
        let merging = ImportMerging(
            db: db, stored: stored, isKnown: isKnown, isFurther: item.book.isFurther)
        var record = item.book.record
        if !item.book.hasAdded { for index in record.notes.indices { record.notes[index].created = now } }
        var filled = try merging.fillEdition(
            isbn: item.confirmed.isbn, isbnText: item.confirmed.isbnText, from: item.confirmed.metadata)
        filled += try merging.fillCopy(from: record)
        if !isKnown {
            try db.run("INSERT INTO request (id, copy) VALUES (?, ?)", [item.confirmed.request, copy])
            for flag in flags(item.book) { try flag.insert(db, to: copy) }
        }
        return filled.isEmpty ? .unchanged(stored.book.id) : .merged(stored.book.id, filled: filled)
    }

    private func flags(_ book: ImportedBook) -> [ImportFlag] {
        guard !book.doubts.isEmpty else { return [] }
        return [ImportFlag(source: book.source, what: book.doubts.joined(separator: "; "), raw: book.raw, at: now)]
    }
}

extension ImportRow {
    var number: Int {
        switch self {
        case .book(let book): book.row
        case .record(_, let row), .refused(let row, _): row
        }
    }
}

extension LibraryFile {
    /// A copy of the library that is gone with its last reference: whatever is done to it is done to nothing else. A dry run takes
    /// place in one, so that it tells exactly what the import would do, and holds nobody up.
    ///
    /// Lives in a temporary file that SQLite itself makes and removes; needs as much room there as the library has.
    public func trial() async throws -> LibraryFile {
        do {
            // The empty name is SQLite's own temporary database. Source: https://www.sqlite.org/inmemorydb.html
            let copy = try DatabaseQueue(path: "", configuration: Self.configuration())
            try database.backup(to: copy)
            return LibraryFile(path: nil, station: station, database: copy, lock: nil, clock: clock, zone: zone)
        } catch {
            throw LibraryError.translated(error, path: path ?? ":memory:")
        }
    }
}
