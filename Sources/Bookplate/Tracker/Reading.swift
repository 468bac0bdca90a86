import FoundationEssentials

/// One time through a book; a re-read is a second one.
public struct Reading: Sendable, Equatable {
    public var id: ID<Reading>
    public var state: State
    /// May be only a month or year. A date given by a person is never overwritten automatically.
    public var started: CalendarDay?
    public var finished: CalendarDay?
    /// The day on which it was given up.
    public var stopped: CalendarDay?
    /// The latest progress entry; `nil` if there is none.
    public var progress: ProgressEntry?

    public init(
        id: ID<Reading> = ID(), state: State = .open, started: CalendarDay? = nil, finished: CalendarDay? = nil,
        stopped: CalendarDay? = nil, progress: ProgressEntry? = nil
    ) {
        self.id = id
        self.state = state
        self.started = started
        self.finished = finished
        self.stopped = stopped
        self.progress = progress
    }

    /// Raw values are stored and exported.
    public enum State: String, Sendable, Codable, CaseIterable {
        /// In progress, or on hold.
        case open
        case finished
        /// Given up: Did Not Finish.
        case stopped
        /// Cancelled by setting the book to To Read: stored, but neither shown nor counted.
        case cancelled

        /// The state of a copy's reading with this status; `nil` for To Read, which has no reading.
        public init?(after status: Copy.Status) {
            switch status {
            case .toRead: return nil
            case .reading, .onHold: self = .open
            case .read: self = .finished
            case .dnf: self = .stopped
            }
        }
    }
}

extension [Reading] {
    /// Returns the reading that a status refers to, among a copy's readings, oldest first: none for To Read, else the
    /// last that is not cancelled.
    func shown(by status: Copy.Status) -> Reading? {
        status == .toRead ? nil : last { $0.state != .cancelled }
    }
}

/// One page or percent update of a reading.
public struct ProgressEntry: Sendable, Equatable {
    public var id: ID<ProgressEntry>
    public var at: Date
    /// In the unit in which it was given.
    public var amount: Amount
    /// True if a change of status made it, false for a person.
    public var isAutomatic: Bool
    /// The session whose end made it.
    public var session: ID<Session>?

    public init(
        id: ID<ProgressEntry> = ID(), at: Date, amount: Amount, isAutomatic: Bool = false, session: ID<Session>? = nil
    ) {
        self.id = id
        self.at = at
        self.amount = amount
        self.isAutomatic = isAutomatic
        self.session = session
    }

    public enum Amount: Sendable, Hashable {
        /// From 0; a page beyond the page count is shown as 100 %.
        case page(Int)
        /// 0 to 100, in hundredths.
        case percent(Double)

        public var page: Int? { if case .page(let page) = self { page } else { nil } }
        public var percent: Double? { if case .percent(let percent) = self { percent } else { nil } }

        /// Returns the part read, 0 to 1; a page beyond the last counts as the whole book.
        ///
        /// - Parameter pageCount: `nil` or 0 if unknown.
        /// - Returns: `nil` for a page of a book whose page count is unknown.
        public func fraction(of pageCount: Int?) -> Double? {
            switch self {
            case .page(let page):
                guard let pageCount, pageCount > 0 else { return nil }
                return min(1, Double(page) / Double(pageCount))
            case .percent(let percent): return percent / 100
            }
        }
    }
}

/// The reason why a reading cannot be changed.
public enum ReadingRefusal: Error, Sendable, Equatable, CustomStringConvertible {
    case finishedBeforeStarted(started: CalendarDay, finished: CalendarDay)
    case stoppedBeforeStarted(started: CalendarDay, stopped: CalendarDay)
    case negativePage(Int)
    case hugePage(Int)
    case badPercent(Double)
    /// Progress for a book that is Read or Did Not Finish.
    case closed(Copy.Status)
    /// The book is To Read, so it has no reading.
    case noReading
    case noSuchReading
    /// An end date that a reading in this state cannot have.
    case wrongEnd(Reading.State)
    /// Both finished and stopped.
    case twoEnds
    /// The reading that the book's status refers to cannot be removed.
    case lastReading(Copy.Status)
    /// A session of the reading is running.
    case sessionRunning
    case noSuchEntry
    /// A correction to a time in the future.
    case entryInFuture
    /// The entry was made by the end of a session.
    case entryOfSession

    public var description: String {
        switch self {
        case .finishedBeforeStarted(let started, let finished):
            "it cannot be finished on \(finished), before it was started on \(started). Change or clear one of the two days"
        case .stoppedBeforeStarted(let started, let stopped):
            "it cannot have been given up on \(stopped), before it was started on \(started). Change or clear one of the two days"
        case .negativePage(let page): "there is no page \(page). Page numbers start at 0, which means nothing read"
        case .hugePage(let page):
            "page \(page) is too large. The largest page number is \(NumberLimit.pages.upperBound)"
        case .badPercent(let percent): "\(percent) is not a percentage. Enter a number from 0 to 100"
        case .closed(let status):
            "the book is \(status.displayName). Start reading it again first; a wrong status can be undone"
        case .noReading: "the book is To Read: it has no reading yet. Start it first, or name an earlier reading"
        case .noSuchReading: "the book has no such reading. Its history lists the readings it has"
        case .wrongEnd(.open):
            "this reading is open: it has no finished or stopped day yet. Set the book to Read or Did Not Finish on that day"
        case .wrongEnd(.stopped):
            "this reading was given up: it has a stopped day, not a finished one. Set the book to Read first"
        case .wrongEnd:
            "this reading is finished: it has a finished day, not a stopped one. Set the book to Did Not Finish first"
        case .twoEnds: "a reading is finished or given up, not both. Give one of the two days"
        case .lastReading(let status):
            "this is the reading that makes the book \(status.displayName). Set the book to To Read instead"
        case .sessionRunning: "a session of this reading is running. End or delete the session first"
        case .noSuchEntry: "the book has no such entry in its history. It may have been deleted"
        case .entryInFuture: "that time is in the future. Enter the time at which you read"
        case .entryOfSession: "this page was reached in a session. Change or delete the session instead"
        }
    }
}
