import FoundationEssentials

/// The reading tracker: what was read when, and how far.
///
/// Every act is one change that undo takes back, decided on what is stored at that moment, whoever else writes. What day it is
/// the library knows from its time zone. All of them throw ``ReadingRefusal`` or ``SessionError`` and change nothing then.
public protocol ReadingLog: Sendable {
    /// Sets the status as ``Tracker/set(_:on:_:)`` says, dates filled if the library's setting wants it.
    func setStatus(
        _ status: Copy.Status, of copy: ID<Copy>, on day: CalendarDay?, at now: Date
    ) async throws -> TrackingResult
    /// Records a page or percentage.
    ///
    /// - Parameter past: when the reader was there, for what is told afterwards; `nil` for now. The latest entry is the one that
    ///   the book shows.
    func recordProgress(
        _ amount: ProgressEntry.Amount, of copy: ID<Copy>, on past: Date?, at now: Date
    ) async throws -> TrackingResult
    /// Corrects an entry of the history, as ``Tracker/correct(_:by:in:beside:now:)`` says.
    func editProgress(
        _ entry: ID<ProgressEntry>, of copy: ID<Copy>, _ edit: ProgressEdit, at now: Date
    ) async throws -> TrackingResult
    /// Takes an entry out of the history; the latest of those that are left is what the book shows.
    func deleteProgress(_ entry: ID<ProgressEntry>, of copy: ID<Copy>, at now: Date) async throws -> TrackingResult
    /// - Parameter reading: `nil` for the one that the book shows.
    func setDates(
        _ edit: DateEdit, of copy: ID<Copy>, reading: ID<Reading>?, at now: Date
    ) async throws -> TrackingResult
    /// Adds a reading that was over before it was told.
    func addReading(
        to copy: ID<Copy>, started: CalendarDay?, finished: CalendarDay?, stopped: CalendarDay?, at now: Date
    ) async throws -> TrackingResult
    /// Deletes a reading with its entries and sessions.
    func deleteReading(_ reading: ID<Reading>, of copy: ID<Copy>, at now: Date) async throws -> TrackingResult
    /// The entries of a reading, newest first.
    func progress(of reading: ID<Reading>, limit: Int, offset: Int) async throws -> [ProgressEntry]

    /// The session that is running, also when its book is in the trash; `nil` when none is.
    func runningSession() async throws -> SessionRecord?
    /// Begins a session and sets the book to Reading.
    ///
    /// - Parameters:
    ///   - page: `nil` for the current page.
    ///   - start: `nil` for now.
    func startSession(of copy: ID<Copy>, page: Int?, from start: Date?, at now: Date) async throws -> SessionRecord
    /// Ends the running session as ``Session/ended(at:page:forced:now:)`` says, and sets the current page.
    ///
    /// - Parameter id: which one is meant; `nil` for whichever runs.
    /// - Throws: ``SessionError/alreadyEnded`` when another one runs than is meant, or none.
    func stopSession(
        _ id: ID<Session>?, page: Int?, end: Date?, forced: Bool, at now: Date
    ) async throws -> SessionRecord
    /// Adds a session told afterwards. A book that is To Read is started by it, on the day of the session.
    ///
    /// - Parameter startPage: `nil` for the page that was the current one at that time, as far as the end page allows.
    func addSession(
        of copy: ID<Copy>, start: Date, end: Date, startPage: Int?, endPage: Int?, at now: Date
    ) async throws -> SessionRecord
    /// Corrects a session, unless its book is in the trash; the progress entry that its end made follows.
    func editSession(_ id: ID<Session>, _ edit: SessionEdit, at now: Date) async throws -> SessionRecord
    /// Deletes a session, unless it is over and its book is in the trash, and the progress entry that its end made.
    ///
    /// - Returns: what was deleted.
    func deleteSession(_ id: ID<Session>, at now: Date) async throws -> SessionRecord
    /// Sessions, newest first, of one copy reading by reading; those of cancelled readings are left out.
    ///
    /// - Parameter copy: `nil` for all books outside the trash.
    func sessions(of copy: ID<Copy>?, limit: Int, offset: Int) async throws -> [SessionRecord]
    /// The sessions whose id ends in `text`, ten at the most.
    func sessions(endingIn text: String) async throws -> [SessionRecord]
    /// What the sessions of a copy come to; those of cancelled readings are left out.
    func sessionTotals(of copy: ID<Copy>) async throws -> SessionTotals
}

extension ReadingLog {
    /// Records where the reader is now.
    public func recordProgress(
        _ amount: ProgressEntry.Amount, of copy: ID<Copy>, at now: Date
    ) async throws -> TrackingResult {
        try await recordProgress(amount, of: copy, on: nil, at: now)
    }
}

/// What became of an act of the tracker.
public struct TrackingResult: Sendable, Equatable {
    public var book: Book
    /// The reading that it was about, as it is now; `nil` when there is none, or it was deleted.
    public var reading: Reading?
    /// What undo takes back; `nil` when nothing changed.
    public var change: ID<Change>?
    /// Whether a session of the book is still running although the book is not in Reading any more: it goes on until somebody
    /// ends it, and is to be pointed out.
    public var sessionStillRuns: Bool

    public init(book: Book, reading: Reading?, change: ID<Change>?, sessionStillRuns: Bool = false) {
        self.book = book
        self.reading = reading
        self.change = change
        self.sessionStillRuns = sessionStillRuns
    }

    /// Whether the progress is a page beyond the book's last: kept, shown as all of it, to be pointed out.
    public var isBeyondLastPage: Bool {
        reading?.progress?.amount.isBeyond(book.edition.metadata.pageCount) ?? false
    }
}

/// A session with the book that was read in it.
public struct SessionRecord: Sendable, Equatable {
    public var session: Session
    public var reading: ID<Reading>
    public var copy: ID<Copy>
    public var title: String?
    public var isbn: ISBN?
    /// Of the edition; `nil` when unknown.
    public var pageCount: Int?
    /// Whether the book is in the trash.
    public var isInTrash: Bool
    /// What undo takes back, of an act that changed it; `nil` of one that was only read, or stayed as it was.
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

    /// As ``Book/displayTitle``.
    public var displayTitle: String { Edition.displayTitle(title, isbn) }
}
