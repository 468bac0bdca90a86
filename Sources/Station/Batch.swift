import Bookplate

/// The captured books that a screen shows, each with its status. A person can save all ticked rows in one act. The
/// batch is a plain value: it neither reads nor writes the library.
public struct Batch: Sendable {
    /// The shelf, tags and status with which the batch's books are saved.
    public var preset: Preset
    /// The rows in order of capture.
    public internal(set) var rows: [Row] = []
    /// The acts that can be undone, newest last.
    public internal(set) var acts: [Act] = []
    /// The undone acts that can be redone, the most recently undone last.
    public internal(set) var undoneActs: [UndoneAct] = []
    var index: [ID<QueueItem>: Int] = [:]
    var indexOfISBN: [ISBN: [Int]] = [:]

    public init(preset: Preset = Preset()) { self.preset = preset }

    /// One captured item.
    public struct Row: Sendable, Equatable {
        public internal(set) var candidate: Candidate
        public internal(set) var isLookingUp: Bool
        /// True if a person ticked the row, false if a person cleared its tick; nil if nobody has done either.
        public internal(set) var choice: Bool?
        /// The way in which the row was answered; nil while it is open.
        public internal(set) var end: End? { didSet { isCleared = false } }
        /// True if a person has removed the saved row from the list. The batch keeps it, so that the save can still be
        /// undone.
        public internal(set) var isCleared = false

        public var id: ID<QueueItem> { candidate.item.id }
    }

    /// The way in which a row was answered: it was saved, skipped or postponed.
    public enum End: Sendable, Equatable {
        case saved(SaveResult)
        /// The item was removed from the queue without being saved.
        case skipped
        /// The item stays in the queue for later.
        case postponed
    }

    /// The status of a row, which determines the mark, the word and the colour with which it is shown.
    public enum Status: Sendable, Equatable {
        case lookingUp
        /// A source knows the book, so the book can be saved.
        case found
        /// The library already holds the book.
        case owned(Book)
        /// The same ISBN was captured earlier in this batch. Either this is another copy, or the same book was shown
        /// twice.
        case again
        /// All sources answered, and none of them knows the book.
        case notFound
        /// No source found the book, and at least one source could not answer. That source will be queried again.
        case unavailable
        /// A source has a record of the book, but the record has no title.
        case needsTitle
        /// The record that was found may describe another book.
        case weakMatch
        case saved(SaveResult)
        case skipped, postponed
    }

    /// A person's act on the batch, which can be undone.
    public struct Act: Sendable, Equatable {
        public enum Kind: Sendable, Equatable { case saved, skipped }

        public let kind: Kind
        public let change: ID<Change>
        public let items: [ID<QueueItem>]
        /// True if undoing the act was refused. The next undo then tries an older act first.
        public internal(set) var isRefused = false
    }

    /// An act that was undone, with the way in which it had answered its rows.
    public struct UndoneAct: Sendable, Equatable {
        public let act: Act
        let ends: [ID<QueueItem>: End]
    }

    /// The reason why a row cannot be ticked.
    public enum TickRefusal: Error, Sendable, Equatable, CustomStringConvertible {
        case needsTitle, answered

        public var description: String {
            switch self {
            case .needsTitle: "the book has no title yet; edit the book to add a title"
            case .answered: "the book has already been saved, skipped or postponed"
            }
        }
    }
}

extension Batch.TickRefusal: Bookplate.Refusal {
    public var kind: RefusalKind { .refused }
    public var apiCode: String { code }

    public var code: String {
        switch self {
        case .needsTitle: "needsTitle"
        case .answered: "answered"
        }
    }
}

// MARK: Captures and lookups

extension Batch {
    /// Appends newly captured candidates and marks their rows as being looked up.
    public mutating func add(_ candidates: [Candidate]) {
        for candidate in candidates where index[candidate.item.id] == nil {
            index[candidate.item.id] = rows.count
            indexOfISBN[candidate.item.isbn, default: []].append(rows.count)
            rows.append(Row(candidate: candidate, isLookingUp: true))
        }
    }

