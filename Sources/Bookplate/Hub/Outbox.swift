import FoundationEssentials

/// The local store of a station that captures into a hub: a queue in which every change waits until the hub has
/// received it.
///
/// When a method returns, its changes are on disk. Enqueuing, editing, skipping and undo go through ``CaptureQueue``
/// and ``History``, as in any library. Unlike in a library, confirming an item does not create a book.
public protocol Outbox: CaptureQueue, History {
    /// Stores a person's confirmations in one durable commit, as ``Shelf/add(_:continuing:at:)`` saves them in a
    /// library. The copy in the result has the id of the item, because the real copy is created by the hub.
    func confirm(_ confirmed: [Confirmed], continuing change: ID<Change>?, at now: Date) async throws -> [SaveResult]
    /// Returns the books for the items that were confirmed here and have not been undone.
    ///
    /// - Parameter undelivered: true to return only items that the hub does not have yet.
    func confirmedBooks(with isbns: [ISBN], undelivered: Bool) async throws -> [ISBN: [Book]]

    /// Returns the copies that the hub has created for items confirmed here, by item. Items that have been undone since
    /// are included as long as the hub does not know about the undo.
    func copiesAtHub(with isbns: [ISBN]) async throws -> [ID<QueueItem>: CopyAtHub]

    /// Returns the deliveries that the hub does not have yet, least recently changed first.
    func undelivered(limit: Int) async throws -> [HubDelivery]
    /// Returns the number of items whose present state the hub does not have yet.
    func undeliveredCount() async throws -> Int
    /// Applies the hub's answer: delivered changes no longer wait to be sent, and items that were confirmed or skipped
    /// at the hub leave the queue. Items of which the hub has only an older state are queued for delivery again.
    ///
    /// - Parameter deliveries: the deliveries that the receipts answer; empty if the hub was only queried for the state
    ///   of the items.
    /// - Returns: the news to show to a person.
    func apply(_ answer: HubAnswer, of deliveries: [HubDelivery]) async throws -> [HubNews]
    /// Returns the items that the hub has received in their present state, latest captured first. Items that the hub
    /// has refused are left out, as are items that the hub received with another library.
    ///
    /// - Parameters:
    ///   - library: the id of the hub's library; `nil` if it is unknown.
    ///   - onlyWaiting: true to return only items that wait for an answer. A person at the hub may confirm or skip such
    ///     an item.
    func delivered(to library: String?, onlyWaiting: Bool) async throws -> [ID<QueueItem>]
    /// Queues items for delivery again, because the hub has lost them.
    func deliverAgain(_ items: [ID<QueueItem>]) async throws
    /// Records the library that the hub serves now.
    ///
    /// - Returns: the news if the hub served another library before.
    func connect(toLibrary library: String) async throws -> HubNews?
    /// Queues the items for delivery that the hub has received with other libraries than the present one.
    func deliverToPresentLibrary() async throws
    /// Returns the next delivered item whose thumbnail the hub does not have.
    func nextThumbnail() async throws -> (item: ID<QueueItem>, jpeg: [UInt8])?
    /// Records that the hub has the item's thumbnail.
    func markThumbnailDelivered(of item: ID<QueueItem>) async throws
}

/// The copy that the hub created for an item.
public struct CopyAtHub: Sendable, Equatable {
    public var id: ID<Copy>
    /// True if the item is no longer confirmed here, and the hub does not know this yet.
    public var isUndone: Bool

    public init(id: ID<Copy>, isUndone: Bool) {
        self.id = id
        self.isUndone = isUndone
    }
}

/// News from the hub for the person at the station.
public enum HubNews: Sendable, Equatable {
    /// A person confirmed or skipped the item at the hub, so it has left the queue here.
    case answered(ID<QueueItem>, QueueItem.State, ID<Copy>?)
    /// The item was confirmed here, but the book is owned at the hub already. The item waits in the hub's queue.
    case owned(ID<QueueItem>, reason: String)
    /// The confirmation was undone here, but the hub kept the book.
    case kept(ID<QueueItem>, reason: String)
    case refused(ID<QueueItem>, reason: String)
    /// The hub serves another library than before. The number of items is given that the hub received with the earlier
    /// library; they are not sent again.
    case otherLibrary(count: Int)
}

/// The status of a hub, as the station knows it.
public enum HubStatus: Sendable, Equatable {
    /// No request has been made yet.
    case unknown
    case up
    /// The hub does not answer, for the given reason. The station tries again at growing intervals.
    case away(String)
    /// The token is no longer valid. Nothing is sent until the station is paired again.
    case unpaired
}

/// An event on the connection to a hub.
public enum HubEvent: Sendable, Equatable {
    case status(HubStatus)
    /// The number of items whose present state the hub does not have yet.
    case waiting(Int)
    case news([HubNews])
    /// The outbox cannot be read or written, or the hub answers but cannot process some items.
    case error(String)
}
