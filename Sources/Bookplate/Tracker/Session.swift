import FoundationEssentials

/// One sitting with a book, from its start to its end. A ``Reading`` (one pass through the book) consists of such
/// sessions.
public struct Session: Sendable, Equatable {
    public var id: ID<Session>
    public var start: Date
    /// The end; `nil` while the session is running. A library has at most one running session.
    public var end: Date?
    public var startPage: Int
    /// The last page; `nil` while the session is running, or if the page is unknown (an audiobook has no pages).
    public var endPage: Int?

    public init(id: ID<Session> = ID(), start: Date, end: Date? = nil, startPage: Int = 0, endPage: Int? = nil) {
        self.id = id
        self.start = start
        self.end = end
        self.startPage = startPage
        self.endPage = endPage
    }
}

extension Session {
    public var isRunning: Bool { end == nil }

    /// The duration in whole minutes, rounded down; `nil` while the session is running.
    public var minutes: Int? { end.map { seconds(until: $0) / 60 } }

    /// Returns the whole seconds from the start to `end`. If the clock went backwards, the result is 0. The difference
    /// is computed in milliseconds, because instants are stored in milliseconds.
    public func seconds(until end: Date) -> Int {
        let milliseconds = (end.timeIntervalSince(start) * 1000).rounded()
        // The duration is limited to about 285 million years, because a Date can hold more milliseconds than an Int
        // can.
        return Int(min(max(0, milliseconds), 9e18)) / 1000
    }

    /// The end page minus the start page, at most ``StatsLimit/pages``; 0 if the end page is unknown.
    public var pagesRead: Int { min(StatsLimit.pages, max(0, (endPage ?? startPage) - startPage)) }

    /// The number of pages read per hour; `nil` if the session lasted less than a minute or no pages were read.
    public var pace: Double? {
        guard let minutes, minutes > 0, pagesRead > 0 else { return nil }
        return Double(pagesRead) / Double(minutes) * 60
    }
}

/// The totals of the ended sessions of a book.
public struct SessionTotals: Sendable, Equatable {
    public var sessions: Int
    public var minutes: Int
    public var pages: Int
    /// The mean pace of the sessions with a known pace, in pages read per hour. Each session counts equally, long or
    /// short.
    public var meanPace: Double?
    /// The end of the latest session.
    public var lastRead: Date?

    public init(sessions: Int, minutes: Int, pages: Int, meanPace: Double?, lastRead: Date?) {
        self.sessions = sessions
        self.minutes = minutes
        self.pages = pages
        self.meanPace = meanPace
        self.lastRead = lastRead
    }

    /// - Parameter sessions: the sessions of the book; running sessions are ignored.
    public init(_ sessions: some Sequence<Session>) {
        let ended = sessions.filter { !$0.isRunning }
        let paces = ended.compactMap(\.pace)
        self.init(
            sessions: ended.count, minutes: ended.reduce(0) { $0 + ($1.minutes ?? 0) },
            pages: ended.reduce(0) { $0 + $1.pagesRead },
            meanPace: paces.isEmpty ? nil : paces.reduce(0, +) / Double(paces.count),
            lastRead: ended.compactMap(\.end).max())
    }
}

extension Session {
    /// The shortest duration of a session. A session that ends sooner is probably a mistake, and is stored only if this
    /// is forced.
    public static let shortest: TimeInterval = 60
    /// The longest duration of a past session.
    public static let longest: TimeInterval = 86_400

    /// Returns a new running session.
    ///
    /// - Parameters:
    ///   - time: the time at which the session started; `nil` for now.
    ///   - page: the first page; `nil` for `currentPage`.
    public static func started(
        at time: Date?, page: Int?, currentPage: Int, now: Date
    ) throws -> Session {
        guard time.map({ $0 <= now }) ?? true else { throw SessionError.startInFuture }
        return Session(start: time ?? now, startPage: try ProgressEntry.Amount.checked(page: page ?? currentPage))
    }

