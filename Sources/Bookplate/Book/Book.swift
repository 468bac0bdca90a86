import FoundationEssentials

/// A published edition of a book, as the library stores it. An ISBN identifies an edition.
public struct Edition: Sendable, Equatable {
    public var id: ID<Edition>
    /// The ISBN; `nil` if the book has none or an invalid one. ``isbnText`` holds an invalid ISBN.
    public var isbn: ISBN?
    /// The ISBN as it was entered, with its hyphens.
    public var isbnText: String?
    public var metadata: Metadata
    /// The fields that a person has edited; no refresh changes them.
    public var editedFields: Set<Metadata.Field>

    public init(
        id: ID<Edition> = ID(), isbn: ISBN?, isbnText: String? = nil, metadata: Metadata,
        editedFields: Set<Metadata.Field> = []
    ) {
        self.id = id
        self.isbn = isbn
        self.isbnText = isbnText
        self.metadata = metadata
        self.editedFields = editedFields
    }
}

/// One copy of an edition: a book on the shelf, or a wish for the book.
public struct Copy: Sendable, Equatable {
    public var id: ID<Copy>
    public var status: Status = .toRead
    public var isOwned = true
    public var isOnWishlist = false
    public var isFavourite = false
    public var shelf: String?
    /// The tags, spelled as they are shown to people.
    public var tags: [String] = []
    /// The rating, from 0.25 to 5 in quarter stars; `nil` if unrated.
    public var rating: Double?
    /// True if an export for other people may contain the copy.
    public var isPublic = false
    /// The person who recommended the book to the reader, such as "Ann".
    public var recommendedBy: String?
    /// True if the reader would recommend the book; `nil` if the reader has not said.
    public var wouldRecommend: Bool?
    /// The daily goal for this copy in pages, from 1; `nil` for none.
    public var dailyGoal: Int?
    /// True if the copy counts towards the cultural goal (reading across cultures), in the category
    /// ``culturalGoalCategory``.
    public var countsForCulturalGoal = false
    /// The category for the cultural goal, such as "African Literature" or "Translated Works".
    public var culturalGoalCategory: String?
    /// The readings, oldest first. The last reading belongs to the current ``status``, unless the status is To Read.
    public var readings: [Reading] = []
    public var added: Date
    /// The time at which the copy was moved to the trash; `nil` for a copy in the library.
    public var deleted: Date?

    public init(id: ID<Copy> = ID(), added: Date) {
        self.id = id
        self.added = added
    }

    /// The reading that is shown for the copy; `nil` while its status is To Read.
    public var reading: Reading? { readings.shown(by: status) }

    /// The reading status of a copy. Raw values are stored and exported.
    public enum Status: String, Sendable, Codable, CaseIterable {
        case toRead, reading, read, onHold, dnf

        /// The name that is shown to people.
        public var displayName: String {
            switch self {
            case .toRead: "To Read"
            case .reading: "Reading"
            case .read: "Read"
            case .onHold: "On Hold"
            case .dnf: "Did Not Finish"
            }
        }

        /// Parses a raw value, a display name or a name from another tracker ("want-to-read", "Currently Reading");
        /// case, spaces, hyphens and underscores are ignored.
        ///
        /// - Returns: `nil` for any other text.
        public init?(parsing text: String) {
            // A text that merely contains one of these words must not match, because a user may have a shelf named
            // "read-2019".
            let key = text.lowercased().filter { !$0.isWhitespace && $0 != "-" && $0 != "_" }
            switch key {
            case "toread", "wanttoread", "tbr": self = .toRead
            case "reading", "currentlyreading": self = .reading
            case "read": self = .read
            case "onhold", "paused": self = .onHold
            case "dnf", "didnotfinish": self = .dnf
            default: return nil
            }
        }
    }
}

extension Copy {
    /// Checks the values that a person entered for the copy: the rating and the daily goal.
    public func checkEntries() throws(InputRefusal) {
        if let rating, !Self.isRating(rating) { throw .badRating(rating) }
        try NumberLimit.check(dailyGoal, as: "daily goal", in: NumberLimit.goal)
    }

