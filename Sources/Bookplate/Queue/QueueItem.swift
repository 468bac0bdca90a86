import FoundationEssentials

/// The way in which a number was captured. Raw values are stored and appear in events.
public enum Origin: String, Sendable, Codable, CaseIterable {
    case photo, camera, stdin, typed, scanner, hub

    /// True if the number was read from an object, and not from a list.
    var isOfObject: Bool { [.photo, .camera, .scanner].contains(self) }
}

/// One ISBN that was captured: from a photo, a camera or a scanner, or by typing. Enqueuing a detection makes a
/// ``QueueItem``.
public struct Detection: Sendable, Equatable {
    public var isbn: ISBN
    /// The text or payload that the ISBN was read from.
    public var raw: String
    public var addon: String?
    public var origin: Origin
    /// The name of the photo, as it was given; `nil` if the ISBN does not come from a photo.
    public var image: String?
    /// A small JPEG of the area in which the ISBN was found.
    public var thumbnail: [UInt8]?
    /// The id for the queue item, a UUID in lower case. Enqueuing the same id again gives the same item. If it is
    /// `nil`, the item gets a new id.
    public var item: ID<QueueItem>?
    /// The name of the phone that saw the book; `nil` for the device that captures it.
    public var device: String?
    /// The preset of the phone that saw the book; `nil` for that of the batch.
    public var preset: Preset?

    public init(
        isbn: ISBN, raw: String, addon: String? = nil, origin: Origin, image: String? = nil, thumbnail: [UInt8]? = nil,
        item: ID<QueueItem>? = nil
    ) {
        self.isbn = isbn
        self.raw = raw
        self.addon = addon
        self.origin = origin
        self.image = image
        self.thumbnail = thumbnail
        self.item = item
    }
}

/// A row of the queue: an ISBN that was captured, but has not become a book in the library yet.
public struct QueueItem: Sendable, Equatable {
    public var id: ID<QueueItem>
    public var isbn: ISBN
    public var raw: String
    public var addon: String?
    public var origin: Origin
    public var image: String?
    /// The device that captured the ISBN: its host name, or the name of a phone.
    public var device: String
    public var captured: Date
    /// The settings with which the book is to be saved.
    public var preset: Preset
    public var state: State
    /// The outcome of the last lookup; `nil` before the first lookup.
    public var outcome: LookupOutcome.Name?
    /// The reason for an outcome other than *found*, as a text for people.
    public var reason: String?
    /// The first source that knew the ISBN.
    public var source: SourceName?
    /// The metadata known so far: a source's record, with any edits by a person.
    public var metadata: Metadata?

    /// True if the number was read from printed text in a photo. Such a number has the origin *typed*, and no other
    /// typed number has a photo.
    public var isReadFromPrint: Bool { origin == .typed && image != nil }

    public enum State: String, Sendable, Codable, CaseIterable {
        /// The item is in the queue: it is being looked up, or it waits for a person.
        case waiting
        case confirmed
        /// A person has skipped the item. The raw value is an older word that is still used in the library, in JSON and
        /// in the command `scan intake dismiss`.
        case skipped = "dismissed"
    }

    public init(
        id: ID<QueueItem> = ID(), isbn: ISBN, raw: String, addon: String? = nil, origin: Origin, image: String? = nil,
        device: String, captured: Date, preset: Preset = Preset(), state: State = .waiting,
        outcome: LookupOutcome.Name? = nil, reason: String? = nil, source: SourceName? = nil, metadata: Metadata? = nil
    ) {
        self.id = id
        self.isbn = isbn
        self.raw = raw
        self.addon = addon
        self.origin = origin
        self.image = image
        self.device = device
        self.captured = captured
        self.preset = preset
        self.state = state
        self.outcome = outcome
        self.reason = reason
        self.source = source
        self.metadata = metadata
    }
}

/// The settings with which a book is saved: those that a batch applies to every book, and what a person has given this
/// one book before it is saved.
public struct Preset: Sendable, Equatable, Codable {
    public var shelf: String?
    public var tags: [String] = []
    public var status: Copy.Status = .toRead
    /// True if the books are wishes, false if they are owned.
    public var isWishlist = false
    /// The name of the reader who gets the status or the wish; `nil` in a library with one reader, and in the preset of
    /// a batch, whose items get the reader who captures them.
    public var reader: String?
    /// The rating of this one book, as in ``Copy/rating``; `nil` if unrated, and in the preset of a batch.
    public var rating: Double?
    /// A note on this one book; `nil` for none, and in the preset of a batch.
    public var note: String?
    /// The browser to which the preset belongs, or which captured the item: its sign-in at the station. `nil` for the
    /// station itself: its camera, its terminal and the browsers on the same machine.
    public var browser: String?

    public init(
        shelf: String? = nil, tags: [String] = [], status: Copy.Status = .toRead, isWishlist: Bool = false,
        reader: String? = nil, rating: Double? = nil, note: String? = nil, browser: String? = nil
    ) {
        self.shelf = shelf
        self.tags = tags
        self.status = status
        self.isWishlist = isWishlist
        self.reader = reader
        self.rating = rating
        self.note = note
        self.browser = browser
    }

    /// Returns true if an item with the preset `other` has this preset. Each item has its own rating and note, and a
    /// preset without a reader leaves each item its own.
    public func isPreset(ofItemWith other: Preset) -> Bool {
        var own = self
        own.reader = reader ?? other.reader
        (own.rating, own.note) = (other.rating, other.note)
        return own == other
    }
}

/// A person's edit of what one book of the queue is saved with. `nil` leaves a value as it is, and an empty text clears
/// it.
public struct PresetEdit: Sendable, Equatable {
    public var shelf: String?
    /// The new tags, in order.
    public var tags: [String]?
    public var status: Copy.Status?
    public var rating: Edit<Double> = .keep
    public var note: String?

    public init() {}

    /// True if the shelf, the tags or the status are edited, which otherwise come from the batch.
    public var isOfBatch: Bool { shelf != nil || tags != nil || status != nil }

    /// Checks the values and writes them.
    ///
    /// - Throws: ``TextRefusal`` or ``InputRefusal`` for the first value that is refused; in that case, nothing is
    ///   written.
    public func apply(to preset: inout Preset) throws {
        var new = preset
        if let shelf { new.shelf = shelf.isEmpty ? nil : try shelf.checked(as: "shelf", limit: TextLimit.name) }
        if let tags { new.tags = try tags.map { try $0.checked(as: "tag", limit: TextLimit.name) } }
        new.status = status ?? new.status
        if case .set(let rating) = rating, !Copy.isRating(rating) { throw InputRefusal.badRating(rating) }
        new.rating = rating.applied(to: new.rating)
        if let note { new.note = note.isEmpty ? nil : try note.checked(as: "note", limit: TextLimit.note) }
        preset = new
    }
}
