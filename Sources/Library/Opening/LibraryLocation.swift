import FoundationEssentials
import SystemCalls
import GRDB
import Glibc
import SystemPackage

/// The location of a library, which is inspected before anything is written there.
struct LibraryLocation {
    /// The path of the file, with links resolved. Locks, side files, covers and backups are beside the file itself, not
    /// beside a link to it.
    let path: String
    /// The permission mode for new files.
    let mode: mode_t

    enum State: Equatable {
        case new
        /// A library with a version of the schema.
        case existing(version: Int)
    }

    init(_ path: String) {
        let path = realPath(path)
        self.path = path
        // If the folder cannot be read, prepare() reports it. If it does not exist yet, it will be created with access
        // for its owner only.
        mode = (try? fileMode(in: folder(of: path))) ?? 0o600
    }

    /// Returns the reason why a library that is there can only be read: EROFS if its file system is mounted read-only,
    /// or EACCES if this user may not write the file, or may not create SQLite's side files in its folder. Returns
    /// `nil` if the library can be written, if there is none, or if it cannot even be read.
    func reasonForReadingOnly() throws(LibraryError) -> Errno? {
        guard let facts = try fileFacts(path), facts.st_mode & S_IFMT == S_IFREG, facts.st_size > 0,
            access(path, R_OK) == 0
        else { return nil }
        for (path, mode) in [(path, W_OK), (folder(of: path), W_OK | X_OK)] where access(path, mode) != 0 {
            let reason = Errno.current
            if reason == .readOnlyFileSystem || reason == .permissionDenied { return reason }
        }
        return nil
    }

    /// Creates the library's folders, and the side file for the locks.
    func prepare() throws(LibraryError) -> LibraryLock {
        let parent = folder(of: path)
        try createFolder(parent)
        if let network = try FileSystemKind.network(at: parent) {
            throw LibraryError.networkFileSystem(path: path, type: network)
        }
        if let facts = try fileFacts(path) {
            guard facts.st_mode & S_IFMT == S_IFREG else {
                throw LibraryError.foreign(path: path, what: "a folder or device")
            }
            guard access(path, R_OK | W_OK) == 0 else { throw LibraryError(errno: errno, path: path) }
            // The side file must not be created beside another program's file.
            if facts.st_size > 0, try !hasRollbackJournal() { try FileHeader(of: path).check(path: path) }
        }
        // SQLite creates and removes its side files in the folder.
        guard access(parent, W_OK | X_OK) == 0 else { throw LibraryError(errno: errno, path: parent) }
        return try LibraryLock(path: path + "-lock", mode: mode)
    }

    /// Returns true if there is a write-ahead log with content beside the file. Then either a process has the file
    /// open, or a process has ended without closing it.
    func hasLeftoverLog() throws(LibraryError) -> Bool {
        try fileFacts(path + "-wal")?.st_size ?? 0 > Self.logHeaderSize
    }

    /// The size of the header of a write-ahead log. Source: https://www.sqlite.org/fileformat.html, 4.1
    static let logHeaderSize = 32

    /// Reads the file through a connection of its own, which cannot write.
    ///
    /// - Parameter isAlone: true if the caller has the locks *opening* and *in use*.
    func read<Result>(isAlone: Bool, _ body: (Database) throws -> Result) throws -> Result {
        // Such a connection leaves an empty log and its index behind if there were none. They are removed, unless
        // another process may be using them.
        var made: [String] = []
        for suffix in isAlone ? ["-wal", "-shm"] : [] where try fileFacts(path + suffix) == nil {
            made.append(path + suffix)
        }
        defer { for file in made { unlink(file) } }
        let file = try DatabaseQueue(path: path, configuration: LibraryFile.configuration(readonly: true))
        // The connection cannot write, so nothing is lost if closing fails.
        defer { try? file.close() }
        return try file.read(body)
    }

