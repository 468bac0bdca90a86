import Bookplate
import FoundationEssentials
import GRDB

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
            throw RowDecodingFault(what: "a request without its copy")
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
