import FoundationEssentials

/// The saved collection: books go in as ``Confirmed`` only.
public protocol Shelf: Sendable {
    /// Saves what was confirmed, each whole or not at all, in one durable commit; the intake items become confirmed with them.
    ///
    /// A request saved before, an edition owned already (unless `anotherCopy`), a wishlist copy and one in the trash are told
    /// by the result. One call is one change that undo takes back, or a further part of an earlier one.
    ///
    /// - Parameter change: the change that it goes on with, so that a whole batch is undone at once; `nil`, or one that is
    ///   undone or gone by now, begins a new one.
    func add(_ confirmed: [Confirmed], continuing change: ID<Change>?, at now: Date) async throws -> [SaveResult]
    /// All copies of the editions with these ISBNs, trash included.
    func books(with isbns: [ISBN]) async throws -> [ISBN: [Book]]
    /// - Returns: `nil` when there is no such copy.
    func book(_ id: ID<Copy>) async throws -> Book?
    /// Changes edition and copy as a person says, on what is stored at this moment; changed fields count as edited from then on.
    ///
    /// - Returns: the book as it is now, and the change that undo takes back.
    func update(
        _ id: ID<Copy>, at now: Date, _ change: @escaping @Sendable (inout Book) throws -> Void
    ) async throws -> (book: Book, change: ID<Change>)
    /// Changes copies as a person says, all or none, as one change; their editions stay as they are.
    ///
    /// - Parameter earlier: the change of an earlier piece, so that what is done piece by piece is undone at once.
    /// - Throws: ``UndoRefusal`` when it was undone meanwhile.
    /// - Returns: how many came out different, and the change that undo takes back; `nil` when none did.
    func update(
        _ ids: [ID<Copy>], continuing earlier: ID<Change>?, at now: Date,
        _ change: @escaping @Sendable (inout Copy) throws -> Void
    ) async throws -> (changed: Int, change: ID<Change>?)
    /// Moves copies to the trash, where they stay for 30 days. Else as ``update(_:continuing:at:_:)``.
    func trash(
        _ ids: [ID<Copy>], continuing earlier: ID<Change>?, at now: Date
    ) async throws -> (changed: Int, change: ID<Change>?)
    /// Takes copies out of the trash. Else as ``update(_:continuing:at:_:)``.
    func restore(
        _ ids: [ID<Copy>], continuing earlier: ID<Change>?, at now: Date
    ) async throws -> (changed: Int, change: ID<Change>?)
    /// Removes copies from the trash for good, with all that hangs on them: no undo brings them back. All or none.
    func purge(_ ids: [ID<Copy>]) async throws
}

extension Shelf {
    /// Saves what was confirmed as a change of its own.
    public func add(_ confirmed: [Confirmed], at now: Date) async throws -> [SaveResult] {
        try await add(confirmed, continuing: nil, at: now)
    }

    public func update(
        _ ids: [ID<Copy>], at now: Date, _ change: @escaping @Sendable (inout Copy) throws -> Void
    ) async throws -> (changed: Int, change: ID<Change>?) {
        try await update(ids, continuing: nil, at: now, change)
    }

    /// - Returns: the change that undo takes back; `nil` when all were there already.
    @discardableResult
    public func trash(_ ids: [ID<Copy>], at now: Date) async throws -> ID<Change>? {
        try await trash(ids, continuing: nil, at: now).change
    }

    /// - Returns: the change that undo takes back; `nil` when none was there.
    @discardableResult
    public func restore(_ ids: [ID<Copy>], at now: Date) async throws -> ID<Change>? {
        try await restore(ids, continuing: nil, at: now).change
    }
}

/// What became of one ``Confirmed``.
public enum SaveResult: Sendable, Equatable {
    /// A new copy, or one that was neither owned nor wished for until now.
    case saved(ID<Copy>, change: ID<Change>)
    /// A wishlist copy of the edition is owned now.
    case wishFulfilled(ID<Copy>, change: ID<Change>)
    /// A copy came back from the trash.
    case restored(ID<Copy>, change: ID<Change>)
    /// The edition is owned already: nothing was saved, and the item stays as it was.
    case owned(Book)
    /// The same request was saved before: nothing was done.
    case alreadySaved(ID<Copy>)

    /// The change that undo takes back, `nil` when nothing was changed.
    public var change: ID<Change>? {
        switch self {
        case .saved(_, let change), .wishFulfilled(_, let change), .restored(_, let change): change
        case .owned, .alreadySaved: nil
        }
    }
}

/// Books entered by hand, whole.
public protocol BookEntry: Sendable {
    /// Saves what a person entered, with what is known of the copy and the first notes on it, as one change.
    ///
    /// - Parameters:
    ///   - notes: checked as ``Annotations`` says.
    ///   - dates: of the reading that the status made, set as ``Tracker/setDates(_:of:)`` says.
    ///   - facts: changes the new copy, or the wish or copy from the trash that it becomes. Status, shelf and tags are the preset's:
    ///     what is said of them here does not count.
    /// - Returns: what became of it; where nothing was saved, neither facts nor notes nor dates were.
    /// - Throws: ``ReadingRefusal`` for dates that cannot be; then nothing is saved.
    func enter(
        _ confirmed: Confirmed, notes: [Note], dates: DateEdit, at now: Date,
        _ facts: @escaping @Sendable (inout Copy) throws -> Void
    ) async throws -> SaveResult
}
