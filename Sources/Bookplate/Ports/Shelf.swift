import FoundationEssentials

/// The saved collection, as capturing needs it. Only ``Confirmed`` books can be added.
public protocol Shelf: Sendable {
    /// Saves confirmed books and confirms their queue items, in one durable commit. Each book is saved entirely or not
    /// at all.
    ///
    /// The result says whether a request was saved before, whether the edition is owned already (unless `anotherCopy`
    /// is true), and whether a copy was on the wishlist or in the trash. One call makes one change, which undo reverts,
    /// or continues an earlier change.
    ///
    /// - Parameter change: the change to continue, so that a whole batch is undone at once; `nil` to begin a new
    ///   change. A new change also begins if the given change has been undone or removed in the meantime.
    func add(_ confirmed: [Confirmed], continuing change: ID<Change>?, at now: Date) async throws -> [SaveResult]
    /// Returns all copies of the editions with these ISBNs, including copies in the trash.
    func books(with isbns: [ISBN]) async throws -> [ISBN: [Book]]
    /// Returns the books outside the trash that are probably other editions or copies of the same work, at most 20. An
    /// edition is found by its work identifier (``Metadata/workScheme``), or by its title and first author
    /// (``WorkIdentity``).
    ///
    /// - Parameter isbn: the ISBN whose own copies are left out.
    func editions(like metadata: Metadata, excluding isbn: ISBN?) async throws -> [Book]
    /// Fills empty fields of editions with what sources know, as a part of the change that saved the book, so that one
    /// undo takes back both. If a later change has touched the edition, this is a change of its own. A field that has a
    /// value, or that a person has edited, stays as it is. Records that may be another book's are left out.
    ///
    /// - Returns: the number of editions in which something changed.
    func complete(_ records: [ISBN: Metadata], at now: Date) async throws -> Int
}

/// The saved collection, whose books can also be edited, moved to the trash and purged.
public protocol EditableShelf: Shelf {
    /// Returns the book with this copy.
    ///
    /// - Returns: `nil` if there is no such copy.
    func book(_ id: ID<Copy>) async throws -> Book?
    /// Applies a person's edit to the edition and the copy as they are stored now. From then on, the changed fields
    /// count as edited by a person.
    ///
    /// - Returns: the book as it is now, and the change, which undo reverts. The change is `nil` if the edit left the
    ///   book as it was.
    func update(
        _ id: ID<Copy>, at now: Date, _ change: @escaping @Sendable (inout Book) throws -> Void
    ) async throws -> (book: Book, change: ID<Change>?)
    /// Gives an edition values that a person has chosen from the records of sources, as one change. The fields keep the
    /// names of these sources, and from then on count as edited by a person, so that no refresh changes them.
    ///
    /// - Parameter records: the record from which each field is taken.
    /// - Returns: as for ``update(_:at:_:)``.
    func take(
        _ records: [Metadata.Field: Metadata], for id: ID<Copy>, at now: Date
    ) async throws -> (book: Book, change: ID<Change>?)
    /// Applies a person's edit to copies, either to all of them or to none, as one change. Their editions are not
    /// changed.
    ///
    /// - Parameter earlier: the change that this edit continues, so that one undo reverts both; `nil` to begin a new
    ///   change.
    /// - Throws: ``UndoRefusal`` if the change to continue has been undone.
    /// - Returns: the number of copies that changed, and the change, which undo reverts. The change is `nil` if no copy
    ///   changed.
    func update(
        _ ids: [ID<Copy>], continuing earlier: ID<Change>?, at now: Date,
        _ change: @escaping @Sendable (inout Copy) throws -> Void
    ) async throws -> (changed: Int, change: ID<Change>?)
    /// Applies a person's edit to editions and copies, as ``update(_:continuing:at:_:)`` does to copies.
    ///
    /// - Parameter day: the day of the status. As in ``Tracker/set(_:on:_:)``, it replaces the old day even if the
    ///   status stays the same. If it is `nil`, a new status gets today.
    func updateBooks(
        _ ids: [ID<Copy>], continuing earlier: ID<Change>?, on day: CalendarDay?, at now: Date,
        _ change: @escaping @Sendable (inout Book) throws -> Void
    ) async throws -> (changed: Int, change: ID<Change>?)
    /// Fills empty fields of editions with what sources know, as one change. A field that has a value, or that a person
    /// has edited, stays as it is. Records that may be another book's are left out.
    ///
    /// - Parameter earlier: the change that this one continues, so that one undo reverts both; `nil` to begin a new
    ///   change. A new change also begins if the given change has been undone or removed in the meantime.
    /// - Returns: the fields that were filled, for each edition in which something changed, and the change, which undo
    ///   reverts. The change is `nil` if nothing changed.
    func fillGaps(
        from records: [ISBN: Metadata], continuing earlier: ID<Change>?, at now: Date
    ) async throws -> (filled: [ISBN: [Metadata.Field]], change: ID<Change>?)
    /// Moves copies to the trash, where they stay for ``Trash/keptDays`` days. Otherwise, this is like
    /// ``update(_:continuing:at:_:)``.
    func trash(
        _ ids: [ID<Copy>], continuing earlier: ID<Change>?, at now: Date
    ) async throws -> (changed: Int, change: ID<Change>?)
    /// Restores copies from the trash. Otherwise, this is like ``update(_:continuing:at:_:)``.
    func restore(
        _ ids: [ID<Copy>], continuing earlier: ID<Change>?, at now: Date
    ) async throws -> (changed: Int, change: ID<Change>?)
    /// Deletes copies in the trash for good, with everything that belongs to them: either all of the copies or none.
    /// Undo cannot bring them back.
    func purge(_ ids: [ID<Copy>]) async throws
}

