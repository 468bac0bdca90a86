import Bookplate
import FoundationEssentials
import Testing

@Suite struct `Progress` {
    @Test(
        arguments: [
            (.toRead, .page(145), "open 2026-11-21/-/- p145"), (.reading, .page(145), "open 2026-01-01/-/- p145"),
            (.reading, .percent(37.5), "open 2026-01-01/-/- 37.5%"), (.reading, .page(0), "open 2026-01-01/-/- p0"),
            (.onHold, .percent(100), "open 2026-01-01/-/- 100%"), (.reading, .page(9999), "open 2026-01-01/-/- p9999"),
            (.reading, .percent(33.336), "open 2026-01-01/-/- 33.34%"),
        ] as [(Copy.Status, ProgressEntry.Amount, String)])
    func `is kept in the unit given, and makes the book Reading`(
        status: Copy.Status, amount: ProgressEntry.Amount, readings: String
    ) throws {
        var tracker = tracker(status)
        let steps = try tracker.record(amount, moment())
        #expect(text(tracker.readings) == readings)
        #expect(tracker.status == .reading)
        // There is one entry with the given amount, and no entry if nothing was read.
        #expect(steps.filter { if case .recorded = $0 { true } else { false } }.count == 1)
    }

    @Test(
        arguments: [
            (.page(-1), .negativePage(-1)), (.page(.min), .negativePage(.min)),
            (.page(99_999_999_999), .hugePage(99_999_999_999)), (.percent(-0.01), .badPercent(-0.01)),
            (.percent(100.01), .badPercent(100.01)), (.percent(101), .badPercent(101)),
            (.percent(.infinity), .badPercent(.infinity)),
        ] as [(ProgressEntry.Amount, ReadingRefusal)])
    func `is refused when there is no such page or percentage`(
        amount: ProgressEntry.Amount, refusal: ReadingRefusal
    ) throws {
        var tracker = tracker(.toRead)
        #expect(throws: refusal) { try tracker.record(amount, moment()) }
        #expect(tracker == BookplateTests.tracker(.toRead))
        #expect(refusal.description.contains("0"))
    }

    @Test func `is refused when it is not a number`() throws {
        var tracker = tracker(.reading)
        #expect(throws: ReadingRefusal.self) { try tracker.record(.percent(.nan), moment()) }
    }

    @Test(arguments: [Copy.Status.read, .dnf])
    func `is refused for a closed reading: it could belong to it or to the next`(status: Copy.Status) throws {
        var tracker = tracker(status)
        #expect(throws: ReadingRefusal.closed(status)) { try tracker.record(.page(1), moment()) }
    }

    @Test(
        arguments: [
            (.page(145), 382, 145.0 / 382, false), (.page(382), 382, 1, false), (.page(400), 382, 1, true),
            (.page(145), nil, nil, false), (.page(145), 0, nil, false), (.percent(37.5), nil, 0.375, false),
            (.percent(37.5), 382, 0.375, false), (.page(0), 382, 0, false),
        ] as [(ProgressEntry.Amount, Int?, Double?, Bool)])
    func `is a part of the book, all of it beyond the last page, unknown without a page count`(
        amount: ProgressEntry.Amount, pageCount: Int?, part: Double?, isBeyond: Bool
    ) {
        #expect(amount.fraction(of: pageCount) == part)
        #expect(amount.isBeyond(pageCount) == isBeyond)
    }

    @Test(
        arguments: [
            (.page(145), 382, 145), (.percent(50), 382, 191), (.percent(50), nil, 0), (.percent(99.9), 300, 299),
            (.percent(29), 100, 29), (.percent(0.57), 10_000, 57), (.percent(100), Int.max, 1_000_000),
            (.page(400), 382, 400), (nil, 382, 0),
        ] as [(ProgressEntry.Amount?, Int?, Int)])
    func `gives the current page, from the percentage where it must`(
        amount: ProgressEntry.Amount?, pageCount: Int?, page: Int
    ) {
        let reading = Reading(progress: amount.map { ProgressEntry(at: now, amount: $0) })
        #expect(reading.currentPage(of: pageCount) == page)
    }

