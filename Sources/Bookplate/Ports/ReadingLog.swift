import FoundationEssentials

/// The reading tracker: what was read when, and how far.
///
/// Every act is one change, which undo reverts. Each act is based on the state that is stored when it runs, even if
/// other processes write too. The library's time zone determines the day. An act that is not possible throws
/// ``ReadingRefusal`` or ``SessionError``, and changes nothing.
public protocol ReadingLog: Sendable {
    /// Sets the status as ``Tracker/set(_:on:_:)`` describes, and sets dates if the library's setting allows this.
    ///
    /// - Parameters:
    ///   - end: ends the book's running session in the same change, because a session runs only while its book is being
    ///     read; `nil` if the person knows of no session. The status Reading ends no session.
    ///   - opinion: is stored in the same change.
    ///   - next: gives another book a status in the same change, such as the next volume of the series.
    /// - Throws: ``ReadingRefusal/sessionRunning(title:)`` if a session of the book would go on without being ended,
    ///   ``ReadingRefusal/noSessionToEnd(title:)`` if none is running, and ``SessionError`` if the session has already
    ///   ended, or cannot end like this.
    func setStatus(
        _ status: Copy.Status, of copy: ID<Copy>, on day: CalendarDay?, ending end: SessionEnd?, opinion: Opinion,
        then next: NextBook?, at now: Date
    ) async throws -> TrackingResult
    /// Records a page or percentage.
    ///
    /// - Parameter past: the time at which the reader was at this page or percentage, for an entry that is added later;
    ///   `nil` for now. The book shows the latest entry.
    func recordProgress(
        _ amount: ProgressEntry.Amount, of copy: ID<Copy>, on past: Date?, at now: Date
    ) async throws -> TrackingResult
    /// Corrects an entry of the history, as ``Tracker/correct(_:by:in:beside:now:)`` describes.
    func editProgress(
        _ entry: ID<ProgressEntry>, of copy: ID<Copy>, _ edit: ProgressEdit, at now: Date
    ) async throws -> TrackingResult
    /// Deletes an entry of the history; the book then shows the latest of its other entries.
    func deleteProgress(_ entry: ID<ProgressEntry>, of copy: ID<Copy>, at now: Date) async throws -> TrackingResult
    /// Sets and clears dates of a reading.
    ///
    /// - Parameter reading: the reading to change; `nil` for the reading that is shown for the book.
    func setDates(
        _ edit: DateEdit, of copy: ID<Copy>, reading: ID<Reading>?, at now: Date
    ) async throws -> TrackingResult
    /// Adds a past reading.
    func addReading(
        to copy: ID<Copy>, started: CalendarDay?, finished: CalendarDay?, stopped: CalendarDay?, at now: Date
    ) async throws -> TrackingResult
    /// Deletes a reading with its entries and sessions.
    func deleteReading(_ reading: ID<Reading>, of copy: ID<Copy>, at now: Date) async throws -> TrackingResult
    /// Returns the entries of a reading, newest first.
    ///
    /// - Parameter includesSessions: false to leave out the entries that sessions made.
    func progress(
        of reading: ID<Reading>, includesSessions: Bool, limit: Int, offset: Int
    ) async throws -> [ProgressEntry]

    /// Returns the running session, even if its book is in the trash; `nil` if none is running.
    func runningSession() async throws -> SessionRecord?
    /// Starts a session and sets the book to Reading.
    ///
    /// - Parameters:
    ///   - page: the first page; `nil` for the current page.
    ///   - start: the time of the start; `nil` for now.
    func startSession(of copy: ID<Copy>, page: Int?, from start: Date?, at now: Date) async throws -> SessionRecord
    /// Ends the running session as ``Session/ended(at:page:forced:now:)`` describes, and sets the current page.
    ///
    /// - Parameter id: the session to end; `nil` for any running session.
    /// - Throws: ``SessionError/alreadyEnded`` if the given session is not the running session.
    func stopSession(
        _ id: ID<Session>?, page: Int?, end: Date?, forced: Bool, at now: Date
    ) async throws -> SessionRecord
    /// Adds a past session. If the book is To Read, this starts the book on the day of the session.
    ///
    /// - Parameter startPage: the first page; `nil` for the page that was current at that time, or for `endPage` if
    ///   that is lower.
    func addSession(
        of copy: ID<Copy>, start: Date, end: Date, startPage: Int?, endPage: Int?, at now: Date
    ) async throws -> SessionRecord
    /// Corrects a session, unless its book is in the trash. The progress entry that was made when the session ended is
    /// corrected too.
    func editSession(_ id: ID<Session>, _ edit: SessionEdit, at now: Date) async throws -> SessionRecord
    /// Deletes a session and the progress entry that was made when it ended. An ended session of a book in the trash
    /// cannot be deleted.
    ///
    /// - Returns: the deleted session.
    func deleteSession(_ id: ID<Session>, at now: Date) async throws -> SessionRecord
    /// Returns sessions, newest first. The sessions of one copy are grouped by reading, without cancelled readings.
    ///
    /// - Parameter copy: the copy whose sessions are returned; `nil` for all books outside the trash.
    func sessions(of copy: ID<Copy>?, limit: Int, offset: Int) async throws -> [SessionRecord]
    /// Returns the sessions whose id ends in `text`, at most ten.
    func sessions(endingIn text: String) async throws -> [SessionRecord]
    /// Returns the totals of a copy's sessions, without sessions of cancelled readings.
    func sessionTotals(of copy: ID<Copy>) async throws -> SessionTotals
}

