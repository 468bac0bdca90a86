import Bookplate
import FoundationEssentials
import Testing

@Suite struct `A past session` {
    private static let berlin = TimeZone(secondsFromGMT: 3600)!

    private func started(on day: String?, in zone: TimeZone = .gmt) throws -> Tracker {
        var tracker = tracker(.toRead)
        let moment = Tracker.Moment(now: now, zone: zone, automatic: [.dates, .progress])
        _ = try tracker.set(.reading, on: day.map(BookplateTests.day), moment)
        return tracker
    }

    /// Half an hour that ended `seconds` after noon of 2026-11-21.
    private func session(_ end: TimeInterval, to page: Int) -> Session {
        Session(start: now.addingTimeInterval(end - 1800), end: now.addingTimeInterval(end), endPage: page)
    }

    @Test(
        arguments: [
            (nil, TimeZone.gmt, "2026-11-21T00:00:00.000Z"), (nil, berlin, "2026-11-20T23:00:00.000Z"),
            ("2026-11-10", berlin, "2026-11-09T23:00:00.000Z"), ("2026-11", .gmt, "2026-11-01T00:00:00.000Z"),
            ("2020", .gmt, "2020-01-01T00:00:00.000Z"), ("0001-01-01", .gmt, "0001-01-01T00:00:00.000Z"),
            // No entry is dated to the future.
            ("2026-12-24", .gmt, "2026-11-21T12:00:00.000Z"),
        ] as [(String?, TimeZone, String)])
    func `comes after the entry of nothing read, at the beginning of the first day`(
        day: String?, zone: TimeZone, at: String
    ) throws {
        let entry = try #require(try started(on: day, in: zone).shown?.progress)
        #expect(entry.at.rfc3339 == at && entry.isAutomatic && entry.amount == .page(0))
    }

    @Test func `on the day of a clock change comes after the beginning of that day`() throws {
        let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
        #expect(day("2026-03-29").beginning(in: zone).rfc3339 == "2026-03-28T23:00:00.000Z")
        #expect(day("2026-03-30").beginning(in: zone).rfc3339 == "2026-03-29T22:00:00.000Z")
    }

    @Test(
        arguments: [
            // Sessions on the first day, hours before the reading was started here; on a later day; and on days before
            // the first.
            (nil, -3600, 40), ("2026-11-10", -9 * 86_400, 40), (nil, -86_400, 40), ("2026-11-20", -9 * 86_400, 40),
            // Without pages there is nothing to record.
            (nil, -3600, 0),
        ] as [(String?, TimeInterval, Int)])
    func `sets the current page, whenever the reading was started`(
        day: String?, end: TimeInterval, page: Int
    ) throws {
        var tracker = try started(on: day)
        let reading = try #require(tracker.shown)
        _ = tracker.record(session(end, to: page), of: reading.id, endedAt: nil)
        #expect(tracker.shown?.currentPage(of: 382) == page)
    }

    @Test func `before the first day moves the entry of nothing to its start, so that the next continues from it`()
        throws
    {
        var tracker = try started(on: nil)
        let reading = try #require(tracker.shown)
        var nothing = try #require(reading.progress)
        let told = session(-86_400, to: 40)
        nothing.at = told.start
        let steps = tracker.record(told, of: reading.id, endedAt: nil)
        #expect(steps.first == .redated(nothing, in: reading.id) && steps.count == 2)
        // Another session, at an earlier time than the first, comes before the first.
        let earlier = tracker.record(session(-90_000, to: 20), of: reading.id, endedAt: nil)
        #expect(earlier.count == 1)
        #expect(tracker.shown?.currentPage(of: 382) == 40)
    }

    @Test func `yields to a manual entry of a later time`() throws {
        var tracker = try started(on: nil)
        let reading = try #require(tracker.shown)
        _ = try tracker.record(.page(20), moment())
        #expect(tracker.record(session(-86_400, to: 40), of: reading.id, endedAt: nil).count == 1)
        #expect(tracker.shown?.currentPage(of: 382) == 20)
    }

    @Test func `of a finished reading leaves it finished`() throws {
        var tracker = try started(on: nil)
        let reading = try #require(tracker.shown)
        _ = try tracker.set(.read, moment())
        _ = tracker.record(session(-86_400, to: 400), of: reading.id, endedAt: nil)
        #expect(tracker.shown?.progress?.amount == .page(382))
    }
}
