import Bookplate
import FoundationEssentials
import Testing

/// `after` seconds from now.
private func at(_ after: TimeInterval) -> Date { now.addingTimeInterval(after) }

@Suite struct `A session` {
    @Test(
        arguments: [
            // From the specification: 60 pages in 30 minutes are 120 an hour.
            (1800, 10, 70, 60, 30, 120), (1800, 10, 50, 40, 30, 80), (1800, 10, 10, 0, 30, nil), (59, 0, 9, 9, 0, nil),
            (60, 0, 1, 1, 1, 60), (119.999, 0, 2, 2, 1, 120), (120, 5, nil, 0, 2, nil), (3600, 0, 33, 33, 60, 33),
        ] as [(TimeInterval, Int, Int?, Int, Int, Double?)])
    func `has pages, whole minutes and a pace in pages an hour`(
        seconds: TimeInterval, startPage: Int, endPage: Int?, pages: Int, minutes: Int, pace: Double?
    ) {
        let session = Session(start: now, end: at(seconds), startPage: startPage, endPage: endPage)
        #expect(session.pagesRead == pages && session.minutes == minutes && session.pace == pace)
    }

    @Test func `that is running has no minutes and no pace yet`() {
        let session = Session(start: now)
        #expect(session.isRunning && session.minutes == nil && session.pace == nil && session.pagesRead == 0)
        #expect(session.seconds(until: at(754.9)) == 754)
        #expect(session.seconds(until: at(-5)) == 0)
        #expect(session.seconds(until: .distantFuture) > 0)
    }

