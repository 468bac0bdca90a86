import FoundationEssentials

/// The intake queue. When a method returns, its changes are on disk.
public protocol Intake: Sendable {
    /// Adds detections to the queue, all or none, before any lookup. If the item of a ``Detection/item`` exists
    /// already, it is returned as it is now.
    ///
    /// - Parameter lease: the time for which only this process may look the items up; zero for no lease.
    func enqueue(
        _ detections: [Detection], preset: Preset, lease: Duration, at now: Date
    ) async throws -> [IntakeItem]
    /// Returns items by state, oldest first.
    func items(in states: Set<IntakeItem.State>) async throws -> [IntakeItem]
    /// Returns the number of items in these states.
    func count(in states: Set<IntakeItem.State>) async throws -> Int
    /// - Returns: `nil` if there is no such item.
    func item(_ id: ID<IntakeItem>) async throws -> IntakeItem?
    /// Leases items whose lookup is due (never looked up; or temporary, blocked or bad data and time to try again) to
    /// this process, oldest first.
    ///
    /// - Parameters:
    ///   - only: the items to choose from, due or not; a lease that this process already has starts again. `nil` for
    ///     any item that is due.
    ///   - limit: the most items to lease.
    func lease(_ only: [ID<IntakeItem>]?, limit: Int, for lease: Duration, at now: Date) async throws -> [IntakeItem]
    /// Stores answers and ends the leases. Found metadata never replaces a person's edits; *not found* and failures
    /// never remove metadata or revert *found*. Items that no longer wait, or are now leased by another process, are
    /// not changed.
    ///
    /// - Returns: the items as they are now.
    func record(_ answers: [ID<IntakeItem>: LookupAnswer], at now: Date) async throws -> [IntakeItem]
    /// Applies a person's edit to a waiting item, on its currently stored state. Fields whose values change get
    /// ``SourceName/person`` as their source.
    func edit(
        _ id: ID<IntakeItem>, _ change: @escaping @Sendable (inout Metadata, inout Preset) throws -> Void
    ) async throws
    /// Sets the preset of these items; items that do not wait are skipped.
    func setPreset(_ preset: Preset, of ids: [ID<IntakeItem>]) async throws
    /// Dismisses items.
    ///
    /// - Returns: the change, which undo reverts.
    func dismiss(_ ids: [ID<IntakeItem>], at now: Date) async throws -> ID<Change>
    /// Removes items from the queue because their book is owned already. This is not a person's act, so undo does not
    /// list it.
    func close(_ ids: [ID<IntakeItem>]) async throws
    /// Returns the JPEG thumbnail stored with an item.
    func thumbnail(of id: ID<IntakeItem>) async throws -> [UInt8]?
    /// Returns the items in these states that have a thumbnail.
    func itemsWithThumbnail(in states: Set<IntakeItem.State>) async throws -> Set<ID<IntakeItem>>
}
