import Bookplate
import FoundationEssentials
import GRDB

extension LibraryFile {
    /// What tells this library from all others: eight hexadecimal digits, drawn when it was made. Its backups have it too.
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

    /// - Returns: `nil` in a file of version 1, which has none.
    @Sendable static func storedIdentity(_ db: Database) throws -> String? {
        guard try db.tableExists("identity") else { return nil }
        return try String.fetchOne(db, sql: "SELECT id FROM identity")
    }

    /// Gives a file that nobody has open another id. One of version 1 gets an id of its own when it is migrated.
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

/// The backups of one library among those of a folder.
public struct OwnBackups: Sendable, Equatable {
    /// Newest first; those that cannot be read left out.
    public var backups: [StoredBackup]
    /// Whether nobody can tell which of several libraries they are of: then a person must name one.
    public var areMixed: Bool
}

extension LibraryFile {
    /// Chooses those that are surely of the library at `path`; where its id cannot be known, those that are named as it names
    /// its own.
    ///
    /// - Parameters:
    ///   - identity: ``identity()`` of the library; `nil` when it cannot be read.
    ///   - station: the name that it was opened with; the host name unless told.
    public static func ownBackups(
        among backups: [StoredBackup], of path: String, identity: String?, station: String? = nil
    ) -> OwnBackups {
        let readable = backups.filter { $0.problem == nil }.sorted { ($0.at, $0.path) > ($1.at, $1.path) }
        let own = realPath(ownBackupFolder(of: path))
        let rotation = BackupRotation(prefix: stem(of: realPath(path)) + "-")
        // What lies beside the library under its name is its own, also from before libraries had an id.
        func isBeside(_ backup: StoredBackup) -> Bool {
            realPath(folder(of: backup.path)) == own && rotation.instant(of: name(of: backup.path)) != nil
        }
        if let identity {
            let fitting = readable.filter { $0.library == identity || $0.library == nil && isBeside($0) }
            return OwnBackups(backups: fitting, areMixed: false)
        }
        let prefix = sharedPrefix(of: realPath(path), station: station ?? hostName())
        let beside = readable.filter(isBeside)
        let elsewhere = readable.filter { backup in
            realPath(folder(of: backup.path)) != own && name(of: backup.path).hasPrefix(prefix)
        }
        let others = Set(elsewhere.map { $0.library ?? "" }).subtracting(beside.compactMap(\.library))
        return OwnBackups(
            backups: readable.filter { beside.contains($0) || elsewhere.contains($0) },
            areMixed: others.count + (beside.isEmpty ? 0 : 1) > 1)
    }
}
