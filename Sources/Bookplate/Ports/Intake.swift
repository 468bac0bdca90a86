import FoundationEssentials

/// The intake queue. What a method acknowledges is on the disk.
public protocol Intake: Sendable {
    /// Puts detections into the queue, all or none, before anything is asked of anyone. For one whose ``Detection/item`` is there
    /// already, that item is given as it is now.
    ///
    /// - Parameter lease: for how long they belong to this process, so that no other looks them up first; zero for not at all.
    func capture(
        _ detections: [Detection], preset: Preset, lease: Duration, at now: Date
    ) async throws -> [IntakeItem]
    /// Items by state, oldest first.
    func items(in states: Set<IntakeItem.State>) async throws -> [IntakeItem]
    /// How many items are in these states.
    func count(in states: Set<IntakeItem.State>) async throws -> Int
    /// - Returns: `nil` when there is none.
    func item(_ id: ID<IntakeItem>) async throws -> IntakeItem?
    /// Takes items whose lookup is due (never looked up, or temporary, blocked or bad data and time to try again) for this
    /// process alone, until the lease ends. Oldest first.
    ///
    /// - Parameters:
    ///   - only: restricts to these items, due or not, also those that this process has leased already, whose lease begins anew;
    ///     `nil` takes any that is due.
    ///   - limit: how many at the most.
    func lease(_ only: [ID<IntakeItem>]?, limit: Int, for lease: Duration, at now: Date) async throws -> [IntakeItem]
    /// Stores what was learnt and gives the leases back. Found metadata never replaces what a person edited; *not found* and
    /// failures never remove metadata, nor do they take *found* back. An item no longer waiting, or leased by another process by
    /// now, is left alone.
    ///
    /// - Returns: the items as they are now.
    func record(_ answers: [ID<IntakeItem>: LookupAnswer], at now: Date) async throws -> [IntakeItem]
    /// Changes a waiting item as a person says, on what is stored at this moment. Fields that come out different have
    /// ``SourceName/person`` as source.
    func edit(
        _ id: ID<IntakeItem>, _ change: @escaping @Sendable (inout Metadata, inout Preset) throws -> Void
    ) async throws
    /// What these items' books are to be saved with from now on; those that do not wait are passed over.
    func give(_ preset: Preset, to ids: [ID<IntakeItem>]) async throws
    /// A person says no.
    ///
    /// - Returns: the change that undo takes back.
    func dismiss(_ ids: [ID<IntakeItem>], at now: Date) async throws -> ID<Change>
    /// Takes items out of the queue because nothing is left to do: their book is owned already. No change of a person's, so
    /// nothing for undo.
    func close(_ ids: [ID<IntakeItem>]) async throws
    /// The JPEG thumbnail kept with an item.
    func thumbnail(of id: ID<IntakeItem>) async throws -> [UInt8]?
    /// The items in these states that a thumbnail is kept with.
    func pictured(in states: Set<IntakeItem.State>) async throws -> Set<ID<IntakeItem>>
}
