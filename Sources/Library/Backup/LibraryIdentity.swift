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