    /// Applies a lookup's result. The lookup may have read the item before a person changed it, so the preset and the
    /// fields that a person has set are kept.
    ///
    /// - Returns: true if the row is in the batch and open.
    @discardableResult
    public mutating func update(with candidate: Candidate) -> Bool {
        guard let position = index[candidate.item.id], rows[position].end == nil else { return false }
        let old = rows[position].candidate
        var item = candidate.item
        item.preset = old.item.preset
        var new = Candidate(
            item: item, existing: candidate.existing, otherEditions: candidate.otherEditions)
        new.metadata = candidate.metadata
        for (field, source) in old.metadata.sources where source == .person {
            new.metadata.copy(field, from: old.metadata)
        }
        rows[position].candidate = new
        rows[position].isLookingUp = false
        return true
    }

    /// Replaces the candidates of open rows after a person's edit or a change of preset.
    public mutating func replace(_ candidates: [Candidate]) {
        for candidate in candidates {
            guard let position = index[candidate.item.id], rows[position].end == nil else { continue }
            rows[position].candidate = candidate
        }
    }

    /// Marks open rows as being looked up again.
    public mutating func markLookingUp(_ ids: [ID<QueueItem>]) {
        for position in ids.compactMap({ index[$0] }) where rows[position].end == nil {
            rows[position].isLookingUp = true
        }
    }

    /// Marks rows as no longer being looked up.
    public mutating func clearLookingUp(_ ids: [ID<QueueItem>]) {
        for position in ids.compactMap({ index[$0] }) { rows[position].isLookingUp = false }
    }
}

// MARK: Status

extension Batch {
    public subscript(_ id: ID<QueueItem>) -> Row? { index[id].map { rows[$0] } }

    public func status(of row: Row) -> Status {
        switch row.end {
        case .saved(let result): return .saved(result)
        case .skipped: return .skipped
        case .postponed: return .postponed
        case nil: break
        }
        if let book = row.candidate.owned, !isSavedHere(book) { return .owned(book) }
        if isAgain(row) { return .again }
        if row.isLookingUp, row.candidate.item.outcome == nil { return .lookingUp }
        if row.candidate.metadata.sources[.title] == .person, row.candidate.isComplete { return .found }
        switch row.candidate.item.outcome {
        case .found where row.candidate.metadata.isWeakMatch: return .weakMatch
        case .found: return row.candidate.isComplete ? .found : .needsTitle
        case .notFound: return .notFound
        case nil, .temporary, .blocked, .badData: return .unavailable
        }
    }

    /// Returns true if the row is ticked, so that saving all ticked rows saves it. Rows whose candidate is sure enough
    /// (``Candidate/isSureEnough``) are ticked automatically, but a tick that a person has set or cleared stays.
    public func isTicked(_ row: Row) -> Bool {
        guard row.end == nil, row.candidate.isComplete else { return false }
        return row.choice ?? (row.candidate.isSureEnough && status(of: row) == .found)
    }

    /// Returns true if saving the row adds another copy, because the library or this batch already has one.
    public func isAnotherCopy(_ row: Row) -> Bool { row.candidate.owned != nil || isAgain(row) }

    /// Returns the rows that `--yes` saves: ticked rows, and with `anotherCopy` also rows for further copies, unless a
    /// person has cleared their ticks.
    func savableInAdvance(anotherCopy: Bool) -> [Row] {
        rows.filter { row in
            if isTicked(row) { return true }
            return anotherCopy && row.end == nil && row.choice == nil && !row.isLookingUp
                && row.candidate.isSureEnough && isAnotherCopy(row)
        }
    }

    /// The open rows that need no answer, because the library already held the book and nobody asked for another copy.
    public var settledRows: [Row] {
        open.filter { row in
            if case .owned = status(of: row) { !isTicked(row) } else { false }
        }
    }

    /// Returns true if a person may remove the open row because the library holds its book and nobody asked for another
    /// copy. The book may even have been saved from this batch. Only ``settledRows`` are removed without asking a
    /// person, because two captures of one ISBN may be two copies.
    public func isClearable(_ row: Row) -> Bool {
        guard row.end == nil, row.candidate.owned != nil, !isTicked(row) else { return false }
        switch status(of: row) {
        case .owned, .again: return true
        default: return false
        }
    }

