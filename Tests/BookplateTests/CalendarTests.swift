import Bookplate
import FoundationEssentials
import Testing

@Suite struct `Days of the calendar` {
    @Test func `are counted from the year 1 to 9999 without a gap`() throws {
        let first = try #require(CalendarDay(year: 1, month: 1, day: 1)?.number)
        let last = try #require(CalendarDay(year: 9999, month: 12, day: 31)?.number)
        #expect(first == -719_162 && last == 2_932_896)
        for number in stride(from: first, through: last, by: 97) {
            let day = CalendarDay(number: number)
            #expect(day.number == number)
            #expect(CalendarDay(day.description) == day)
        }
        #expect(CalendarDay("1970-01-01")?.number == 0)
        #expect(CalendarDay("2000-02-29")?.number == 11_016)
        #expect(CalendarDay(number: 20_778).description == "2026-11-21")
    }

    @Test(arguments: [
        ("2026-03-29T00:30:00Z", "Europe/Berlin", "2026-03-29"),
        ("2026-06-30T22:30:00Z", "Europe/Berlin", "2026-07-01"),
        ("2026-01-01T03:00:00Z", "America/New_York", "2025-12-31"),
        ("2026-01-01T00:00:00Z", "Pacific/Kiritimati", "2026-01-01"),
    ])
    func `are those of the local clock`(instant: String, zone: String, day: String) throws {
        let date = try Date.ISO8601FormatStyle().parse(instant)
        #expect(CalendarDay(date, in: try #require(TimeZone(identifier: zone))).description == day)
    }

    @Test(arguments: [
        ("2026-11-21", "Europe/Berlin", "2026-11-20T23:00:00Z", "2026-11-21T11:00:00Z"),
        // The clocks go forward and back between midnight and noon.
        ("2026-03-29", "Europe/Berlin", "2026-03-28T23:00:00Z", "2026-03-29T10:00:00Z"),
        ("2026-10-25", "Europe/Berlin", "2026-10-24T22:00:00Z", "2026-10-25T11:00:00Z"),
        ("2026-02", "America/New_York", "2026-02-01T05:00:00Z", "2026-02-01T17:00:00Z"),
        ("2026-01-01", "Pacific/Kiritimati", "2025-12-31T10:00:00Z", "2025-12-31T22:00:00Z"),
    ])
    func `begin, and have their noon, by the local clock`(
        day: String, zone: String, beginning: String, noon: String
    ) throws {
        let (day, zone) = (try #require(CalendarDay(day)), try #require(TimeZone(identifier: zone)))
        #expect(day.beginning(in: zone).ISO8601Format() == beginning)
        #expect(day.noon(in: zone).ISO8601Format() == noon)
    }

    @Test(arguments: [
        ("2024", "2025-01", true), ("2025", "2025-03", false), ("2025-02", "2025-03-01", true),
        ("2025-03-01", "2025-03-01", false),
        ("2025-03", "2025", false),
    ])
    func `are certain to be before another only if every day of theirs is`(left: String, right: String, isBefore: Bool)
        throws
    {
        #expect(try #require(CalendarDay(left)).isCertainlyBefore(#require(CalendarDay(right))) == isBefore)
    }
}
