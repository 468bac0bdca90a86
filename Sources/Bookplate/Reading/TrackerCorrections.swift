import FoundationEssentials

/// A person's correction of a progress entry; `nil` leaves a part as it is.
public struct ProgressEdit: Sendable, Equatable {
    public var amount: ProgressEntry.Amount?
    public var at: Date?

    public init(amount: ProgressEntry.Amount? = nil, at: Date? = nil) {
        self.amount = amount
        self.at = at
    }
}

extension Tracker {
    /// Corrects an entry of a reading's history: a page mistyped, a day told wrong.
    ///
    /// A reading that is over takes no new progress, but corrections it does: the entry says which reading is meant. What a person
    /// corrected is not automatic any more. A page that a session ended on is the session's, and is corrected there.
    ///
    /// A page beyond the last one is kept, as when it is recorded: the page count may be wrong.
    ///
    /// - Parameters:
    ///   - entry: as it is stored.
    ///   - other: the latest of the reading's other entries.
    public mutating func correct(
        _ entry: ProgressEntry, by edit: ProgressEdit, in id: ID<Reading>, beside other: ProgressEntry?, now: Date
    ) throws(ReadingRefusal) -> [Step] {
        let reading = try reading(id)
        guard entry.session == nil else { throw .entryOfSession }
        var corrected = entry
        corrected.amount = try edit.amount?.checked() ?? entry.amount
        corrected.at = edit.at ?? entry.at
        guard corrected.at <= now || corrected.at == entry.at else { throw .entryInFuture }
        guard corrected != entry else { return [] }
        corrected.isAutomatic = false
        var (other, steps) = (other, [Step]())
        if reading.state == .open, reading.progress?.id == entry.id, var begun = other, begun.isAutomatic,
            begun.at > corrected.at
        {
            // As when it is recorded: what a person tells of is never hidden by what nobody said.
            begun.at = corrected.at
            other = begun
            take(.redated(begun, in: id), &steps)
        }
        let isLatest = other.map { $0.at <= corrected.at } ?? true
        take(.corrected(corrected, in: id, latest: isLatest ? corrected : other), &steps)
        return steps
    }

    /// Takes an entry out of a reading's history. The status stays what it is.
    ///
    /// - Parameter other: the latest of the reading's other entries.
    public mutating func forget(
        _ entry: ProgressEntry, in id: ID<Reading>, beside other: ProgressEntry?
    ) throws(ReadingRefusal) -> [Step] {
        _ = try reading(id)
        guard entry.session == nil else { throw .entryOfSession }
        var steps: [Step] = []
        take(.forgotten(entry.id, in: id, latest: other), &steps)
        return steps
    }
}