    @Test(
        arguments: [
            (nil, 382, .read, .page(382)), (nil, nil, .read, .percent(100)), (nil, 382, .reading, .page(0)),
            (nil, nil, .reading, .percent(0)), (.percent(40), 382, .read, .percent(100)),
            (.page(40), 382, .read, .page(382)), (.page(40), nil, .read, .percent(100)),
            // The amount is recorded already, so nothing is added.
            (.page(40), 382, .reading, .page(40)), (.page(400), 382, .read, .page(400)),
            (.percent(100), 382, .read, .percent(100)), (.page(382), 382, .read, .page(382)),
        ] as [(ProgressEntry.Amount?, Int?, Copy.Status, ProgressEntry.Amount)])
    func `of nothing and of everything is recorded automatically, in the unit in use`(
        told: ProgressEntry.Amount?, pageCount: Int?, status: Copy.Status, after: ProgressEntry.Amount
    ) throws {
        let entry = told.map { ProgressEntry(at: now, amount: $0) }
        var tracker = Tracker(status: .onHold, readings: [Reading(progress: entry)], pageCount: pageCount)
        _ = try tracker.set(status, moment())
        let progress = try #require(tracker.shown?.progress)
        #expect(progress.amount == after)
        #expect(progress.isAutomatic == (after != told))
    }

    @Test func `of a re-read begins in the unit of the reading before`() throws {
        let first = Reading(state: .finished, progress: ProgressEntry(at: now, amount: .percent(100)))
        var tracker = Tracker(status: .read, readings: [first], pageCount: 382)
        _ = try tracker.set(.reading, moment())
        #expect(tracker.shown?.progress?.amount == .percent(0))
    }

    @Test func `is not hidden by an entry made while the clock was ahead`() throws {
        let later = ProgressEntry(at: now.addingTimeInterval(3600), amount: .page(10))
        var tracker = Tracker(status: .reading, readings: [Reading(progress: later)], pageCount: 382)
        _ = try tracker.record(.page(20), moment())
        #expect(tracker.shown?.progress?.amount == .page(20))
        #expect(tracker.shown?.progress?.at == later.at)
    }
}

@Suite struct `The dates of a reading` {
    @Test(
        arguments: [
            (.reading, DateEdit(started: .set(day("2025"))), "open 2025/-/- p100"),
            (.reading, DateEdit(started: .clear), "open -/-/- p100"),
            (.read, DateEdit(started: .clear, finished: .clear), "finished -/-/- p382"),
            (.read, DateEdit(finished: .set(day("9999-12-31"))), "finished 2026-01-01/9999-12-31/- p382"),
            (.read, DateEdit(started: .set(day("0001-01-01"))), "finished 0001-01-01/2026-02-01/- p382"),
            (.dnf, DateEdit(stopped: .set(day("2026-01-01"))), "stopped 2026-01-01/-/2026-01-01 p100"),
        ] as [(Copy.Status, DateEdit, String)])
    func `are set and cleared at any time`(status: Copy.Status, edit: DateEdit, readings: String) throws {
        var tracker = tracker(status)
        let steps = try tracker.setDates(edit, of: nil)
        #expect(text(tracker.readings) == readings)
        #expect(steps == [.changed(tracker.readings[0])])
        #expect(tracker.status == status)
        #expect(try tracker.setDates(edit, of: nil).isEmpty)
    }

    @Test(
        arguments: [
            (
                .read, DateEdit(started: .set(day("2026-03"))),
                "finished on 2026-02-01, because it was only started on 2026-03"
            ),
            (.read, DateEdit(finished: .set(day("2025"))), "finished on 2025"),
            (.dnf, DateEdit(stopped: .set(day("2025-12-31"))), "stopped reading the book on 2025-12-31"),
            (.dnf, DateEdit(finished: .set(day("2026-03"))), "you stopped this reading"),
            (.read, DateEdit(stopped: .set(day("2026-03"))), "is finished"),
            (.reading, DateEdit(finished: .set(day("2026-03"))), "has not ended"),
            (.onHold, DateEdit(stopped: .set(day("2026-03"))), "has not ended"),
            (.toRead, DateEdit(started: .clear), "To Read"),
        ] as [(Copy.Status, DateEdit, String)])
    func `are refused with the reason`(status: Copy.Status, edit: DateEdit, reason: String) throws {
        var tracker = tracker(status)
        let before = tracker
        let refusal = #expect(throws: ReadingRefusal.self) { try tracker.setDates(edit, of: nil) }
        #expect(refusal?.description.contains(reason) == true, "\(refusal?.description ?? "")")
        #expect(tracker == before)
    }

