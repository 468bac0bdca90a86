import FoundationEssentials

/// Statistics of the library, without the trash and cancelled readings. Each call reads one consistent state.
public protocol Stats: Sendable {
    /// Returns the books being read, and the last ones read.
    ///
    /// - Parameter limit: the most books being read; at most five books that were read are listed.
    func home(limit: Int, at now: Date, in zone: TimeZone) async throws -> Home
    /// Returns the summary of this year and the memories of today: a small part of ``overview(_:year:at:in:)`` and
    /// ``onThisDay(at:in:)``, from this year's rows alone.
    func yearSoFar(at now: Date, in zone: TimeZone) async throws -> YearSoFar
    /// Returns the statistics of the whole library.
    ///
    /// - Parameters:
    ///   - period: the period of the totals.
    ///   - year: the year of the challenge and the cultural goals; `nil` for the current year.
    func overview(_ period: Period, year: Int?, at now: Date, in zone: TimeZone) async throws -> Overview
    /// Returns the days with reading in the period, oldest first.
    func days(in period: Period, zone: TimeZone) async throws -> [DayStats]
    /// Returns what was started, finished or being read on this day of earlier years, latest year first.
    func onThisDay(at now: Date, in zone: TimeZone) async throws -> [Memory]
    /// - Returns: `nil` if there is no such copy.
    func stats(of copy: ID<Copy>, at now: Date, in zone: TimeZone) async throws -> BookStats?
    /// Lists every event of every reading in order: by date, less precise dates first; within a day first the starts,
    /// then sessions by their start, then what was finished and stopped.
    ///
    /// - Parameter take: called for each event; an error that it throws ends the listing.
    func timeline(in zone: TimeZone, _ take: @escaping @Sendable (TimelineEvent) throws -> Void) async throws
}
