import FoundationEssentials

/// How a number came in. Raw values are stored and appear in events.
public enum Origin: String, Sendable, Codable, CaseIterable { case photo, camera, stdin, typed, scanner, hub }

/// One ISBN as it was seen or typed: what becomes an ``IntakeItem`` when it is captured.
public struct Detection: Sendable, Equatable {
    public var isbn: ISBN
    /// The text or payload it was read from.
    public var raw: String
    public var addon: String?
    public var origin: Origin
    /// The photo's name as given, `nil` for everything else.
    public var image: String?
    /// A small JPEG of where it was seen.
    public var thumbnail: [UInt8]?
    /// The id that its item gets, a UUID in lower case: captured again with the same one it is the same item. `nil` for a new one.
    public var item: ID<IntakeItem>?

    public init(
        isbn: ISBN, raw: String, addon: String? = nil, origin: Origin, image: String? = nil, thumbnail: [UInt8]? = nil,
        item: ID<IntakeItem>? = nil
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

/// One ISBN seen or typed, before it is a book: a row of the intake queue.
public struct IntakeItem: Sendable, Equatable {
    public var id: ID<IntakeItem>
    public var isbn: ISBN
    public var raw: String
    public var addon: String?
    public var origin: Origin
    public var image: String?
    /// The host name of the device that captured it.
    public var station: String
    public var captured: Date
    /// What its book is to be saved with.
    public var preset: Preset
    public var state: State
    /// The last lookup's outcome in one word, `nil` before the first.
    public var outcome: LookupOutcome.Name?
    /// Why the outcome is none of found, for a person.
    public var reason: String?
    /// The source that knew it first.
    public var source: SourceName?
    /// What is known by now: a source's record, with a person's edits in it.
    public var metadata: Metadata?

    /// Whether it was read from print in a photo: nobody else gives a typed number a photo.
    public var isReadFromPrint: Bool { origin == .typed && image != nil }

    public enum State: String, Sendable, Codable, CaseIterable {
        /// In the queue: looking up, or waiting for a person.
        case waiting
        case confirmed, dismissed
    }

    public init(
        id: ID<IntakeItem> = ID(), isbn: ISBN, raw: String, addon: String? = nil, origin: Origin, image: String? = nil,
        station: String, captured: Date, preset: Preset = Preset(), state: State = .waiting,
        outcome: LookupOutcome.Name? = nil, reason: String? = nil, source: SourceName? = nil, metadata: Metadata? = nil
    ) {
        self.id = id
        self.isbn = isbn
        self.raw = raw
        self.addon = addon
        self.origin = origin
        self.image = image
        self.station = station
        self.captured = captured
        self.preset = preset
        self.state = state
        self.outcome = outcome
        self.reason = reason
        self.source = source
        self.metadata = metadata
    }
}

/// What a batch gives every book it saves.
public struct Preset: Sendable, Equatable, Codable {
    public var shelf: String?
    public var tags: [String] = []
    public var status: Copy.Status = .toRead
    /// Whether the books are wishes; else they are owned.
    public var isWishlist = false

    public init(shelf: String? = nil, tags: [String] = [], status: Copy.Status = .toRead, isWishlist: Bool = false) {
        self.shelf = shelf
        self.tags = tags
        self.status = status
        self.isWishlist = isWishlist
    }
}
