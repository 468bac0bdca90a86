import FoundationEssentials

/// The state of an intake item at the station that captured it, as the station sends it to its hub.
///
/// A delivery carries the whole state, not a change to it: delivering it twice has no further effect, and a later
/// delivery replaces all earlier ones. Lost answers, killed processes and undo therefore need no rules of their own.
public struct HubDelivery: Sendable, Equatable, Codable {
    /// Assigned by the station.
    public var id: ID<IntakeItem>
    /// Incremented by the station with every change to the item, from 1.
    public var revision: Int
    public var isbn13: String
    public var raw: String
    public var addon: String?
    /// RFC 3339, by the station's clock.
    public var captured: String
    public var preset: Preset
    public var state: IntakeItem.State
    /// The metadata known so far; for a confirmed item the metadata to save, as the person saw it.
    public var metadata: Metadata?
    /// True if ``metadata`` comes from a source; otherwise it holds only what a person entered.
    public var isFound: Bool
    /// The person's confirmation, for a confirmed item.
    public var confirmation: Confirmation?

    public struct Confirmation: Sendable, Equatable, Codable {
        /// The id of the station's change: items confirmed in one act are undone in one act.
        public var act: String
        public var anotherCopy: Bool

        public init(act: String, anotherCopy: Bool) {
            self.act = act
            self.anotherCopy = anotherCopy
        }
    }

    public init(
        id: ID<IntakeItem>, revision: Int, isbn13: String, raw: String, addon: String?, captured: String,
        preset: Preset, state: IntakeItem.State, metadata: Metadata?, isFound: Bool, confirmation: Confirmation? = nil
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

    /// The most deliveries in one request.
    public static let mostAtOnce = 50
}

/// The hub's answer about an item: the same for the same delivery, however often it arrives.
public struct HubReceipt: Sendable, Equatable, Codable {
    public var id: ID<IntakeItem>
    /// The newest revision that the hub has; 0 for none.
    public var revision: Int
    /// The item's state at the hub now, where others may have answered it too.
    public var state: IntakeItem.State
    public var outcome: Outcome
    /// The copy that was saved, or that is owned already.
    public var copy: ID<Copy>?
    /// For people, without a full stop: the reason why it is owned, kept or refused.
    public var reason: String?

    /// The result of the delivery.
    public enum Outcome: String, Sendable, Codable {
        /// Accepted as delivered.
        case accepted = "taken"
        /// Saved as a book.
        case saved
        /// The book is owned already, which the station did not know: it waits in the hub's intake queue.
        case owned
        /// The undo came too late: the book was changed or confirmed at the hub.
        case kept
        /// The hub will never accept this delivery.
        case refused
    }

    public init(
        id: ID<IntakeItem>, revision: Int, state: IntakeItem.State, outcome: Outcome, copy: ID<Copy>? = nil,
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

/// The hub's knowledge of an ISBN.
public struct HubBook: Sendable, Equatable, Codable {
    public var isbn: ISBN
    /// The copies in the library, including the trash.
    public var copies: [Held]
    /// From the library, its queue or the answer cache; `nil` if none of them knows the ISBN.
    public var metadata: Metadata?

    /// A copy, reduced to what a station needs.
    public struct Held: Sendable, Equatable, Codable {
        public var id: ID<Copy>
        public var isOwned: Bool
        public var isOnWishlist: Bool
        public var shelf: String?
        /// RFC 3339.
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

    /// The most ISBNs in one request: their answers, with descriptions, fit the limit of an answer.
    public static let mostAtOnce = 20
}

/// Receives what paired stations deliver into this library.
public protocol HubIntake: Sendable {
    /// Brings the items to the state they have at the station, durably; a confirmed item is saved once. A delivery that
    /// was received before gets the same answer as then.
    ///
    /// - Returns: a receipt for each delivery, in their order.
    func receive(
        _ deliveries: [HubDelivery], from station: PairedStation, at now: Date
    ) async throws -> [HubReceipt]
    /// Returns the state of items of this station; items that it never delivered are left out.
    func status(of items: [ID<IntakeItem>], from station: ID<PairedStation>) async throws -> [HubReceipt]
    /// Stores the thumbnail of an item that this station delivered.
    ///
    /// - Returns: false if there is no such item.
    func keepThumbnail(
        _ jpeg: [UInt8], of item: ID<IntakeItem>, from station: ID<PairedStation>
    ) async throws -> Bool
    /// Returns what is known of each ISBN, in their order.
    func knownBooks(_ isbns: [ISBN], at now: Date) async throws -> [HubBook]
}