    @Test func `starts now on the current page, unless given another time or page`() throws {
        let session = try Session.started(at: nil, page: nil, currentPage: 145, now: now)
        #expect(session.start == now && session.startPage == 145 && session.isRunning)
        let other = try Session.started(at: at(-600), page: 7, currentPage: 145, now: now)
        #expect(other.start == at(-600) && other.startPage == 7)
        #expect(throws: SessionError.startInFuture) {
            try Session.started(at: at(1), page: nil, currentPage: 0, now: now)
        }
        #expect(throws: ReadingRefusal.negativePage(-1)) {
            try Session.started(at: nil, page: -1, currentPage: 0, now: now)
        }
        #expect(throws: ReadingRefusal.hugePage(99_999_999_999)) {
            try Session.started(at: nil, page: 99_999_999_999, currentPage: 0, now: now)
        }
    }

    @Test(
        arguments: [
            // Seconds since the start, end (now if nil), page, forced; the end in seconds after the start.
            (1800, nil, 180, false, 1800), (1800, nil, nil, false, 1800), (60, nil, 145, false, 60),
            (59, nil, 150, true, 60), (0, nil, 150, true, 60), (1800, -600, 180, false, 1200),
            (1800, -1790, 180, true, 60), (400_000, nil, 180, false, 400_000),
            // The clock went backwards: the reader's time counts.
            (-3600, 7200, 180, false, 3600),
        ] as [(TimeInterval, TimeInterval?, Int?, Bool, TimeInterval)])
    func `ends`(ago: TimeInterval, end: TimeInterval?, page: Int?, forced: Bool, after: TimeInterval) throws {
        let session = Session(start: at(-ago), startPage: 145)
        let ended = try session.ended(at: end.map(at), page: page, forced: forced, now: now)
        #expect(ended.end == at(-ago + after) && ended.endPage == page && ended.id == session.id)
    }

    @Test(
        arguments: [
            (59, nil, 150, false, .sessionTooShort), (0, nil, nil, false, .sessionTooShort),
            (1800, nil, 144, false, .invalidPageNumber), (1800, nil, -1, true, .invalidPageNumber),
            (1800, 1, 150, true, .endInFuture), (1800, -1801, 150, true, .endBeforeStart),
            (-1, nil, 150, true, .clockWentBackwards(start: at(1))), (-3600, 3599, 150, true, .endBeforeStart),
        ] as [(TimeInterval, TimeInterval?, Int?, Bool, SessionError)])
    func `is not ended when`(
        ago: TimeInterval, end: TimeInterval?, page: Int?, forced: Bool, error: SessionError
    ) {
        let session = Session(start: at(-ago), startPage: 145)
        #expect(throws: error) { try session.ended(at: end.map(at), page: page, forced: forced, now: now) }
    }

    @Test func `can be ended only once`() throws {
        let ended = Session(start: at(-600), end: at(-60))
        #expect(throws: SessionError.notActive) { try ended.ended(at: nil, page: nil, forced: false, now: now) }
    }

    @Test(
        arguments: [
            (-3600, -1800, 0, 40, nil), (-3600, -3600, 0, nil, .sessionTooShort), (-60, 0, 0, nil, nil),
            (-59, 0, 0, nil, .sessionTooShort),
            (-3600, -3601, 0, nil, .endBeforeStart), (-60, 1, 0, nil, .endInFuture), (1, 100, 0, nil, .startInFuture),
            (-3600, 0, 41, 40, .invalidPageNumber), (-86_400, 0, 0, nil, nil), (-86_401, 0, 0, nil, .sessionTooLong),
        ] as [(TimeInterval, TimeInterval, Int, Int?, SessionError?)])
    func `added later must make sense`(
        start: TimeInterval, end: TimeInterval, startPage: Int, endPage: Int?, error: SessionError?
    ) throws {
        let make = {
            try Session.past(start: at(start), end: at(end), startPage: startPage, endPage: endPage, now: now)
        }
        if let error {
            #expect(throws: error) { try make() }
        } else {
            #expect(try make().end == at(end))
        }
    }

    @Test(
        arguments: [
            (SessionEdit(start: at(-7200)), -7200, -1800, 10, 50), (SessionEdit(end: at(-1200)), -3600, -1200, 10, 50),
            (SessionEdit(minutes: 45), -3600, -900, 10, 50),
            (SessionEdit(start: at(-7200), minutes: 30), -7200, -5400, 10, 50),
            (SessionEdit(startPage: 20, endPage: .set(60)), -3600, -1800, 20, 60),
            (SessionEdit(endPage: .clear), -3600, -1800, 10, nil),
        ] as [(SessionEdit, TimeInterval, TimeInterval, Int, Int?)])
    func `is corrected`(
        edit: SessionEdit, start: TimeInterval, end: TimeInterval, startPage: Int, endPage: Int?
    ) throws {
        let session = Session(start: at(-3600), end: at(-1800), startPage: 10, endPage: 50)
        let edited = try session.edited(edit, now: now)
        #expect(edited.start == at(start) && edited.end == at(end))
        #expect(edited.startPage == startPage && edited.endPage == endPage && edited.id == session.id)
    }

    @Test(
        arguments: [
            (SessionEdit(end: at(-3601)), .endBeforeStart), (SessionEdit(end: at(1)), .endInFuture),
            (SessionEdit(start: at(1)), .startInFuture), (SessionEdit(minutes: 0), .sessionTooShort),
            (SessionEdit(minutes: .max), .endInFuture), (SessionEdit(startPage: 51), .invalidPageNumber),
            (SessionEdit(endPage: .set(9)), .invalidPageNumber), (SessionEdit(start: at(-99_999)), .sessionTooLong),
        ] as [(SessionEdit, SessionError)])
    func `is not corrected to nonsense`(edit: SessionEdit, error: SessionError) {
        let session = Session(start: at(-3600), end: at(-1800), startPage: 10, endPage: 50)
        #expect(throws: error) { try session.edited(edit, now: now) }
    }

    @Test func `left running for days keeps its times when its pages are corrected`() throws {
        let session = Session(start: at(-400_000), end: at(-1800), startPage: 10, endPage: 50)
        #expect(try session.edited(SessionEdit(endPage: .set(60)), now: now).endPage == 60)
    }

    @Test func `that is running can be given another start, but no end`() throws {
        let session = Session(start: at(-600), startPage: 10)
        let edited = try session.edited(SessionEdit(start: at(-1200), startPage: 5), now: now)
        #expect(edited.start == at(-1200) && edited.startPage == 5 && edited.isRunning)
        for edit in [SessionEdit(end: now), SessionEdit(minutes: 5), SessionEdit(endPage: .set(20))] {
            #expect(throws: SessionError.stillRunning) { try session.edited(edit, now: now) }
        }
        #expect(throws: SessionError.startInFuture) { try session.edited(SessionEdit(start: at(1)), now: now) }
    }

    @Test(
        arguments: [
            (
                .alreadyActive,
                "A reading session is already active. End the current session before starting a new one.",
                "End your current session first."
            ), (.notActive, "No active reading session found.", "Start a new reading session."),
            (
                .invalidPageNumber,
                "Invalid page number. Ending page must be greater than or equal to starting page.",
                "Enter a valid ending page number."
            ),
            (
                .sessionTooShort, "Session duration too short. Minimum 1 minute required.",
                "Read for at least 1 minute before ending the session."
            ),
            (
                .entryNotFound, "Library entry not found. The book may have been deleted.",
                "Try looking into the trash or selecting a different book."
            ),
            (
                .persistenceFailed(SessionError.notActive),
                "Failed to save session: No active reading session found. Start a new reading session.",
                "Check available storage space and try again."
            ),
        ] as [(SessionError, String, String)])
    func `is refused in the words of its specification`(error: SessionError, what: String, next: String) {
        #expect(error.errorDescription == what)
        #expect(error.recoverySuggestion == next)
        #expect(error.description == what + " " + next)
    }
}