    /// The act to undo next: the newest act whose undo was not refused, or the newest of all if every undo was refused.
    public var nextToUndo: Act? { acts.last { !$0.isRefused } ?? acts.last }

    /// The ticked rows in order of capture.
    public var ticked: [Row] { rows.filter { isTicked($0) } }

    /// The rows that still await a person's decision, in order of capture.
    public var open: [Row] { rows.filter { $0.end == nil } }

    /// The number of ``open`` rows.
    var openCount: Int { rows.count { $0.end == nil } }

    /// The number of rows that wait in the queue, open or postponed.
    var waitingCount: Int { rows.count { $0.end == nil || $0.end == .postponed } }

    public var counts: Counts {
        var counts = Counts()
        for row in rows {
            let status = status(of: row)
            if !row.candidate.isComplete, status == .lookingUp || status == .unavailable { counts.untitled += 1 }
            switch status {
            case .lookingUp: counts.lookingUp += 1
            case .found: counts.found += 1
            case .owned: counts.owned += 1
            case .again: counts.again += 1
            case .notFound: counts.notFound += 1
            case .unavailable: counts.unavailable += 1
            case .needsTitle, .weakMatch: counts.unsure += 1
            case .saved: counts.saved += 1
            case .skipped: counts.skipped += 1
            case .postponed: counts.postponed += 1
            }
            if isTicked(row) { counts.ticked += 1 }
        }
        return counts
    }

    /// The number of rows by status.
    public struct Counts: Sendable, Equatable {
        public var lookingUp = 0, found = 0, owned = 0, again = 0, notFound = 0, unavailable = 0, unsure = 0
        public var saved = 0, skipped = 0, postponed = 0
        /// The number of ticked rows, all of which are open.
        public var ticked = 0
        /// The number of rows that have no title because no source has answered yet.
        public var untitled = 0

        public init() {}
    }

    /// Returns true if the same ISBN is in an earlier row that is open, postponed or saved, or in a later row that is
    /// saved. An earlier row that was skipped does not count, because this row takes its place.
    private func isAgain(_ row: Row) -> Bool {
        guard let position = index[row.id] else { return false }
        return (indexOfISBN[row.candidate.item.isbn] ?? []).contains { other in
            other < position ? rows[other].end != .skipped : other > position && rows[other].end?.copy != nil
        }
    }

    private func isSavedHere(_ book: Book) -> Bool {
        (book.edition.isbn.flatMap { indexOfISBN[$0] } ?? []).contains { rows[$0].end?.copy == book.id }
    }
}

// MARK: Answers

extension Batch {
    /// Toggles the tick of a row. Ticking a book that is already owned means that another copy is to be saved.
    public mutating func toggle(_ id: ID<QueueItem>) throws(TickRefusal) {
        guard let position = index[id] else { return }
        guard rows[position].end == nil else { throw .answered }
        guard rows[position].candidate.isComplete else { throw .needsTitle }
        rows[position].choice = !isTicked(rows[position])
    }

    /// Sets or clears the tick of a row. Ticking a book that is already owned means that another copy is to be saved.
    public mutating func tick(_ id: ID<QueueItem>, _ isTicked: Bool) throws(TickRefusal) {
        guard let position = index[id] else { return }
        guard rows[position].end == nil else { throw .answered }
        guard rows[position].candidate.isComplete || !isTicked else { throw .needsTitle }
        rows[position].choice = isTicked
    }

    /// Clears the ticks of rows. From then on, only a person can tick these rows.
    public mutating func untick(_ ids: [ID<QueueItem>]) {
        for position in ids.compactMap({ index[$0] }) { rows[position].choice = false }
    }

