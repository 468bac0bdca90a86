import FoundationEssentials
import GRDB
import Glibc

/// Where a backup goes, and what must not be lost there.
struct BackupPlace {
    /// The file itself, behind whatever links lead to it.
    let path: String

    /// - Parameter target: in a folder that exists.
    init(_ target: String) { path = realPath(target) }

    /// Makes sure that nothing is lost when a backup takes the place of what is there.
    ///
    /// - Parameter library: the library that is copied; `nil` for one in memory.
    /// - Throws: ``LibraryError/wouldOverwrite(path:what:)``.
    func check(against library: String?) throws(LibraryError) {
        let present = try fileFacts(path)
        for suffix in library == nil ? [] : ["", "-wal", "-shm", "-journal", "-lock"] {
            let own = (library ?? "") + suffix
            var isOwn = path == own
            if let present, let facts = try fileFacts(own) {
                // Another name of the same file is a hard link.
                isOwn = isOwn || present.st_dev == facts.st_dev && present.st_ino == facts.st_ino
            }
            guard !isOwn else { throw refusal("the library itself, or one of its side files") }
        }
        guard let present else { return }
        guard present.st_mode & S_IFMT == S_IFREG else { throw refusal("a folder or device") }
        // A log that lies there would be taken for the new file's.
        guard try fileFacts(path + "-wal")?.st_size ?? 0 == 0 else { throw refusal("a database that is in use") }
        guard present.st_size > 0 else { return }
        let header: FileHeader
        do {
            header = try FileHeader(of: path)
        } catch .foreign(_, let what) {
            throw refusal("\(what), not a backup")
        } catch .corrupt(_, let what) {
            throw refusal("a damaged file (\(what))")
        }
        guard header.applicationID == Schema.applicationID else {
            throw refusal("another program's database, not a backup")
        }
    }

    /// Looks before it writes: a stick that cannot hold the copy is not filled to the brim.
    ///
    /// - Throws: ``LibraryError/noRoom(path:needed:free:)``.
    func checkRoom(for db: Database) throws {
        let pages = try Int64.fetchOne(db, sql: "PRAGMA page_count") ?? 0
        let needed = try pages * (Int64.fetchOne(db, sql: "PRAGMA page_size") ?? 0)
        var facts = statvfs()
        guard statvfs(folder(of: path), &facts) == 0 else { throw LibraryError(errno: errno, path: path) }
        let (bytes, isHuge) = UInt64(facts.f_bavail).multipliedReportingOverflow(by: UInt64(facts.f_frsize))
        let free = isHuge ? .max : Int64(clamping: bytes)
        // A file system that tells nothing of itself (some of FUSE's) is tried.
        guard facts.f_blocks == 0 || free >= needed else {
            throw LibraryError.noRoom(path: path, needed: needed, free: free)
        }
    }

    /// A name beside it that no other backup has, for the copy until it is whole.
    func partial() -> String { "\(folder(of: path))/\(Self.prefix)\(UUID().uuidString.lowercased())" }

    /// Removes what backups left that were killed a day ago or longer.
    func removeLeftovers(at now: Date) {
        for name in fileNames(in: folder(of: path)) where name.hasPrefix(Self.prefix) {
            let leftover = folder(of: path) + "/" + name
            // One that cannot be looked at stays; the backup is made all the same.
            guard let facts = try? fileFacts(leftover), facts.st_mode & S_IFMT == S_IFREG,
                facts.st_mtim.tv_sec < Int(now.timeIntervalSince1970) - 86_400
            else { continue }
            unlink(leftover)
        }
    }

    private static let prefix = ".bookplate-partial-"

    private func refusal(_ what: String) -> LibraryError { .wouldOverwrite(path: path, what: what) }
}
