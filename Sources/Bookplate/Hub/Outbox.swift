import FoundationEssentials

/// A station's own store for what it captures into a hub: an intake queue whose every change waits until the hub has it.
///
/// What a method acknowledges is on the disk. Capturing, editing, dismissing and undoing go through ``Intake`` and ``History`` as
/// in any library; only what is confirmed becomes no book here.
public protocol Outbox: Intake, History {
    /// Notes what a person confirmed, all in one durable commit, as ``Shelf/add(_:continuing:at:)`` saves it in a library. The copy
    /// in the result has the item's id: the hub makes the real one.
    func confirm(_ confirmed: [Confirmed], continuing change: ID<Change>?, at now: Date) async throws -> [SaveResult]
    /// What was confirmed here and is not undone, as the books that it will be.
    ///
    /// - Parameter undelivered: only what the hub does not have yet.
    func confirmedBooks(with isbns: [ISBN], undelivered: Bool) async throws -> [ISBN: [Book]]

    /// The hub's copies that came of what was confirmed here, by item; also of what was undone since, which the hub may not know yet.
    func copiesAtHub(with isbns: [ISBN]) async throws -> [ID<IntakeItem>: CopyAtHub]

    /// What the hub does not have yet, in the order in which it was changed last.
    func undelivered(limit: Int) async throws -> [HubDelivery]
    /// How many items the hub does not have as they are.
    func undeliveredCount() async throws -> Int
    /// Takes the hub's receipts: what was delivered does not wait any more, and what was answered at the hub leaves the queue.
    ///
    /// - Parameter deliveries: what was sent; empty when the hub was only asked.
    /// - Returns: what a person should know.
    func take(_ receipts: [HubReceipt], of deliveries: [HubDelivery]) async throws -> [HubNews]
    /// Items that wait here and at the hub, where somebody may answer them. The latest captured first.
    func openAtHub() async throws -> [ID<IntakeItem>]
    /// The hub lost these: they are to be delivered anew.
    func deliverAgain(_ items: [ID<IntakeItem>]) async throws
    /// The next delivered item whose picture the hub does not have.
    func nextThumbnail() async throws -> (item: ID<IntakeItem>, jpeg: [UInt8])?
    func noteThumbnail(of item: ID<IntakeItem>) async throws
}

/// The copy that the hub made of an item.
public struct CopyAtHub: Sendable, Equatable {
    public var id: ID<Copy>
    /// Whether the item is no longer confirmed here, and the hub has still to hear of it.
    public var isTakenBack: Bool

    public init(id: ID<Copy>, isTakenBack: Bool) {
        self.id = id
        self.isTakenBack = isTakenBack
    }
}

/// What a hub's answer means to the person at the station.
public enum HubNews: Sendable, Equatable {
    /// Somebody confirmed or dismissed it at the hub: it left the queue here.
    case answered(ID<IntakeItem>, IntakeItem.State, ID<Copy>?)
    /// Confirmed here, but owned there by now: it waits in the hub's intake.
    case owned(ID<IntakeItem>, reason: String)
    /// Undone here, but the hub kept it.
    case kept(ID<IntakeItem>, reason: String)
    case refused(ID<IntakeItem>, reason: String)
}
