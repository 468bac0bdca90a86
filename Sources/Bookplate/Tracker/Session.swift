import FoundationEssentials

/// A stretch of time with the book, within a reading.
public struct Session: Sendable, Equatable {
    public var id: ID<Session>
    public var start: Date
    /// `nil` while it is running; a library has one running session at the most.
    public var end: Date?
    public var startPage: Int
    /// `nil` while it is running, and where nobody said it (an audiobook has no pages).
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

    /// Whole minutes, rounded down; `nil` while it is running.
    public var minutes: Int? { end.map { seconds(until: $0) / 60 } }

    /// Whole seconds from its start, 0 when the clock went backwards. Counted from milliseconds, as instants are stored.
    public func seconds(until end: Date) -> Int {
        let milliseconds = (end.timeIntervalSince(start) * 1000).rounded()
        // 292 million years; a Date can hold more.
        return Int(min(max(0, milliseconds), 9e18)) / 1000
    }

    /// End page less start page, ``StatsLimit/pages`` at the most; 0 where no end page is known.
    public var pagesRead: Int { min(StatsLimit.pages, max(0, (endPage ?? startPage) - startPage)) }

    /// Pages an hour; `nil` without a whole minute or without pages.
    public var pace: Double? {
        guard let minutes, minutes > 0, pagesRead > 0 else { return nil }
        return Double(pagesRead) / Double(minutes) * 60
    }
}

/// What the ended sessions of a book come to.
public struct SessionTotals: Sendable, Equatable {
    public var sessions: Int
    public var minutes: Int
    public var pages: Int
    /// The mean over the sessions that have a pace, each counting the same, however long; pages an hour.
    public var meanPace: Double?
    /// When the last session ended.
    public var lastRead: Date?

    public init(sessions: Int, minutes: Int, pages: Int, meanPace: Double?, lastRead: Date?) {
        self.sessions = sessions
        self.minutes = minutes
        self.pages = pages
        self.meanPace = meanPace
        self.lastRead = lastRead
    }

    /// - Parameter sessions: a running one does not count.
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
    /// What a session is at least: one that ends sooner is a slip, and is kept only when that is meant.
    public static let shortest: TimeInterval = 60
    /// What one told afterwards is at most.
    public static let longest: TimeInterval = 86_400

    /// A session that begins.
    ///
    /// - Parameters:
    ///   - time: when it began; `nil` is now.
    ///   - page: where it begins; `nil` is `currentPage`.
    public static func started(
        at time: Date?, page: Int?, currentPage: Int, now: Date
    ) throws -> Session {
        guard time.map({ $0 <= now }) ?? true else { throw SessionError.startInFuture }
        return Session(start: time ?? now, startPage: try ProgressEntry.Amount.checked(page: page ?? currentPage))
    }

    /// This running session, ended.
    ///
    /// - Parameters:
    ///   - time: when it ended; `nil` is now. Where the clock went backwards since the start it must be given, and any time from
    ///     the start on is taken, because the clock can judge none.
    ///   - page: where it ended; `nil` when nobody says (an audiobook).
    ///   - forced: whether one of less than a minute is meant. It is stored as one of a minute.
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

    /// A session told afterwards. It may overlap others: two people share a library, and an audiobook runs beside a book.
    public static func past(
        start: Date, end: Date, startPage: Int, endPage: Int?, now: Date
    ) throws -> Session {
        let session = Session(start: start, end: end, startPage: startPage, endPage: endPage)
        try session.checkTimes(now: now)
        try session.checkPages()
        return session
    }

    /// This session with a person's corrections. What is running has no end to correct.
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
            // A session that nobody ended for days keeps its times while its pages are put right.
            if session.start != start || session.end != end { try session.checkTimes(now: now) }
        }
        try session.checkPages()
        return session
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

/// A person's corrections of a session; `nil` leaves a field as it is.
public struct SessionEdit: Sendable, Equatable {
    public var start: Date?
    public var end: Date?
    /// From the start, in place of ``end``.
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

/// Why a session cannot be started, ended or changed.
public enum SessionError: Error, LocalizedError, Sendable, CustomStringConvertible {
    case alreadyActive
    case notActive
    /// The session that is meant is over, ended elsewhere.
    case alreadyEnded
    case entryNotFound
    case invalidPageNumber
    case sessionTooShort
    case persistenceFailed(any Error)
    /// There is no such session.
    case noSuchSession
    /// The clock stands before the session's start: nobody knows when it ended but the reader.
    case clockWentBackwards(start: Date)
    case startInFuture
    case endInFuture
    case endBeforeStart
    /// Longer than a day: a slip in one of the two times.
    case sessionTooLong
    /// An end for a session that is running.
    case stillRunning

    public var errorDescription: String? {
        switch self {
        case .alreadyActive:
            "A reading session is already active. End the current session before starting a new one."
        case .notActive: "No active reading session found."
        case .alreadyEnded: "This reading session has ended already."
        case .entryNotFound: "Library entry not found. The book may have been deleted."
        case .invalidPageNumber:
            "Invalid page number. Ending page must be greater than or equal to starting page."
        case .sessionTooShort: "Session duration too short. Minimum 1 minute required."
        case .persistenceFailed(let error): "Failed to save session: \(error)"
        case .noSuchSession: "Session not found. It may have been deleted."
        case .clockWentBackwards(let start):
            "The clock went backwards: the session started at \(start.rfc3339), which is still to come."
        case .startInFuture: "Session start is in the future."
        case .endInFuture: "Session end is in the future."
        case .endBeforeStart: "Session end is before its start."
        case .sessionTooLong: "Session duration too long. A session lasts a day at the most."
        case .stillRunning: "The session is still running: it has no end yet."
        }
    }

    public var recoverySuggestion: String? {
        switch self {
        case .alreadyActive: "End your current session first."
        case .notActive: "Start a new reading session."
        case .alreadyEnded: "See the reading history for how it ended."
        case .entryNotFound: "Try looking into the trash or selecting a different book."
        case .invalidPageNumber: "Enter a valid ending page number."
        case .sessionTooShort: "Read for at least 1 minute before ending the session."
        case .persistenceFailed: "Check available storage space and try again."
        case .noSuchSession: "Choose one from the list of sessions."
        case .clockWentBackwards: "Check the date and time of this device, or say when the session ended."
        case .startInFuture, .endInFuture, .endBeforeStart: "Enter the right time."
        case .sessionTooLong: "Check the start and the end."
        case .stillRunning: "End the session instead."
        }
    }

    /// Both, as one text.
    public var description: String { [errorDescription, recoverySuggestion].compactMap(\.self).joined(separator: " ") }
}

extension SessionError: Equatable {
    /// What is told is the same.
    public static func == (left: SessionError, right: SessionError) -> Bool { left.description == right.description }
}
