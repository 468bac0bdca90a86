/// Why a reading cannot be changed as asked.
public enum ReadingRefusal: Error, Sendable, Equatable, CustomStringConvertible {
    case finishedBeforeStarted(started: CalendarDay, finished: CalendarDay)
    case stoppedBeforeStarted(started: CalendarDay, stopped: CalendarDay)
    case negativePage(Int)
    case hugePage(Int)
    case badPercent(Double)
    /// Progress of a book that is Read or Did Not Finish.
    case closed(Copy.Status)
    /// The book is To Read, so there is no reading to speak of.
    case noReading
    case noSuchReading
    /// The other end than the one that a reading of this state has.
    case wrongEnd(Reading.State)
    /// Finished and stopped at once.
    case twoEnds
    /// It is the reading that the status speaks of.
    case lastReading(Copy.Status)
    /// A session of it is running.
    case sessionRunning
    case noSuchEntry
    /// A correction to a time that is still to come.
    case entryInFuture
    /// The end of a session made it.
    case entryOfSession

    public var description: String {
        switch self {
        case .finishedBeforeStarted(let started, let finished):
            "it cannot be finished on \(finished), before it was started on \(started). Change or clear one of the two days"
        case .stoppedBeforeStarted(let started, let stopped):
            "it cannot have been given up on \(stopped), before it was started on \(started). Change or clear one of the two days"
        case .negativePage(let page): "there is no page \(page). Pages count from 0, which is nothing read"
        case .hugePage(let page):
            "no book has a page \(page). The largest that is kept is \(NumberLimit.pages.upperBound)"
        case .badPercent(let percent): "\(percent) is no percentage of a book. It goes from 0 to 100"
        case .closed(let status):
            "the book is \(status.displayName). Start reading it again first; a wrong status can be undone"
        case .noReading: "the book is To Read: it has no reading yet. Start it first, or name an earlier reading"
        case .noSuchReading: "the book has no such reading. Its history shows those it has"
        case .wrongEnd(.open):
            "this reading goes on: it has no finished or stopped day yet. Set the book to Read or Did Not Finish on that day"
        case .wrongEnd(.stopped):
            "this reading was given up: it has a stopped day, no finished one. Set the book to Read first"
        case .wrongEnd:
            "this reading is finished: it has a finished day, no stopped one. Set the book to Did Not Finish first"
        case .twoEnds: "a reading is finished or given up, not both. Give one of the two days"
        case .lastReading(let status):
            "this is the reading that makes the book \(status.displayName). Set the book to To Read instead"
        case .sessionRunning: "a session of this reading is running. End or delete the session first"
        case .noSuchEntry: "the book has no such entry in its history. It may have been deleted"
        case .entryInFuture: "that time is still to come. Say when it was"
        case .entryOfSession: "this page was reached in a session. Change or delete the session instead"
        }
    }
}
