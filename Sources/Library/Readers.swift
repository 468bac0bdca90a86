import Bookplate
import FoundationEssentials
import GRDB

extension LibraryFile: Readers {
    /// The largest number of readers. The search index has a row for each reader and copy.
    public static let readerLimit = 24
    private static let colours = 8

    public func readers() async throws -> [Reader] {
        try await read { db in try Reader.fetch(db, "WHERE deleted IS NULL ORDER BY id") }
    }

    public func readers(
        holder: String?, isGuest: Bool, at now: Date, choosing choose: ([Reader]) throws -> Reader?
    ) async throws -> (all: [Reader], chosen: Reader?, library: LibraryFile) {
        let (all, rows) = try await read { db in
            (
                try Reader.fetch(db, "WHERE deleted IS NULL ORDER BY id"),
                try db.rows("SELECT id FROM reader WHERE deleted IS NULL ORDER BY id").map { $0["id"] as Int64 }
            )
        }
        let chosen = try choose(all) ?? all.first
        var access = ReaderAccess(holder: holder, isGuest: isGuest, now: now)
        if let chosen {
            guard let index = all.firstIndex(where: { $0.id == chosen.id }) else { throw ReaderRefusal.noSuchReader }
            access.reader = rows[index]
        }
        return (all, chosen, reading(with: access))
    }

    public func deletedReaders() async throws -> [Reader] {
        try await read { db in try Reader.fetch(db, "WHERE deleted IS NOT NULL ORDER BY deleted DESC") }
    }

    public func addReader(_ name: String, naming first: String?, at now: Date) async throws -> ReaderChange {
        try await changeReader(at: now) { db in
            let present = try Reader.fetch(db, "WHERE deleted IS NULL ORDER BY id")
            if let unnamed = present.first(where: { $0.name == nil }) {
                guard let first else { throw ReaderRefusal.firstNeedsName }
                try Self.name(unnamed.id, first, db)
            }
            let colour = (0..<Self.colours).first { colour in !present.contains { $0.colour == colour } }
            let reader = Reader(name: nil, colour: colour ?? present.count % Self.colours)
            try db.run(
                "INSERT INTO reader (uuid, colour, created) VALUES (?, ?, ?)",
                [reader.id.rawValue, reader.colour, now.milliseconds])
            try Self.name(reader.id, name, db)
            return (reader.id, "added the reader")
        }
    }

    public func renameReader(_ id: ID<Reader>, to name: String, at now: Date) async throws -> ReaderChange {
        try await changeReader(at: now) { db in
            try Self.name(id, name, db)
            return (id, "renamed a reader to")
        }
    }

    public func colourReader(_ id: ID<Reader>, _ colour: Int, at now: Date) async throws -> ReaderChange {
        try NumberLimit.check(colour, as: "colour", in: 0...Self.colours - 1)
        return try await changeReader(at: now) { db in
            try db.run("UPDATE reader SET colour = ? WHERE uuid = ?", [colour, id.rawValue])
            return (id, "changed the colour of")
        }
    }

    public func deleteReader(_ id: ID<Reader>, at now: Date) async throws -> ReaderChange {
        try await changeReader(at: now) { db in
            try db.run(
                "UPDATE reader SET deleted = ? WHERE uuid = ? AND deleted IS NULL", [now.milliseconds, id.rawValue])
            return (id, "deleted the reader")
        }
    }

    public func restoreReader(_ id: ID<Reader>, at now: Date) async throws -> ReaderChange {
        try await changeReader(at: now) { db in
            try db.run("UPDATE reader SET deleted = NULL WHERE uuid = ?", [id.rawValue])
            return (id, "restored the reader")
        }
    }

