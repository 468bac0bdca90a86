import FoundationEssentials

/// Something that happened in a reading, as the timeline lists it.
public struct TimelineEvent: Sendable, Equatable {
    public var kind: Kind
    /// Perhaps only month or year; of a session the local day on which it began.
    public var date: CalendarDay
    public var book: FigureBook
    public var reading: ID<Reading>
    /// Of a session that has ended; `nil` for other events.
    public var session: Session?

    /// Raw values are exported.
    public enum Kind: String, Sendable, CaseIterable { case started, session, finished, stopped }

    public init(kind: Kind, date: CalendarDay, book: FigureBook, reading: ID<Reading>, session: Session? = nil) {
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

    /// The heads of ``cells``, the same as the keys of ``json``.
    public static let columns = [
        "event", "date", "copyId", "readingId", "title", "authors", "isbn13", "sessionId", "start", "end", "startPage",
        "endPage", "minutes", "pages", "pace",
    ]

    /// One row of the export as a table, in the order of ``columns``; empty for nothing. Neither quoted nor guarded.
    public var cells: [String] {
        guard case .object(let members) = json else { return [] }
        return members.map { member in
            switch member.value {
            case .string(let text): text
            case .null: ""
            case .array: book.authors.joined(separator: "; ")
            case .bool, .integer, .number, .object: member.value.text
            }
        }
    }
}
