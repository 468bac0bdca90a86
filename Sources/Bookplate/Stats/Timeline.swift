import FoundationEssentials

/// An event of a reading, as the timeline lists it.
public struct TimelineEvent: Sendable, Equatable {
    public var kind: Kind
    /// The date, which may be only a month or year; for a session, the local day on which it began.
    public var date: CalendarDay
    public var book: CountedBook
    public var reading: ID<Reading>
    /// The ended session; `nil` for other events.
    public var session: Session?

    /// The kind of an event. Raw values are exported.
    public enum Kind: String, Sendable, CaseIterable { case started, session, finished, stopped }

    public init(kind: Kind, date: CalendarDay, book: CountedBook, reading: ID<Reading>, session: Session? = nil) {
        self.kind = kind
        self.date = date
        self.book = book
        self.reading = reading
        self.session = session
    }

    /// One line of the export as JSON.
    public var json: JSONValue {
        [
            "event": .string(kind.rawValue), "date": JSONValue(date), "copyId": .string(book.id.rawValue),
            "readingId": .string(reading.rawValue), "title": JSONValue(book.title),
            "authors": JSONValue(book.authors), "isbn13": JSONValue(book.isbn?.digits),
            "sessionId": JSONValue(session?.id.rawValue), "start": JSONValue(session?.start.rfc3339),
            "end": JSONValue(session?.end?.rfc3339), "startPage": JSONValue(session?.startPage),
            "endPage": JSONValue(session?.endPage), "minutes": JSONValue(session?.minutes),
            "pages": JSONValue(session?.pagesRead), "pace": JSONValue(session?.pace),
        ]
    }

    /// The headers of the columns in ``cells``. They are equal to the keys of ``json``.
    public static let columns = [
        "event", "date", "copyId", "readingId", "title", "authors", "isbn13", "sessionId", "start", "end", "startPage",
        "endPage", "minutes", "pages", "pace",
    ]

    /// One row of the export as a table, in the order of ``columns``. The cell of an absent value is empty. The cells
    /// are neither quoted nor escaped.
    public var cells: [String] {
        json.members.map { member in
            switch member.value {
            case .string(let text): text
            case .null: ""
            case .array: book.authors.joined(separator: "; ")
            case .bool, .integer, .number, .object: member.value.text
            }
        }
    }
}

/// An event of a reading on this day in an earlier year.
public struct Memory: Sendable, Equatable {
    public var book: CountedBook
    /// The day of the event, in the earlier year.
    public var day: CalendarDay
    public var event: Event
    /// The number of years since the event, from 1.
    public var yearsAgo: Int

    /// The event that is remembered. Raw values are printed.
    public enum Event: String, Sendable, CaseIterable {
        case started, finished, stopped, reading

        /// The verb in "A year ago you … this book".
        public var verb: String {
            switch self {
            case .started: "started"
            case .finished: "finished"
            case .stopped: "stopped reading"
            case .reading: "were reading"
            }
        }
    }

    public init(book: CountedBook, day: CalendarDay, event: Event, yearsAgo: Int) {
        self.book = book
        self.day = day
        self.event = event
        self.yearsAgo = yearsAgo
    }

    /// Returns the days of an earlier year that are remembered today: usually the same day of the same month. If this
    /// year has no 29 February, that day is remembered on 28 February. On 29 February, the 28th is remembered if the
    /// earlier year had no 29th.
    public static func days(of year: Int, on today: CalendarDay) -> [CalendarDay] {
        guard let month = today.month, let day = today.day else { return [] }
        guard let same = CalendarDay(year: year, month: month, day: day) else {
            return CalendarDay(year: year, month: 2, day: 28).map { [$0] } ?? []
        }
        let isLastOfShortFebruary =
            month == 2 && day == 28 && CalendarDay(year: today.year, month: 2, day: 29) == nil
        return [same] + (isLastOfShortFebruary ? CalendarDay(year: year, month: 2, day: 29).map { [$0] } ?? [] : [])
    }

    /// The number of years to look back.
    public static let mostYears = 100

    /// Returns today's memories of a reading, latest year first. For each year, only the most important event is
    /// returned. The order of importance is: finished or stopped, started, reading. Dates with only a month or year are
    /// ignored.
    ///
    /// - Parameter isOpen: true if the reading continues, so that the book was being read on every day since the start.
    public static func memories(
        of book: CountedBook, started: CalendarDay?, finished: CalendarDay?, stopped: CalendarDay?, isOpen: Bool,
        today: CalendarDay
    ) -> [Memory] {
        let first = started?.number
        let last = (finished ?? stopped)?.number ?? (isOpen ? today.number : nil)
        let years = [started, finished, stopped].compactMap { $0?.number == nil ? nil : $0?.year }
        guard let earliest = years.min().map({ max($0, today.year - mostYears) }), earliest < today.year else {
            return []
        }
        return (earliest..<today.year).reversed().compactMap { year in
            for day in days(of: year, on: today) {
                let event: Event? =
                    if day == finished { .finished } else if day == stopped { .stopped } else if day == started {
                        .started
                    } else if let first, let last, let number = day.number, first < number, number < last {
                        .reading
                    } else { nil }
                if let event { return Memory(book: book, day: day, event: event, yearsAgo: today.year - year) }
            }
            return nil
        }
    }
}
