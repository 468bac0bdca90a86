import Bookplate
import FoundationEssentials
import GRDB
import Testing

@testable import Library

@Suite struct SessionTests {
    let folder = Folder()
    let library: LibraryFile

    init() throws { library = try LibraryFile.open(at: folder("library.sqlite"), zone: .gmt) }

    /// Returns the time that is `after` seconds after noon.
    func at(_ after: TimeInterval) -> Date { noon.addingTimeInterval(after) }

    func book(_ status: Copy.Status = .toRead, pageCount: Int? = 382) async throws -> Book {
        try await library.save(dune, record("Dune") { $0.pageCount = pageCount }, preset: Preset(status: status))
    }

    @Test func `starting sets the book to Reading; ending sets the page, with an entry that knows its session`()
        async throws
    {
        let id = try await book().id
        let started = try await library.startSession(of: id, page: nil, from: nil, at: noon)
        #expect(started.session == Session(id: started.session.id, start: noon, startPage: 0))
        #expect(started.title == "Dune" && started.pageCount == 382 && started.copy == id && !started.isInTrash)
        #expect(try await library.lastChange()?.summary == "\"Dune\": started a session")
        #expect(try await library.book(id)?.copy.reading?.started?.description == "2026-11-21")
        #expect(try await library.runningSession()?.session == started.session)

        let ended = try await library.stopSession(page: 50, end: nil, forced: false, at: at(1800))
        #expect(ended.session.end == at(1800) && ended.session.endPage == 50 && ended.session.pace == 100)
        let progress = try #require(try await library.book(id)?.copy.reading?.progress)
        #expect(progress.amount == .page(50) && progress.session == ended.session.id && progress.at == at(1800))
        #expect(try await library.lastChange()?.summary == "\"Dune\": session of 30 min to page 50")
        #expect(try await library.runningSession() == nil)

        let next = try await library.startSession(of: id, page: nil, from: nil, at: at(3600))
        #expect(next.session.startPage == 50)
    }

    @Test(
        arguments: [(.percent(50), 382, 191), (.percent(50), nil, 0), (.page(7), nil, 7)]
            as [(ProgressEntry.Amount, Int?, Int)])
    func `starting begins on the current page`(recorded: ProgressEntry.Amount, pageCount: Int?, page: Int) async throws
    {
        let id = try await book(pageCount: pageCount).id
        _ = try await library.recordProgress(recorded, of: id, at: noon)
        let record = try await library.startSession(of: id, page: nil, from: nil, at: noon)
        #expect(record.session.startPage == page)
    }

    @Test func `starting a book that is Read is a re-read from its first page`() async throws {
        let id = try await book(.read).id
        let record = try await library.startSession(of: id, page: nil, from: at(-86_400), at: noon)
        let readings = try #require(try await library.book(id)).copy.readings
        #expect(readings.count == 2 && readings[1].id == record.reading && record.session.startPage == 0)
        #expect(readings[1].started?.description == "2026-11-20")
    }

    @Test func `an audiobook's session ends without a page`() async throws {
        let id = try await book(pageCount: nil).id
        _ = try await library.startSession(of: id, page: nil, from: nil, at: noon)
        let ended = try await library.stopSession(page: nil, end: nil, forced: false, at: at(600))
        #expect(ended.session.endPage == nil && ended.session.minutes == 10 && ended.session.pace == nil)
        #expect(try await library.book(id)?.copy.reading?.progress?.isAutomatic == true)
    }

    @Test func `each refusal changes nothing`() async throws {
        let id = try await book(.reading).id
        let missing = ID<Copy>()
        await refused(.notActive) { try await library.stopSession(page: nil, end: nil, forced: true, at: noon) }
        await refused(.entryNotFound) {
            try await library.startSession(of: missing, page: nil, from: nil, at: noon)
        }
        await refused(.startInFuture) { try await library.startSession(of: id, page: nil, from: at(1), at: noon) }
        await refused(.noSuchSession) { try await library.editSession(ID(), SessionEdit(), at: noon) }
        await refused(.noSuchSession) { try await library.deleteSession(ID(), at: noon) }
        await refused(.entryNotFound) {
            try await library.addSession(
                of: missing, start: at(-600), end: noon, startPage: nil, endPage: nil, at: noon)
        }
        await refused(.endBeforeStart) {
            try await library.addSession(of: id, start: noon, end: at(-1), startPage: nil, endPage: nil, at: noon)
        }
        _ = try await library.startSession(of: id, page: 100, from: nil, at: noon)
        await refused(.alreadyActive) { try await library.startSession(of: id, page: nil, from: nil, at: noon) }
        await refused(.sessionTooShort) {
            try await library.stopSession(page: 120, end: nil, forced: false, at: at(59))
        }
        await refused(.invalidPageNumber) {
            try await library.stopSession(page: 99, end: nil, forced: false, at: at(99))
        }
        await refused(.endInFuture) { try await library.stopSession(page: 120, end: at(99), forced: true, at: at(98)) }
        await refused(.endBeforeStart) {
            try await library.stopSession(page: 120, end: at(-1), forced: true, at: at(9))
        }
        await refused(.clockWentBackwards(start: noon)) {
            try await library.stopSession(page: 120, end: nil, forced: true, at: at(-3600))
        }
        #expect(try await library.changes(limit: 9).count == 2)
        let forced = try await library.stopSession(page: 101, end: nil, forced: true, at: at(5))
        #expect(forced.session.end == at(60))
    }

