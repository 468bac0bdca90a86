import FoundationEssentials

/// The way in which a number was captured. Raw values are stored and appear in events.
public enum Origin: String, Sendable, Codable, CaseIterable { case photo, camera, stdin, typed, scanner, hub }

/// One ISBN that was seen or typed; enqueuing it makes an ``IntakeItem``.
public struct Detection: Sendable, Equatable {
    public var isbn: ISBN
    /// The text or payload that the ISBN was read from.
    public var raw: String
    public var addon: String?
    public var origin: Origin
    /// The photo's name as given; `nil` for other origins.
    public var image: String?
    /// A small JPEG of the place where it was seen.
    public var thumbnail: [UInt8]?
    /// The id for its item, a UUID in lower case: enqueuing the same id again gives the same item. `nil` for a new one.
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

/// One ISBN that was seen or typed and is not a book yet: a row of the intake queue.
public struct IntakeItem: Sendable, Equatable {
    public var id: ID<IntakeItem>
    public var isbn: ISBN
    public var raw: String
    public var addon: String?
    public var origin: Origin
    public var image: String?
    /// The host name of the device that captured it.
    public var device: String
    public var captured: Date
    /// The settings to save its book with.
    public var preset: Preset
    public var state: State
    /// The outcome of the last lookup; `nil` before the first.
    public var outcome: LookupOutcome.Name?
    /// The reason for any outcome but found, for people.
    public var reason: String?
    /// The source that knew it first.
    public var source: SourceName?
    /// The metadata known so far: a source's record, with any edits by a person.
    public var metadata: Metadata?

    /// True if the number was read from print in a photo: no other typed number has a photo.
    public var isReadFromPrint: Bool { origin == .typed && image != nil }

    public enum State: String, Sendable, Codable, CaseIterable {
        /// In the queue: being looked up, or waiting for a person.
        case waiting
        case confirmed, dismissed
    }

    public init(
        id: ID<IntakeItem> = ID(), isbn: ISBN, raw: String, addon: String? = nil, origin: Origin, image: String? = nil,
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

/// The settings that a batch applies to every book it saves.
public struct Preset: Sendable, Equatable, Codable {
    public var shelf: String?
    public var tags: [String] = []
    public var status: Copy.Status = .toRead
    /// True if the books are wishes, false if they are owned.
    public var isWishlist = false

    public init(shelf: String? = nil, tags: [String] = [], status: Copy.Status = .toRead, isWishlist: Bool = false) {
        self.shelf = shelf
        self.tags = tags
        self.status = status
        self.isWishlist = isWishlist
    }
}
