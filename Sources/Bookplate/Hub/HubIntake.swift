import FoundationEssentials

/// How an item stands at the station that captured it, as the station tells its hub.
///
/// It is the whole of it and not what was done: told twice it does nothing, and a later one makes up for all before it. So an answer
/// that is lost on the way, a process that is killed and an undo that overtakes nothing need no rules of their own.
public struct HubDelivery: Sendable, Equatable, Codable {
    /// Made by the station.
    public var id: ID<IntakeItem>
    /// Grows with every change that the station makes of the item, from 1.
    public var revision: Int
    public var isbn13: String
    public var raw: String
    public var addon: String?
    /// RFC 3339, by the station's clock.
    public var captured: String
    public var preset: Preset
    public var state: IntakeItem.State
    /// What is known of it: of a confirmed one what is to be saved, as the person saw it.
    public var metadata: Metadata?
    /// Whether a source knew ``metadata``; else there is only what a person entered.
    public var isFound: Bool
    /// What the person said, of a confirmed one.
    public var confirmation: Confirmation?

    public struct Confirmation: Sendable, Equatable, Codable {
        /// The station's change: what was confirmed in one act is undone in one act.
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

    /// The most in one request.
    public static let mostAtOnce = 50
}

/// What the hub says of an item: the same for the same delivery, however often it comes.
public struct HubReceipt: Sendable, Equatable, Codable {
    public var id: ID<IntakeItem>
    /// The newest that the hub has of it; 0 for none.
    public var revision: Int
    /// How the item stands at the hub now, where others answer it, too.
    public var state: IntakeItem.State
    public var outcome: Outcome
    /// The copy that was saved, or that is owned already.
    public var copy: ID<Copy>?
    /// For a person, without a full stop: why it is owned, kept or refused.
    public var reason: String?

    /// What became of the delivery.
    public enum Outcome: String, Sendable, Codable {
        /// As delivered.
        case taken
        /// It is a book now.
        case saved
        /// The book is owned already, which the station did not know: it waits in the hub's intake.
        case owned
        /// The undo came too late: the book was changed at the hub, or confirmed there.
        case kept
        /// The hub does not take it, whenever it comes.
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

/// What the hub knows of an ISBN.
public struct HubBook: Sendable, Equatable, Codable {
    public var isbn: ISBN
    /// Of the library, trash included.
    public var copies: [Held]
    /// From the library, its queue, or what its sources said before; `nil` when it never heard of it.
    public var metadata: Metadata?

    /// A copy, as far as a station needs it.
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

    /// The most ISBNs in one request: with their descriptions they still fit into an answer.
    public static let mostAtOnce = 20
}

/// What paired stations send into this library.
public protocol HubIntake: Sendable {
    /// Brings the items to where the station has them, durably; a confirmed one is saved, once. What was delivered before is
    /// answered as it was then.
    ///
    /// - Returns: a receipt for each, in their order.
    func receive(
        _ deliveries: [HubDelivery], from station: PairedStation, at now: Date
    ) async throws -> [HubReceipt]
    /// How items of this station stand; those that it never delivered are left out.
    func status(of items: [ID<IntakeItem>], from station: ID<PairedStation>) async throws -> [HubReceipt]
    /// Keeps the picture of an item that this station delivered.
    ///
    /// - Returns: whether there is such an item.
    func keepThumbnail(
        _ jpeg: [UInt8], of item: ID<IntakeItem>, from station: ID<PairedStation>
    ) async throws -> Bool
    /// - Returns: what is known of each, in their order.
    func known(_ isbns: [ISBN], at now: Date) async throws -> [HubBook]
}