    private static func name(_ id: ID<Reader>, _ name: String, _ db: Database) throws {
        let name = try name.checked(as: "name", limit: TextLimit.name)
        let taken = try db.row("SELECT 1 FROM reader WHERE name = ? AND uuid <> ?", [name.caseFolded, id.rawValue])
        guard taken == nil else { throw ReaderRefusal.nameTaken(name) }
        // Captured books that wait in the queue keep their reader.
        try db.run(
            """
            UPDATE intakeItem SET preset = json_set(preset, '$.reader', ?1)
            WHERE state = 'waiting'
                AND json_extract(preset, '$.reader') = (SELECT displayName FROM reader WHERE uuid = ?2)
            """, [name, id.rawValue])
        try db.run(
            "UPDATE reader SET name = ?, displayName = ? WHERE uuid = ?", [name.caseFolded, name, id.rawValue])
    }

    /// Checks that there are neither too few readers nor too many. An undo or a redo of an earlier act may find other
    /// readers than the act did.
    ///
    /// - Throws: ``ReaderRefusal/lastReader`` or ``ReaderRefusal/tooMany(limit:)``.
    static func checkNumberOfReaders(_ db: Database) throws {
        let count = try db.value(Int.self, "SELECT count(*) FROM reader WHERE deleted IS NULL") ?? 0
        if count == 0 { throw ReaderRefusal.lastReader }
        if count > readerLimit { throw ReaderRefusal.tooMany(limit: readerLimit) }
    }

    private func changeReader(
        at now: Date, _ body: @escaping @Sendable (Database) throws -> (ID<Reader>, summary: String)
    ) async throws -> ReaderChange {
        let (reader, change) = try await changed(.edit, at: now) { db, _ in
            let (id, summary) = try body(db)
            try Self.checkNumberOfReaders(db)
            guard let reader = try Reader.fetch(db, "WHERE uuid = ?", [id.rawValue]).first else {
                throw ReaderRefusal.noSuchReader
            }
            return (reader, "\(summary) \(quoted(reader.name))")
        }
        return ReaderChange(reader, change: change)
    }
}

extension Reader {
    fileprivate static func fetch(
        _ db: Database, _ clauses: String, _ arguments: StatementArguments = []
    ) throws -> [Reader] {
        try db.rows(
            """
            SELECT uuid, displayName, colour, deleted,
                EXISTS (SELECT 1 FROM readerPIN WHERE readerPIN.reader = reader.id) AS hasPIN
            FROM reader \(clauses)
            """, arguments
        ).map { row in
            Reader(
                id: ID(rawValue: row["uuid"]), name: row["displayName"], colour: row["colour"],
                deleted: (row["deleted"] as Int64?).map(Date.init(milliseconds:)), hasPIN: row["hasPIN"])
        }
    }
}

extension OtherReader {
    /// Fetches what the other readers outside the trash have done with a copy.
    static func fetch(_ db: Database, of copy: Int64) throws -> [OtherReader] {
        let own = try db.rows(
            """
            SELECT reader.uuid AS readerID, own.status, own.rating, own.isOnWishlist,
                (SELECT coalesce(finished, stopped, started) FROM reading
                WHERE reading.copy = own.copy AND reading.reader = own.reader AND state <> 'cancelled'
                ORDER BY position DESC, reading.id DESC LIMIT 1) AS day
            FROM readerCopy own JOIN reader ON reader.id = own.reader
            WHERE own.copy = ? AND own.reader <> reader() AND reader.deleted IS NULL
                AND (status <> 'toRead' OR rating IS NOT NULL OR isOnWishlist)
            ORDER BY reader.id
            """, [copy])
        guard !own.isEmpty else { return [] }
        let readers = try Reader.fetch(db, "WHERE deleted IS NULL")
        return try own.compactMap { row in
            guard let reader = readers.first(where: { $0.id.rawValue == row["readerID"] }) else { return nil }
            return OtherReader(
                reader, status: try row.word("status"), day: try row.day("day"),
                rating: (row["rating"] as Int?).map { Double($0) / 4 }, isOnWishlist: row["isOnWishlist"])
        }
    }
}
