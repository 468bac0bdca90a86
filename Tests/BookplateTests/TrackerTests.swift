import Bookplate
import FoundationEssentials
import Testing

let today = CalendarDay("2026-11-21")!
let now = Date(timeIntervalSince1970: 1_795_262_400)

func moment(_ automatic: Tracker.Automatic = [.dates, .progress]) -> Tracker.Moment {
    Tracker.Moment(now: now, zone: .gmt, automatic: automatic)
}

func day(_ text: String) -> CalendarDay { CalendarDay(text)! }

/// Returns the tracker of a book of 382 pages that got its status long ago.
func tracker(_ status: Copy.Status, pageCount: Int? = 382) -> Tracker {
    func entry(_ page: Int) -> ProgressEntry { ProgressEntry(at: now.addingTimeInterval(-86_400), amount: .page(page)) }
    let started = day("2026-01-01")
    let readings: [Reading] =
        switch status {
        case .toRead: []
        case .reading, .onHold: [Reading(started: started, progress: entry(100))]
        case .read: [Reading(state: .finished, started: started, finished: day("2026-02-01"), progress: entry(382))]
        case .dnf: [Reading(state: .stopped, started: started, stopped: day("2026-02-01"), progress: entry(100))]
        }
    return Tracker(status: status, readings: readings, pageCount: pageCount)
}

/// Returns readings as `open 2026-01-01/-/- p100`: state, started, finished, stopped, progress; automatic progress ends
/// in `a`.
func text(_ readings: [Reading]) -> String {
    readings.map { reading in
        let days = [reading.started, reading.finished, reading.stopped].map { $0?.description ?? "-" }
        let progress =
            switch reading.progress?.amount {
            case .page(let page): " p\(page)"
            case .percent(let percent): " \(JSONValue.number(percent).text)%"
            case nil: ""
            }
        return "\(reading.state.rawValue) \(days.joined(separator: "/"))\(progress)"
            + (reading.progress?.isAutomatic == true ? "a" : "")
    }.joined(separator: "; ")
}

@Suite struct `The status of a book` {
    static let held = "open 2026-01-01/-/- p100"
    static let read = "finished 2026-01-01/2026-02-01/- p382"
    static let dnf = "stopped 2026-01-01/-/2026-02-01 p100"

    @Test(
        arguments: [
            (.toRead, .toRead, ""),
            (.toRead, .reading, "open 2026-11-21/-/- p0a"),
            (.toRead, .read, "finished -/2026-11-21/- p382a"),
            (.toRead, .onHold, "open -/-/-"),
            (.toRead, .dnf, "stopped -/-/2026-11-21"),

            (.reading, .toRead, "cancelled 2026-01-01/-/- p100"),
            (.reading, .reading, held),
            (.reading, .read, "finished 2026-01-01/2026-11-21/- p382a"),
            (.reading, .onHold, held),
            (.reading, .dnf, "stopped 2026-01-01/-/2026-11-21 p100"),

            (.read, .toRead, "cancelled 2026-01-01/2026-02-01/- p382"),
            (.read, .reading, "\(read); open 2026-11-21/-/- p0a"),
            (.read, .read, read),
            (.read, .onHold, "\(read); open -/-/-"),
            (.read, .dnf, "\(read); stopped -/-/2026-11-21"),

            (.onHold, .toRead, "cancelled 2026-01-01/-/- p100"),
            (.onHold, .reading, held),
            (.onHold, .read, "finished 2026-01-01/2026-11-21/- p382a"),
            (.onHold, .onHold, held),
            (.onHold, .dnf, "stopped 2026-01-01/-/2026-11-21 p100"),

            (.dnf, .toRead, "cancelled 2026-01-01/-/2026-02-01 p100"),
            (.dnf, .reading, "\(dnf); open 2026-11-21/-/- p0a"),
            (.dnf, .read, "\(dnf); finished -/2026-11-21/- p382a"),
            (.dnf, .onHold, "\(dnf); open -/-/-"),
            (.dnf, .dnf, dnf),
        ] as [(Copy.Status, Copy.Status, String)])
    func `changes from each status to each other`(from: Copy.Status, to: Copy.Status, readings: String) throws {
        var tracker = tracker(from)
        let before = tracker
        let steps = try tracker.set(to, moment())
        #expect(text(tracker.readings) == readings)
        #expect(tracker.status == to)
        #expect(tracker.shown?.state == Reading.State(after: to))
        #expect(steps.isEmpty == (from == to))
        #expect((tracker == before) == (from == to))
        #expect(tracker.readings.prefix(before.readings.count).map(\.id) == before.readings.map(\.id))
    }

