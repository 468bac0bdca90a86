import FoundationEssentials

/// One pass through a book, finished or not. Reading the book again is a second reading.
public struct Reading: Sendable, Equatable {
    public var id: ID<Reading>
    public var state: State
    /// The day of the start, which may be only a month or year. A date that a person has given is never overwritten
    /// automatically.
    public var started: CalendarDay?
    public var finished: CalendarDay?
    /// The day on which the reader stopped reading the book without finishing it.
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

    /// The state of a reading. Raw values are stored and exported.
    public enum State: String, Sendable, Codable, CaseIterable {
        /// The reading is in progress or on hold.
        case open
        case finished
        /// The reader stopped reading the book without finishing it (Did Not Finish).
        case stopped
        /// The reading was cancelled by setting the book to To Read. It is stored, but neither shown nor counted.
        case cancelled

        /// Creates the state that a copy's reading has while the copy has this status. The result is `nil` for To Read,
        /// because such a copy has no reading.
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
    /// Returns the reading that is shown for a copy with this status: the latest one that is not cancelled, or `nil`
    /// for To Read. The readings must be sorted, oldest first.
    func shown(by status: Copy.Status) -> Reading? {
        status == .toRead ? nil : last { $0.state != .cancelled }
    }
}

/// One entry in the history of a reading: the page or percentage that was reached.
public struct ProgressEntry: Sendable, Equatable {
    public var id: ID<ProgressEntry>
    public var at: Date
    /// The page or percentage, in the unit in which it was given.
    public var amount: Amount
    /// True if a change of status made the entry, false if a person made it.
    public var isAutomatic: Bool
    /// The session that made the entry when it ended; `nil` for other entries.
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
        /// A page, from 0. A page beyond the page count is shown as 100%.
        case page(Int)
        /// A percentage from 0 to 100, rounded to two decimal places.
        case percent(Double)

        public var page: Int? { if case .page(let page) = self { page } else { nil } }
        public var percent: Double? { if case .percent(let percent) = self { percent } else { nil } }

        /// Returns the part of the book that was read, 0 to 1. A page beyond the last page counts as the whole book.
        ///
        /// - Parameter pageCount: the page count of the book; `nil` or 0 if unknown.
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
    /// Progress was given for a book that is Read or Did Not Finish.
    case closed(Copy.Status)
    /// The book's status is To Read, so the book has no current reading.
    case noReading
    case noSuchReading
    /// An end date that a reading in this state cannot have.
    case wrongEnd(Reading.State)
    /// A reading cannot be both finished and stopped.
    case twoEnds
    /// The reading that the book's status refers to cannot be removed.
    case lastReading(Copy.Status)
    /// A session of the reading is running. It has to end first.
    case sessionRunning(title: String)
    /// The end of a session was given, but no session of the book is running.
    case noSessionToEnd(title: String)
    case noSuchEntry
    /// The corrected time is in the future.
    case entryInFuture
    /// The entry was made when a session ended, so only the session can be changed.
    case entryOfSession

    public var description: String {
        switch self {
        case .finishedBeforeStarted(let started, let finished):
            "the book cannot have been finished on \(finished), because it was only started on \(started). Change or clear one of the two dates"
        case .stoppedBeforeStarted(let started, let stopped):
            "you cannot have stopped reading the book on \(stopped), because it was only started on \(started). Change or clear one of the two dates"
        case .negativePage(let page):
            "there is no page \(page). Page numbers start at 0, which means that nothing was read"
        case .hugePage(let page):
            "page \(page) is too large. The largest page number is \(NumberLimit.pages.upperBound)"
        case .badPercent(let percent): "\(percent) is not a percentage. Enter a number from 0 to 100"
        case .closed(let status):
            "the book is marked \(status.displayName). Start reading it again first, or undo the change if you chose this status by mistake"
        case .noReading:
            "the book is marked To Read, so it has no current reading. Start the book first, or choose an earlier reading"
        case .noSuchReading: "the book has no such reading. The book's history lists its readings"
        case .wrongEnd(.open):
            "this reading has not ended, so it cannot have an end date. Instead, set the book to Read or Did Not Finish on that day"
        case .wrongEnd(.stopped):
            "you stopped this reading, so it cannot have a finish date. Set the book to Read first"
        case .wrongEnd:
            "this reading is finished, so it cannot have a stop date. Set the book to Did Not Finish first"
        case .twoEnds: "a reading is either finished or stopped. Enter only one of the two dates"
        case .lastReading(let status):
            "the book is marked \(status.displayName) because of this reading. Instead of deleting the reading, set the book to To Read"
        case .sessionRunning(let title):
            "a session for \"\(title.cleanedLine.prefix(80))\" is running. End or delete the session first"
        case .noSessionToEnd(let title):
            "no session for \"\(title.cleanedLine.prefix(80))\" is running, so none can end. Leave out the page of its end"
        case .noSuchEntry: "there is no such entry in the book's history. The entry may have been deleted"
        case .entryInFuture: "that time is in the future. Enter the time at which you reached this point"
        case .entryOfSession: "this entry was made when a session ended. Change or delete the session instead"
        }
    }
}
