import Bookplate
import FoundationEssentials
import GRDB

@testable import Library

let berlin = TimeZone(identifier: "Europe/Berlin")!

func day(_ text: String) -> CalendarDay { CalendarDay(text)! }

func instant(_ text: String) -> Date { try! Date.ISO8601FormatStyle().parse(text) }

/// Functions that insert rows directly, without the tracker's rules.
extension LibraryFile {
    @discardableResult
    func insertCopy(
        _ title: String, _ status: Copy.Status = .toRead, pages: Int? = 300, added: String = "2026-01-01T12:00:00Z",
        columns: [String: any DatabaseValueConvertible & Sendable] = [:],
        edition: [String: any DatabaseValueConvertible & Sendable] = [:]
    ) async throws -> (row: Int64, id: ID<Copy>) {
        let id = ID<Copy>()
        let row = try await write { db in
            try db.execute(
                sql: "INSERT INTO edition (uuid, title, pageCount) VALUES (?, ?, ?)",
                arguments: [ID<Edition>().rawValue, title, pages])
            let editionRow = db.lastInsertedRowID
            for (name, value) in edition {
                try db.execute(sql: "UPDATE edition SET \(name) = ? WHERE id = ?", arguments: [value, editionRow])
            }
            try db.execute(
                sql: "INSERT INTO copy (uuid, edition, added) VALUES (?, ?, ?)",
                arguments: [id.rawValue, editionRow, instant(added).milliseconds])
            let copyRow = db.lastInsertedRowID
            try OwnCopy.store([("status", status.rawValue)], of: copyRow, db)
            let ofCopy = Set(try db.columns(in: "copy").map(\.name))
            for (name, value) in columns {
                let row =
                    ofCopy.contains(name)
                    ? "copy SET \(name) = ? WHERE id = ?" : "readerCopy SET \(name) = ? WHERE copy = ?"
                try db.execute(sql: "UPDATE \(row)", arguments: [value, copyRow])
            }
            return copyRow
        }
        return (row, id)
    }

    @discardableResult
    func insertReading(
        _ copy: Int64, _ state: Reading.State = .open, started: String? = nil, finished: String? = nil,
        stopped: String? = nil, position: Int = 0
    ) async throws -> Int64 {
        let reading = Reading(
            state: state, started: started.map(day), finished: finished.map(day), stopped: stopped.map(day))
        return try await write { db in
            try StoredReadings.insert(reading, at: position, of: copy, db)
            return db.lastInsertedRowID
        }
    }

    @discardableResult
    func insertSession(_ reading: Int64, _ start: Date, minutes: Double?, from: Int = 0, to: Int? = nil) async throws
        -> Int64
    {
        try await write { db in
            try db.execute(
                sql:
                    "INSERT INTO session (uuid, reading, start, \"end\", startPage, endPage) VALUES (?, ?, ?, ?, ?, ?)",
                arguments: [
                    ID<Session>().rawValue, reading, start.milliseconds,
                    minutes.map { start.addingTimeInterval($0 * 60).milliseconds }, from, to,
                ])
            return db.lastInsertedRowID
        }
    }

    func insertEntry(
        _ reading: Int64, _ at: Date, page: Int? = nil, percent: Double? = nil, automatic: Bool = false,
        session: Int64? = nil
    ) async throws {
        try await write { db in
            try db.execute(
                sql: """
                    INSERT INTO progressEntry (uuid, reading, at, page, percent, isAutomatic, session)
                    VALUES (?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    ID<ProgressEntry>().rawValue, reading, at.milliseconds, page,
                    percent.map { Int(($0 * 100).rounded()) }, automatic, session,
                ])
        }
    }

    /// Inserts a session of half an hour, with its progress entry.
    func insertSession(_ reading: Int64, _ start: String, from: Int, to: Int) async throws {
        let session = try await insertSession(reading, instant(start), minutes: 30, from: from, to: to)
        try await insertEntry(reading, instant(start).addingTimeInterval(1800), page: to, session: session)
    }

    func setGoal(_ setting: LibrarySetting, _ value: Int) async throws {
        try await set(setting.rawValue, to: String(value), at: noon)
    }
}
