import FoundationEssentials

/// The state of a queue item at the station that captured it, as the station sends it to its hub.
///
/// A delivery carries the whole state, not a change to it: delivering it twice has no further effect, and a later
/// delivery replaces all earlier ones. Lost answers, killed processes and undo therefore need no rules of their own.
public struct HubDelivery: Sendable, Equatable, Codable {
    /// The id of the item, assigned by the station.
    public var id: ID<QueueItem>
    /// The revision of the item, from 1. The station increments it with every change to the item.
    public var revision: Int
    public var isbn13: String
    public var raw: String
    public var addon: String?
    /// The time of the capture by the station's clock, in RFC 3339.
    public var captured: String
    public var preset: Preset
    public var state: QueueItem.State
    /// The metadata known so far; for a confirmed item, the metadata to save, exactly as the person saw it.
    public var metadata: Metadata?
    /// True if ``metadata`` comes from a source; otherwise it holds only what a person entered.
    public var isFound: Bool
    /// The person's confirmation; `nil` unless the item is confirmed.
    public var confirmation: Confirmation?

    public struct Confirmation: Sendable, Equatable, Codable {
        /// The id of the station's change. Items that were confirmed together are undone together.
        public var act: String
        public var anotherCopy: Bool

        public init(act: String, anotherCopy: Bool) {
            self.act = act
            self.anotherCopy = anotherCopy
        }
    }

    public init(
        id: ID<QueueItem>, revision: Int, isbn13: String, raw: String, addon: String?, captured: String,
        preset: Preset, state: QueueItem.State, metadata: Metadata?, isFound: Bool, confirmation: Confirmation? = nil
    ) {
        self.id = id
        self.revision = revision
        self.isbn13 = isbn13
        self.raw = raw
        self.addon = addon
        self.captured = captured
        self.preset = preset
        self.state = state
        self.metadata = metadata
        self.isFound = isFound
        self.confirmation = confirmation
    }

    /// The maximum number of deliveries in one request.
    public static let mostAtOnce = 50
}

/// The hub's answer about an item. A delivery that arrives several times gets the same answer each time.
public struct HubReceipt: Sendable, Equatable, Codable {
    public var id: ID<QueueItem>
    /// The newest revision that the hub has; 0 if it has none.
    public var revision: Int
    /// The item's present state at the hub, where another person may have confirmed or skipped it.
    public var state: QueueItem.State
    public var outcome: Outcome
    /// The copy that was saved, or the copy that is owned already.
    public var copy: ID<Copy>?
    /// The reason for the outcome *owned*, *kept* or *refused*, for people, without a full stop.
    public var reason: String?

    /// The result of the delivery.
    public enum Outcome: String, Sendable, Codable {
        /// The hub has stored the item in the state that was delivered.
        case accepted = "taken"
        /// The hub has saved the item as a book.
        case saved
        /// The book is owned already, which the station did not know. The item waits in the hub's queue.
        case owned
        /// The undo came too late, because the book had been changed or confirmed at the hub.
        case kept
        /// The hub will never accept this delivery.
        case refused
    }

    public init(
        id: ID<QueueItem>, revision: Int, state: QueueItem.State, outcome: Outcome, copy: ID<Copy>? = nil,
        reason: String? = nil
    ) {
        self.id = id
        self.revision = revision
        self.state = state
        self.outcome = outcome
        self.copy = copy
        self.reason = reason
    }

    public var json: JSONValue {
        [
            "id": .string(id.rawValue), "revision": .integer(revision), "state": .string(state.rawValue),
            "outcome": .string(outcome.rawValue), "copy": JSONValue(copy?.rawValue), "reason": JSONValue(reason),
        ]
    }
}

/// The hub's answer to a request about items.
public struct HubAnswer: Sendable, Equatable {
    public var receipts: [HubReceipt]
    public var hub: HubInstance

    public init(_ receipts: [HubReceipt], from hub: HubInstance) {
        self.receipts = receipts
        self.hub = hub
    }
}

/// The library that a hub serves, and the time for which it has had the library open. A library can be replaced by a
/// backup only while it is closed, so a station that sees another instance asks about everything that it has delivered.
public struct HubInstance: Sendable, Equatable {
    /// The id of the library, which its backups share; `nil` from a hub with an older version of Bookplate.
    public var library: String?
    /// An id that is different each time the hub opens its library; `nil` from a hub with an older version of
    /// Bookplate.
    public var opening: String?

    public init(library: String?, opening: String?) {
        self.library = library
        self.opening = opening
    }
}

/// The data that the hub has for an ISBN.
public struct HubBook: Sendable, Equatable, Codable {
    public var isbn: ISBN
    /// The copies in the library, including copies in the trash.
    public var copies: [Held]
    /// The metadata from the library, its queue or the answer cache; `nil` if none of them knows the ISBN.
    public var metadata: Metadata?

    /// A copy, reduced to the data that a station needs.
    public struct Held: Sendable, Equatable, Codable {
        public var id: ID<Copy>
        public var isOwned: Bool
        public var isOnWishlist: Bool
        public var shelf: String?
        /// The time at which the copy was added, in RFC 3339.
        public var added: String
        public var deleted: String?

        public init(_ copy: Copy) {
            (id, isOwned, isOnWishlist, shelf) = (copy.id, copy.isOwned, copy.isOnWishlist, copy.shelf)
            (added, deleted) = (copy.added.rfc3339, copy.deleted?.rfc3339)
        }
    }

    public init(isbn: ISBN, copies: [Held], metadata: Metadata?) {
        self.isbn = isbn
        self.copies = copies
        self.metadata = metadata
    }

    /// The maximum number of ISBNs in one request. The answers for this many ISBNs, with descriptions, stay within the
    /// size limit of a response.
    public static let mostAtOnce = 20
}

/// Receives the deliveries of paired stations into this library.
public protocol HubQueue: Sendable {
    /// Stores the items on disk in the state that they have at the station. A confirmed item is saved as a book only
    /// once. A delivery that is received again gets the same answer as before.
    ///
    /// - Returns: a receipt for each delivery, in the order of the deliveries.
    func receive(
        _ deliveries: [HubDelivery], from station: PairedStation, at now: Date
    ) async throws -> [HubReceipt]
    /// Returns the state of items that this station has delivered; other items are left out.
    func status(of items: [ID<QueueItem>], from station: ID<PairedStation>) async throws -> [HubReceipt]
    /// Stores the thumbnail of an item that this station delivered.
    ///
    /// - Returns: false if there is no such item.
    func keepThumbnail(
        _ jpeg: [UInt8], of item: ID<QueueItem>, from station: ID<PairedStation>
    ) async throws -> Bool
    /// Returns the ids of this library and of its present opening.
    func instance() async throws -> HubInstance
    /// Returns what is known about each ISBN, in the order of the ISBNs.
    func knownBooks(_ isbns: [ISBN], at now: Date) async throws -> [HubBook]
}
