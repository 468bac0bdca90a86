import FoundationEssentials

/// The queue of the captured ISBNs that still await a person's decision. When a method returns, its changes are on
/// disk. The command, the kiosk's page and the tables call the queue *intake*.
public protocol CaptureQueue: Sendable {
    /// Adds detections to the queue, to be looked up later. Either all of them are added or none. If an item with the
    /// id ``Detection/item`` exists already, it is returned as it is now. If there are several readers and the preset
    /// names none, the items get the reader who captures them.
    ///
    /// - Parameter lease: the time for which only this process may look up the items; zero for no lease.
    func enqueue(
        _ detections: [Detection], preset: Preset, lease: Duration, at now: Date
    ) async throws -> [QueueItem]
    /// Returns the items in these states, oldest first.
    func items(in states: Set<QueueItem.State>) async throws -> [QueueItem]
    /// Returns the waiting items with these ISBNs, oldest first.
    func waitingItems(with isbns: [ISBN]) async throws -> [QueueItem]
    /// Returns the number of items in these states.
    func count(in states: Set<QueueItem.State>) async throws -> Int
    /// Returns the item with this id.
    ///
    /// - Returns: `nil` if there is no such item.
    func item(_ id: ID<QueueItem>) async throws -> QueueItem?
    /// Gives this process a lease on each item whose lookup is due, oldest first. A lookup is due if the item was never
    /// looked up, or if the outcome was *temporary*, *blocked* or *bad data* and it is time to try again.
    ///
    /// - Parameters:
    ///   - only: the items to choose from, which need not be due; `nil` to choose from all items that are due. If this
    ///     process already has a lease on a given item, that lease is renewed.
    ///   - limit: the maximum number of items to lease.
    func lease(_ only: [ID<QueueItem>]?, limit: Int, for lease: Duration, at now: Date) async throws -> [QueueItem]
    /// Stores the answers of lookups and ends the leases of their items. Found metadata never replaces a person's
    /// edits; *not found* and failures never remove metadata or revert *found*. Items that are no longer waiting, or
    /// that another process has leased in the meantime, are not changed.
    ///
    /// - Returns: the items as they are now.
    func record(_ answers: [ID<QueueItem>: LookupAnswer], at now: Date) async throws -> [QueueItem]
    /// Applies a person's edit to a waiting item as it is stored now. Fields whose values change get
    /// ``SourceName/person`` as their source.
    func edit(
        _ id: ID<QueueItem>, _ change: @escaping @Sendable (inout Metadata, inout Preset) throws -> Void
    ) async throws
    /// Sets the preset of these items, each of which keeps its rating and its note. Items that are not waiting are
    /// skipped. If the preset names no reader, each item keeps its own.
    func setPreset(_ preset: Preset, of ids: [ID<QueueItem>]) async throws
    /// Skips items: takes them out of the queue without saving them.
    ///
    /// - Returns: the change, which undo reverts; `nil` if none of the items was waiting.
    func skip(_ ids: [ID<QueueItem>], at now: Date) async throws -> ID<Change>?
    /// Removes items from the queue because their book is owned already. This is not a person's act, so undo does not
    /// list it.
    func close(_ ids: [ID<QueueItem>]) async throws
    /// Returns the JPEG thumbnail stored with an item.
    func thumbnail(of id: ID<QueueItem>) async throws -> [UInt8]?
    /// Returns the items in these states that have a thumbnail.
    func itemsWithThumbnail(in states: Set<QueueItem.State>) async throws -> Set<ID<QueueItem>>
}
