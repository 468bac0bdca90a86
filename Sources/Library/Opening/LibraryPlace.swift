import GRDB
import Glibc

/// The place of a library, and what is found there before anything is written.
struct LibraryPlace {
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
            let complaint = try String.fetchOne(db, sql: "PRAGMA quick_check(1)") ?? "no answer"
            if complaint != "ok" { throw LibraryError.corrupt(path: path, what: complaint) }
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
