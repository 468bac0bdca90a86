import FoundationEssentials

/// One parsed row of another tracker's file or of our own CSV, before anything is decided about it.
public struct ImportedBook: Sendable, Equatable {
    /// The row number as a spreadsheet counts rows: the header is row 1.
    public var row: Int
    /// The format of the file from which the row came.
    public var source: String
    /// The id of the row's request to be saved. A row has the same id in every import, so importing a file twice makes
    /// no second copy.
    public var request: String
    public var isbn: ISBN?
    /// The ISBN as the file has it, even if it is invalid.
    public var isbnText: String?
    public var metadata: Metadata
    /// The id that our own export gave the copy; `nil` in other trackers' files.
    public var id: ID<Copy>?
    /// The id that our own export gave the edition; `nil` in other trackers' files.
    public var edition: ID<Edition>?
    /// The copy as the file describes it. Its id counts only if ``id`` is set, and its date ``Copy/added`` counts only
    /// if ``hasAdded`` is true.
    public var record: CopyRecord
    /// True if the file says when the copy was added.
    public var hasAdded = false
    /// True if an earlier row of the file has the same book. The data of this row is then added to that book.
    public var isFurther = false
    /// The warnings for people about values that were truncated or look wrong.
    public var doubts: [String] = []
    /// The row as it is in the file; empty if there are no warnings.
    public var raw = ""

    public init(row: Int, source: String, request: String, metadata: Metadata, record: CopyRecord) {
        self.row = row
        self.source = source
        self.request = request
        self.metadata = metadata
        self.record = record
    }
}

/// One row of a file to be imported into the library.
public enum ImportRow: Sendable, Equatable {
    case book(ImportedBook)
    /// A record from a file in Bookplate's own JSON format.
    case record(LibraryRecord, row: Int)
    /// A row that could not be parsed.
    case refused(row: Int, reason: String)
}

/// An imported row in the form in which the library stores it. The person confirmed it by starting the import.
/// ``confirmed`` is the book, and the rest describes the copy.
public struct ConfirmedImport: Sendable {
    public let confirmed: Confirmed
    public let book: ImportedBook

    /// - Throws: ``TextRefusal/empty(what:)`` if there is neither a title nor an ISBN.
    public init(_ book: ImportedBook) throws(TextRefusal) {
        guard book.metadata.title != nil || book.isbn != nil else { throw .empty(what: "title") }
        let copy = book.record.copy
        confirmed = try Confirmed(
            enteredBy: .importPlan, request: book.request, isbn: book.isbn, isbnText: book.isbnText,
            metadata: book.metadata,
            preset: Preset(shelf: copy.shelf, tags: copy.tags, status: copy.status, isWishlist: copy.isOnWishlist))
        self.book = book
    }
}

/// The result of importing one row.
public struct ImportResult: Sendable, Equatable {
    public var row: Int
    /// The title of the book; `nil` for a row that is not a book or could not be parsed.
    public var title: String?
    public var outcome: Outcome
    /// The warnings about values that were truncated or look wrong. The row was imported nevertheless.
    public var doubts: [String]

    public init(row: Int, title: String? = nil, outcome: Outcome, doubts: [String] = []) {
        self.row = row
        self.title = title
        self.outcome = outcome
        self.doubts = doubts
    }

    public enum Outcome: Sendable, Equatable {
        /// The copy is new.
        case new(ID<Copy>)
        /// The copy existed already. `filled` names the fields that were filled in from the file, such as "rating" and
        /// "tags".
        case merged(ID<Copy>, filled: [String])
        case unchanged(ID<Copy>)
        /// A reader, setting, shelf, tag or author; `isNew` is false if it existed already.
        case other(isNew: Bool)
        case refused(reason: String)
    }
}

/// Imports rows into the library.
public protocol BookImport: Sendable {
    /// Saves the rows in one transaction. A row that fails is left out entirely, and the others are still saved. The
    /// saved rows are on disk when the method returns. All calls of this method for the same import are recorded as one
    /// change, so that one undo reverts the whole import.
    ///
    /// - Returns: one result for each row, in the order of the rows.
    func importRows(_ rows: [ImportRow], at now: Date) async throws -> [ImportResult]
}

/// The result of importing a file.
public struct ImportSummary: Sendable, Equatable {
    /// The number of books that are new.
    public var new = 0
    /// The number of books that existed already, and whose missing values were filled in from the file.
    public var merged = 0
    /// The number of books that existed already and had no missing values that the file could fill in.
    public var unchanged = 0
    /// The number of rows with warnings. Each of these rows is also counted under its outcome.
    public var flagged = 0
    /// The number of rows that were not imported.
    public var refused = 0
    /// The number of readers, settings, shelves, tags and authors that are new.
    public var others = 0

    public init() {}

    public mutating func count(_ result: ImportResult) {
        switch result.outcome {
        case .new: new += 1
        case .merged: merged += 1
        case .unchanged: unchanged += 1
        case .other(let isNew): others += isNew ? 1 : 0
        case .refused: refused += 1
        }
        if !result.doubts.isEmpty { flagged += 1 }
    }

    /// The number of books in the file that are now in the library.
    public var books: Int { new + merged + unchanged }
}

extension ImportResult {
    /// One line of `scan import --json`.
    public var json: JSONValue {
        let (name, id, filled, reason): (String, ID<Copy>?, [String], String?) =
            switch outcome {
            case .new(let id): ("new", id, [], nil)
            case .merged(let id, let filled): ("merged", id, filled, nil)
            case .unchanged(let id): ("unchanged", id, [], nil)
            case .other(let isNew): (isNew ? "new" : "unchanged", nil, [], nil)
            case .refused(let reason): ("refused", nil, [], reason)
            }
        return [
            "event": .string(name), "row": .integer(row), "title": JSONValue(title), "copyId": JSONValue(id?.rawValue),
            "filled": JSONValue(filled), "doubts": JSONValue(doubts), "reason": JSONValue(reason),
        ]
    }
}

extension ImportSummary {
    /// The summary as the last line of `scan import --json`.
    public func json(isDryRun: Bool) -> JSONValue {
        [
            "event": "imported", "dryRun": .bool(isDryRun), "new": .integer(new), "merged": .integer(merged),
            "unchanged": .integer(unchanged), "flagged": .integer(flagged), "refused": .integer(refused),
            "others": .integer(others),
        ]
    }
}
