import Bookplate

/// What was captured in one go and how each of it stands, as pure state: the terminal's screen and the kiosk's page show it, and
/// one act saves what is ticked.
public struct Batch: Sendable {
    /// What its books are saved with.
    public var preset: Preset
    /// In the order in which they were captured.
    public internal(set) var rows: [Row] = []
    /// What can be taken back, newest last.
    public internal(set) var acts: [Act] = []
    var places: [ID<IntakeItem>: Int] = [:]
    var placesOfNumber: [ISBN: [Int]] = [:]

    public init(preset: Preset = Preset()) { self.preset = preset }

    /// One captured item.
    public struct Row: Sendable, Equatable {
        public internal(set) var candidate: Candidate
        public internal(set) var isLookingUp: Bool
        /// What a person said with the tick; `nil` while nobody has touched it.
        public internal(set) var choice: Bool?
        /// How it left the list, `nil` while it is open.
        public internal(set) var end: End?

        public var id: ID<IntakeItem> { candidate.item.id }
    }

    /// How a row was answered.
    public enum End: Sendable, Equatable {
        case saved(SaveResult)
        /// Out of the queue, unsaved.
        case skipped
        /// Put off: it stays in the queue.
        case left
    }

    /// How a row stands, for mark, word and colour.
    public enum Status: Sendable, Equatable {
        case lookingUp
        /// Found, and ready to be saved.
        case found
        /// The library held it before.
        case owned(Book)
        /// The same number was captured before in this batch: perhaps another copy, perhaps the same book shown twice.
        case again
        /// Every source answered, and none knows it.
        case notFound
        /// A source could not answer; it is asked again.
        case unavailable
        /// A source knows it without a title.
        case needsTitle
        /// What was found may be another book.
        case weakMatch
        case saved(SaveResult)
        case skipped, left
    }

    /// What a person did to the batch that undo takes back.
    public struct Act: Sendable, Equatable {
        public enum Kind: Sendable, Equatable { case saved, skipped }

        public let kind: Kind
        public let change: ID<Change>
        public let items: [ID<IntakeItem>]
        /// It was refused once; the older ones go before it.
        public internal(set) var isRefused = false
    }

    /// Why a row cannot be ticked.
    public enum TickRefusal: Error, Sendable, Equatable, CustomStringConvertible {
        case needsTitle, answered

        public var description: String {
            switch self {
            case .needsTitle: "it has no title yet; edit it and give it one"
            case .answered: "it is answered already"
            }
        }
    }
}

// MARK: What comes in

extension Batch {
    /// Takes what was captured just now; it is being looked up from then on.
    public mutating func add(_ candidates: [Candidate]) {
        for candidate in candidates where places[candidate.item.id] == nil {
            places[candidate.item.id] = rows.count
            placesOfNumber[candidate.item.isbn, default: []].append(rows.count)
            rows.append(Row(candidate: candidate, isLookingUp: true))
        }
    }

    /// Takes what a lookup found out of an item. It may have read the item before a person changed it, so what the person said
    /// stays: the preset, and the fields that are theirs.
    ///
    /// - Returns: whether it is one of the batch that is still open.
    @discardableResult
    public mutating func take(_ candidate: Candidate) -> Bool {
        guard let place = places[candidate.item.id], rows[place].end == nil else { return false }
        let old = rows[place].candidate
        var item = candidate.item
        item.preset = old.item.preset
        var new = Candidate(item: item, existing: candidate.existing)
        new.metadata = candidate.metadata
        for (field, source) in old.metadata.sources where source == .person {
            new.metadata.take(field, from: old.metadata)
        }
        rows[place].candidate = new
        rows[place].isLookingUp = false
        return true
    }

    /// Takes what became of items otherwise than by a lookup: a person's edit, another preset.
    public mutating func renew(_ candidates: [Candidate]) {
        for candidate in candidates {
            guard let place = places[candidate.item.id], rows[place].end == nil else { continue }
            rows[place].candidate = candidate
        }
    }

