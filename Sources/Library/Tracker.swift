import Bookplate
import FoundationEssentials
import GRDB

extension LibraryFile: ReadingLog {
    public func setStatus(
        _ status: Copy.Status, of copy: ID<Copy>, on day: CalendarDay?, ending end: SessionEnd?, opinion: Opinion,
        then next: NextBook?, at now: Date
    ) async throws -> TrackingResult {
        let (rating, note) = (opinion.rating, try opinion.note?.checked(after: nil))
        let what = [
            status.displayName, rating.map { $0 == 0 ? "not rated" : "rated" }, note.map { _ in "with a note" },
        ].compactMap(\.self).joined(separator: ", ")
        return try await track(copy, at: now, what, then: next) { db, tracker, moment in
            let ended = try Self.endSession(of: copy, leavingFor: status, as: end, tracker: &tracker, at: now, db)
            if rating != nil || note != nil {
                guard let stored = try StoredBook.one(db, copy) else { throw LibraryError.noSuchBook(copy) }
                var wanted = stored.book.copy
                if let rating { wanted.rating = rating == 0 ? nil : rating }
                try StoredCopy.update(wanted, at: stored.copyRow, db)
                try note?.insert(db, to: stored.copyRow)
            }
            return try ended + tracker.set(status, on: day, moment)
        }
    }

    /// Ends the running session of a copy that leaves Reading.
    ///
    /// - Returns: the steps of the tracker; none if no session has to end.
    private static func endSession(
        of copy: ID<Copy>, leavingFor status: Copy.Status, as end: SessionEnd?, tracker: inout Tracker, at now: Date,
        _ db: Database
    ) throws -> [Tracker.Step] {
        guard let running = try StoredSessions.running(db, of: copy, leavingFor: status, from: tracker.status) else {
            if let end, status != .reading {
                if let id = end.session {
                    guard let known = try StoredSessions.one(db, id) else { throw SessionError.noSuchSession }
                    if known.copy == copy { throw SessionError.alreadyEnded }
                }
                throw ReadingRefusal.noSessionToEnd(title: try StoredBook.one(db, copy)?.book.displayTitle ?? "")
            }
            return []
        }
        guard let end else { throw ReadingRefusal.sessionRunning(title: running.displayTitle) }
        guard end.session ?? running.session.id == running.session.id else { throw SessionError.alreadyEnded }
        try Session.check(end.page, against: running.pageCount)
        let session = try running.session.ended(at: end.end, page: end.page, forced: end.isForced, now: now)
        try StoredSessions.update(session, db)
        return tracker.record(session, of: running.reading, endedAt: now)
    }

    public func recordProgress(
        _ amount: ProgressEntry.Amount, of copy: ID<Copy>, on past: Date?, at now: Date
    ) async throws -> TrackingResult {
        let past = past.map { min($0, now) }
        return try await track(copy, at: now, past: past, amount.summary) { try $1.record(amount, at: past, $2) }
    }

