import Bookplate
import FoundationEssentials
import GRDB
import Testing

@testable import Library

/// A time zone in which noon in UTC is already the next day. With it, tests find out whether a day comes from the
/// reader's calendar.
private let kiritimati = TimeZone(secondsFromGMT: 14 * 3600)!

@Suite struct TrackingTests {
    let library: LibraryFile

    init() throws { library = try LibraryFile.inMemory(zone: kiritimati) }

    private func dune(_ status: Copy.Status = .toRead) async throws -> Book {
        try await library.save(
            LibraryTests.dune, record("Dune") { $0.pageCount = 382 }, preset: Preset(status: status))
    }

    private func readings(_ id: ID<Copy>) async throws -> [String] {
        try #require(try await library.book(id)).copy.readings.map { reading in
            let days = [reading.started, reading.finished, reading.stopped].map { $0?.description ?? "-" }
            let page = reading.progress.map { "\($0.amount)" } ?? "none"
            return "\(reading.state) \(days.joined(separator: " ")) \(page)"
        }
    }

    @Test func `a status is stored with its consequences, on the reader's day`() async throws {
        let book = try await dune()
        let started = try await library.setStatus(.reading, of: book.id, on: nil, at: noon)
        #expect(started.book.copy.status == .reading && started.change != nil)
        #expect(started.reading?.started?.description == "2026-11-22")
        #expect(started.reading == started.book.copy.reading)
        #expect(try await library.book(book.id) == started.book)
        #expect(try await library.lastChange()?.summary == "\"Dune\": Reading")
        _ = try await library.recordProgress(.page(145), of: book.id, at: noon)
        #expect(try await library.lastChange()?.summary == "\"Dune\": page 145")
        _ = try await library.recordProgress(.percent(38.25), of: book.id, at: noon)
        #expect(try await library.lastChange()?.summary == "\"Dune\": 38.25%")
        let read = try await library.setStatus(.read, of: book.id, on: nil, at: noon)
        #expect(read.reading?.progress?.amount == .percent(100))
        #expect(try await readings(book.id) == ["finished 2026-11-22 2026-11-22 - percent(100.0)"])
        let reading = try #require(read.reading)
        let entries = try await library.progress(of: reading.id, limit: 10, offset: 0)
        #expect(entries.map(\.amount) == [.percent(100), .percent(38.25), .page(145), .page(0)])
        #expect(entries.map(\.isAutomatic) == [true, false, false, true])
        #expect(try await library.progress(of: reading.id, limit: 1, offset: 2).map(\.amount) == [.page(145)])
    }

    @Test func `the same status again is no change`() async throws {
        let book = try await dune(.reading)
        let before = try await library.dump()
        let result = try await library.setStatus(.reading, of: book.id, on: nil, at: noon)
        #expect(result.change == nil && result.book == book)
        #expect(try await library.dump() == before)
        #expect(try await library.changes(limit: 9).count == 1)
    }

    @Test func `a status sets no dates if the setting is off`() async throws {
        let book = try await dune()
        try await library.set(LibrarySetting.automaticDates.rawValue, to: "0", at: noon)
        _ = try await library.setStatus(.reading, of: book.id, on: nil, at: noon)
        #expect(try await readings(book.id) == ["open - - - page(0)"])
    }

    @Test func `an edit of the book applies the same rules to a new status`() async throws {
        let book = try await dune()
        let edited = try await library.update(book.id, at: noon) { book in
            book.copy.status = .reading
            book.edition.metadata.pageCount = nil
        }
        #expect(edited.book.copy.reading?.started?.description == "2026-11-22")
        #expect(edited.book.copy.reading?.progress?.amount == .percent(0))
        let other = try await library.update(book.id, at: noon) { $0.copy.rating = 4 }
        #expect(other.book.copy.readings == edited.book.copy.readings)
        _ = try await library.update(book.id, at: noon) { $0.copy.status = .toRead }
        #expect(try await readings(book.id) == ["cancelled 2026-11-22 - - percent(0.0)"])
    }

    @Test(arguments: [(true, Copy.Status.reading), (false, .read), (true, .onHold), (true, .dnf), (false, .toRead)])
    func `a wish that becomes owned, and a restored copy, have the reading of their new status`(
        isWish: Bool, status: Copy.Status
    ) async throws {
        let book = try await library.save(isbn(1), record("Wish"), preset: Preset(isWishlist: isWish))
        if !isWish { _ = try await library.trash([book.id], at: noon) }
        _ = try await library.add([confirmed(isbn(1), record("Wish"), preset: Preset(status: status))], at: noon)
        let after = try #require(try await library.book(book.id)).copy
        #expect(after.status == status && after.isOwned && after.deleted == nil)
        #expect(after.reading?.state == Reading.State(after: status))
        #expect(after.readings.count == (status == .toRead ? 0 : 1))
        #expect(after.readings.allSatisfy { $0 == Reading(id: $0.id, state: $0.state) })
        #expect(try await unsound() == 0)
    }

    /// Returns the number of copies that are not To Read, and do not show a reading that fits their status.
    private func unsound() async throws -> Int {
        try await library.read { db in
            try StoredBook.fetch(db, "WHERE own.status <> 'toRead'").count {
                $0.book.copy.reading?.state != Reading.State(after: $0.book.copy.status)
            }
        }
    }

    @Test func `a past reading is inserted in order, and another can be deleted with all its rows`() async throws {
        let book = try await dune()
        let id = book.id
        let now = noon.addingTimeInterval(86_400)
        _ = try await library.setStatus(.reading, of: id, on: nil, at: noon)
        _ = try await library.addSession(of: id, start: noon, end: now, startPage: nil, endPage: 50, at: now)
        _ = try await library.setStatus(.read, of: id, on: nil, at: now)
        _ = try await library.setStatus(.reading, of: id, on: nil, at: now)
        let added = try await library.addReading(
            to: id, started: nil, finished: CalendarDay("2019"), stopped: nil, at: now)
        #expect(added.reading?.finished == CalendarDay("2019"))
        #expect(added.book.copy.number(of: try #require(added.reading).id) == 1)
        let expected = [
            "finished - 2019 - none", "finished 2026-11-22 2026-11-23 - page(382)", "open 2026-11-23 - - page(0)",
        ]
        #expect(try await readings(id) == expected)
        let second = added.book.copy.readings[1].id
        let deleted = try await library.deleteReading(second, of: id, at: now)
        #expect(deleted.reading == nil)
        #expect(try await readings(id) == [expected[0], expected[2]])
        #expect(try await library.sessions(of: id, limit: 9, offset: 0).isEmpty)
        await #expect(throws: ReadingRefusal.noSuchReading) {
            try await library.deleteReading(second, of: id, at: now)
        }
    }

    @Test(arguments: [
        CalendarDay("0001-01-01"), CalendarDay("9999-12-31"), CalendarDay("0001"), CalendarDay("2024-02"),
    ])
    func `every date comes back as it was entered`(day: CalendarDay?) async throws {
        let book = try await dune(.read)
        _ = try await library.setDates(DateEdit(finished: .set(try #require(day))), of: book.id, reading: nil, at: noon)
        #expect(try await library.book(book.id)?.copy.reading?.finished == day)
    }

    @Test func `a refusal changes nothing`() async throws {
        let book = try await dune(.read)
        let before = try await library.dump()
        let (id, day) = (book.id, try #require(CalendarDay("2026-01-02")))
        let edit = DateEdit(started: .set(day), finished: .set(try #require(CalendarDay("2026-01-01"))))
        await #expect(throws: ReadingRefusal.self) {
            try await library.setDates(edit, of: id, reading: nil, at: noon)
        }
        await #expect(throws: ReadingRefusal.closed(.read)) {
            try await library.recordProgress(.page(1), of: id, at: noon)
        }
        await #expect(throws: ReadingRefusal.lastReading(.read)) {
            try await library.deleteReading(book.copy.readings[0].id, of: id, at: noon)
        }
        #expect(try await library.dump() == before)
        #expect(try await library.changes(limit: 9).count == 1)
        _ = try await library.trash([id], at: noon)
        await #expect(throws: LibraryError.noSuchBook(id)) {
            try await library.setStatus(.reading, of: id, on: nil, at: noon)
        }
    }

    /// The acts of the tracker. They are done to a book that has a past reading, an open reading with progress, and a
    /// session.
    enum Act: CaseIterable {
        case toRead, read, hold, drop, page, percent, dates, add, delete, start, stop, addSession, editSession
        case clearPage, deleteSession, deleteRunning
    }

    @Test(arguments: Act.allCases)
    func `undo of each act restores exactly the earlier rows`(act: Act) async throws {
        let id = try await dune().id
        let now = noon.addingTimeInterval(7200)
        _ = try await library.setStatus(.read, of: id, on: nil, at: noon)
        _ = try await library.setStatus(.reading, of: id, on: nil, at: noon)
        let session = try await library.addSession(
            of: id, start: noon.addingTimeInterval(600), end: noon.addingTimeInterval(4200), startPage: 0, endPage: 60,
            at: now)
        if [.stop, .deleteRunning].contains(act) {
            _ = try await library.startSession(of: id, page: nil, from: noon.addingTimeInterval(5000), at: now)
        }
        let before = try await library.dump()
        switch act {
        case .toRead: _ = try await library.setStatus(.toRead, of: id, on: nil, at: now)
        case .read: _ = try await library.setStatus(.read, of: id, on: nil, at: now)
        case .hold: _ = try await library.setStatus(.onHold, of: id, on: nil, at: now)
        case .drop: _ = try await library.setStatus(.dnf, of: id, on: nil, at: now)
        case .page: _ = try await library.recordProgress(.page(145), of: id, at: now)
        case .percent: _ = try await library.recordProgress(.percent(50), of: id, at: now)
        case .dates: _ = try await library.setDates(DateEdit(started: .clear), of: id, reading: nil, at: now)
        case .add:
            _ = try await library.addReading(to: id, started: nil, finished: CalendarDay("2001"), stopped: nil, at: now)
        case .delete:
            let first = try #require(try await library.book(id)).copy.readings[0].id
            _ = try await library.deleteReading(first, of: id, at: now)
        case .start: _ = try await library.startSession(of: id, page: 7, from: nil, at: now)
        case .stop: _ = try await library.stopSession(page: 90, end: nil, forced: false, at: now)
        case .addSession:
            _ = try await library.addSession(of: id, start: noon, end: now, startPage: nil, endPage: 99, at: now)
        case .editSession:
            let edit = SessionEdit(minutes: 5, endPage: .set(61))
            _ = try await library.editSession(session.session.id, edit, at: now)
        case .clearPage:
            _ = try await library.editSession(session.session.id, SessionEdit(endPage: .clear), at: now)
        case .deleteSession: _ = try await library.deleteSession(session.session.id, at: now)
        case .deleteRunning:
            let running = try #require(try await library.runningSession())
            _ = try await library.deleteSession(running.session.id, at: now)
        }
        #expect(try await library.dump() != before)
        let change = try #require(try await library.lastChange())
        #expect(change.summary.hasPrefix("\"Dune\": ") && change.summary.count > 9)
        _ = try await library.undo(change.id, at: now)
        #expect(try await library.dump() == before)
    }
}
