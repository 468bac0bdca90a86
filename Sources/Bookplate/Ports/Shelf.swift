import FoundationEssentials

/// The saved collection. Only ``Confirmed`` books can be added.
public protocol Shelf: Sendable {
    /// Saves confirmed books, each entirely or not at all, in one durable commit that also confirms their intake items.
    ///
    /// The result says if a request was saved before, the edition is owned already (unless `anotherCopy`), or a copy
    /// was on the wishlist or in the trash. One call is one change, which undo reverts, or continues an earlier one.
    ///
    /// - Parameter change: the change to continue, so that a whole batch is undone at once; `nil`, or a change that is
    ///   undone or removed by now, begins a new one.
    func add(_ confirmed: [Confirmed], continuing change: ID<Change>?, at now: Date) async throws -> [SaveResult]
    /// Returns all copies of the editions with these ISBNs, including the trash.
    func books(with isbns: [ISBN]) async throws -> [ISBN: [Book]]
    /// - Returns: `nil` if there is no such copy.
    func book(_ id: ID<Copy>) async throws -> Book?
    /// Applies a person's change to edition and copy as currently stored; changed fields count as edited from then on.
    ///
    /// - Returns: the book as it is now, and the change, which undo reverts.
    func update(
        _ id: ID<Copy>, at now: Date, _ change: @escaping @Sendable (inout Book) throws -> Void
    ) async throws -> (book: Book, change: ID<Change>)
    /// Applies a person's change to copies, all or none, as one change; their editions are not changed.
    ///
    /// - Parameter earlier: the change of an earlier part, so that parts saved one by one are undone at once.
    /// - Throws: ``UndoRefusal`` if that change has been undone.
    /// - Returns: the number of copies that changed, and the change, which undo reverts; `nil` if none did.
    func update(
        _ ids: [ID<Copy>], continuing earlier: ID<Change>?, at now: Date,
        _ change: @escaping @Sendable (inout Copy) throws -> Void
    ) async throws -> (changed: Int, change: ID<Change>?)
    /// Moves copies to the trash for ``Trash/keptDays``. Otherwise like ``update(_:continuing:at:_:)``.
    func trash(
        _ ids: [ID<Copy>], continuing earlier: ID<Change>?, at now: Date
    ) async throws -> (changed: Int, change: ID<Change>?)
    /// Restores copies from the trash. Otherwise like ``update(_:continuing:at:_:)``.
    func restore(
        _ ids: [ID<Copy>], continuing earlier: ID<Change>?, at now: Date
    ) async throws -> (changed: Int, change: ID<Change>?)
    /// Deletes copies in the trash for good, with everything that belongs to them: undo cannot bring them back. All or none.
    func purge(_ ids: [ID<Copy>]) async throws
}

extension Shelf {
    /// Saves confirmed books as one new change.
    public func add(_ confirmed: [Confirmed], at now: Date) async throws -> [SaveResult] {
        try await add(confirmed, continuing: nil, at: now)
    }

    public func update(
        _ ids: [ID<Copy>], at now: Date, _ change: @escaping @Sendable (inout Copy) throws -> Void
    ) async throws -> (changed: Int, change: ID<Change>?) {
        try await update(ids, continuing: nil, at: now, change)
    }

    /// - Returns: the change, which undo reverts; `nil` if all were in the trash already.
    @discardableResult
    public func trash(_ ids: [ID<Copy>], at now: Date) async throws -> ID<Change>? {
        try await trash(ids, continuing: nil, at: now).change
    }

    /// - Returns: the change, which undo reverts; `nil` if none was in the trash.
    @discardableResult
    public func restore(_ ids: [ID<Copy>], at now: Date) async throws -> ID<Change>? {
        try await restore(ids, continuing: nil, at: now).change
    }
}

/// The result of saving one ``Confirmed``.
public enum SaveResult: Sendable, Equatable {
    /// A new copy, or one that was neither owned nor wished for before.
    case saved(ID<Copy>, change: ID<Change>)
    /// A copy on the wishlist is now owned.
    case wishFulfilled(ID<Copy>, change: ID<Change>)
    /// A copy was restored from the trash.
    case restored(ID<Copy>, change: ID<Change>)
    /// The edition is owned already: nothing was saved, and the item is unchanged.
    case owned(Book)
    /// The same request was saved before: nothing was done.
    case alreadySaved(ID<Copy>)

    /// The change, which undo reverts; `nil` if nothing was changed.
    public var change: ID<Change>? {
        switch self {
        case .saved(_, let change), .wishFulfilled(_, let change), .restored(_, let change): change
        case .owned, .alreadySaved: nil
        }
    }
}

/// Saves books that a person enters by hand.
public protocol BookEntry: Sendable {
    /// Saves a book with the properties of the copy and its first notes, as one change.
    ///
    /// - Parameters:
    ///   - notes: checked as in ``Annotations``.
    ///   - dates: the dates of the reading that the status made, set as ``Tracker/setDates(_:of:)`` describes.
    ///   - facts: changes the new copy, or the wish or trashed copy that it becomes. Status, shelf and tags are the
    ///     preset's: changes to them here are ignored.
    /// - Returns: the result; if nothing was saved, facts, notes and dates were not either.
    /// - Throws: ``ReadingRefusal`` for impossible dates; then nothing is saved.
    func enter(
        _ confirmed: Confirmed, notes: [Note], dates: DateEdit, at now: Date,
        _ facts: @escaping @Sendable (inout Copy) throws -> Void
    ) async throws -> SaveResult
}
