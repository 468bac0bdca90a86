import Bookplate
import SystemCalls
import GRDB
import Glibc
import Synchronization
import SystemPackage

/// An error that the library reports. SQLite's errors are distinguished by their extended result code and errno, never
/// by their text.
public enum LibraryError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The file was written by a newer version of Bookplate, and was left unchanged.
    case newerSchema(path: String, version: Int, known: Int)
    /// The file is not a library, but for example a text file or another program's database. The file was left
    /// unchanged.
    case foreign(path: String, what: String)
    /// The file is damaged, and was left unchanged.
    case corrupt(path: String, what: String)
    /// The file has a trigger, view or table that Bookplate has not created, or lacks one. The file was left unchanged.
    case alteredSchema(path: String, what: String)
    /// The library has to be migrated to this program's schema, but the backup before that failed. The library was left
    /// unchanged.
    indirect case notUpgraded(path: String, cause: LibraryError)
    /// The folder is on a network file system, where locks and shared memory do not work.
    case networkFileSystem(path: String, type: String)
    case permission(path: String, errno: Int32?)
    case diskFull(path: String)
    /// The disk does not have enough room for a backup. The sizes are in bytes. Nothing was written.
    case noRoom(path: String, needed: Int64, free: Int64)
    /// The folder for a backup does not exist. It may be on a disk that is not connected.
    case noBackupFolder(path: String)
    /// A read, write or sync failed; `code` is SQLite's extended result code or errno.
    case inputOutput(path: String, code: Int32)
    /// Another process held the lock for longer than the lock timeout.
    case locked(path: String)
    /// The library cannot be replaced, because other processes have it open.
    case inUse(path: String)
    /// A backup would replace a file that is not a backup. The file was left unchanged.
    case wouldOverwrite(path: String, what: String)
    /// A backup would replace a file that does not provably belong to the same library. The file was left unchanged.
    case otherLibrary(path: String)
    case noSuchBook(ID<Copy>)
    /// The book cannot be purged, because it is not in the trash.
    case notInTrash(ID<Copy>)
    case noSuchEdition(ID<Edition>)
    case noSuchItem(ID<QueueItem>)
    /// The item has already been confirmed or skipped.
    case notWaiting(ID<QueueItem>, QueueItem.State)
    /// Another edition in the library has this ISBN.
    case isbnInUse(ISBN)
    /// The picture exceeds the size limit for covers.
    case coverTooLarge(bytes: Int, limit: Int)
    /// An access code could not be hashed, because no memory is left or this machine's libcrypt does not know the
    /// method.
    case accessCode(errno: Int32)
    /// A constraint of the schema refused a row, which is a bug.
    case constraint(path: String, what: String)

    /// The category of the error, which determines the exit code of a command.
    public var category: Category {
        switch self {
        case .newerSchema, .networkFileSystem: .configuration
        case .foreign, .corrupt, .alteredSchema: .corrupt
        case .notUpgraded(_, let cause): cause.category
        case .permission: .permission
        case .diskFull, .noRoom, .noBackupFolder, .inputOutput, .accessCode: .inputOutput
        case .locked, .inUse: .locked
        case .noSuchBook, .notInTrash, .noSuchEdition, .noSuchItem, .notWaiting, .isbnInUse, .coverTooLarge,
            .wouldOverwrite, .otherLibrary:
            .refused
        case .constraint: .fault
        }
    }

    /// The category of a ``LibraryError``. It depends on what has to be done next.
    public enum Category: Sendable, Equatable {
        /// Another version of Bookplate or another path is needed. The exit code is 78.
        case configuration
        /// The library has to be restored with `scan restore`. The exit code is 65.
        case corrupt
        /// Access permissions are needed. The exit code is 77.
        case permission
        /// More disk space or another disk is needed. The exit code is 74.
        case inputOutput
        /// The command has to be tried again later. The exit code is 75.
        case locked
        /// The library's content does not allow the request. The exit code is 3.
        case refused
        /// A bug in Bookplate. It has no exit code of its own, so the exit code is 74.
        case fault
    }

    public var description: String {
        switch self {
        case .newerSchema(let path, let version, let known):
            "cannot open \(path): it was written by a newer version of Bookplate (the file has schema version \(version), but this Bookplate supports versions up to \(known)). Update Bookplate."
        case .foreign(let path, let what):
            "cannot open \(path): it is \(what), not a Bookplate library. Choose another file, or move this one away and run 'scan restore'."
        case .corrupt(let path, let what):
            "cannot read \(path): it is damaged (\(what)). It was not changed. To move it aside and put a backup in its place, run 'scan restore'."
        case .alteredSchema(let path, let what):
            "cannot open \(path): \(what), so another program has altered the file, and it may not be safe to use. It was not changed. To move it aside and put a backup in its place, run 'scan restore'."
        case .notUpgraded(let path, let cause):
            "cannot upgrade \(path) for this version of Bookplate: it has to be backed up first, but that failed. The library was not changed. The reason: \(cause)"
        case .networkFileSystem(let path, let type):
            "cannot keep a library at \(path): \(type) is a network file system, on which file locks are not reliable. Choose a folder on a local disk."
        case .permission(let path, EROFS?):
            "cannot write \(path): it is on a disk that is mounted read-only. Mount the disk for writing, or copy the library to another disk and set BOOKPLATE_LIBRARY to the path of the copy."
        case .permission(let path, let errno):
            "cannot write \(path): permission denied\(errno.map { " (errno \($0))" } ?? ""). Give yourself write permission for the file and its folder, or set BOOKPLATE_LIBRARY to the path of another file."
        case .diskFull(let path):
            "cannot write \(path): the disk is full. Nothing that was reported as saved is lost. Free some space and try again."
        case .noRoom(let path, let needed, let free):
            "cannot write \(path): the backup needs \(needed) bytes, but only \(free) are free on the disk. Free some space, or choose another folder."
        case .noBackupFolder(let path):
            "cannot write a backup to \(path): the folder does not exist. Connect the disk that contains it, create the folder with 'mkdir', or choose another folder."
        case .inputOutput(let path, let code):
            "cannot read or write \(path): input/output error (code \(code)). Check the disk and its connection."
        case .locked(let path):
            "cannot write \(path): another process keeps it locked. Nothing is lost. Try again when that process has finished."
        case .inUse(let path):
            "cannot replace \(path): another process has the library open. Close every other Bookplate program first (terminal, kiosk, service)."
        case .wouldOverwrite(let path, let what):
            "cannot write a backup to \(path): it is \(what). Choose another file."
        case .otherLibrary(let path):
            "cannot write a backup to \(path): the file there is not known to be a backup of this library. Choose another file, or replace it with --force."
        case .noSuchBook(let id): "no book has the id \(id). To see all books, run 'scan library list'."
        case .notInTrash(let id): "the book \(id) is not in the trash. To move it there, run 'scan library delete'."
        case .noSuchEdition(let id): "no edition has the id \(id)."
        case .noSuchItem(let id): "no queue item has the id \(id). To see all items, run 'scan intake list'."
        case .notWaiting(let id, let state):
            "the queue item \(id) has already been \(state == .skipped ? "skipped" : state.rawValue)."
        case .isbnInUse(let isbn):
            "another book in the library has the ISBN \(isbn.hyphenated). Add a copy of that book instead."
        case .coverTooLarge(let bytes, let limit): "the picture has \(bytes) bytes, but the limit is \(limit) bytes."
        case .accessCode(let errno):
            "the access code cannot be checked (errno \(errno)): no memory is left, or libcrypt does not know how the code was hashed. "
                + "To set the code again, run 'scan kiosk code'."
        case .constraint(let path, let what):
            "the library \(path) refused a record that breaks its rules (\(what)). This is a bug in Bookplate. Please report it."
        }
    }
}

