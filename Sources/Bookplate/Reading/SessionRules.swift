import FoundationEssentials

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