    @Test func `a page that the book does not have is refused, wherever it is entered`() async throws {
        let id = try await book(.reading).id
        let beyond = SessionError.pageBeyondBook(page: 383, pageCount: 382)
        func addPast(from first: Int?, to last: Int?) async throws -> SessionRecord {
            try await library.addSession(
                of: id, start: at(-600), end: noon, startPage: first, endPage: last, at: noon)
        }
        let past = try await addPast(from: 300, to: 382)
        _ = try await library.startSession(of: id, page: 382, from: nil, at: noon)
        let before = try await library.dump()
        await refused(beyond) { try await addPast(from: nil, to: 383) }
        await refused(beyond) { try await addPast(from: 383, to: nil) }
        // The page is named even if the session is too short as well, because only that can be forced.
        await refused(beyond) { try await library.stopSession(page: 383, end: nil, forced: false, at: at(9)) }
        await refused(beyond) { try await library.stopSession(page: 383, end: nil, forced: true, at: at(9)) }
        await refused(beyond) {
            try await library.editSession(past.session.id, SessionEdit(endPage: .set(383)), at: noon)
        }
        await #expect(throws: beyond) {
            try await library.setStatus(.read, of: id, on: nil, ending: SessionEnd(page: 383), at: at(600))
        }
        #expect(try await library.dump() == before)
        _ = try await library.stopSession(page: 382, end: nil, forced: false, at: at(600))
        await refused(beyond) { try await library.startSession(of: id, page: 383, from: nil, at: at(600)) }
    }

    @Test func `a page is accepted without a page count, and stays when the page count is corrected`() async throws {
        let id = try await book(pageCount: nil).id
        let record = try await library.addSession(
            of: id, start: at(-3600), end: noon, startPage: 0, endPage: 9000, at: noon)
        _ = try await library.update(id, at: noon) { $0.edition.metadata.pageCount = 382 }
        let edited = try await library.editSession(record.session.id, SessionEdit(minutes: 30), at: noon)
        #expect(edited.session.minutes == 30 && edited.session.endPage == 9000)
        // The current page, which is not typed, may lie beyond the last page.
        let running = try await library.startSession(of: id, page: nil, from: nil, at: noon)
        #expect(running.session.startPage == 9000)
    }

    func refused(_ error: SessionError, _ act: () async throws -> SessionRecord) async {
        await #expect(throws: error) { try await act() }
    }

    @Test func `one added afterwards moves the page forward, never back, and begins at the page of that time`()
        async throws
    {
        let id = try await book().id
        let day: TimeInterval = 86_400
        let first = try await library.addSession(
            of: id, start: at(-2 * day), end: at(-2 * day + 1800), startPage: nil, endPage: 60, at: noon)
        // The session sets a To Read book to Reading, and starts the reading on the day of the session.
        #expect(try await library.book(id)?.copy.reading?.started?.description == "2026-11-19")
        #expect(try await library.book(id)?.copy.reading?.currentPage(of: 382) == 60)
        _ = try await library.recordProgress(.page(145), of: id, at: noon)
        let second = try await library.addSession(
            of: id, start: at(-day), end: at(-day + 1800), startPage: nil, endPage: 100, at: noon)
        #expect(first.session.startPage == 0 && second.session.startPage == 60)
        #expect(try await library.book(id)?.copy.reading?.currentPage(of: 382) == 145)
        // A session may overlap another session.
        _ = try await library.addSession(
            of: id, start: at(-day + 60), end: at(-day + 600), startPage: 3, endPage: nil, at: noon)
        #expect(
            try await library.sessions(of: id, limit: 9, offset: 0).map(\.session.start) == [
                at(-day + 60), at(-day), at(-2 * day),
            ])
        #expect(try await library.sessions(of: id, limit: 1, offset: 1).map(\.session.id) == [second.session.id])
        let pages = try await library.progress(of: first.reading, limit: 9, offset: 0).map(\.amount)
        #expect(pages == [.page(145), .page(100), .page(60), .page(0)])
    }

    @Test func `one before the reading's start sets the current page, and the next one continues from it`()
        async throws
    {
        let id = try await book().id
        func page() async throws -> Int? { try await library.book(id)?.copy.reading?.currentPage(of: 382) }
        _ = try await library.setStatus(.reading, of: id, on: nil, at: at(36_000))
        let before = try await library.dump()
        // The session was at 20:30 on the same day, and is recorded at 22:00.
        let first = try await library.addSession(
            of: id, start: at(30_600), end: at(32_400), startPage: nil, endPage: 40, at: at(36_000))
        #expect(try await page() == 40)
        _ = try await library.undo(try #require(try await library.lastChange()).id, at: at(36_000))
        #expect(try await library.dump() == before && first.session.startPage == 0)
        let day: TimeInterval = 86_400
        let added = try await library.addSession(
            of: id, start: at(-day), end: at(1800 - day), startPage: nil, endPage: 40, at: at(36_000))
        #expect(try await page() == 40)
        let next = try await library.addSession(
            of: id, start: at(3600 - day), end: at(7200 - day), startPage: nil, endPage: 60, at: at(36_000))
        #expect(next.session.startPage == 40)
        #expect(try await page() == 60)
        _ = try await library.deleteSession(next.session.id, at: at(36_000))
        // After the session's time was moved to a day earlier, its page is still the current page.
        _ = try await library.editSession(
            added.session.id, SessionEdit(start: at(-2 * day), minutes: 30), at: at(36_000))
        #expect(try await page() == 40)
        for _ in 0..<4 { _ = try await library.undo(try #require(try await library.lastChange()).id, at: at(36_000)) }
        #expect(try await library.dump() == before)
    }

    @Test(arguments: [Copy.Status.onHold, .dnf, .read, .toRead])
    func `one ends with its book's reading, in one change`(status: Copy.Status) async throws {
        let id = try await book().id
        let other = try await library.save(odyssey, record("The Odyssey"), preset: Preset(status: .reading)).id
        let running = try await library.startSession(of: id, page: nil, from: nil, at: noon).session
        let before = try await library.dump()
        await #expect(throws: ReadingRefusal.sessionRunning(title: "Dune")) {
            try await library.setStatus(status, of: id, on: nil, at: at(600))
        }
        await #expect(throws: ReadingRefusal.sessionRunning(title: "Dune")) {
            try await library.update(id, at: at(600)) { $0.copy.status = status }
        }
        await #expect(throws: SessionError.alreadyEnded) {
            try await library.setStatus(status, of: id, on: nil, ending: SessionEnd(ID(), page: 9), at: at(600))
        }
        await #expect(throws: SessionError.sessionTooShort) {
            try await library.setStatus(status, of: id, on: nil, ending: SessionEnd(page: 9), at: at(9))
        }
        #expect(try await library.setStatus(.reading, of: id, on: nil, at: at(600)).sessionStillRuns == false)
        _ = try await library.setStatus(.read, of: other, on: nil, at: at(600))
        _ = try await library.undo(try #require(try await library.lastChange()).id, at: at(600))
        #expect(try await library.dump() == before)

        let end = SessionEnd(running.id, page: 90)
        let result = try await library.setStatus(status, of: id, on: nil, ending: end, at: at(600))
        #expect(result.book.copy.status == status && !result.sessionStillRuns)
        #expect(try await library.runningSession() == nil)
        let ended = try #require(try await library.sessions(endingIn: running.id.rawValue).first)
        #expect(ended.session.endPage == 90 && ended.session.minutes == 10)
        let entries = try await library.progress(of: ended.reading, limit: 9, offset: 0)
        #expect(entries.contains { $0.session == running.id && $0.amount == .page(90) })
        await #expect(throws: ReadingRefusal.noSessionToEnd(title: "The Odyssey")) {
            try await library.setStatus(.dnf, of: other, on: nil, ending: SessionEnd(page: 9), at: at(600))
        }
        _ = try await library.undo(try #require(result.change), at: at(900))
        #expect(try await library.dump() == before)
        #expect(try await library.runningSession()?.copy == id)
    }

    @Test func `correcting and deleting one updates its entry`() async throws {
        let id = try await book().id
        let record = try await library.addSession(
            of: id, start: at(-7200), end: at(-3600), startPage: 0, endPage: 60, at: noon)
        func entry() async throws -> ProgressEntry? { try await library.book(id)?.copy.reading?.progress }
        var edited = try await library.editSession(
            record.session.id, SessionEdit(minutes: 30, endPage: .set(70)), at: noon)
        #expect(edited.session.end == at(-5400) && edited.session.pace == 140)
        #expect(try await entry()?.amount == .page(70))
        #expect(try await entry()?.at == at(-5400))
        edited = try await library.editSession(record.session.id, SessionEdit(endPage: .clear), at: noon)
        #expect(try await entry()?.amount == .page(0) && edited.session.endPage == nil)
        _ = try await library.editSession(record.session.id, SessionEdit(endPage: .set(80)), at: noon)
        #expect(try await entry()?.amount == .page(80))
        let count = try await library.changes(limit: 99).count
        _ = try await library.editSession(record.session.id, SessionEdit(endPage: .set(80)), at: noon)
        #expect(try await library.changes(limit: 99).count == count)
        let deleted = try await library.deleteSession(record.session.id, at: noon)
        #expect(deleted.session.endPage == 80)
        #expect(try await entry()?.amount == .page(0))
        #expect(try await library.sessions(endingIn: String(record.session.id.rawValue.suffix(8))).isEmpty)
    }
}