extension LibraryError {
    /// Translates an error from SQLite, from the system, or from decoding a stored value into a ``LibraryError``.
    ///
    /// - Parameters:
    ///   - path: the path that the error reports.
    ///   - file: the file that was read or written, if it is another one. No connection of this process has it open.
    /// - Returns: the translated error; any other error is returned unchanged.
    static func translated(_ error: any Error, path: String, file: String? = nil) -> any Error {
        switch error {
        case let error as DatabaseError: LibraryError(error, path: path, file: file)
        case is DecodingError: LibraryError.corrupt(path: path, what: "a stored record cannot be decoded")
        case let error as FileError: LibraryError(error)
        case let error as RowDecodingError: LibraryError.corrupt(path: path, what: error.what)
        default: error
        }
    }

    /// Translates an error from SQLite; see ``translated(_:path:file:)``. Source of the codes:
    /// https://www.sqlite.org/rescode.html
    init(_ error: DatabaseError, path: String, file: String? = nil) {
        let actual = file ?? path
        let code = error.extendedResultCode
        switch code {
        case .SQLITE_FULL: self = .diskFull(path: path)
        // SQLite does not say why the shared memory could not grow, or why a file could not be created.
        case .SQLITE_IOERR_SHMSIZE where isDiskFull(at: actual), .SQLITE_IOERR_SHMOPEN where isDiskFull(at: actual),
            .SQLITE_CANTOPEN where isDiskFull(at: actual):
            self = .diskFull(path: path)
        default:
            switch error.resultCode {
            case .SQLITE_CORRUPT: self = .damage("SQLite code \(code.rawValue)", in: path, file: file)
            // SQLite opens a file for reading only if opening it for writing fails, whatever the reason (os_unix.c,
            // unixOpen). If the file may be written, the reason was not a permission.
            case .SQLITE_READONLY where access(actual, W_OK) == 0 && access(folder(of: actual), W_OK | X_OK) == 0:
                self = .inputOutput(path: path, code: code.rawValue)
            case .SQLITE_NOTADB: self = .foreign(path: path, what: "a file that SQLite cannot read")
            // The program's statements are right, so what the statement names is missing from a damaged schema.
            case .SQLITE_ERROR where error.sql != nil:
                self = .corrupt(path: path, what: error.message ?? "SQLite code \(code.rawValue)")
            case .SQLITE_BUSY, .SQLITE_LOCKED: self = .locked(path: path)
            case .SQLITE_PERM, .SQLITE_READONLY, .SQLITE_AUTH: self = .permission(path: path, errno: nil)
            case .SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_RANGE:
                self = .constraint(path: path, what: error.message ?? "SQLite code \(code.rawValue)")
            default: self = .inputOutput(path: path, code: code.rawValue)
            }
        }
    }