    /// The sources are asked once more.
    public mutating func lookUpAgain(_ ids: [ID<IntakeItem>]) {
        for place in ids.compactMap({ places[$0] }) where rows[place].end == nil { rows[place].isLookingUp = true }
    }

    /// No answer will come for these now.
    public mutating func stopLookingUp(_ ids: [ID<IntakeItem>]) {
        for place in ids.compactMap({ places[$0] }) { rows[place].isLookingUp = false }
    }
}

// MARK: How it stands

extension Batch {
    public subscript(_ id: ID<IntakeItem>) -> Row? { places[id].map { rows[$0] } }

    public func status(of row: Row) -> Status {
        switch row.end {
        case .saved(let result): return .saved(result)
        case .skipped: return .skipped
        case .left: return .left
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

    /// Confident rows are ticked by themselves; a person's word goes before.
    public func isTicked(_ row: Row) -> Bool {
        guard row.end == nil, row.candidate.isComplete else { return false }
        return row.choice ?? (row.candidate.isSureEnough && status(of: row) == .found)
    }

    /// What saving the row would need to be told: there is a copy of it already, here or in the library.
    public func isAnotherCopy(_ row: Row) -> Bool { row.candidate.owned != nil || isAgain(row) }

    /// What is saved by itself when the person said yes in advance: what is ticked, and with a yes to another copy also what is
    /// there already, unless the person unticked it.
    public func sure(anotherCopy: Bool) -> [Row] {
        rows.filter { row in
            if isTicked(row) { return true }
            return anotherCopy && row.end == nil && row.choice == nil && !row.isLookingUp
                && row.candidate.isSureEnough && isAnotherCopy(row)
        }
    }

    /// Open rows for which nothing is left to do: the library held the book before, and nobody asked for another copy.
    public var doneWith: [Row] {
        open.filter { row in
            if case .owned = status(of: row) { !isTicked(row) } else { false }
        }
    }

    /// Whether a person may clear an open row away at once with others: the library holds the book, were it saved from this batch,
    /// and nobody asked for another copy. By itself only what is in ``doneWith`` leaves: of two that were held up there may be two.
    public func isClearable(_ row: Row) -> Bool {
        guard row.end == nil, row.candidate.owned != nil, !isTicked(row) else { return false }
        switch status(of: row) {
        case .owned, .again: return true
        default: return false
        }
    }

    /// What undo takes back next: the newest act that was not refused, else the newest.
    public var nextToUndo: Act? { acts.last { !$0.isRefused } ?? acts.last }

    /// What one act saves, in the order of capture.
    public var ticked: [Row] { rows.filter { isTicked($0) } }

    /// Rows that nobody has answered.
    public var open: [Row] { rows.filter { $0.end == nil } }

    public var counts: Counts {
        var counts = Counts()
        for row in rows {
            switch status(of: row) {
            case .lookingUp: counts.lookingUp += 1
            case .found: counts.found += 1
            case .owned: counts.owned += 1
            case .again: counts.again += 1
            case .notFound: counts.notFound += 1
            case .unavailable: counts.unavailable += 1
            case .needsTitle, .weakMatch: counts.unsure += 1
            case .saved: counts.saved += 1
            case .skipped: counts.skipped += 1
            case .left: counts.left += 1
            }
            if isTicked(row) { counts.ticked += 1 }
        }
        return counts
    }

    /// How many rows stand how.
    public struct Counts: Sendable, Equatable {
        public var lookingUp = 0, found = 0, owned = 0, again = 0, notFound = 0, unavailable = 0, unsure = 0
        public var saved = 0, skipped = 0, left = 0
        /// Of those that are open.
        public var ticked = 0

        public init() {}
    }

    /// An earlier row of the same number is open, put off or saved, or a later one is saved. One that was skipped does not count: this
    /// one takes its place.
    private func isAgain(_ row: Row) -> Bool {
        guard let place = places[row.id] else { return false }
        return (placesOfNumber[row.candidate.item.isbn] ?? []).contains { other in
            other < place ? rows[other].end != .skipped : other > place && rows[other].end?.copy != nil
        }
    }

    private func isSavedHere(_ book: Book) -> Bool {
        (book.edition.isbn.flatMap { placesOfNumber[$0] } ?? []).contains { rows[$0].end?.copy == book.id }
    }
}

/// What a person says to a batch, and what came of it.
extension Batch {
    /// Ticks or unticks a row. A tick on a book that is there already means another copy of it.
    public mutating func toggle(_ id: ID<IntakeItem>) throws(TickRefusal) {
        guard let place = places[id] else { return }
        guard rows[place].end == nil else { throw .answered }
        guard rows[place].candidate.isComplete else { throw .needsTitle }
        rows[place].choice = !isTicked(rows[place])
    }

    /// Gives a row its tick or takes it; see ``toggle(_:)``.
    public mutating func tick(_ id: ID<IntakeItem>, _ isTicked: Bool) throws(TickRefusal) {
        guard let place = places[id] else { return }
        guard rows[place].end == nil else { throw .answered }
        guard rows[place].candidate.isComplete || !isTicked else { throw .needsTitle }
        rows[place].choice = isTicked
    }

    /// Takes the tick away until a person gives it back.
    public mutating func untick(_ ids: [ID<IntakeItem>]) {
        for place in ids.compactMap({ places[$0] }) { rows[place].choice = false }
    }

    /// What was saved, after the commit. Rows that turned out to be owned stay open.
    public mutating func note(_ results: [(item: ID<IntakeItem>, result: SaveResult)]) {
        var undoable: [(change: ID<Change>, items: [ID<IntakeItem>])] = []
        for (id, result) in results {
            guard let place = places[id] else { continue }
            if case .owned(let book) = result {
                rows[place].candidate.existing = [book]
                rows[place].choice = false
                continue
            }
            rows[place].end = .saved(result)
            guard let change = result.change else { continue }
            if undoable.last?.change == change {
                undoable[undoable.count - 1].items.append(id)
            } else {
                undoable.append((change, [id]))
            }
        }
        acts += undoable.map { Act(kind: .saved, change: $0.change, items: $0.items) }
    }

    /// What was dismissed, after the commit.
    public mutating func noteSkipped(_ ids: [ID<IntakeItem>], change: ID<Change>) {
        for place in ids.compactMap({ places[$0] }) { rows[place].end = .skipped }
        acts.append(Act(kind: .skipped, change: change, items: ids))
    }

    /// Puts a row off; it stays in the queue.
    public mutating func leave(_ id: ID<IntakeItem>) {
        if let place = places[id], rows[place].end == nil { rows[place].end = .left }
    }

    /// An act was taken back: its rows are open again, as the queue has them now. Those that are not there stay as they are.
    ///
    /// - Parameter candidates: `nil` when the queue could not be read; the rows are as the batch knew them then.
    public mutating func noteUndone(_ change: ID<Change>, now candidates: [Candidate]?) {
        let undone = acts.filter { $0.change == change }.flatMap(\.items).compactMap { places[$0] }
        let waiting = candidates.map { Set($0.map(\.item.id)) }
        // The copies are gone: a row of the same number that still called itself owned would leave the queue, and the book be lost.
        let copies = Set(undone.compactMap { rows[$0].end?.copy })
        for place in Set(undone.flatMap { placesOfNumber[rows[$0].candidate.item.isbn] ?? [] }) {
            rows[place].candidate.existing.removeAll { copies.contains($0.id) }
        }
        for place in undone where waiting?.contains(rows[place].id) != false { rows[place].end = nil }
        acts.removeAll { $0.change == change }
        for candidate in candidates ?? [] {
            guard let place = places[candidate.item.id], rows[place].end == nil else { continue }
            rows[place].candidate = candidate
            rows[place].isLookingUp = false
            for same in placesOfNumber[candidate.item.isbn] ?? [] { rows[same].candidate.existing = candidate.existing }
        }
    }

    /// An act cannot be taken back now; the older ones are within reach.
    public mutating func noteRefused(_ change: ID<Change>) {
        for index in acts.indices where acts[index].change == change { acts[index].isRefused = true }
    }
}

extension Batch.End {
    /// The copy that it made or changed.
    var copy: ID<Copy>? {
        switch self {
        case .saved(.saved(let copy, _)), .saved(.wishFulfilled(let copy, _)), .saved(.restored(let copy, _)),
            .saved(.alreadySaved(let copy)):
            copy
        case .saved(.owned), .skipped, .left: nil
        }
    }
}

// A batch that lives beside others: what they did to the queue meanwhile.
extension Batch {
    /// What became other when the batch was held against the queue.
    struct Difference: Equatable {
        /// Came in.
        var new: [ID<IntakeItem>] = []
        /// Open rows that say something else now.
        var changed: [ID<IntakeItem>] = []
        /// Answered elsewhere.
        var gone: [ID<IntakeItem>] = []
        /// Answered here, and taken back elsewhere.
        var reopened: [ID<IntakeItem>] = []

        var isNothing: Bool { new.isEmpty && changed.isEmpty && gone.isEmpty && reopened.isEmpty }
    }

    /// Brings the batch to what the queue holds.
    ///
    /// - Parameters:
    ///   - waiting: the whole queue, oldest first, with what the library holds.
    ///   - before: the batch's open rows before the queue was read: what came in or was learnt since may not be in `waiting` yet.
    mutating func follow(_ waiting: [Candidate], openBefore before: [Row]) -> Difference {
        var difference = Difference()
        let ids = Set(waiting.map(\.item.id))
        let before = Dictionary(before.map { ($0.id, $0.candidate) }, uniquingKeysWith: { $1 })
        difference.gone = before.keys.filter { !ids.contains($0) && places[$0] != nil && self[$0]?.end == nil }
        forget(difference.gone)
        for candidate in waiting {
            guard let place = places[candidate.item.id] else {
                add([candidate])
                if candidate.item.outcome != nil { stopLookingUp([candidate.item.id]) }
                difference.new.append(candidate.item.id)
                continue
            }
            let row = rows[place]
            switch row.end {
            // Answered here just now, while the queue was being read.
            case _ where row.end != nil && before[row.id] != nil: continue
            case .saved, .skipped:
                reopen(place)
                difference.reopened.append(row.id)
            case .left, nil:
                // What was learnt since is newer than what was read; the next look sees both.
                if row.candidate == candidate || (row.end == nil && before[row.id] != row.candidate) { continue }
                difference.changed.append(row.id)
                if candidate.item.outcome != row.candidate.item.outcome { rows[place].isLookingUp = false }
            }
            rows[place].candidate = candidate
        }
        return difference
    }

    /// The act that answered it is taken back, by whom ever; what else the act did is found out row by row.
    private mutating func reopen(_ place: Int) {
        let id = rows[place].id
        rows[place].end = nil
        rows[place].isLookingUp = false
        acts = acts.compactMap { act in
            let items = act.items.filter { $0 != id }
            return items.isEmpty ? nil : Act(kind: act.kind, change: act.change, items: items, isRefused: act.isRefused)
        }
    }

    /// Rows leave the batch.
    mutating func forget(_ ids: [ID<IntakeItem>]) {
        guard !ids.isEmpty else { return }
        let gone = Set(ids)
        rows.removeAll { gone.contains($0.id) }
        (places, placesOfNumber) = ([:], [:])
        for (place, row) in rows.enumerated() {
            places[row.id] = place
            placesOfNumber[row.candidate.item.isbn, default: []].append(place)
        }
    }

    /// Forgets the oldest answered rows, and the acts that are about none but these, where there are more than `limit`.
    mutating func forgetAnswered(beyond limit: Int) {
        let answered = rows.filter { $0.end != nil && $0.end != .left }
        guard answered.count > limit else { return }
        forget(answered.prefix(answered.count - limit).map(\.id))
        acts.removeAll { act in act.items.allSatisfy { places[$0] == nil } }
    }
}
