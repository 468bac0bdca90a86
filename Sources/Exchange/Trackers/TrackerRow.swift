import Bookplate

/// How one tracker writes a book as a row.
protocol TrackerRow: SendableMetatype {
    static var format: ExchangeFormat { get }
    /// - Parameter columns: the header's names in lower case.
    static func isIts(_ columns: Set<String>) -> Bool
    /// Fills the draft. What is missing is empty, what is unknown ignored.
    ///
    /// - Returns: the row's own number as a request, `nil` where the tracker gives none.
    static func read(_ row: inout RowDraft) -> String?
}

/// All that are read; ours before Goodreads, whose columns it has too.
let trackers: [any TrackerRow.Type] = [
    OwnRow.self, GoodreadsRow.self, StoryGraphRow.self, LibraryThingRow.self, OpenreadsRow.self,
]
