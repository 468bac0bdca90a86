import Bookplate

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
