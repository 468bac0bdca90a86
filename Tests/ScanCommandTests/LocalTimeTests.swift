import Bookplate
import Foundation
import Testing

@testable import ScanCommand

@Suite struct `Times and progress bars` {
    private let localTime = LocalTime(
        now: Date(timeIntervalSince1970: 1_795_262_400), zone: TimeZone(identifier: "Europe/Berlin") ?? .gmt)

    @Test(arguments: [
        ("12:30", "2026-11-21T11:30:00.000Z"), ("13:05:07", "2026-11-21T12:05:07.000Z"),
        ("2026-07-01 14:30", "2026-07-01T12:30:00.000Z"), ("2026-07-01T14:30", "2026-07-01T12:30:00.000Z"),
        ("2026-07-01T14:30:00Z", "2026-07-01T14:30:00.000Z"), ("2026-07-01t14:30:00.250z", "2026-07-01T14:30:00.250Z"),
        ("2026-07-01T14:30:00+02:00", "2026-07-01T12:30:00.000Z"), ("yesterday 21:00", "2026-11-20T20:00:00.000Z"),
    ])
    func `are parsed as they are typed`(text: String, instant: String) throws {
        #expect(try localTime.time(text, for: "--start").rfc3339 == instant)
    }

    @Test func `typed just after midnight mean the last evening`() throws {
        let night = LocalTime(now: Date(timeIntervalSince1970: 1_795_302_000), zone: localTime.zone)
        #expect(night.dateTime(night.now) == "2026-11-22 00:00")
        #expect(night.dateTime(try night.time("23:50", for: "--end")) == "2026-11-21 23:50")
        #expect(night.dateTime(try night.time("0:10", for: "--end")) == "2026-11-22 00:10")
    }

    @Test(arguments: [
        "", "noon", "24:00", "14:60", "14", "-1:00", "2026-11 14:30", "2026-11-21", "2026-02-29 14:30",
        "2026-03-29 02:30", "2026-11-21T14:30:00Y", String(repeating: "9", count: 100_000),
    ])
    func `are refused if they do not exist`(text: String) {
        let error = #expect(throws: CommandError.self) { try localTime.time(text, for: "--start") }
        #expect(error?.status == .usage && (error?.description.count ?? 999) < 200)
    }

    @Test(
        arguments: [
            (.page(145), 382, "Page 145 of 382 ███░░░░░░░ 38 %"), (.page(145), nil, "Page 145"),
            (.page(191), 382, "Page 191 of 382 █████░░░░░ 50 %"),
            (.percent(37.5), nil, "███░░░░░░░ 38 %"), (.percent(100), 382, "██████████ 100 %"),
            (.page(381), 382, "Page 381 of 382 █████████░ 99 %"), (.page(0), 382, "Page 0 of 382 ░░░░░░░░░░ 0 %"),
            (.page(400), 382, "Page 400 of 382 ██████████ 100 % (beyond the last page)"),
        ] as [(ProgressEntry.Amount, Int?, String)])
    func `show how far a book is read`(amount: ProgressEntry.Amount, pageCount: Int?, text: String) {
        #expect(ReadingBar(amount: amount, pageCount: pageCount).text() == text)
    }

    @Test(arguments: [
        (0, "00:00"), (754, "12:34"), (3599, "59:59"), (4510, "1:15:10"), (55_987, "15:33:07"), (360_000, "100:00:00"),
    ])
    func `of a running session are shown as minutes and seconds`(seconds: Int, text: String) {
        #expect(LocalTime.elapsed(seconds) == text)
    }

    @Test(arguments: ["2026-03-29 02:30", "2026-03-29T02:59:59"])
    func `that daylight saving time skips are refused with the reason`(text: String) {
        let error = #expect(throws: CommandError.self) { try localTime.time(text, for: "--at") }
        #expect(error?.description.contains("does not exist on 2026-03-29, because the clocks go forward") == true)
    }
}