    /// Returns the error for damage that SQLite has reported. SQLite also reports a page that the disk cannot read as
    /// damage (vdbe.c, SQLITE_IOERR_CORRUPTFS); then this is ``inputOutput(path:code:)``. For the parameters, see
    /// ``translated(_:path:file:)``.
    static func damage(_ what: String, in path: String, file: String? = nil) -> LibraryError {
        ReadProbe.canRead(file ?? path, isClosed: file != nil)
            ? .corrupt(path: path, what: what) : .inputOutput(path: path, code: EIO)
    }
}

/// Returns true if the disk of a file has no room for another file.
private func isDiskFull(at path: String) -> Bool {
    var facts = statvfs()
    guard statvfs(folder(of: path), &facts) == 0, facts.f_blocks > 0 else { return false }
    let hasNoFiles = facts.f_files > 0 && facts.f_favail == 0
    return hasNoFiles || UInt64(facts.f_bavail) < (64 << 10) / UInt64(max(1, facts.f_frsize))
}

/// Tests whether the disk can read a database.
private enum ReadProbe {
    private static let files = Mutex<[String: FileDescriptor]>([:])

    /// Returns false if reading the file or its write-ahead log fails with EIO.
    ///
    /// - Parameter isClosed: true if no connection of this process has the file open. Otherwise its descriptor stays
    ///   open, because closing it would release the locks that SQLite has on the file in this process (fcntl(2), and
    ///   https://www.sqlite.org/howtocorrupt.html, 2.2).
    static func canRead(_ path: String, isClosed: Bool) -> Bool {
        [path, path + "-wal"].allSatisfy { path in
            do {
                if isClosed {
                    let file = try FileDescriptor.open(path, .readOnly, options: .closeOnExec)
                    try file.closeAfter { try readAll(of: file) }
                } else {
                    try readAll(of: keptFile(path))
                }
                return true
            } catch {
                return error as? Errno != .ioError
            }
        }
    }

    private static func keptFile(_ path: String) throws -> FileDescriptor {
        try files.withLock { files in
            if let file = files[path] { return file }
            let file = try FileDescriptor.open(path, .readOnly, options: .closeOnExec)
            files[path] = file
            return file
        }
    }

    private static func readAll(of file: FileDescriptor) throws {
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        var offset: Int64 = 0
        while true {
            let count = try buffer.withUnsafeMutableBytes { try file.read(fromAbsoluteOffset: offset, into: $0) }
            if count == 0 { return }
            offset += Int64(count)
        }
    }
}

extension LibraryError: Refusal {
    public var kind: RefusalKind {
        switch category {
        case .configuration: .configuration
        case .corrupt: .corrupt
        case .permission: .permission
        case .inputOutput: .inputOutput
        case .locked: .locked
        case .refused: .refused
        case .fault: .fault
        }
    }

    public var code: String {
        switch self {
        case .newerSchema: "newerSchema"
        case .foreign: "foreign"
        case .corrupt: "corrupt"
        case .alteredSchema: "alteredSchema"
        case .notUpgraded: "notUpgraded"
        case .networkFileSystem: "networkFileSystem"
        case .permission: "permission"
        case .diskFull: "diskFull"
        case .noRoom: "noRoom"
        case .noBackupFolder: "noBackupFolder"
        case .inputOutput: "inputOutput"
        case .locked: "locked"
        case .inUse: "inUse"
        case .wouldOverwrite: "wouldOverwrite"
        case .otherLibrary: "otherLibrary"
        case .noSuchBook: "noSuchBook"
        case .notInTrash: "notInTrash"
        case .noSuchEdition: "noSuchEdition"
        case .noSuchItem: "noSuchItem"
        case .notWaiting: "notWaiting"
        case .isbnInUse: "isbnInUse"
        case .coverTooLarge: "coverTooLarge"
        case .accessCode: "accessCode"
        case .constraint: "constraint"
        }
    }

    public var namesFile: Bool {
        switch self {
        case .newerSchema, .foreign, .corrupt, .alteredSchema, .notUpgraded, .networkFileSystem, .permission, .diskFull,
            .noRoom, .noBackupFolder, .inputOutput, .locked, .inUse, .wouldOverwrite, .otherLibrary, .constraint:
            true
        case .noSuchBook, .notInTrash, .noSuchEdition, .noSuchItem, .notWaiting, .isbnInUse, .coverTooLarge,
            .accessCode:
            false
        }
    }
}

extension LibraryError: TransientError {
    public var isTransient: Bool {
        switch self {
        case .locked, .diskFull: true
        default: false
        }
    }
}