@Suite struct `The sessions of a book` {
    @Test func `add up to minutes, pages, a mean pace and the last time`() {
        let sessions = [
            Session(start: at(-90_000), end: at(-88_200), startPage: 10, endPage: 70),
            Session(start: at(-9_000), end: at(-5_400), startPage: 70, endPage: 100),
            Session(start: at(-4_000), end: at(-3_000), startPage: 100), Session(start: at(-60), startPage: 100),
        ]
        let totals = SessionTotals(sessions)
        #expect(totals.sessions == 3 && totals.minutes == 30 + 60 + 16 && totals.pages == 90)
        // The mean of 120 and 30, however long each was; the audiobook's hour has none.
        #expect(totals.meanPace == 75)
        #expect(totals.lastRead == at(-3_000))
    }

    @Test func `add up to nothing if there are none`() {
        let nothing = SessionTotals(sessions: 0, minutes: 0, pages: 0, meanPace: nil, lastRead: nil)
        #expect(SessionTotals([]) == nothing)
        #expect(SessionTotals([Session(start: now)]) == nothing)
    }

    @Test(
        arguments: [
            // Ended live: the page is the current one, however small.
            (.open, 145, 0, 180, true, 180), (.open, 145, 0, 120, true, 120), (.open, 145, 0, nil, true, 145),
            // Ended now, but at a time before the last entry: the later entries stay.
            (.open, 145, -600, 180, true, 145),
            (.finished, 145, 0, 180, true, 145),
            // A past session never moves the page back.
            (.open, 145, 0, 180, false, 180), (.open, 145, 0, 120, false, 145), (.finished, 145, -600, 120, false, 145),
        ] as [(Reading.State, Int, TimeInterval, Int?, Bool, Int)])
    func `move the current page forward`(
        state: Reading.State, page: Int, end: TimeInterval, endPage: Int?, isLive: Bool, after: Int
    ) {
        let reading = Reading(state: state, progress: ProgressEntry(at: at(-300), amount: .page(page)))
        var tracker = Tracker(status: state == .open ? .reading : .read, readings: [reading], pageCount: 382)
        let session = Session(start: at(end - 600), end: at(end), startPage: 100, endPage: endPage)
        let steps = tracker.record(session, of: reading.id, endedAt: isLive ? now : nil)
        #expect(tracker.shown?.currentPage(of: 382) == after)
        if case .recorded(let entry, _)? = steps.first { #expect(entry.session == session.id && !entry.isAutomatic) }
    }
}
