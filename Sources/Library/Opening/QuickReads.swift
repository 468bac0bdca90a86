import FoundationEssentials
import GRDB
import Glibc

extension LibraryFile {
    /// Opens an existing library for a few reads that must be quick, such as those for shell completion. It waits for
    /// no lock, migrates nothing, makes no backup, and every write throws. At any time, other processes may open and
    /// change the library.
    ///
    /// A library without a write-ahead log is read without locks and side files. If another process copies its log into
    /// the file at that very moment, the read can fail or find what is half old and half new. So these reads are only
    /// for suggestions.
    ///
    /// - Returns: `nil` if there is no library, or one that has to be migrated or rolled back first.
    /// - Throws: ``LibraryError`` if the file cannot be read, is damaged, is locked, or was written by a newer
    ///   Bookplate or by another program.
    public static func openForQuickReads(at path: String) throws -> LibraryFile? {
        let location = LibraryLocation(path)
        do {
            guard let facts = try fileFacts(location.path), facts.st_mode & S_IFMT == S_IFREG, facts.st_size > 0,
                try !location.hasRollbackJournal()
            else { return nil }
            let header = try FileHeader(of: location.path)
            try header.check(path: location.path)
            let timeout = LockTimeout(.zero)
            let database =
                try location.hasLeftoverLog()
                ? DatabaseQueue(path: location.path, configuration: configuration(readonly: true, lockTimeout: timeout))
                : immutableQueue(at: location.path)
            let isNewest = try database.read { db in
                // The schema of an earlier version is not checked, because that takes some hundredths of a second.
                guard try Schema.checkVersion(db, path: location.path) == Schema.version else { return false }
                _ = try SchemaCheck.check(db, path: location.path)
                return true
            }
            guard isNewest else { return nil }
            return LibraryFile(
                path: location.path, device: hostName(), database: database, lock: nil, lockTimeout: timeout,
                clock: { Date() }, zone: .current)
        } catch {
            throw LibraryError.translated(error, path: location.path)
        }
    }
}