    /// Returns this running session with an end.
    ///
    /// - Parameters:
    ///   - time: the time at which the session ended; `nil` for now. If the clock has gone backwards since the start, a
    ///     time is required. Any time after the start is then accepted, because the clock cannot be used to check it.
    ///   - page: the last page; `nil` if unknown, as for an audiobook.
    ///   - forced: true to accept a session of less than a minute, which is then stored as one minute.
    public func ended(at time: Date?, page: Int?, forced: Bool, now: Date) throws -> Session {
        guard isRunning else { throw SessionError.notActive }
        let clockIsBehind = now < start
        guard let end = time ?? (clockIsBehind ? nil : now) else { throw SessionError.clockWentBackwards(start: start) }
        guard end >= start else { throw SessionError.endBeforeStart }
        guard clockIsBehind || end <= now else { throw SessionError.endInFuture }
        var session = self
        if isLongEnough(until: end) {
            session.end = end
        } else {
            guard forced else { throw SessionError.sessionTooShort }
            session.end = start.addingTimeInterval(Self.shortest)
        }
        session.endPage = page
        try session.checkPages()
        return session
    }

    /// Returns a past session. It may overlap other sessions, because two people may share a library, and an audiobook
    /// may run while a book is read.
    public static func past(
        start: Date, end: Date, startPage: Int, endPage: Int?, now: Date
    ) throws -> Session {
        let session = Session(start: start, end: end, startPage: startPage, endPage: endPage)
        try session.checkTimes(now: now)
        try session.checkPages()
        return session
    }

    /// Returns this session with a person's corrections. A running session has no end to correct.
    public func edited(_ edit: SessionEdit, now: Date) throws -> Session {
        var session = self
        session.start = edit.start ?? start
        session.startPage = edit.startPage ?? startPage
        if isRunning {
            guard edit.end == nil, edit.minutes == nil, edit.endPage == .keep else { throw SessionError.stillRunning }
            guard session.start == start || session.start <= now else { throw SessionError.startInFuture }
        } else {
            session.end = edit.minutes.map { session.start.addingTimeInterval(Double($0) * 60) } ?? edit.end ?? end
            session.endPage = edit.endPage.applied(to: endPage)
            // A session that was left running for days may keep its times if only its pages are corrected.
            if session.start != start || session.end != end { try session.checkTimes(now: now) }
        }
        try session.checkPages()
        return session
    }

    /// Refuses a page that a person enters for a session if the book does not have it, because the pages of a session
    /// count in the pace and in all sums of pages. Progress has no such limit; see
    /// ``ProgressEntry/Amount/isBeyond(_:)``.
    ///
    /// - Parameters:
    ///   - page: the first or last page; `nil` if the person gave none.
    ///   - pageCount: the page count of the book; `nil` or 0 if unknown.
    /// - Throws: ``SessionError/pageBeyondBook(page:pageCount:)``.
    public static func check(_ page: Int?, against pageCount: Int?) throws {
        // A page that no book has gets its own refusal.
        guard let page, page <= NumberLimit.pages.upperBound, let pageCount,
            ProgressEntry.Amount.page(page).isBeyond(pageCount)
        else { return }
        throw SessionError.pageBeyondBook(page: page, pageCount: pageCount)
    }

    private func isLongEnough(until end: Date) -> Bool { TimeInterval(seconds(until: end)) >= Self.shortest }

    private func checkTimes(now: Date) throws {
        guard let end else { return }
        guard start <= now else { throw SessionError.startInFuture }
        guard end >= start else { throw SessionError.endBeforeStart }
        guard end <= now else { throw SessionError.endInFuture }
        guard isLongEnough(until: end) else { throw SessionError.sessionTooShort }
        guard end.timeIntervalSince(start) <= Self.longest else { throw SessionError.sessionTooLong }
    }

    private func checkPages() throws {
        _ = try ProgressEntry.Amount.checked(page: startPage)
        guard let endPage else { return }
        guard endPage >= startPage else { throw SessionError.invalidPageNumber }
        _ = try ProgressEntry.Amount.checked(page: endPage)
    }
}

/// A person's corrections to a session; `nil` leaves a field unchanged.
public struct SessionEdit: Sendable, Equatable {
    public var start: Date?
    public var end: Date?
    /// The duration in minutes, which may be given instead of ``end``.
    public var minutes: Int?
    public var startPage: Int?
    public var endPage: Edit<Int>