    @Test func `of an earlier reading are changed by naming it, also while the book is To Read`() throws {
        var tracker = tracker(.read)
        let first = tracker.readings[0].id
        _ = try tracker.set(.reading, moment())
        _ = try tracker.set(.toRead, moment())
        _ = try tracker.setDates(DateEdit(finished: .set(day("2026-02"))), of: first)
        #expect(tracker.readings[0].finished == day("2026-02"))
        #expect(throws: ReadingRefusal.noSuchReading) { try tracker.setDates(DateEdit(), of: ID()) }
        let cancelled = tracker.readings[1].id
        #expect(throws: ReadingRefusal.noSuchReading) { try tracker.setDates(DateEdit(), of: cancelled) }
    }

    @Test(
        arguments: [
            (.toRead, "2020", nil, nil, "finished 2020/-/-"),
            (.reading, "2019", "2020", nil, "finished 2019/2020/-; open 2026-01-01/-/- p100"),
            // The added reading is later than the one that is shown. A book that is Read shows the newest reading; any
            // other book shows the reading that matches its status.
            (.read, nil, "2026-11", nil, "finished 2026-01-01/2026-02-01/- p382; finished -/2026-11/-"),
            (.read, nil, "2020", nil, "finished -/2020/-; finished 2026-01-01/2026-02-01/- p382"),
            (.read, nil, nil, "2026-11", "stopped -/-/2026-11; finished 2026-01-01/2026-02-01/- p382"),
            (.reading, nil, "2026-11", nil, "finished -/2026-11/-; open 2026-01-01/-/- p100"),
            (.read, nil, nil, nil, "finished -/-/-; finished 2026-01-01/2026-02-01/- p382"),
        ] as [(Copy.Status, String?, String?, String?, String)])
    func `of a past reading determine its place`(
        status: Copy.Status, started: String?, finished: String?, stopped: String?, readings: String
    ) throws {
        var tracker = tracker(status)
        _ = try tracker.addPast(
            started: started.map(day), finished: finished.map(day), stopped: stopped.map(day))
        #expect(text(tracker.readings) == readings)
        #expect(tracker.status == status)
        #expect(tracker.shown?.state == Reading.State(after: status))
    }

    @Test func `of a past reading must make sense`() {
        var tracker = tracker(.toRead)
        let (early, late) = (day("2020"), day("2021"))
        #expect(throws: ReadingRefusal.twoEnds) { try tracker.addPast(started: nil, finished: early, stopped: late) }
        #expect(throws: ReadingRefusal.finishedBeforeStarted(started: late, finished: early)) {
            try tracker.addPast(started: late, finished: early, stopped: nil)
        }
    }

    @Test func `are deleted with a reading, unless the status refers to it`() throws {
        var tracker = tracker(.reading)
        let shown = tracker.readings[0].id
        _ = try tracker.addPast(started: nil, finished: day("2020"), stopped: nil)
        #expect(throws: ReadingRefusal.lastReading(.reading)) { try tracker.remove(shown) }
        let past = tracker.readings[0].id
        #expect(try tracker.remove(past) == [.removed(past)])
        #expect(text(tracker.readings) == "open 2026-01-01/-/- p100")

        // If a book was read twice, either reading may be deleted.
        var twice = BookplateTests.tracker(.read)
        _ = try twice.addPast(started: nil, finished: day("2020"), stopped: nil)
        _ = try twice.remove(twice.readings[1].id)
        #expect(text(twice.readings) == "finished -/2020/-")
        #expect(throws: ReadingRefusal.lastReading(.read)) { try twice.remove(twice.readings[0].id) }
    }
}