extension Shelf {
    /// Returns the owned books among ``editions(like:excluding:)``.
    public func ownedEditions(like metadata: Metadata, excluding isbn: ISBN?) async throws -> [Book] {
        try await editions(like: metadata, excluding: isbn).filter(\.copy.isOwned)
    }

    /// Saves confirmed books as one new change.
    public func add(_ confirmed: [Confirmed], at now: Date) async throws -> [SaveResult] {
        try await add(confirmed, continuing: nil, at: now)
    }
}

extension EditableShelf {
    public func update(
        _ ids: [ID<Copy>], at now: Date, _ change: @escaping @Sendable (inout Copy) throws -> Void
    ) async throws -> (changed: Int, change: ID<Change>?) {
        try await update(ids, continuing: nil, at: now, change)
    }

    /// - Returns: the change, which undo reverts; `nil` if all the copies were in the trash already.
    @discardableResult
    public func trash(_ ids: [ID<Copy>], at now: Date) async throws -> ID<Change>? {
        try await trash(ids, continuing: nil, at: now).change
    }

    /// - Returns: the change, which undo reverts; `nil` if none of the copies was in the trash.
    @discardableResult
    public func restore(_ ids: [ID<Copy>], at now: Date) async throws -> ID<Change>? {
        try await restore(ids, continuing: nil, at: now).change
    }
}

/// The result of saving one ``Confirmed``.
public enum SaveResult: Sendable, Equatable {
    /// The copy was saved. It is either new, or a known copy that was neither owned nor on the wishlist.
    case saved(ID<Copy>, change: ID<Change>)
    /// A copy on the wishlist is now owned.
    case wishFulfilled(ID<Copy>, change: ID<Change>)
    /// A copy was restored from the trash.
    case restored(ID<Copy>, change: ID<Change>)
    /// The edition is owned already. Nothing was saved, and the queue item is unchanged.
    case owned(Book)
    /// The same request was saved before, so nothing was done.
    case alreadySaved(ID<Copy>)

    /// The copy that was saved, or the copy that was owned already.
    public var copy: ID<Copy> {
        switch self {
        case .saved(let copy, _), .wishFulfilled(let copy, _), .restored(let copy, _), .alreadySaved(let copy): copy
        case .owned(let book): book.id
        }
    }

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
    /// Saves a book with the properties of the copy and its first notes, as one change. The status is set as
    /// ``Tracker/set(_:dates:_:)`` describes, with the dates and the progress that it sets automatically, because a
    /// book that a person enters is no batch.
    ///
    /// - Parameters:
    ///   - notes: the first notes, which are checked as in ``Annotations``.
    ///   - dates: the dates for the reading that is created because of the book's status.
    ///   - facts: changes the properties of the copy, which may be a new one or one that was on the wishlist or in the
    ///     trash. Changes to the status, shelf and tags are ignored, because these come from the preset.
    /// - Returns: the result. If no book was saved, the properties, notes and dates were not saved either.
    /// - Throws: ``ReadingRefusal`` for impossible dates; then nothing is saved.
    func enter(
        _ confirmed: Confirmed, notes: [Note], dates: DateEdit, at now: Date,
        _ facts: @escaping @Sendable (inout Copy) throws -> Void
    ) async throws -> SaveResult
}