    public init(
        start: Date? = nil, end: Date? = nil, minutes: Int? = nil, startPage: Int? = nil, endPage: Edit<Int> = .keep
    ) {
        self.start = start
        self.end = end
        self.minutes = minutes
        self.startPage = startPage
        self.endPage = endPage
    }
}

/// The way in which a person ends the running session when a book leaves Reading. The members are those of
/// ``ReadingLog/stopSession(_:page:end:forced:at:)``.
public struct SessionEnd: Sendable, Equatable {
    public var session: ID<Session>?
    public var page: Int?
    public var end: Date?
    public var isForced: Bool

    public init(_ session: ID<Session>? = nil, page: Int?, end: Date? = nil, isForced: Bool = false) {
        self.session = session
        self.page = page
        self.end = end
        self.isForced = isForced
    }
}

/// The reason why a session cannot be started, ended or changed.
public enum SessionError: Error, LocalizedError, Sendable, CustomStringConvertible {
    case alreadyActive
    case notActive
    /// The session has ended already, on another device.
    case alreadyEnded
    case entryNotFound
    case invalidPageNumber
    /// The page is beyond the book's last page, so either the page or the book's page count is wrong.
    case pageBeyondBook(page: Int, pageCount: Int)
    case sessionTooShort
    case persistenceFailed(any Error)
    /// There is no such session.
    case noSuchSession
    /// The clock shows a time before the session's start, so only the reader knows when the session ended.
    case clockWentBackwards(start: Date)
    case startInFuture
    case endInFuture
    case endBeforeStart
    /// The session is longer than a day, so one of its two times is probably wrong.
    case sessionTooLong
    /// An end was given for a running session.
    case stillRunning

    public var errorDescription: String? {
        switch self {
        case .alreadyActive:
            "A reading session is already active. End the current session before starting a new one."
        case .notActive: "No active reading session found."
        case .alreadyEnded: "This reading session has already ended."
        case .entryNotFound: "Library entry not found. The book may have been deleted."
        case .invalidPageNumber:
            "Invalid page number. Ending page must be greater than or equal to starting page."
        case .pageBeyondBook(let page, let pageCount):
            "There is no page \(page) in this book, because its last page is \(pageCount)."
        case .sessionTooShort: "Session duration too short. Minimum 1 minute required."
        case .persistenceFailed(let error): "Failed to save session: \(error)"
        case .noSuchSession: "Session not found. It may have been deleted."
        case .clockWentBackwards(let start):
            "The clock went backwards: the session started at \(start.rfc3339), which is in the future."
        case .startInFuture: "The session starts in the future."
        case .endInFuture: "The session ends in the future."
        case .endBeforeStart: "The session ends before it starts."
        case .sessionTooLong: "The session is too long. A session can last at most a day."
        case .stillRunning: "The session is still running, so it has no end yet."
        }
    }

    public var recoverySuggestion: String? {
        switch self {
        case .alreadyActive: "End your current session first."
        case .notActive: "Start a new reading session."
        case .alreadyEnded: "The reading history shows when it ended."
        case .entryNotFound: "Try looking into the trash or selecting a different book."
        case .invalidPageNumber: "Enter a valid ending page number."
        case .pageBeyondBook: "Enter the right page, or correct the page count of the book first."
        case .sessionTooShort: "Read for at least 1 minute before ending the session."
        case .persistenceFailed: "Check available storage space and try again."
        case .noSuchSession: "Choose a session from the list of sessions."
        case .clockWentBackwards:
            "Check the date and time of this device, or enter the time at which the session ended."
        case .startInFuture, .endInFuture, .endBeforeStart: "Enter the right time."
        case .sessionTooLong: "Check the start and the end."
        case .stillRunning: "End the session instead."
        }
    }

    /// The description of the error, followed by the suggestion.
    public var description: String { [errorDescription, recoverySuggestion].compactMap(\.self).joined(separator: " ") }
}

extension SessionError: Equatable {
    /// Errors with the same text are equal.
    public static func == (left: SessionError, right: SessionError) -> Bool { left.description == right.description }
}