    static let cells = Copy.Status.allCases.flatMap { from in Copy.Status.allCases.map { (from, $0) } }

    @Test(arguments: cells)
    func `leaves the dates to the reader when the setting is off`(from: Copy.Status, to: Copy.Status) throws {
        var tracker = tracker(from)
        let dates = tracker.readings.map { [$0.started, $0.finished, $0.stopped] }
        _ = try tracker.set(to, moment([.progress]))
        let after = tracker.readings.map { [$0.started, $0.finished, $0.stopped] }
        #expect(Array(after.prefix(dates.count)) == dates)
        #expect(after.dropFirst(dates.count).allSatisfy { $0 == [nil, nil, nil] })
        #expect(tracker.shown?.state == Reading.State(after: to))
    }

    @Test(arguments: cells)
    func `set by a batch or an import changes neither dates nor progress`(from: Copy.Status, to: Copy.Status) throws {
        var tracker = tracker(from)
        let steps = try tracker.set(to, .ofBatch(at: now))
        #expect(steps.allSatisfy { if case .recorded = $0 { false } else { true } })
        #expect(!text(tracker.readings).contains("2026-11"))
        #expect(tracker.shown?.state == Reading.State(after: to))
    }

    @Test(arguments: cells)
    func `reports each step, so that repeating them gives the same result`(from: Copy.Status, to: Copy.Status) throws {
        var tracker = tracker(from)
        var copy = (status: tracker.status, readings: tracker.readings)
        for step in try tracker.set(to, moment()) {
            switch step {
            case .status(let status): copy.status = status
            case .opened(let reading, let next):
                #expect(next == nil)
                copy.readings.append(reading)
            case .changed(let reading):
                copy.readings[try #require(copy.readings.firstIndex { $0.id == reading.id })] = reading
            case .removed(let id): copy.readings.removeAll { $0.id == id }
            case .recorded(let entry, let id), .redated(let entry, let id):
                copy.readings[try #require(copy.readings.firstIndex { $0.id == id })].progress = entry
            case .corrected(_, let id, let latest), .forgotten(_, let id, let latest):
                copy.readings[try #require(copy.readings.firstIndex { $0.id == id })].progress = latest
            }
        }
        #expect(copy.status == tracker.status && copy.readings == tracker.readings)
    }

    @Test func `never overwrites a person's date`() throws {
        // A reading as an import may contain it.
        let imported = Reading(started: day("2026-01-01"), finished: day("2026-10"))
        var tracker = Tracker(status: .reading, readings: [imported], pageCount: 382)
        _ = try tracker.set(.read, moment())
        #expect(text(tracker.readings) == "finished 2026-01-01/2026-10/- p382a")
    }

    @Test func `sets no end date before a start date in the future`() throws {
        var tracker = tracker(.toRead)
        _ = try tracker.set(.reading, on: day("2026-12-24"), moment())
        _ = try tracker.set(.read, moment())
        #expect(text(tracker.readings) == "finished 2026-12-24/-/- p382a")
    }

    @Test(
        arguments: [
            (.toRead, .reading, "2020", "open 2020/-/- p0a"),
            (.reading, .reading, "2020-05", "open 2020-05/-/- p100"),
            (.reading, .read, "2026-11-01", "finished 2026-01-01/2026-11-01/- p382a"),
            (.read, .read, "2026-03-05", "finished 2026-01-01/2026-03-05/- p382"),
            (.reading, .dnf, "2026", "stopped 2026-01-01/-/2026 p100"),
        ] as [(Copy.Status, Copy.Status, String, String)])
    func `uses the day that the reader gives`(
        from: Copy.Status, to: Copy.Status, on text: String, readings: String
    ) throws {
        var tracker = tracker(from)
        _ = try tracker.set(to, on: day(text), moment([.progress]))
        #expect(BookplateTests.text(tracker.readings) == readings)
    }

    @Test(
        arguments: [
            (.toRead, "2026-11-01", "2026-11-01T23:59:59.000Z"), (.toRead, "2026-10", "2026-10-31T23:59:59.000Z"),
            (.toRead, "2025", "2025-12-31T23:59:59.000Z"),
            // Not in the future, and not before the entry of 20 November.
            (.toRead, "2026-11-21", "2026-11-21T12:00:00.000Z"), (.toRead, "2026", "2026-11-21T12:00:00.000Z"),
            (.toRead, "2027", "2026-11-21T12:00:00.000Z"), (.reading, "2026-11-01", "2026-11-20T12:00:00.000Z"),
        ] as [(Copy.Status, String, String)])
    func `Read records the whole book at the end of the day that the reader gives`(
        from: Copy.Status, on text: String, at: String
    ) throws {
        var tracker = tracker(from)
        _ = try tracker.set(.read, on: day(text), moment())
        let entry = try #require(tracker.shown?.progress)
        #expect(entry.amount == .page(382) && entry.isAutomatic && entry.at.rfc3339 == at)
    }

    @Test func `can be set together with all dates of the reading`() throws {
        var read = tracker(.toRead)
        _ = try read.set(.read, dates: DateEdit(started: .set(day("2026-03"))), moment())
        #expect(text(read.readings) == "finished 2026-03/2026-11-21/- p382a")
        var undated = tracker(.toRead)
        _ = try undated.set(.read, dates: DateEdit(started: .set(day("2026-03")), finished: .clear), moment())
        #expect(text(undated.readings) == "finished 2026-03/-/- p382a")
        var held = tracker(.toRead)
        _ = try held.set(.onHold, dates: DateEdit(started: .set(day("2026"))), moment())
        #expect(text(held.readings) == "open 2026/-/-")
        var begun = tracker(.toRead)
        #expect(throws: ReadingRefusal.wrongEnd(.open)) {
            try begun.set(.reading, dates: DateEdit(finished: .set(day("2026"))), moment())
        }
        #expect(throws: ReadingRefusal.self) {
            try begun.set(.read, dates: DateEdit(started: .set(day("2026")), finished: .set(day("2025"))), moment())
        }
        #expect(begun == tracker(.toRead))
    }

    @Test func `is refused for an end before the start, and nothing changes`() throws {
        var tracker = tracker(.reading)
        let before = tracker
        let (started, finished) = (day("2026-01-01"), day("2025-12"))
        #expect(throws: ReadingRefusal.finishedBeforeStarted(started: started, finished: finished)) {
            try tracker.set(.read, on: finished, moment())
        }
        #expect(throws: ReadingRefusal.stoppedBeforeStarted(started: started, stopped: finished)) {
            try tracker.set(.dnf, on: finished, moment())
        }
        #expect(tracker == before)
        // Both days may be in the year.
        #expect(throws: Never.self) { try tracker.set(.read, on: day("2026"), moment()) }
    }

    @Test func `To Read hides the reading, and the next one is new`() throws {
        var tracker = tracker(.reading)
        _ = try tracker.set(.toRead, moment())
        #expect(tracker.shown == nil)
        _ = try tracker.set(.reading, moment())
        #expect(text(tracker.readings) == "cancelled 2026-01-01/-/- p100; open 2026-11-21/-/- p0a")
    }
}