    /// Returns true if the rating is from 0.25 to 5 in steps of a quarter.
    public static func isRating(_ rating: Double) -> Bool {
        (0.25...5).contains(rating) && (rating * 4).rounded() == rating * 4
    }

    /// Returns the rating as a person enters it: `4`, `4.5`, `3.25`.
    public static func text(ofRating rating: Double) -> String {
        rating == rating.rounded() ? String(Int(rating)) : String(rating)
    }

    /// Returns the rating drawn as five stars: `★★★★½`, `★★★☆☆`.
    public static func stars(_ rating: Double) -> String {
        let quarters = Int((min(5, max(0, rating.isNaN ? 0 : rating)) * 4).rounded())
        let (whole, rest) = (quarters / 4, ["", "¼", "½", "¾"][quarters % 4])
        return String(repeating: "★", count: whole) + rest
            + String(repeating: "☆", count: 5 - whole - (rest.isEmpty ? 0 : 1))
    }
}

/// A copy with its edition: one book, as lists and commands show it. Its id is the id of the copy.
public struct Book: Sendable, Equatable {
    public var edition: Edition
    public var copy: Copy

    public init(edition: Edition, copy: Copy) {
        self.edition = edition
        self.copy = copy
    }

    public var id: ID<Copy> { copy.id }

    /// The text to show as the title, as ``Edition/displayTitle(_:_:)`` returns it.
    public var displayTitle: String { Edition.displayTitle(edition.metadata.title, edition.isbn) }

    /// The text to show as the authors, as ``Edition/displayAuthors(_:)`` returns it.
    public var displayAuthors: String { Edition.displayAuthors(edition.metadata.authorNames) }
}

extension Edition {
    /// Returns the text to show as the title: the title if there is one, else the ISBN, else "Untitled".
    public static func displayTitle(_ title: String?, _ isbn: ISBN?) -> String {
        title ?? isbn?.hyphenated ?? "Untitled"
    }

    /// Returns the text to show as the authors: their names, separated by commas. If there are no names, the text is
    /// "Unknown author", which is shown but never stored.
    public static func displayAuthors(_ names: [String]) -> String {
        names.isEmpty ? "Unknown author" : names.joined(separator: ", ")
    }
}

/// The refusal of an act on a book in the trash, where a book can only be viewed or restored.
public struct InTrashRefusal: Error, Hashable, CustomStringConvertible {
    public let copy: ID<Copy>

    public init(_ copy: ID<Copy>) { self.copy = copy }

    public var description: String { "the book is in the trash. Restore it first" }
}

extension Book {
    /// - Throws: ``InTrashRefusal`` if the book is in the trash.
    public func checkOutsideTrash() throws(InTrashRefusal) {
        if copy.deleted != nil { throw InTrashRefusal(id) }
    }
}

/// The time for which deleted books and changes are kept.
public enum Trash {
    /// The number of days for which a deleted book can be restored and a change undone; then both are removed for good.
    public static let keptDays = 30

    /// Returns the number of days left before a book in the trash is removed, counting part of a day as a whole day.
    ///
    /// - Returns: 0 if the next change in the library removes the book for good; at most ``keptDays``, even if the
    ///   clock says that the book was deleted in the future.
    public static func daysLeft(deleted: Date, now: Date) -> Int {
        let days = (deleted.timeIntervalSince(now) / 86_400).rounded(.up)
        // The numbers are compared as floating point, because a clock may be off by more than an Int can hold.
        return Int(min(max(days + Double(keptDays), 0), Double(keptDays)))
    }
}

extension Book {
    /// The facts that set this edition apart from others of the same work: publisher, year and ISBN; the title if none
    /// of them is known.
    public var editionFacts: String {
        let metadata = edition.metadata
        let facts = [metadata.publisher, metadata.publishedDate.map { String($0.year) }, edition.isbn?.hyphenated]
            .compactMap(\.self)
        return facts.isEmpty ? displayTitle : facts.joined(separator: ", ")
    }
}

extension [Book] {
    /// The first copy that is owned and not in the trash.
    var firstOwned: Book? { first { $0.copy.isOwned && $0.copy.deleted == nil } }
}
