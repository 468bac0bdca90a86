import FoundationEssentials

/// The local store of a station that captures into a hub: an intake queue whose every change waits until the hub has
/// it.
///
/// When a method returns, its changes are on disk. Enqueuing, editing, dismissing and undo go through ``Intake`` and
/// ``History``, as in any library; only confirming does not create a book here.
public protocol Outbox: Intake, History {
    /// Stores a person's confirmations in one durable commit, as ``Shelf/add(_:continuing:at:)`` saves them in a
    /// library. The copy in the result has the item's id: the real copy is created by the hub.
    func confirm(_ confirmed: [Confirmed], continuing change: ID<Change>?, at now: Date) async throws -> [SaveResult]
    /// Returns what was confirmed here and not undone, as the books to be created.
    ///
    /// - Parameter undelivered: true for only what the hub does not have yet.
    func confirmedBooks(with isbns: [ISBN], undelivered: Bool) async throws -> [ISBN: [Book]]

    /// Returns the hub's copies of what was confirmed here, by item, including what has been undone since without the
    /// hub knowing.
    func copiesAtHub(with isbns: [ISBN]) async throws -> [ID<IntakeItem>: CopyAtHub]

    /// Returns what the hub does not have yet, least recently changed first.
    func undelivered(limit: Int) async throws -> [HubDelivery]
    /// Returns the number of items whose current state the hub does not have.
    func undeliveredCount() async throws -> Int
    /// Applies the hub's receipts: delivered changes stop waiting, and items answered at the hub leave the queue.
    ///
    /// - Parameter deliveries: the deliveries that the receipts answer; empty if the hub was only asked for its state.
    /// - Returns: the news to show to a person.
    func apply(_ receipts: [HubReceipt], of deliveries: [HubDelivery]) async throws -> [HubNews]
    /// Returns the items that wait both here and at the hub, where somebody may answer them; latest captured first.
    func openAtHub() async throws -> [ID<IntakeItem>]
    /// Queues items that the hub has lost for delivery again.
    func deliverAgain(_ items: [ID<IntakeItem>]) async throws
    /// Returns the next delivered item whose thumbnail the hub does not have.
    func nextThumbnail() async throws -> (item: ID<IntakeItem>, jpeg: [UInt8])?
    /// Records that the hub has the item's thumbnail.
    func markThumbnailDelivered(of item: ID<IntakeItem>) async throws
}

/// The copy that the hub created for an item.
public struct CopyAtHub: Sendable, Equatable {
    public var id: ID<Copy>
    /// True if the item is no longer confirmed here and the hub does not know yet.
    public var isUndone: Bool

    public init(id: ID<Copy>, isUndone: Bool) {
        self.id = id
        self.isUndone = isUndone
    }
}

/// News from the hub for the person at the station.
public enum HubNews: Sendable, Equatable {
    /// Someone confirmed or dismissed the item at the hub: it left the queue here.
    case answered(ID<IntakeItem>, IntakeItem.State, ID<Copy>?)
    /// Confirmed here, but owned at the hub already: it waits in the hub's intake queue.
    case owned(ID<IntakeItem>, reason: String)
    /// Undone here, but the hub kept it.
    case kept(ID<IntakeItem>, reason: String)
    case refused(ID<IntakeItem>, reason: String)
}
