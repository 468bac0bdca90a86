import FoundationEssentials

/// One row of another tracker's file, or of our own CSV, made sense of: nothing is decided yet.
public struct ImportedBook: Sendable, Equatable {
    /// As a spreadsheet counts: the header is row 1.
    public var row: Int
    /// The format that it came in.
    public var source: String
    /// The same for the same row, however often it is imported.
    public var request: String
    public var isbn: ISBN?
    /// As the file has it, also when it is wrong.
    public var isbnText: String?
    public var metadata: Metadata
    /// The identity that our own export gave the copy; `nil` in other trackers' files.
    public var id: ID<Copy>?
    /// That of its edition.
    public var edition: ID<Edition>?
    /// What the file says of the copy. Its identity and its date of adding count only where ``id`` and ``hasAdded`` say so.
    public var record: CopyRecord
    /// Whether the file says when it was added.
    public var hasAdded = false
    /// Whether the same book stood in an earlier row of the file: then this one adds to it.
    public var isFurther = false
    /// What was cut or doubted, each for a person to read.
    public var doubts: [String] = []
    /// The row as it stands in the file; empty unless there are doubts.
    public var raw = ""

    public init(row: Int, source: String, request: String, metadata: Metadata, record: CopyRecord) {
        self.row = row
        self.source = source
        self.request = request
        self.metadata = metadata
        self.record = record
    }
}

/// One row of a file on its way into the library.
public enum ImportRow: Sendable, Equatable {
    case book(ImportedBook)
    /// A line of our own JSON.
    case record(LibraryRecord, row: Int)
    /// No sense could be made of it.
    case refused(row: Int, reason: String)
}

/// An imported row that a person confirmed by asking for the import: what the library stores. ``confirmed`` is the book, the rest
/// is what the file says of the copy.
public struct ConfirmedImport: Sendable {
    public let confirmed: Confirmed
    public let book: ImportedBook

    /// - Throws: ``TextRefusal/empty(what:)`` when there is neither a title nor an ISBN to know it by.
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

/// What became of one row.
public struct ImportResult: Sendable, Equatable {
    public var row: Int
    /// `nil` for what is no book, and for rows that made no sense.
    public var title: String?
    public var outcome: Outcome
    /// What was cut or doubted; it did not keep the row out.
    public var doubts: [String]

    public init(row: Int, title: String? = nil, outcome: Outcome, doubts: [String] = []) {
        self.row = row
        self.title = title
        self.outcome = outcome
        self.doubts = doubts
    }

    public enum Outcome: Sendable, Equatable {
        /// A copy that was not there before.
        case new(ID<Copy>)
        /// A copy that was there, and what the file gave it: "rating", "tags".
        case merged(ID<Copy>, filled: [String])
        case unchanged(ID<Copy>)
        /// A setting, shelf, tag or author, and whether it was new.
        case other(isNew: Bool)
        case refused(reason: String)
    }
}

/// Takes rows into the library.
public protocol BookImport: Sendable {
    /// Saves the rows in one transaction: each whole or not at all, and durable when it returns. All calls on one import are one
    /// change that undo takes back.
    ///
    /// - Returns: one result for each row, in their order.
    func take(_ rows: [ImportRow], at now: Date) async throws -> [ImportResult]
}

/// What came of a whole file.
public struct ImportSummary: Sendable, Equatable {
    /// Books that were not there before.
    public var new = 0
    /// Books that were there and got something that they lacked.
    public var merged = 0
    /// Books that had all that the file says.
    public var unchanged = 0
    /// Rows with doubts; they are counted as one of the others as well.
    public var flagged = 0
    /// Rows that were kept out.
    public var refused = 0
    /// Settings, shelves, tags and authors that were not there.
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

    /// Books that are in the library now as the file has them.
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
    /// The last line of `scan import --json`.
    public func json(isDryRun: Bool) -> JSONValue {
        [
            "event": "imported", "dryRun": .bool(isDryRun), "new": .integer(new), "merged": .integer(merged),
            "unchanged": .integer(unchanged), "flagged": .integer(flagged), "refused": .integer(refused),
            "others": .integer(others),
        ]
    }
}
