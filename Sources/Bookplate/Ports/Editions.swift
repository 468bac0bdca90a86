import FoundationEssentials

/// Finds and merges books that are in the library more than once: copies of one edition, other editions of one work,
/// and books that were entered twice.
public protocol Editions: Sendable {
    /// Returns the groups of books outside the trash that are probably one thing twice. Books that a person has marked
    /// as not the same are in no group together, unless another book of the group may still be either of them.
    ///
    /// - Parameters:
    ///   - reasons: the reasons for which groups are returned; groups for other reasons are only counted.
    ///   - limit: the maximum number of groups.
    func duplicates(for reasons: Set<DuplicateGroup.Reason>, limit: Int) async throws -> Duplicates
    /// Merges books into one that is kept, as one change.
    ///
    /// If the editions differ, they become one edition. Fields that the kept edition has stay as they are, and its
    /// empty fields are filled from the other edition, unless a person has emptied them. All copies of the other
    /// edition, even those in the trash, become copies of the kept edition.
    ///
    /// Then everything that belongs to the other copies moves to the kept copy: readings with their sessions and
    /// progress, notes, quotes, tags and import flags. Of two different values, the kept copy's stays, and the other
    /// one is listed in ``MergeResult/lost`` and in a new note. The empty copies are removed; undo brings them back.
    ///
    /// - Throws: ``MergeRefusal``, or ``InTrashRefusal`` if one of the books is in the trash.
    func merge(
        _ others: [ID<Copy>], into kept: ID<Copy>, _ options: MergeOptions, at now: Date
    ) async throws -> MergeResult
    /// Marks books as not the same, so that ``duplicates(for:limit:)`` no longer offers them. Of several editions, each
    /// is then another one than the others, whatever copies of them there are now or later. Copies of one edition are
    /// marked one by one, so that another copy is offered again.
    ///
    /// - Returns: the change; `nil` if all the books were marked before.
    /// - Throws: ``InTrashRefusal`` if one of the books is in the trash.
    func markDistinct(_ books: [ID<Copy>], at now: Date) async throws -> ID<Change>?
    /// Returns what ``merge(_:into:_:at:)`` would return, without changing anything.
    func previewMerge(
        _ others: [ID<Copy>], into kept: ID<Copy>, _ options: MergeOptions, at now: Date
    ) async throws -> MergeResult
}

/// Groups of books that are probably one thing twice.
public struct Duplicates: Sendable, Equatable {
    /// The groups, probable mistakes first, then by title.
    public var groups: [DuplicateGroup]
    /// The number of groups for each reason, including groups that were not returned.
    public var counts: [DuplicateGroup.Reason: Int]

    public init(groups: [DuplicateGroup], counts: [DuplicateGroup.Reason: Int]) {
        self.groups = groups
        self.counts = counts
    }
}

/// Books that are probably one thing twice.
public struct DuplicateGroup: Sendable, Equatable {
    public var reason: Reason
    /// The books. Those with an ISBN come first, and then those that have been in the library for longer, so that the
    /// first book is the one to keep in a merge.
    public var books: [Book]

    public init(reason: Reason, books: [Book]) {
        self.reason = reason
        self.books = books
    }

    /// The reason why books form a group. Raw values appear in the JSON.
    public enum Reason: String, Sendable, CaseIterable {
        /// The titles and first authors agree, and at least one of the books has no ISBN, so the same book was probably
        /// entered twice.
        case enteredTwice
        /// Several copies of one edition. This is no mistake if they all exist.
        case copies
        /// Editions with different ISBNs of one work. This is no mistake.
        case editions

        /// The heading that is shown to people.
        public var displayName: String {
            switch self {
            case .enteredTwice: "Probably entered twice"
            case .copies: "Several copies of one edition"
            case .editions: "Several editions of one work"
            }
        }
    }

    /// One line of `scan library duplicates --json`.
    public var json: JSONValue {
        ["reason": .string(reason.rawValue), "books": .array(books.map(\.json))]
    }
}

/// The options of a merge.
public struct MergeOptions: Sendable, Equatable {
    /// True to make one edition of two editions that differ in their ISBNs or, if one of them has none, in their years
    /// or languages. The ISBN of the other edition is kept among the identifiers.
    public var joinsEditions: Bool
    /// True to merge only the editions, so that each copy stays a copy.
    public var keepsCopies: Bool

    public init(joinsEditions: Bool = false, keepsCopies: Bool = false) {
        self.joinsEditions = joinsEditions
        self.keepsCopies = keepsCopies
    }
}

/// The result of merging books.
public struct MergeResult: Sendable, Equatable {
    /// The book that was kept, as it is now.
    public var book: Book
    /// The books that were merged into it, as they were before.
    public var merged: [Book]
    /// The fields of the edition that were filled.
    public var filled: [Metadata.Field]
    /// The values that the kept book has not taken, because it had another value.
    public var lost: [LostValue]
    /// The number of copies that were not named, but become copies of the kept edition, because they belong to a merged
    /// edition.
    public var followers: Int
    /// The change, which undo reverts; `nil` for a preview.
    public var change: ID<Change>?

    public init(
        book: Book, merged: [Book], filled: [Metadata.Field], lost: [LostValue], followers: Int = 0,
        change: ID<Change>? = nil
    ) {
        self.followers = followers
        self.book = book
        self.merged = merged
        self.filled = filled
        self.lost = lost
        self.change = change
    }
}

/// A value of a merged book that the kept book has not taken.
public struct LostValue: Sendable, Equatable {
    /// The name of the field that is shown to people, such as "Shelf".
    public var field: String
    public var value: String

    /// True if the field of a copy is a reader's own.
    public var isPerReader: Bool {
        ["Rating", "Recommended by", "Would recommend", "Daily goal", "Cultural goal"].contains(field)
    }

    public init(_ field: String, _ value: String) {
        self.field = field
        self.value = value
    }
}

/// The reason why books cannot be merged.
public enum MergeRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// All the books are the same book, or already copies of one edition.
    case alreadyOne(title: String)
    /// The editions have different ISBNs.
    case differentISBNs(kept: ISBN, other: ISBN)
    /// The editions are of different years, and one of them has no ISBN.
    case differentYears(kept: Int, other: Int)
    /// The editions are in different languages (ISO 639 codes), and one of them has no ISBN.
    case differentLanguages(kept: String, other: String)
    /// The reader is reading more than one of the copies.
    case twoOpenReadings(title: String)

    public var description: String {
        switch self {
        case .alreadyOne(let title):
            "there is nothing to merge: \"\(title.cleanedLine.prefix(80))\" is already a single book"
        case .differentISBNs(let kept, let other):
            "\(kept.hyphenated) and \(other.hyphenated) are different ISBNs, so the books are probably different editions"
        case .differentYears(let kept, let other):
            "one of the books is from \(kept), the other from \(other), so they are probably different editions"
        case .differentLanguages(let kept, let other):
            "the language of one book is \(kept), that of the other \(other), so they are different editions"
        case .twoOpenReadings(let title):
            "you are reading more than one copy of \"\(title.cleanedLine.prefix(80))\". Finish or cancel one of the two readings first"
        }
    }
}