/// The reader's opinion of a book that was just finished.
public struct Opinion: Sendable, Equatable {
    /// The rating in stars, 0 to clear it; `nil` to keep the rating.
    public var rating: Double?
    /// A note to add.
    public var note: Note?

    public init(rating: Double? = nil, note: Note? = nil) { (self.rating, self.note) = (rating, note) }
}

/// The book to read after another one, and its new status.
public struct NextBook: Sendable, Equatable {
    public var copy: ID<Copy>
    public var status: Copy.Status

    public init(_ copy: ID<Copy>, _ status: Copy.Status) { (self.copy, self.status) = (copy, status) }
}

extension ReadingLog {
    /// Returns all entries of a reading, newest first.
    public func progress(of reading: ID<Reading>, limit: Int, offset: Int) async throws -> [ProgressEntry] {
        try await progress(of: reading, includesSessions: true, limit: limit, offset: offset)
    }

    /// Sets the status of a book without an opinion of it.
    public func setStatus(
        _ status: Copy.Status, of copy: ID<Copy>, on day: CalendarDay?, ending end: SessionEnd?, at now: Date
    ) async throws -> TrackingResult {
        try await setStatus(status, of: copy, on: day, ending: end, opinion: Opinion(), then: nil, at: now)
    }

    /// Sets the status of a book without a running session.
    public func setStatus(
        _ status: Copy.Status, of copy: ID<Copy>, on day: CalendarDay?, at now: Date
    ) async throws -> TrackingResult {
        try await setStatus(status, of: copy, on: day, ending: nil, at: now)
    }

    /// Records the reader's present page or percentage.
    public func recordProgress(
        _ amount: ProgressEntry.Amount, of copy: ID<Copy>, at now: Date
    ) async throws -> TrackingResult {
        try await recordProgress(amount, of: copy, on: nil, at: now)
    }
}

/// The result of an act on a book's readings, such as recording a page.
public struct TrackingResult: Sendable, Equatable {
    public var book: Book
    /// The reading that the act changed, as it is now; `nil` if there is no such reading or it was deleted.
    public var reading: Reading?
    /// The change, which undo reverts; `nil` if nothing changed.
    public var change: ID<Change>?
    /// True if a session of the book is still running although the book's status is not Reading. Earlier versions left
    /// such sessions. The session continues until somebody ends it, and callers should point this out.
    public var sessionStillRuns: Bool

    public init(book: Book, reading: Reading?, change: ID<Change>?, sessionStillRuns: Bool = false) {
        self.book = book
        self.reading = reading
        self.change = change
        self.sessionStillRuns = sessionStillRuns
    }

    /// True if the progress is a page beyond the book's last page. Such a page is stored and shown as 100%, and callers
    /// should point this out.
    public var isBeyondLastPage: Bool {
        reading?.progress?.amount.isBeyond(book.edition.metadata.pageCount) ?? false
    }
}

/// A session with its book.
public struct SessionRecord: Sendable, Equatable {
    public var session: Session
    public var reading: ID<Reading>
    public var copy: ID<Copy>
    public var title: String?
    public var isbn: ISBN?
    /// The edition's page count; `nil` if unknown.
    public var pageCount: Int?
    /// True if the book is in the trash.
    public var isInTrash: Bool
    /// The change, which undo reverts; `nil` if the session was only read or did not change.
    public var change: ID<Change>?

    public init(
        session: Session, reading: ID<Reading>, copy: ID<Copy>, title: String?, isbn: ISBN?, pageCount: Int?,
        isInTrash: Bool, change: ID<Change>? = nil
    ) {
        self.session = session
        self.reading = reading
        self.copy = copy
        self.title = title
        self.isbn = isbn
        self.pageCount = pageCount
        self.isInTrash = isInTrash
        self.change = change
    }

    /// The text to show as the title, like ``Book/displayTitle``.
    public var displayTitle: String { Edition.displayTitle(title, isbn) }
}
