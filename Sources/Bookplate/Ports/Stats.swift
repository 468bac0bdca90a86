import FoundationEssentials

/// The library in figures. The trash and cancelled readings are not counted. Each call reads one consistent state.
public protocol Stats: Sendable {
    /// What is being read, and the last that were read.
    ///
    /// - Parameter limit: of the books being read; of those read there are five at the most.
    func home(limit: Int, at now: Date, in zone: TimeZone) async throws -> Home
    /// This year's line and what is remembered today: a small part of ``overview(_:year:at:in:)`` and
    /// ``onThisDay(at:in:)``, from this year's rows alone.
    func yearSoFar(at now: Date, in zone: TimeZone) async throws -> YearSoFar
    /// Everything about the library as a whole.
    ///
    /// - Parameters:
    ///   - period: what the totals cover.
    ///   - year: whose challenge and cultural goals are shown; `nil` for this one.
    func overview(_ period: Period, year: Int?, at now: Date, in zone: TimeZone) async throws -> Overview
    /// The days with reading in the period, oldest first.
    func days(in period: Period, zone: TimeZone) async throws -> [DayStats]
    /// What was started, finished or being read on this day of earlier years, the latest year first.
    func onThisDay(at now: Date, in zone: TimeZone) async throws -> [Memory]
    /// - Returns: `nil` when there is no such copy.
    func figures(of copy: ID<Copy>, at now: Date, in zone: TimeZone) async throws -> BookStats?
    /// Gives every event of every reading in order: by date, what is known less exactly first; on one day what was started,
    /// sessions by their start, then what was finished and stopped.
    ///
    /// - Parameter take: called for one event after the other; what it throws ends the listing.
    func timeline(in zone: TimeZone, _ take: @escaping @Sendable (TimelineEvent) throws -> Void) async throws
}
