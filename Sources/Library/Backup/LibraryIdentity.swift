import Bookplate
import FoundationEssentials
import GRDB

extension LibraryFile {
    /// Returns the id of this library, which consists of eight random hexadecimal digits. The library's backups have
    /// the same id.
    public func identity() async throws -> String {
        guard let id = try await read(Self.storedIdentity) else {
            throw LibraryError.corrupt(path: path ?? ":memory:", what: "the id of the library is missing")
        }
        return id
    }

    /// Reads the id of the library at a path, without migrating it or changing it in any other way.
    ///
    /// - Returns: `nil` if the file is missing, empty, or a library that has no id yet.
    /// - Throws: ``LibraryError`` if the file cannot be read as a library.
    public static func identity(at path: String, lockTimeout: Duration = .seconds(5)) throws -> String? {
        let location = LibraryLocation(path)
        do {
            guard let facts = try fileFacts(location.path), facts.st_size > 0 else { return nil }
            let lock = try location.prepare()
            try lock.acquire(.exclusive, .opening, within: lockTimeout, library: location.path)
            let isAlone = try lock.attempt(.exclusive, .inUse)
            guard try location.inspect(isAlone: isAlone) != .new else { return nil }
            return try location.read(isAlone: isAlone, storedIdentity)
        } catch {
            throw LibraryError.translated(error, path: location.path)
        }
    }

    static func newIdentity() -> String {
        let digits = String(UInt32.random(in: .min ... .max), radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }

    /// - Returns: the id in a file; `nil` for a file with version 1 of the schema, which has no id.
    @Sendable static func storedIdentity(_ db: Database) throws -> String? {
        guard try db.tableExists("identity") else { return nil }
        return try String.fetchOne(db, sql: "SELECT id FROM identity")
    }

    /// Changes the id in a file that no process has open, without syncing the file. A file with version 1 of the schema
    /// stays as it is, and gets an id when it is migrated.
    static func setIdentity(_ id: String, of path: String) throws {
        let file = try DatabaseQueue(path: path, configuration: configuration())
        defer { try? file.close() }
        try file.write { db in
            guard try db.tableExists("identity") else { return }
            try db.execute(sql: "UPDATE identity SET id = ?", arguments: [id])
        }
        try file.close()
    }
}