    public func setDates(
        _ edit: DateEdit, of copy: ID<Copy>, reading: ID<Reading>?, at now: Date
    ) async throws -> TrackingResult {
        try await track(copy, at: now, "changed the dates of a reading") { _, tracker, _ in
            try tracker.setDates(edit, of: reading)
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

    public func progress(
        of reading: ID<Reading>, includesSessions: Bool, limit: Int, offset: Int
    ) async throws -> [ProgressEntry] {
        try await read { db in
            try db.rows(
                """
                SELECT entry.uuid AS entryID, at, page, percent, isAutomatic, session.uuid AS sessionID
                FROM progressEntry entry LEFT JOIN session ON session.id = entry.session
                WHERE entry.reading = (SELECT id FROM reading WHERE uuid = ? AND reader = reader())
                    AND (? OR entry.session IS NULL)
                ORDER BY at DESC, entry.id DESC LIMIT ? OFFSET ?
                """, [reading.rawValue, includesSessions, max(0, limit), max(0, offset)]
            ).compactMap(StoredReadings.progressEntry)
        }
    }

    /// Applies a rule of the tracker to a copy that is not in the trash, and stores the resulting steps as one change.
    ///
    /// - Parameters:
    ///   - past: the time of the event, if it is recorded afterwards. The rule then uses this time instead of `now`.
    ///   - what: the text that follows the title in the change's summary.
    ///   - next: another book, which gets a status in the same change.
    func track(
        _ copy: ID<Copy>, at now: Date, past: Date? = nil, _ what: String, then next: NextBook? = nil,
        _ rule: @escaping @Sendable (Database, inout Tracker, Tracker.Moment) throws -> [Tracker.Step]
    ) async throws -> TrackingResult {
        var (result, change) = try await changed(.edit, at: now) { [self] db, _ in
            let moment = try moment(db, past ?? now)
            let (book, touched) = try Self.apply(rule, to: copy, moment, db)
            var summary = "\(quoted(book.displayTitle)): \(what)"
            if let next {
                let (other, _) = try Self.apply(
                    { db, tracker, moment in
                        _ = try Self.endSession(
                            of: next.copy, leavingFor: next.status, as: nil, tracker: &tracker, at: now, db)
                        return try tracker.set(next.status, on: nil, moment)
                    }, to: next.copy, moment, db)
                summary += "; \(quoted(other.displayTitle)): \(next.status.displayName)"
            }
            let running = book.copy.status == .reading ? nil : try StoredSessions.running(db)
            let result = TrackingResult(
                book: book, reading: book.copy.readings.first { $0.id == touched }, change: nil,
                sessionStillRuns: running?.copy == copy)
            return (result, summary)
        }
        result.change = change
        return result
    }

    /// Applies a rule of the tracker to a copy and stores its steps.
    ///
    /// - Returns: the book as it is then, and the reading that the rule changed.
    private static func apply(
        _ rule: (Database, inout Tracker, Tracker.Moment) throws -> [Tracker.Step], to copy: ID<Copy>,
        _ moment: Tracker.Moment, _ db: Database
    ) throws -> (book: Book, touched: ID<Reading>?) {
        guard var stored = try StoredTracker.load(db, copy) else { throw LibraryError.noSuchBook(copy) }
        let steps = try rule(db, &stored.tracker, moment)
        try StoredTracker.store(steps, of: stored.copyRow, db)
        guard let book = try StoredBook.one(db, copy)?.book else { throw LibraryError.noSuchBook(copy) }
        return (book, steps.compactMap(\.reading).last ?? stored.tracker.shown?.id)
    }
}

extension Tracker.Step {
    /// The reading that the step changes; `nil` if it changes only the status.
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

extension LibraryFile {
    public func runningSession() async throws -> SessionRecord? {
        try await read { db in try StoredSessions.running(db) }
    }

    public func startSession(
        of copy: ID<Copy>, page: Int?, from start: Date?, at now: Date
    ) async throws -> SessionRecord {
        try await changeSession(at: now) { [self] db in
            guard try StoredSessions.running(db) == nil else { throw SessionError.alreadyActive }
            guard var stored = try StoredTracker.load(db, copy) else { throw SessionError.entryNotFound }
            let steps = try stored.tracker.set(.reading, moment(db, start ?? now))
            guard let reading = stored.tracker.shown else { throw SessionError.entryNotFound }
            try Session.check(page, against: stored.tracker.pageCount)
            let session = try Session.started(
                at: start, page: page, currentPage: reading.currentPage(of: stored.tracker.pageCount), now: now)
            try StoredTracker.store(steps, of: stored.copyRow, db)
            try StoredSessions.start(session, of: reading.id, db)
            return (session.id, "started a session")
        }
    }

    public func stopSession(
        _ id: ID<Session>? = nil, page: Int?, end: Date?, forced: Bool, at now: Date
    ) async throws -> SessionRecord {
        try await changeSession(at: now) { db in
            guard let running = try StoredSessions.running(db), running.session.id == id ?? running.session.id else {
                throw id == nil ? SessionError.notActive : .alreadyEnded
            }
            try Session.check(page, against: running.pageCount)
            let session = try running.session.ended(at: end, page: page, forced: forced, now: now)
            try StoredSessions.update(session, db)
            try applyToTracker(running, db) { $0.record(session, of: running.reading, endedAt: now) }
            return (session.id, session.summary)
        }
    }

    public func addSession(
        of copy: ID<Copy>, start: Date, end: Date, startPage: Int?, endPage: Int?, at now: Date
    ) async throws -> SessionRecord {
        try await changeSession(at: now) { [self] db in
            guard var stored = try StoredTracker.load(db, copy) else { throw SessionError.entryNotFound }
            if stored.tracker.status == .toRead {
                let steps = try stored.tracker.set(.reading, moment(db, start))
                try StoredTracker.store(steps, of: stored.copyRow, db)
            }
            guard let reading = stored.tracker.shown else { throw SessionError.entryNotFound }
            for page in [startPage, endPage] { try Session.check(page, against: stored.tracker.pageCount) }
            let known = try startPage ?? page(of: reading, at: start, stored.tracker.pageCount, db)
            let session = try Session.past(
                start: start, end: end, startPage: startPage ?? min(known, endPage ?? known), endPage: endPage, now: now
            )
            try StoredSessions.insert(session, of: reading.id, db)
            let steps = stored.tracker.record(session, of: reading.id, endedAt: nil)
            try StoredTracker.store(steps, of: stored.copyRow, db)
            return (session.id, "added a " + session.summary)
        }
    }

    public func editSession(_ id: ID<Session>, _ edit: SessionEdit, at now: Date) async throws -> SessionRecord {
        try await changeSession(at: now) { db in
            guard let old = try StoredSessions.one(db, id) else { throw SessionError.noSuchSession }
            try old.checkOutsideTrash()
            let session = try old.session.edited(edit, now: now)
            guard session != old.session else { return (id, "") }
            // A page that was stored before the page count was corrected does not prevent other corrections.
            if session.startPage != old.session.startPage {
                try Session.check(session.startPage, against: old.pageCount)
            }
            if session.endPage != old.session.endPage { try Session.check(session.endPage, against: old.pageCount) }
            try StoredSessions.update(session, db)
            if session.endPage == nil {
                try StoredSessions.deleteEntry(of: id, db)
            } else if try StoredSessions.updateEntry(of: session, endedBefore: old.session.end, db) {
                try applyToTracker(old, db) { $0.moveAutomaticEntry(before: session, of: old.reading) }
            } else {
                try applyToTracker(old, db) { $0.record(session, of: old.reading, endedAt: nil) }
            }
            return (id, "edited a " + session.summary)
        }
    }

    public func deleteSession(_ id: ID<Session>, at now: Date) async throws -> SessionRecord {
        try await translatingErrors {
            try await change(.edit, at: now) { db, change in
                guard var old = try StoredSessions.one(db, id) else { throw SessionError.noSuchSession }
                try old.checkOutsideTrash()
                try StoredSessions.delete(id, db)
                old.change = change
                return (old, "\(quoted(old.displayTitle)): deleted a \(old.session.summary)")
            }
        }
    }

    public func sessions(of copy: ID<Copy>?, limit: Int, offset: Int) async throws -> [SessionRecord] {
        try await read { db in
            if let copy { return try StoredSessions.of(copy, limit: limit, offset: offset, db) }
            return try StoredSessions.all(limit: limit, offset: offset, db)
        }
    }

    public func sessions(endingIn text: String) async throws -> [SessionRecord] {
        try await read { db in try StoredSessions.ending(in: text, db) }
    }

    public func sessionTotals(of copy: ID<Copy>) async throws -> SessionTotals {
        try await read { db in try StoredSessions.totals(of: copy, db) }
    }

    /// Runs `body`, which changes a session, and returns the session in its new state.
    private func changeSession(
        at now: Date, _ body: @escaping @Sendable (Database) throws -> (session: ID<Session>, summary: String)
    ) async throws -> SessionRecord {
        try await translatingErrors {
            var (record, change) = try await changed(.edit, at: now) { db, _ in
                let (id, summary) = try body(db)
                guard let record = try StoredSessions.one(db, id) else { throw SessionError.noSuchSession }
                return (record, "\(quoted(record.displayTitle)): \(summary)")
            }
            record.change = change
            return record
        }
    }

    /// Turns an input/output error into ``SessionError/persistenceFailed(_:)``.
    private func translatingErrors<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as LibraryError where error.category == .inputOutput {
            throw SessionError.persistenceFailed(error)
        }
    }
}

extension SessionRecord {
    /// Refuses a change if the session's book is in the trash. A running session may still be changed, so that it can
    /// be ended.
    fileprivate func checkOutsideTrash() throws {
        if isInTrash, !session.isRunning { throw InTrashRefusal(copy) }
    }
}

/// Applies a rule of the tracker to the book of a session, even if the book is in the trash.
private func applyToTracker(
    _ record: SessionRecord, _ db: Database, _ rule: (inout Tracker) -> [Tracker.Step]
) throws {
    guard var stored = try StoredTracker.load(db, record.copy, inTrash: true) else { throw SessionError.entryNotFound }
    try StoredTracker.store(rule(&stored.tracker), of: stored.copyRow, db)
}

/// Returns the page that a reading had reached at a given time.
private func page(of reading: Reading, at time: Date, _ pageCount: Int?, _ db: Database) throws -> Int {
    var then = reading
    then.progress = try db.row(
        """
        SELECT uuid AS entryID, at, page, percent, isAutomatic, NULL AS sessionID FROM progressEntry
        WHERE reading = (SELECT id FROM reading WHERE uuid = ?) AND at <= ? ORDER BY at DESC, id DESC LIMIT 1
        """, [reading.id.rawValue, time.milliseconds]
    ).flatMap(StoredReadings.progressEntry)
    return then.currentPage(of: pageCount)
}

extension Session {
    /// The description of the session in a change's summary.
    fileprivate var summary: String {
        guard let minutes else { return "running session" }
        return "session of \(minutes) min" + (endPage.map { " to page \($0)" } ?? "")
    }
}

extension LibraryFile {
    /// Returns the progress entries whose id ends in `text`, at most ten, newest first. Entries of books in the trash
    /// and of cancelled readings are left out.
    public func progress(endingIn text: String) async throws -> [(entry: ProgressEntry, copy: ID<Copy>)] {
        try await read { db in
            try db.rows(
                """
                SELECT entry.uuid AS entryID, at, page, percent, isAutomatic, session.uuid AS sessionID,
                    copy.uuid AS copyID
                FROM progressEntry entry JOIN reading ON reading.id = entry.reading
                    JOIN copy ON copy.id = reading.copy LEFT JOIN session ON session.id = entry.session
                WHERE substr(entry.uuid, -length(?1)) = ?1 AND reading.reader = reader()
                    AND reading.state <> 'cancelled' AND copy.deleted IS NULL
                ORDER BY at DESC, entry.id DESC LIMIT 10
                """, [text]
            ).compactMap { row in
                try StoredReadings.progressEntry(row).map { ($0, ID(rawValue: row["copyID"])) }
            }
        }
    }

    public func editProgress(
        _ entry: ID<ProgressEntry>, of copy: ID<Copy>, _ edit: ProgressEdit, at now: Date
    ) async throws -> TrackingResult {
        let what =
            edit.amount.map { "corrected the progress to \($0.summary)" } ?? "corrected the time of a progress entry"
        return try await track(copy, at: now, what) { db, tracker, _ in
            let found = try FoundEntry(entry, of: copy, db)
            return try tracker.correct(found.entry, by: edit, in: found.reading, beside: found.other, now: now)
        }
    }

    public func deleteProgress(
        _ entry: ID<ProgressEntry>, of copy: ID<Copy>, at now: Date
    ) async throws -> TrackingResult {
        try await track(copy, at: now, "deleted a progress entry") { db, tracker, _ in
            let found = try FoundEntry(entry, of: copy, db)
            return try tracker.forget(found.entry, in: found.reading, beside: found.other)
        }
    }
}

/// A progress entry of a copy, with its reading and the latest other entry of that reading.
private struct FoundEntry {
    let entry: ProgressEntry
    let reading: ID<Reading>
    let other: ProgressEntry?

    private static let columns =
        "entry.uuid AS entryID, at, page, percent, isAutomatic, session.uuid AS sessionID, reading.uuid AS readingID"

    /// - Throws: ``ReadingRefusal/noSuchEntry`` if the copy has no such entry.
    init(_ id: ID<ProgressEntry>, of copy: ID<Copy>, _ db: Database) throws {
        let row = try db.row(
            """
            SELECT \(Self.columns) FROM progressEntry entry JOIN reading ON reading.id = entry.reading
                JOIN copy ON copy.id = reading.copy LEFT JOIN session ON session.id = entry.session
            WHERE entry.uuid = ? AND copy.uuid = ? AND reading.reader = reader()
            """, [id.rawValue, copy.rawValue])
        guard let row, let entry = try StoredReadings.progressEntry(row) else { throw ReadingRefusal.noSuchEntry }
        self.entry = entry
        reading = ID(rawValue: row["readingID"])
        other = try db.row(
            """
            SELECT \(Self.columns) FROM progressEntry entry JOIN reading ON reading.id = entry.reading
                LEFT JOIN session ON session.id = entry.session
            WHERE reading.uuid = ? AND entry.uuid <> ? ORDER BY at DESC, entry.id DESC LIMIT 1
            """, [reading.rawValue, id.rawValue]
        ).flatMap(StoredReadings.progressEntry)
    }
}