    /// Applies the results of a save. Must be called after the save has been committed. Rows whose book turns out to be
    /// owned stay open.
    public mutating func applySave(_ results: [(item: ID<QueueItem>, result: SaveResult)]) {
        var undoable: [(change: ID<Change>, items: [ID<QueueItem>])] = []
        for (id, result) in results {
            guard let position = index[id] else { continue }
            if case .owned(let book) = result {
                rows[position].candidate.existing = [book]
                rows[position].choice = false
                continue
            }
            rows[position].end = .saved(result)
            guard let change = result.change else { continue }
            if undoable.last?.change == change {
                undoable[undoable.count - 1].items.append(id)
            } else {
                undoable.append((change, [id]))
            }
        }
        acts += undoable.map { Act(kind: .saved, change: $0.change, items: $0.items) }
    }

    /// Marks rows as skipped. Must be called after the skip has been committed.
    public mutating func applySkip(_ ids: [ID<QueueItem>], change: ID<Change>) {
        for position in ids.compactMap({ index[$0] }) { rows[position].end = .skipped }
        acts.append(Act(kind: .skipped, change: change, items: ids))
    }

    /// Removes the saved rows from the list, until their saves are undone.
    public mutating func clearSaved() {
        for position in rows.indices { if case .saved = rows[position].end { rows[position].isCleared = true } }
    }

    /// Leaves an open row in the queue for later.
    public mutating func postpone(_ id: ID<QueueItem>) {
        if let position = index[id], rows[position].end == nil { rows[position].end = .postponed }
    }

    /// Closes rows that have left the queue because the library holds their books.
    mutating func close(_ owned: [(item: ID<QueueItem>, book: Book)]) {
        for (id, book) in owned { if let position = index[id] { rows[position].end = .saved(.owned(book)) } }
    }

    /// Reopens the rows of an act that was undone. Rows whose items are not back in the queue stay as they are.
    ///
    /// - Parameter candidates: the candidates of the act that are in the queue now; nil if the queue could not be read.
    ///   In that case, all rows of the act are reopened as they were.
    mutating func applyUndo(of change: ID<Change>, now candidates: [Candidate]?) {
        let undone = acts.filter { $0.change == change }.flatMap(\.items).compactMap { index[$0] }
        let waiting = candidates.map { Set($0.map(\.item.id)) }
        // The undo has removed the copies, so rows with the same ISBN must no longer count as owned. Otherwise they
        // would leave the queue, and the book would be lost.
        let copies = Set(undone.compactMap { rows[$0].end?.copy })
        let ends = Dictionary(undone.compactMap { at in rows[at].end.map { (rows[at].id, $0) } }) { $1 }
        for position in Set(undone.flatMap { indexOfISBN[rows[$0].candidate.item.isbn] ?? [] }) {
            rows[position].candidate.existing.removeAll { copies.contains($0.id) }
        }
        for position in undone where waiting?.contains(rows[position].id) != false { rows[position].end = nil }
        undoneActs += acts.filter { $0.change == change }.map { act in
            UndoneAct(act: Act(kind: act.kind, change: act.change, items: act.items), ends: ends)
        }
        acts.removeAll { $0.change == change }
        for candidate in candidates ?? [] {
            guard let position = index[candidate.item.id], rows[position].end == nil else { continue }
            rows[position].candidate = candidate
            rows[position].isLookingUp = false
            for same in indexOfISBN[candidate.item.isbn] ?? [] { rows[same].candidate.existing = candidate.existing }
        }
    }

    /// Closes the rows of an undone act again after it was redone. The act can then be undone again.
    mutating func applyRedo(of change: ID<Change>) {
        guard let undone = undoneActs.last(where: { $0.act.change == change }) else { return }
        undoneActs.removeAll { $0.act.change == change }
        for (id, end) in undone.ends { if let position = index[id] { rows[position].end = end } }
        acts.append(undone.act)
    }

    /// Removes an undone act from the acts to redo, because its redo was refused.
    mutating func forgetUndone(_ change: ID<Change>) { undoneActs.removeAll { $0.act.change == change } }

    /// Marks an act that cannot be undone now, so that the next undo concerns an older act.
    mutating func markRefused(_ change: ID<Change>) {
        for index in acts.indices where acts[index].change == change { acts[index].isRefused = true }
    }
}

extension Batch.End {
    /// The copy that the answer added or changed; nil if there is none.
    var copy: ID<Copy>? {
        switch self {
        case .saved(.owned), .skipped, .postponed: nil
        case .saved(let result): result.copy
        }
    }
}

