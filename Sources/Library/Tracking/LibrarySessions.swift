import Bookplate
import FoundationEssentials
import GRDB

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
            let session = try running.session.ended(at: end, page: page, forced: forced, now: now)
            try StoredSessions.update(session, db)
            try store(in: running, db) { $0.record(session, of: running.reading, endedAt: now) }
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
            try StoredSessions.update(session, db)
            if session.endPage == nil {
                try StoredSessions.deleteEntry(of: id, db)
            } else if try StoredSessions.moveEntry(of: session, endedBefore: old.session.end, db) {
                try store(in: old, db) { $0.giveWay(to: session, of: old.reading) }
            } else {
                try store(in: old, db) { $0.record(session, of: old.reading, endedAt: nil) }
            }
            return (id, "edited a " + session.summary)
        }
    }

    public func deleteSession(_ id: ID<Session>, at now: Date) async throws -> SessionRecord {
        try await translatingFailures {
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

    /// One act on a session as one change.
    private func changeSession(
        at now: Date, _ act: @escaping @Sendable (Database) throws -> (session: ID<Session>, summary: String)
    ) async throws -> SessionRecord {
        try await translatingFailures {
            try await change(.edit, at: now) { db, change in
                let (id, summary) = try act(db)
                guard var record = try StoredSessions.one(db, id) else { throw SessionError.noSuchSession }
                // An edit that edits nothing says nothing.
                record.change = summary.isEmpty ? nil : change
                return (record, "\(quoted(record.displayTitle)): \(summary)")
            }
        }
    }

    /// A disk that is full or fails is told in the words of sessions.
    private func translatingFailures<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as LibraryError where error.category == .inputOutput {
            throw SessionError.persistenceFailed(error)
        }
    }
}

extension SessionRecord {
    /// What is still running is brought to its end wherever its book lies.
    fileprivate func checkOutsideTrash() throws {
        if isInTrash, !session.isRunning { throw InTrash(copy) }
    }
}

/// Does what a rule makes of a session's page, also to a book in the trash.
private func store(
    in record: SessionRecord, _ db: Database, _ rule: (inout Tracker) -> [Tracker.Step]
) throws {
    guard var stored = try StoredTracker.load(db, record.copy, inTrash: true) else { throw SessionError.entryNotFound }
    try StoredTracker.store(rule(&stored.tracker), of: stored.copyRow, db)
}

/// The page that was the current one at some time.
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
    /// For the summary of a change.
    fileprivate var summary: String {
        guard let minutes else { return "running session" }
        return "session of \(minutes) min" + (endPage.map { " to page \($0)" } ?? "")
    }
}
