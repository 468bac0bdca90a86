/// The rest of a book in Reading: no entry and no session for ``days`` days.
public struct Pause: Sendable, Equatable {
    /// Since the last progress entry, session or start, whichever was latest.
    public var daysSinceLast: Int
    /// Since the start; `nil` unless the day is known.
    public var daysSinceStart: Int?

    /// From how many days on a book rests.
    public static let days = 30

    /// - Parameters:
    ///   - last: the day of the latest entry or session; `nil` when there is none.
    ///   - started: of a month or year, its last day is taken.
    ///   - added: the day on which the copy came, for a reading of which nothing else is known.
    /// - Returns: `nil` while it is being read.
    public init?(last: CalendarDay?, started: CalendarDay?, added: CalendarDay, today: CalendarDay) {
        guard let number = today.number else { return nil }
        let latest = [last?.number, started?.span.upperBound].compactMap(\.self).max() ?? added.number ?? number
        guard number - latest >= Self.days else { return nil }
        daysSinceLast = number - latest
        daysSinceStart = started?.number.map { number - $0 }
    }

    /// "You started this 30 days ago, want to update progress?"
    public var sentence: String {
        if let daysSinceStart, daysSinceStart == daysSinceLast {
            return "You started this \(daysSinceStart) days ago, want to update progress?"
        }
        return "Nothing for \(daysSinceLast) days"
            + (daysSinceStart.map { ", you started this \($0) days ago" } ?? "") + "; want to update progress?"
    }
}

/// A book that rests.
public struct PausedBook: Sendable, Equatable {
    public var book: FigureBook
    public var pause: Pause

    public init(book: FigureBook, pause: Pause) {
        self.book = book
        self.pause = pause
    }
}