// MARK: Changes made elsewhere

extension Batch {
    /// The differences between the batch and the queue that ``reconcile(with:before:)`` found.
    struct Difference: Equatable {
        /// Rows that were added to the batch.
        var new: [ID<QueueItem>] = []
        /// Open rows whose candidate has changed.
        var changed: [ID<QueueItem>] = []
        /// Rows that were answered on another screen or device.
        var gone: [ID<QueueItem>] = []
        /// Rows that were answered here, and then reopened by an undo on another screen or device.
        var reopened: [ID<QueueItem>] = []

        var isEmpty: Bool { new.isEmpty && changed.isEmpty && gone.isEmpty && reopened.isEmpty }
    }

    /// Updates the batch from the queue.
    ///
    /// - Parameters:
    ///   - waiting: the whole queue, oldest first, with the books that the library holds.
    ///   - before: the batch before the queue was read. `waiting` may lack captures and answers that were made since
    ///     then.
    mutating func reconcile(with waiting: [Candidate], before: Batch) -> Difference {
        /// Returns the candidate that an open row had before.
        func candidateBefore(_ id: ID<QueueItem>) -> Candidate? {
            before.index[id].flatMap { before.rows[$0].end == nil ? before.rows[$0].candidate : nil }
        }
        var difference = Difference()
        let ids = Set(waiting.map(\.item.id))
        difference.gone = before.rows.lazy.filter { $0.end == nil && !ids.contains($0.id) }.map(\.id)
            .filter { id in index[id].map { rows[$0].end == nil } ?? false }
        forget(difference.gone)
        for candidate in waiting {
            guard let position = index[candidate.item.id] else {
                add([candidate])
                if candidate.item.outcome != nil { clearLookingUp([candidate.item.id]) }
                difference.new.append(candidate.item.id)
                continue
            }
            let row = rows[position]
            switch row.end {
            // The row was answered here while the queue was being read.
            case _ where row.end != nil && candidateBefore(row.id) != nil: continue
            case .saved, .skipped:
                reopen(position)
                difference.reopened.append(row.id)
            case .postponed, nil:
                // If the row has changed here since the queue was read, the row is newer. The next read will have both
                // changes.
                if row.candidate == candidate || (row.end == nil && candidateBefore(row.id) != row.candidate) {
                    continue
                }
                difference.changed.append(row.id)
                if candidate.item.outcome != row.candidate.item.outcome { rows[position].isLookingUp = false }
            }
            rows[position].candidate = candidate
        }
        return difference
    }

    /// Reopens a row after the act that answered it was undone on another screen or device. The other rows of the act
    /// are reopened when they are found in the queue.
    private mutating func reopen(_ position: Int) {
        let id = rows[position].id
        rows[position].end = nil
        rows[position].isLookingUp = false
        acts = acts.compactMap { act in
            let items = act.items.filter { $0 != id }
            return items.isEmpty ? nil : Act(kind: act.kind, change: act.change, items: items, isRefused: act.isRefused)
        }
    }

    /// Removes rows from the batch.
    mutating func forget(_ ids: [ID<QueueItem>]) {
        guard !ids.isEmpty else { return }
        let gone = Set(ids)
        rows.removeAll { gone.contains($0.id) }
        (index, indexOfISBN) = ([:], [:])
        for (position, row) in rows.enumerated() {
            index[row.id] = position
            indexOfISBN[row.candidate.item.isbn, default: []].append(position)
        }
    }

    /// Removes the oldest answered rows until `limit` answered rows are left. Acts that have no row left are removed
    /// too.
    mutating func forgetAnswered(beyond limit: Int) {
        let answered = rows.filter { $0.end != nil && $0.end != .postponed }
        guard answered.count > limit else { return }
        forget(answered.prefix(answered.count - limit).map(\.id))
        acts.removeAll { act in act.items.allSatisfy { index[$0] == nil } }
        undoneActs.removeAll { undone in undone.act.items.allSatisfy { index[$0] == nil } }
    }
}
