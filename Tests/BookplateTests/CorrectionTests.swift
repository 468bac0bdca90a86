import Bookplate
import FoundationEssentials
import Testing

@Suite struct `An entry of the history` {
    private let begun = Date(timeIntervalSince1970: 1_700_000_000)
    private var now: Date { begun.addingTimeInterval(86_400) }

    private func entry(_ amount: ProgressEntry.Amount, _ hours: Double = 1, automatic: Bool = false) -> ProgressEntry {
        ProgressEntry(at: begun.addingTimeInterval(hours * 3600), amount: amount, isAutomatic: automatic)
    }

    private func showing(
        _ entry: ProgressEntry, status: Copy.Status = .reading, _ state: Reading.State = .open
    ) -> (Tracker, ID<Reading>) {
        let reading = Reading(state: state, progress: entry)
        return (Tracker(status: status, readings: [reading], pageCount: 382), reading.id)
    }

    @Test func `is corrected, and no longer automatic`() throws {
        let wrong = entry(.page(14), automatic: true)
        let (before, id) = showing(wrong)
        var tracker = before
        let steps = try tracker.correct(wrong, by: ProgressEdit(amount: .page(145)), in: id, beside: nil, now: now)
        let shown = try #require(tracker.shown?.progress)
        #expect(shown.amount == .page(145) && shown.at == wrong.at && shown.id == wrong.id && !shown.isAutomatic)
        #expect(steps == [.corrected(shown, in: id, latest: shown)])
        let same = try tracker.correct(shown, by: ProgressEdit(amount: .page(145)), in: id, beside: nil, now: now)
        #expect(same.isEmpty)
    }

    @Test func `can be corrected in a closed reading, which accepts no new one`() throws {
        let wrong = entry(.percent(9))
        let (before, id) = showing(wrong, status: .read, .finished)
        var tracker = before
        _ = try tracker.correct(wrong, by: ProgressEdit(amount: .percent(90.004)), in: id, beside: nil, now: now)
        #expect(tracker.shown?.progress?.amount == .percent(90))
        #expect(throws: ReadingRefusal.closed(.read)) {
            try tracker.record(.page(1), Tracker.Moment(now: now, zone: .gmt, automatic: []))
        }
    }

    @Test(
        arguments: [
            (ProgressEdit(amount: .page(-1)), .negativePage(-1)),
            (ProgressEdit(amount: .percent(100.5)), .badPercent(100.5)),
            (ProgressEdit(at: Date(timeIntervalSince1970: 1_700_086_401)), .entryInFuture),
        ] as [(ProgressEdit, ReadingRefusal)])
    func `is not corrected to an impossible value`(_ edit: ProgressEdit, _ refusal: ReadingRefusal) throws {
        let old = entry(.page(10))
        let (before, id) = showing(old)
        var tracker = before
        #expect(throws: refusal) { try tracker.correct(old, by: edit, in: id, beside: nil, now: now) }
        #expect(tracker == before)
    }

    @Test func `beyond the last page or in the future stays there while the rest is corrected`() throws {
        let old = entry(.page(999), 48)
        let (before, id) = showing(old)
        var tracker = before
        _ = try tracker.correct(old, by: ProgressEdit(amount: .page(99)), in: id, beside: nil, now: now)
        #expect(tracker.shown?.progress?.amount == .page(99) && tracker.shown?.progress?.at == old.at)
        _ = try tracker.correct(old, by: ProgressEdit(at: begun), in: id, beside: nil, now: now)
        #expect(tracker.shown?.progress?.amount == .page(999) && tracker.shown?.progress?.at == begun)
    }

    @Test func `can lie beyond the last page, because the page count may be wrong`() throws {
        let old = entry(.page(38))
        let (before, id) = showing(old)
        var tracker = before
        _ = try tracker.correct(old, by: ProgressEdit(amount: .page(383)), in: id, beside: nil, now: now)
        #expect(tracker.shown?.progress?.amount == .page(383) && tracker.shown?.progress?.amount.isBeyond(382) == true)
    }

    @Test func `that is deleted or moved back leaves the latest of the others shown`() throws {
        let (latest, other) = (entry(.page(200), 5), entry(.page(50), 2))
        let (before, id) = showing(latest)
        var (falling, going) = (before, before)
        _ = try falling.correct(latest, by: ProgressEdit(at: begun), in: id, beside: other, now: now)
        #expect(falling.shown?.progress == other)
        #expect(try going.forget(latest, in: id, beside: other) == [.forgotten(latest.id, in: id, latest: other)])
        #expect(going.shown?.progress == other && going.status == .reading)
        _ = try going.forget(other, in: id, beside: nil)
        #expect(going.shown?.progress == nil)
    }

    @Test func `is never hidden by an automatic entry`() throws {
        let (told, begin) = (entry(.page(200), 5), entry(.page(0), 2, automatic: true))
        let (before, id) = showing(told)
        var tracker = before
        _ = try tracker.correct(told, by: ProgressEdit(at: begun), in: id, beside: begin, now: now)
        #expect(tracker.shown?.progress?.amount == .page(200))
    }

    @Test func `of a session or of a cancelled reading cannot be changed`() throws {
        var ofSession = entry(.page(20))
        ofSession.session = ID()
        let (before, id) = showing(ofSession)
        var tracker = before
        #expect(throws: ReadingRefusal.entryOfSession) {
            try tracker.correct(ofSession, by: ProgressEdit(amount: .page(1)), in: id, beside: nil, now: now)
        }
        #expect(throws: ReadingRefusal.entryOfSession) { try tracker.forget(ofSession, in: id, beside: nil) }
        let (cancelled, other) = showing(entry(.page(1)), status: .toRead, .cancelled)
        tracker = cancelled
        #expect(throws: ReadingRefusal.noSuchReading) { try tracker.forget(entry(.page(1)), in: other, beside: nil) }
    }
}
