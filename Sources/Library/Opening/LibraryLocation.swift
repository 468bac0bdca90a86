import GRDB
import Glibc

/// The place of a library, and what is found there before anything is written.
struct LibraryLocation {
    /// The file itself: locks, side files, covers and backups lie beside it, whatever links lead to it.
    let path: String
    /// The rights of new files.
    let mode: mode_t

    /// What stands at the path.
    enum State: Equatable { case new, existing }

    init(_ path: String) {
        let path = realPath(path)
        self.path = path
        // A folder that cannot be looked at is told by prepare(); one that is yet to be made is its owner's.
        mode = (try? fileMode(in: folder(of: path))) ?? 0o600
    }

    /// Makes the folders and the side file that carries the locks.
    func prepare() throws(LibraryError) -> LibraryLock {
        let parent = folder(of: path)
        try makeFolder(parent)
        if let network = try FileSystemKind.network(at: parent) {
            throw LibraryError.networkFileSystem(path: path, type: network)
        }
        if let facts = try fileFacts(path) {
            guard facts.st_mode & S_IFMT == S_IFREG else {
                throw LibraryError.foreign(path: path, what: "a folder or device")
            }
            guard access(path, R_OK | W_OK) == 0 else { throw LibraryError(errno: errno, path: path) }
            // Another program's file gets no side files from us either.
            if facts.st_size > 0 { try FileHeader(of: path).check(path: path) }
        }
        // SQLite makes and removes its side files in the folder.
        guard access(parent, W_OK | X_OK) == 0 else { throw LibraryError(errno: errno, path: parent) }
        return try LibraryLock(path: path + "-lock", mode: mode)
    }

    /// Whether a write-ahead log with content lies beside the file: somebody has it open, or ended without closing it.
    func hasLeftoverLog() throws(LibraryError) -> Bool { try fileFacts(path + "-wal")?.st_size ?? 0 > 0 }

    /// Looks at the file without changing a byte of it.
    ///
    /// - Parameter endedUncleanly: whether to check the whole file (`quick_check`).
    /// - Throws: ``LibraryError`` when it is newer, damaged or something else.
    func inspect(endedUncleanly: Bool) throws -> State {
        guard let facts = try fileFacts(path), facts.st_size > 0 else { return .new }
        let header = try FileHeader(of: path)
        try header.check(path: path)
        guard try hasLeftoverLog() else {
            guard facts.st_size >= header.expectedSize else {
                throw LibraryError.corrupt(
                    path: path, what: "cut short at \(facts.st_size) of \(header.expectedSize) bytes")
            }
            return .existing
        }
        // The newest header is in the log, and only SQLite reads that; a read-only connection leaves both files as they are.
        let queue = try DatabaseQueue(path: path, configuration: LibraryFile.configuration(readonly: true))
        defer { try? queue.close() }
        try queue.read { db in
            try Schema.checkVersion(db, path: path)
            guard endedUncleanly else { return }
            let error = try String.fetchOne(db, sql: "PRAGMA quick_check(1)") ?? "no answer"
            if error != "ok" { throw LibraryError.corrupt(path: path, what: error) }
        }
        return .existing
    }
}

/// The first 100 bytes of an SQLite file. Source: https://www.sqlite.org/fileformat.html, 1.3
struct FileHeader {
    var pageSize: Int
    var pageCount: Int
    var userVersion: Int
    var applicationID: UInt32
    var isPageCountValid: Bool

    /// - Throws: ``LibraryError/foreign(path:what:)`` when it is no SQLite file.
    init(of path: String) throws(LibraryError) {
        let bytes = try readFile(path, limit: 100)
        guard bytes.starts(with: Array("SQLite format 3\0".utf8)) else {
            throw LibraryError.foreign(
                path: path,
                what: bytes.allSatisfy { $0 >= 0x20 || (9...13).contains($0) } ? "a text file" : "no SQLite database")
        }
        guard bytes.count == 100 else { throw LibraryError.corrupt(path: path, what: "cut short in its header") }
        func number(_ offset: Int) -> UInt32 { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) } }
        let size = Int(bytes[16]) << 8 | Int(bytes[17])
        pageSize = size == 1 ? 65536 : size
        pageCount = Int(number(28))
        isPageCountValid = number(24) == number(92)
        userVersion = Int(Int32(bitPattern: number(60)))
        applicationID = number(68)
    }

    /// In bytes; 0 when the header does not tell.
    var expectedSize: Int { isPageCountValid ? pageCount * pageSize : 0 }

    /// - Throws: ``LibraryError`` when it is another program's or newer.
    func check(path: String) throws(LibraryError) {
        guard applicationID == Schema.applicationID else {
            throw LibraryError.foreign(path: path, what: "another program's database")
        }
        guard userVersion <= Schema.version else {
            throw LibraryError.newerSchema(path: path, version: userVersion, known: Schema.version)
        }
    }
}

/// Tells network file systems from local ones, because WAL needs the shared memory and locks of one kernel
/// (https://www.sqlite.org/wal.html, "All processes using a database must be on the same host computer").
enum FileSystemKind {
    /// The types refused, as mountinfo names them. statfs(2) would give numbers, but one and the same for every FUSE file
    /// system, the local ones (ntfs-3g, exfat) too.
    ///
    /// 9p and virtiofs are let through although they come from another kernel: they are the ordinary disk of many containers
    /// and virtual machines, where one kernel alone uses the file.
    static let refused: Set<String> = [
        "nfs", "nfs4", "cifs", "smb3", "smbfs", "ncpfs", "afs", "ceph", "coda", "lustre", "gfs2", "ocfs2",
        "fuse.sshfs", "fuse.rclone", "fuse.s3fs", "fuse.glusterfs", "fuse.davfs", "fuse.davfs2", "fuse.curlftpfs",
        "fuse.gvfsd-fuse", "fuse.ceph", "fuse.ceph-fuse", "fuse.moosefs", "fuse.juicefs", "fuse.gcsfuse",
    ]

    /// The network file system that `folder` lies on, `nil` for a local one and where it cannot be told (no /proc).
    static func network(at folder: String) throws(LibraryError) -> String? {
        var facts = stat()
        guard stat(folder, &facts) == 0 else { throw LibraryError(errno: errno, path: folder) }
        guard let bytes = try? readFile("/proc/self/mountinfo", limit: 1 << 20) else { return nil }
        let type = type(ofDevice: facts.st_dev, in: String(decoding: bytes, as: UTF8.self))
        return type.flatMap { refused.contains($0) ? $0 : nil }
    }

    /// The type that mountinfo gives for a device. Source: proc_pid_mountinfo(5): the third field is the device, the type
    /// follows the separator " - ".
    static func type(ofDevice device: UInt, in mountinfo: String) -> String? {
        // makedev(3): twelve and twenty bits, interleaved.
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
    /// Whether a library could be made at a path where there is none; nothing is written.
    ///
    /// - Returns: the folder that it would be made in, or the nearest above it that exists.
    /// - Throws: ``LibraryError`` when that folder cannot be written, or lies on a network file system.
    public static func outlook(at path: String) throws(LibraryError) -> String {
        var parent = folder(of: realPath(path))
        while try fileFacts(parent) == nil, folder(of: parent) != parent { parent = folder(of: parent) }
        if let network = try FileSystemKind.network(at: parent) {
            throw LibraryError.networkFileSystem(path: path, type: network)
        }
        guard access(parent, W_OK | X_OK) == 0 else { throw LibraryError(errno: errno, path: parent) }
        return parent
    }
}