    /// Returns true if there is a rollback journal beside the file, which means that a transaction was interrupted
    /// before the file had a write-ahead log: in the first milliseconds of a library, or in another program. SQLite
    /// rolls the transaction back when it next opens the file. The journal begins with these bytes.
    ///
    /// Source: https://www.sqlite.org/fileformat.html, 3
    func hasRollbackJournal() throws(LibraryError) -> Bool {
        guard try fileFacts(path + "-journal")?.st_size ?? 0 > 0 else { return false }
        do throws(FileError) {
            return try readFile(path + "-journal", limit: 8) == [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
        } catch { throw LibraryError(error) }
    }

    /// Inspects the file as it will be after SQLite has rolled back the interrupted transaction. This is tried with a
    /// copy, because the file must not be changed if it is refused.
    private func inspectRolledBack() throws -> State {
        let copy = LibraryLocation(path + ".rollback")
        removeDatabase(copy.path)
        defer { removeDatabase(copy.path) }
        do {
            for suffix in ["", "-journal"] {
                try FileManager.default.copyItem(atPath: path + suffix, toPath: copy.path + suffix)
            }
            let file = try DatabaseQueue(path: copy.path, configuration: LibraryFile.configuration())
            try file.close()
            unlink(copy.path + "-journal")
            return try copy.inspect(isAlone: true)
        } catch let error as CocoaError {
            throw LibraryError(errno: (error.underlying as? POSIXError)?.code.rawValue ?? EIO, path: copy.path)
        } catch {
            switch LibraryError.translated(error, path: path, file: copy.path) {
            case LibraryError.foreign(_, let what): throw LibraryError.foreign(path: path, what: what)
            case LibraryError.corrupt(_, let what): throw LibraryError.corrupt(path: path, what: what)
            case LibraryError.alteredSchema(_, let what): throw LibraryError.alteredSchema(path: path, what: what)
            case let error: throw error
            }
        }
    }

    /// Inspects the file without changing a byte of it.
    ///
    /// - Parameters:
    ///   - isAlone: true if the caller has the locks *opening* and *in use*.
    ///   - endedUncleanly: true to check the whole file (`quick_check`).
    /// - Throws: ``LibraryError`` if the file is damaged, was written by a newer Bookplate, was altered by another
    ///   program, or is not a library.
    func inspect(isAlone: Bool, endedUncleanly: Bool = false) throws -> State {
        guard let facts = try fileFacts(path), facts.st_size > 0 else { return .new }
        if try hasRollbackJournal() { return try inspectRolledBack() }
        let header = try FileHeader(of: path)
        try header.check(path: path)
        // If there is a write-ahead log, the newest header is in it, and only SQLite can read it.
        guard try hasLeftoverLog() || facts.st_size >= header.expectedSize else {
            throw LibraryError.corrupt(
                path: path, what: "its size is \(facts.st_size) instead of \(header.expectedSize) bytes")
        }
        return try read(isAlone: isAlone) { db in
            try Schema.checkVersion(db, path: path)
            if endedUncleanly {
                let error = try String.fetchOne(db, sql: "PRAGMA quick_check(1)") ?? "the file check gave no result"
                if error != "ok" { throw LibraryError.damage(error, in: path) }
            }
            return .existing(version: try SchemaCheck.check(db, path: path))
        }
    }
}

/// The first 100 bytes of an SQLite file. Source: https://www.sqlite.org/fileformat.html, 1.3
struct FileHeader {
    var pageSize: Int
    var pageCount: Int
    var userVersion: Int
    var applicationID: UInt32
    var isPageCountValid: Bool
    /// True if the file is used with a write-ahead log.
    var hasLog: Bool

    /// - Throws: ``LibraryError/foreign(path:what:)`` if the file is not an SQLite file.
    init(of path: String) throws(LibraryError) {
        let bytes: [UInt8]
        do throws(FileError) { bytes = try readFile(path, limit: 100) } catch { throw LibraryError(error) }
        guard bytes.starts(with: Array("SQLite format 3\0".utf8)) else {
            throw LibraryError.foreign(
                path: path,
                what: bytes.allSatisfy { $0 >= 0x20 || (9...13).contains($0) }
                    ? "a text file" : "a file that SQLite cannot read")
        }
        guard bytes.count == 100 else {
            throw LibraryError.corrupt(path: path, what: "it ends in the middle of its header")
        }
        func number(_ offset: Int) -> UInt32 { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) } }
        let size = Int(bytes[16]) << 8 | Int(bytes[17])
        pageSize = size == 1 ? 65536 : size
        hasLog = bytes[19] == 2
        pageCount = Int(number(28))
        isPageCountValid = number(24) == number(92)
        userVersion = Int(Int32(bitPattern: number(60)))
        applicationID = number(68)
    }

    /// The size of the file in bytes, according to its header; 0 if the header contains no valid size.
    var expectedSize: Int { isPageCountValid ? pageCount * pageSize : 0 }

    /// - Throws: ``LibraryError`` if the file was written by a newer Bookplate or by another program.
    func check(path: String) throws(LibraryError) {
        guard applicationID == Schema.applicationID else {
            throw LibraryError.foreign(path: path, what: "another program's database")
        }
        guard userVersion <= Schema.version else {
            throw LibraryError.newerSchema(path: path, version: userVersion, known: Schema.version)
        }
    }
}

