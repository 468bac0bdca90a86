import Bookplate
import FoundationEssentials
import GRDB

extension LibraryFile: ReadingLog {
    public func setStatus(
        _ status: Copy.Status, of copy: ID<Copy>, on day: CalendarDay?, at now: Date
    ) async throws -> TrackingResult {
        try await track(copy, at: now, status.displayName) { try $1.set(status, on: day, $2) }
    }

    public func recordProgress(
        _ amount: ProgressEntry.Amount, of copy: ID<Copy>, on past: Date?, at now: Date
    ) async throws -> TrackingResult {
        let past = past.map { min($0, now) }
        return try await track(copy, at: now, told: past, amount.summary) { try $1.record(amount, at: past, $2) }
    }

    public func setDates(
        _ edit: DateEdit, of copy: ID<Copy>, reading: ID<Reading>?, at now: Date
    ) async throws -> TrackingResult {
        try await track(copy, at: now, "dates of a reading") { _, tracker, _ in try tracker.setDates(edit, of: reading)
        }
    }

    public func addReading(
        to copy: ID<Copy>, started: CalendarDay?, finished: CalendarDay?, stopped: CalendarDay?, at now: Date
    ) async throws -> TrackingResult {
        try await track(copy, at: now, "added a reading") { _, tracker, _ in
            try tracker.addPast(started: started, finished: finished, stopped: stopped)
        }
    }

    public func deleteReading(
        _ reading: ID<Reading>, of copy: ID<Copy>, at now: Date
    ) async throws -> TrackingResult {
        try await track(copy, at: now, "deleted a reading") { _, tracker, _ in try tracker.remove(reading) }
    }

    public func progress(of reading: ID<Reading>, limit: Int, offset: Int) async throws -> [ProgressEntry] {
        try await read { db in
            try db.rows(
                """
                SELECT entry.uuid AS entryID, at, page, percent, isAutomatic, session.uuid AS sessionID
                FROM progressEntry entry LEFT JOIN session ON session.id = entry.session
                WHERE entry.reading = (SELECT id FROM reading WHERE uuid = ?)
                ORDER BY at DESC, entry.id DESC LIMIT ? OFFSET ?
                """, [reading.rawValue, max(0, limit), max(0, offset)]
            ).compactMap(StoredReadings.progressEntry)
        }
    }

    /// One act on a copy outside the trash: a rule on what is stored at this moment, and what it did stored, as one change.
    ///
    /// - Parameters:
    ///   - past: when it was, for what is told afterwards: the rule's day and time.
    ///   - what: the summary behind the title.
    func track(
        _ copy: ID<Copy>, at now: Date, told past: Date? = nil, _ what: String,
        _ rule: @escaping @Sendable (Database, inout Tracker, Tracker.Moment) throws -> [Tracker.Step]
    ) async throws -> TrackingResult {
        try await change(.edit, at: now) { [self] db, id in
            guard var stored = try StoredTracker.load(db, copy) else { throw LibraryError.noSuchBook(copy) }
            let steps = try rule(db, &stored.tracker, moment(db, past ?? now))
            try StoredTracker.store(steps, of: stored.copyRow, db)
            guard let book = try StoredBooks.one(db, copy)?.book else { throw LibraryError.noSuchBook(copy) }
            let touched = steps.compactMap(\.reading).last ?? stored.tracker.shown?.id
            let running = book.copy.status == .reading ? nil : try StoredSessions.running(db)
            let result = TrackingResult(
                book: book, reading: book.copy.readings.first { $0.id == touched }, change: steps.isEmpty ? nil : id,
                sessionStillRuns: running?.copy == copy)
            return (result, "\(quoted(book.displayTitle)): \(what)")
        }
    }
}

extension Tracker.Step {
    /// The reading that it is about.
    fileprivate var reading: ID<Reading>? {
        switch self {
        case .status: nil
        case .opened(let reading, _), .changed(let reading): reading.id
        case .removed(let id), .recorded(_, let id), .redated(_, let id), .corrected(_, let id, _),
            .forgotten(_, let id, _):
            id
        }
    }
}

extension ProgressEntry.Amount {
    /// For the summary of a change.
    var summary: String {
        switch self {
        case .page(let page): "page \(page)"
        case .percent(let percent): "\(JSONValue.number(percent).text) %"
        }
    }
}
