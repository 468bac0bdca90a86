import FoundationEssentials

/// What an ISBN names, as the library keeps it.
public struct Edition: Sendable, Equatable {
    public var id: ID<Edition>
    /// `nil` for a book without a number, or with one that is wrong (then ``isbnText`` holds it).
    public var isbn: ISBN?
    /// The number as entered, hyphens kept.
    public var isbnText: String?
    public var metadata: Metadata
    /// The fields a person has edited: no refresh changes them.
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

/// The thing on the shelf (or the wish for it).
public struct Copy: Sendable, Equatable {
    public var id: ID<Copy>
    public var status: Status = .toRead
    public var isOwned = true
    public var isOnWishlist = false
    public var isFavourite = false
    public var shelf: String?
    /// In their display form.
    public var tags: [String] = []
    /// In quarter stars, 0.25 to 5; `nil` is unrated.
    public var rating: Double?
    /// Marks what an export for others may contain.
    public var isPublic = false
    /// Who told the reader of it: "Ann".
    public var recommendedBy: String?
    /// Whether the reader would tell others of it; `nil` when it was not said.
    public var wouldRecommend: Bool?
    /// Pages a day, from 1; `nil` for none.
    public var dailyGoal: Int?
    /// Whether it counts towards the goal of reading across cultures, under ``culturalGoalCategory``.
    public var countsForCulturalGoal = false
    /// "African Literature", "Translated Works".
    public var culturalGoalCategory: String?
    /// Oldest first. The last is the one that ``status`` speaks of, unless that is To Read.
    public var readings: [Reading] = []
    public var added: Date
    /// When it went to the trash; `nil` for a copy in the library.
    public var deleted: Date?

    public init(id: ID<Copy> = ID(), added: Date) {
        self.id = id
        self.added = added
    }

    /// The reading that the book shows: none while it is To Read.
    public var reading: Reading? { readings.shown(by: status) }

    /// The reader's status with the copy. Raw values are stored and exported.
    public enum Status: String, Sendable, Codable, CaseIterable {
        case toRead, reading, read, onHold, dnf

        /// As people read it.
        public var displayName: String {
            switch self {
            case .toRead: "To Read"
            case .reading: "Reading"
            case .read: "Read"
            case .onHold: "On Hold"
            case .dnf: "Did Not Finish"
            }
        }

        /// Takes a raw value, a display name, or what other trackers write ("want-to-read", "Currently Reading"); case, spaces,
        /// hyphens and underscores do not matter.
        ///
        /// - Returns: `nil` for anything else.
        public init?(parsing text: String) {
            // Nothing else: "read-2019" is a shelf of somebody's own.
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

/// A copy with its edition: one book, as lists and commands show it. Its identity is the copy's.
public struct Book: Sendable, Equatable {
    public var edition: Edition
    public var copy: Copy

    public init(edition: Edition, copy: Copy) {
        self.edition = edition
        self.copy = copy
    }

    public var id: ID<Copy> { copy.id }

    /// As ``Edition/displayTitle(_:_:)``.
    public var displayTitle: String { Edition.displayTitle(edition.metadata.title, edition.isbn) }

    /// As ``Edition/displayAuthors(_:)``.
    public var displayAuthors: String { Edition.displayAuthors(edition.metadata.authorNames) }
}

extension Edition {
    /// What is shown as the title: the title, else the ISBN, else words that say that there is none.
    public static func displayTitle(_ title: String?, _ isbn: ISBN?) -> String {
        title ?? isbn?.hyphenated ?? "Untitled"
    }

    /// What is shown as the authors: their names joined with commas. "Unknown author" is only ever shown, never stored.
    public static func displayAuthors(_ names: [String]) -> String {
        names.isEmpty ? "Unknown author" : names.joined(separator: ", ")
    }
}

/// A book in the trash is looked at and restored, and nothing else is done with it.
public struct InTrash: Error, Hashable, CustomStringConvertible {
    public let copy: ID<Copy>

    public init(_ copy: ID<Copy>) { self.copy = copy }

    public var description: String { "the book is in the trash. Restore it first" }
}

extension Book {
    /// - Throws: ``InTrash``.
    public func checkOutsideTrash() throws(InTrash) {
        if copy.deleted != nil { throw InTrash(id) }
    }
}

/// What is deleted lies in the trash for a while, and a change can be taken back for as long.
public enum Trash {
    /// For so many days it can be taken out again, and a change undone; then both go for good.
    public static let keptDays = 30

    /// How many days a book has left in the trash, a day begun counting as one: what a list shows.
    ///
    /// - Returns: 0 when the next change in the library removes it for good; at most ``keptDays``, also when the clock says that it
    ///   was deleted in the future.
    public static func daysLeft(deleted: Date, now: Date) -> Int {
        let days = (deleted.timeIntervalSince(now) / 86_400).rounded(.up)
        // Compared as numbers with a point: a clock may be off by more than an Int holds.
        return Int(min(max(days + Double(keptDays), 0), Double(keptDays)))
    }
}