/// Distinguishes network file systems from local ones, because SQLite's write-ahead log needs the shared memory and the
/// locks of one kernel (https://www.sqlite.org/wal.html, "All processes using a database must be on the same host
/// computer").
enum FileSystemKind {
    /// The names of the refused types, as they appear in mountinfo. The numbers that statfs(2) returns cannot be used
    /// instead, because all FUSE file systems have the same number, including local ones (ntfs-3g, exfat).
    ///
    /// The types 9p and virtiofs are allowed, although another kernel provides them. They are the ordinary disk of many
    /// containers and virtual machines, where only one kernel uses the file.
    static let refused: Set<String> = [
        "nfs", "nfs4", "cifs", "smb3", "smbfs", "ncpfs", "afs", "ceph", "coda", "lustre", "gfs2", "ocfs2",
        "fuse.sshfs", "fuse.rclone", "fuse.s3fs", "fuse.glusterfs", "fuse.davfs", "fuse.davfs2", "fuse.curlftpfs",
        "fuse.gvfsd-fuse", "fuse.ceph", "fuse.ceph-fuse", "fuse.moosefs", "fuse.juicefs", "fuse.gcsfuse",
    ]

    /// Returns the type of the network file system that contains `folder`; `nil` if the file system is local, or
    /// unknown because there is no /proc.
    static func network(at folder: String) throws(LibraryError) -> String? {
        var facts = stat()
        guard stat(folder, &facts) == 0 else { throw LibraryError(errno: errno, path: folder) }
        // Without /proc, a library on a network is not recognised. Refusing all libraries would be worse.
        guard let bytes = try? readFile("/proc/self/mountinfo", limit: 1 << 20) else { return nil }
        let type = type(ofDevice: facts.st_dev, in: String(decoding: bytes, as: UTF8.self))
        return type.flatMap { refused.contains($0) ? $0 : nil }
    }

    /// Returns the type of a device's file system, according to mountinfo. The third field is the device, and the type
    /// follows the separator " - ". Source: proc_pid_mountinfo(5)
    static func type(ofDevice device: UInt, in mountinfo: String) -> String? {
        // The major number has twelve bits and the minor number has twenty, and they are interleaved (makedev(3)).
        let major = (device >> 8) & 0xFFF | (device >> 32) & ~0xFFF
        let minor = device & 0xFF | (device >> 12) & ~0xFF
        for line in mountinfo.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count > 2, fields[2] == "\(major):\(minor)", let dash = fields.firstIndex(of: "-"),
                dash + 1 < fields.count
            else { continue }
            return String(fields[dash + 1])
        }
        return nil
    }
}

extension LibraryFile {
    /// Checks that a library could be created at a path where there is none. This does not write anything.
    ///
    /// - Returns: the folder of the path, or the nearest parent folder that exists.
    /// - Throws: ``LibraryError`` if that folder cannot be written or is on a network file system.
    @discardableResult
    public static func checkCreation(at path: String) throws(LibraryError) -> String {
        var parent = folder(of: realPath(path))
        while try fileFacts(parent) == nil, folder(of: parent) != parent { parent = folder(of: parent) }
        if let network = try FileSystemKind.network(at: parent) {
            throw LibraryError.networkFileSystem(path: path, type: network)
        }
        guard access(parent, W_OK | X_OK) == 0 else { throw LibraryError(errno: errno, path: parent) }
        return parent
    }
}
