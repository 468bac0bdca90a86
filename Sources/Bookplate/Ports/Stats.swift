import FoundationEssentials

/// The statistics of the library, without books in the trash and without cancelled readings. Each call reads one
/// consistent state of the library.
///
/// They are those of one reader, or of all readers outside the trash together (``Readers/ofEverybody()``). For
/// everybody, the readings and ratings of all readers count, the status of a copy is the one of
/// ``Copy/Status/forEverybody``, a copy is a wish or a favourite if it is anybody's, and goals are left out.
public protocol Stats: Sendable {
    /// Returns the books being read, and the books that were read last.
    ///
    /// - Parameter limit: the maximum number of books being read that are listed. At most five of the books that were
    ///   read are listed.
    func home(limit: Int, at now: Date, in zone: TimeZone) async throws -> Home
    /// Returns the summary of this year and the memories of today (events on this day in earlier years). This is a
    /// small part of ``overview(_:year:at:in:)`` and ``onThisDay(limit:at:in:)``.
    func yearSoFar(at now: Date, in zone: TimeZone) async throws -> YearSoFar
    /// Returns the statistics of the whole library.
    ///
    /// - Parameters:
    ///   - period: the period of the totals.
    ///   - year: the year of the challenge and the cultural goals; `nil` for the current year.
    func overview(_ period: Period, year: Int?, at now: Date, in zone: TimeZone) async throws -> Overview
    /// Returns the books that were read in a period, counted by what they are.
    ///
    /// - Parameter year: the year whose months are counted.
    func readBooks(in period: Period, monthsOf year: Int, zone: TimeZone) async throws -> ReadBooks
    /// Returns a year as its reader looks back on it.
    func review(of year: Int, at now: Date, in zone: TimeZone) async throws -> YearReview
    /// Returns the goals alone.
    ///
    /// - Parameter year: the year of the challenge and the cultural goals; `nil` for the current year.
    func goals(year: Int?, at now: Date, in zone: TimeZone) async throws -> Goals
    /// Returns the days in the period on which anything was read, oldest first.
    func days(in period: Period, zone: TimeZone) async throws -> [DayStats]
    /// Returns what was started, finished or being read on this day in earlier years, latest year first.
    ///
    /// - Parameter limit: the maximum number of memories.
    func onThisDay(limit: Int, at now: Date, in zone: TimeZone) async throws -> [Memory]
    /// Returns the statistics of one copy.
    ///
    /// - Returns: `nil` if there is no such copy.
    func stats(of copy: ID<Copy>, at now: Date, in zone: TimeZone) async throws -> BookStats?
    /// Lists every event of every reading by date, less precise dates first. Within a day, starts come first, then
    /// sessions by their start, then finished and stopped readings.
    ///
    /// - Parameter handle: called for each event; an error that it throws ends the listing.
    func timeline(in zone: TimeZone, _ handle: @escaping @Sendable (TimelineEvent) throws -> Void) async throws
    /// Returns the latest events that may lie in a period, newest first: the end of the timeline, backwards.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of events.
    ///   - includesSessions: false to leave out sessions.
    func latestEvents(
        in period: Period, limit: Int, includesSessions: Bool, zone: TimeZone
    ) async throws -> [TimelineEvent]
}

extension Stats {
    /// Returns everything that was started, finished or being read on this day in earlier years, latest year first.
    public func onThisDay(at now: Date, in zone: TimeZone) async throws -> [Memory] {
        try await onThisDay(limit: .max, at: now, in: zone)
    }
}
