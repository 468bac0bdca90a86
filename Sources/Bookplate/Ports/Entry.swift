import FoundationEssentials

/// Books entered by hand, whole.
public protocol Entry: Sendable {
    /// Saves what a person entered, with what is known of the copy and the first notes on it, as one change.
    ///
    /// - Parameters:
    ///   - notes: checked as ``Remarks`` says.
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
