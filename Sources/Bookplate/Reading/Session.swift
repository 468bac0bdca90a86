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

    /// End page less start page, ``FigureLimit/pages`` at the most; 0 where no end page is known.
    public var pagesRead: Int { min(FigureLimit.pages, max(0, (endPage ?? startPage) - startPage)) }

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
