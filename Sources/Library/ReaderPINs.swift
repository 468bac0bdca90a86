import Bookplate
import FoundationEssentials
import GRDB

/// The PINs that keep apart the private notes and quotes of a household's readers. They are hashed as the access code
/// is, and are no protection from somebody who has the library's file.
extension LibraryFile {
    public func setPIN(_ pin: String?, of reader: ID<Reader>, holder: String?, at now: Date) async throws {
        var hash: String?
        if let pin {
            guard pin.count >= Reader.shortestPIN, pin.utf8.count <= AccessCodeRefusal.longest,
                !pin.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F })
            else { throw ReaderRefusal.badPIN }
            hash = try await CodeHash.make(of: pin)
        }
        try await write { [hash] db in
            let row = try Self.row(of: reader, db)
            guard try Self.isUnlocked(row, holder, at: now, db) else { throw ReaderRefusal.locked }
            try db.run("DELETE FROM readerPIN WHERE reader = ?", [row])
            try db.run("DELETE FROM readerUnlock WHERE reader = ?", [row])
            try WrongCodes(ofReader: row).deleteAll(db)
            guard let hash else { return }
            try db.run("INSERT INTO readerPIN (reader, hash) VALUES (?, ?)", [row, hash])
            // Whoever has just set the PIN need not give it.
            if let holder { try Self.unlock(row, holder, at: now.milliseconds, db) }
        }
    }

    public func unlock(
        _ reader: ID<Reader>, pin: String, holder: String, from address: String, at now: Date
    ) async throws -> CodeCheck {
        let row = try await read { db in try Self.row(of: reader, db) }
        let counts = WrongCodes(ofReader: row)
        return try await codeChecks.run(for: counts.key(of: address)) {
            try await unlockNow(row, pin, holder, from: address, counts, at: now.milliseconds)
        }
    }

    private func unlockNow(
        _ row: Int64, _ pin: String, _ holder: String, from address: String, _ counts: WrongCodes, at instant: Int64
    ) async throws -> CodeCheck {
        // A PIN counts as wrong until it has been checked; see WrongCodes.
        let (hash, pause) = try await write { db in
            guard let hash = try Self.hash(of: row, db) else { return (nil as String?, 0 as Int64) }
            return (hash, try counts.charge(db, address, at: instant))
        }
        guard let hash else { return .noCode }
        guard pause == 0 else { return .throttled(seconds: Int((pause + 999) / 1000)) }
        guard pin.utf8.count <= AccessCodeRefusal.longest, try await CodeHash.isHash(hash, of: pin) else {
            return .wrong
        }
        return try await write { db in
            // Another PIN may have been set during the check.
            guard try Self.hash(of: row, db) == hash else { return .wrong }
            try counts.uncharge(db, address)
            try Self.unlock(row, holder, at: instant, db)
            return .right
        }
    }

    private static func unlock(_ row: Int64, _ holder: String, at instant: Int64, _ db: Database) throws {
        try db.run("DELETE FROM readerUnlock WHERE until <= ?", [instant])
        try db.run(
            """
            INSERT INTO readerUnlock (reader, holder, until) VALUES (?, ?, ?)
            ON CONFLICT (reader, holder) DO UPDATE SET until = excluded.until
            """, [row, holder, instant + Int64(Reader.unlockedFor * 1000)])
    }

    public func lock(_ reader: ID<Reader>, holder: String) async throws {
        try await write { db in
            try db.run(
                "DELETE FROM readerUnlock WHERE reader = ? AND holder = ?", [try Self.row(of: reader, db), holder])
        }
    }

    public func isUnlocked(_ reader: ID<Reader>, holder: String?, at now: Date) async throws -> Bool {
        try await read { db in try Self.isUnlocked(Self.row(of: reader, db), holder, at: now, db) }
    }

    private static func isUnlocked(_ row: Int64, _ holder: String?, at now: Date, _ db: Database) throws -> Bool {
        guard try hash(of: row, db) != nil else { return true }
        return try db.row(
            "SELECT 1 FROM readerUnlock WHERE reader = ? AND holder = ? AND until > ?",
            [row, holder, now.milliseconds]) != nil
    }

    private static func hash(of row: Int64, _ db: Database) throws -> String? {
        try db.value(String.self, "SELECT hash FROM readerPIN WHERE reader = ?", [row])
    }

    private static func row(of reader: ID<Reader>, _ db: Database) throws -> Int64 {
        let row = try db.value(
            Int64.self, "SELECT id FROM reader WHERE uuid = ? AND deleted IS NULL", [reader.rawValue])
        guard let row else { throw ReaderRefusal.noSuchReader }
        return row
    }
}
