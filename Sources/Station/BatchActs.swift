import Bookplate

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
