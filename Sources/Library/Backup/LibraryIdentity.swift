import Bookplate
import FoundationEssentials
import GRDB

extension LibraryFile {
    /// Returns the id of this library: eight random hexadecimal digits, which its backups have too.
    public func identity() async throws -> String {
        guard let id = try await read(Self.storedIdentity) else {
            throw LibraryError.corrupt(path: path ?? ":memory:", what: "it has no id")
        }
        return id
    }

    static func newIdentity() -> String {
        let digits = String(UInt32.random(in: .min ... .max), radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }

    /// - Returns: `nil` for a file of version 1, which has no id.
    @Sendable static func storedIdentity(_ db: Database) throws -> String? {
        guard try db.tableExists("identity") else { return nil }
        return try String.fetchOne(db, sql: "SELECT id FROM identity")
    }

    /// Changes the id of a file that no process has open. A file of version 1 gets an id when it is migrated.
    static func setIdentity(_ id: String, of path: String) throws {
        let file = try DatabaseQueue(path: path, configuration: configuration())
        defer { try? file.close() }
        try file.write { db in
            guard try db.tableExists("identity") else { return }
            try db.execute(sql: "UPDATE identity SET id = ?", arguments: [id])
        }
        try file.close()
        try syncFile(path)
    }
}
