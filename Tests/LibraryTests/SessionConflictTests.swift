import Bookplate
import FoundationEssentials
import GRDB
import Testing

@testable import Library

// Tests of sessions together with other connections, the trash, undo and a full disk.
extension SessionTests {
    @Test func `one that is running survives a closed library and a killed process`() async throws {
        let id = try await book().id
        let started = try await library.startSession(of: id, page: 5, from: nil, at: noon)
        try write(bytes(of: folder("library.sqlite")), to: folder("killed.sqlite"))
        try write(bytes(of: folder("library.sqlite-wal")), to: folder("killed.sqlite-wal"))
        try await library.close()
        for name in ["library.sqlite", "killed.sqlite"] {
            let again = try LibraryFile.open(at: folder(name), zone: .gmt)
            #expect(try await again.runningSession()?.session == started.session)
            let ended = try await again.stopSession(page: 25, end: nil, forced: false, at: at(3600))
            #expect(ended.session.pagesRead == 20)
            #expect(try await again.book(id)?.copy.reading?.currentPage(of: 382) == 25)
        }
    }

    @Test func `only one of two connections can start one at the same moment`() async throws {
        let other = try LibraryFile.open(at: folder("library.sqlite"), zone: .gmt)
        let first = try await book().id
        let second = try await library.save(odyssey, record("The Odyssey")).id
        for round in 0..<10 {
            let outcomes = await withTaskGroup(of: Result<SessionRecord, any Error>.self) { group in
                for (library, id) in [(library, first), (other, second)] {
                    group.addTask {
                        do {
                            return .success(
                                try await library.startSession(
                                    of: id, page: nil, from: nil, at: at(Double(round) * 100)))
                        } catch {
                            return .failure(error)
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            let failures = outcomes.compactMap { if case .failure(let error) = $0 { error } else { nil } }
            #expect(failures.count == 1 && failures.first as? SessionError == .alreadyActive)
            _ = try await other.stopSession(page: nil, end: nil, forced: true, at: at(Double(round) * 100 + 61))
        }
        #expect(try await library.sessions(of: nil, limit: 99, offset: 0).count == 10)
    }

    @Test func `a second running row is refused as active, whoever inserted the first`() async throws {
        let record = try await library.startSession(of: book().id, page: nil, from: nil, at: noon)
        await #expect(throws: SessionError.alreadyActive) {
            try await library.write { db in try StoredSessions.start(Session(start: noon), of: record.reading, db) }
        }
    }

    @Test func `one whose book was moved to the trash is still listed and can be ended`() async throws {
        let id = try await book().id
        let started = try await library.startSession(of: id, page: nil, from: nil, at: noon)
        _ = try await library.trash([id], at: noon)
        let running = try #require(try await library.runningSession())
        #expect(running.isInTrash && running.session == started.session)
        await refused(.entryNotFound) {
            try await library.addSession(of: id, start: at(-600), end: noon, startPage: nil, endPage: nil, at: noon)
        }
        _ = try await library.stopSession(page: 9, end: nil, forced: false, at: at(600))
        #expect(try await library.sessions(of: nil, limit: 9, offset: 0).isEmpty)
        _ = try await library.restore([id], at: noon)
        #expect(try await library.book(id)?.copy.reading?.currentPage(of: nil) == 9)
        #expect(try await library.sessions(of: nil, limit: 9, offset: 0).count == 1)
    }

    @Test func `one of a reading that was closed meanwhile ends, and leaves the reading as it is`() async throws {
        let id = try await book().id
        _ = try await library.startSession(of: id, page: nil, from: nil, at: noon)
        // As earlier versions did.
        _ = try await library.track(id, at: at(100), "Read") { _, tracker, moment in try tracker.set(.read, moment) }
        let reading = try #require(try await library.book(id)?.copy.reading)
        await #expect(throws: ReadingRefusal.lastReading(.read)) {
            try await library.deleteReading(reading.id, of: id, at: at(100))
        }
        _ = try await library.setStatus(.reading, of: id, on: nil, at: at(100))
        await #expect(throws: ReadingRefusal.sessionRunning(title: "Dune")) {
            try await library.deleteReading(reading.id, of: id, at: at(100))
        }
        _ = try await library.stopSession(page: 50, end: nil, forced: false, at: at(600))
        #expect(try await library.book(id)?.copy.readings.first == reading)
        #expect(try await library.book(id)?.copy.reading?.currentPage(of: nil) == 0)
    }

    @Test func `undo of an ending is refused while another one runs`() async throws {
        let id = try await book().id
        _ = try await library.startSession(of: id, page: nil, from: nil, at: noon)
        _ = try await library.stopSession(page: nil, end: nil, forced: false, at: at(600))
        let end = try #require(try await library.lastChange())
        _ = try await library.startSession(of: id, page: nil, from: nil, at: at(700))
        let before = try await library.dump()
        await #expect(throws: UndoRefusal.self) { try await library.undo(end.id, at: at(800)) }
        #expect(try await library.dump() == before)
    }

    @Test func `a full disk is an error of sessions, and nothing is stored partly`() async throws {
        let id = try await book(.reading).id
        try await library.database.writeWithoutTransaction { db in
            let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
            try db.execute(sql: "PRAGMA max_page_count = \(pages + 1)")
        }
        var stored = 0
        let error = try await #require(throws: SessionError.self) {
            while stored < 1000 {
                _ = try await library.addSession(
                    of: id, start: at(-600), end: noon, startPage: 0, endPage: 9, at: noon)
                stored += 1
            }
        }
        guard case .persistenceFailed(LibraryError.diskFull) = error else { throw error }
        #expect(error.description.hasPrefix("Failed to save session: cannot write "))
        #expect(try await library.sessions(of: id, limit: .max, offset: 0).count == stored)
        #expect(try await library.changes(limit: .max).count == stored + 1)
    }
}
