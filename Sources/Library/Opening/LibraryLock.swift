import SystemCalls
import Glibc
import SystemPackage

/// The value of F_OFD_SETLK in asm-generic/fcntl.h, which is the same on every Linux. Swift's Glibc module leaves it
/// out, because glibc hides it behind _GNU_SOURCE. Remove this constant when the module has it.
private let setOpenFileLock: Int32 = 37

/// The locks on bytes of the side file `…-lock`. The kernel keeps them for this open file description, and releases
/// them when the process ends.
///
/// Byte 0 is *opening*. Its holder is the only process that creates, checks, migrates or replaces the library. Byte 1
/// is *in use*. All processes that have the library open share it, so that a restore can find out whether it is alone.
/// Byte 2 is *backup*. Its holder is the process that makes the day's backup. Byte 3 is *gaps*. Its holder is the
/// process that asks the pending sources.
///
/// The locks belong to open file descriptions (fcntl F_OFD_SETLK, Linux 3.15). They are used instead of flock(2)
/// because one file can have several of them, because an exclusive lock becomes a shared lock without a gap, and
/// because two instances in one process exclude each other as two processes do.
final class LibraryLock: Sendable {
    enum Byte: Int, Sendable { case opening = 0, inUse = 1, backup = 2, gaps = 3 }
    enum Kind: Sendable { case shared, exclusive, none }

    private let file: FileDescriptor
    private let path: String

    /// - Parameter mode: the permission mode for a new side file.
    /// - Throws: ``LibraryError``.
    init(path: String, mode: mode_t) throws(LibraryError) {
        self.path = path
        file = try openShared(path, mode: mode)
    }

    // The kernel releases the locks and the descriptor even if closing reports an error.
    deinit { try? file.close() }

    /// Tries to get, change or release a lock, without waiting.
    ///
    /// - Returns: true if this succeeded; false if a lock of another process or instance prevents it.
    func attempt(_ kind: Kind, _ byte: Byte) throws(LibraryError) -> Bool {
        var request = flock()
        request.l_type =
            switch kind {
            case .shared: Int16(F_RDLCK)
            case .exclusive: Int16(F_WRLCK)
            case .none: Int16(F_UNLCK)
            }
        request.l_whence = Int16(SEEK_SET)
        request.l_start = off_t(byte.rawValue)
        request.l_len = 1
        do throws(Errno) {
            try retryOnInterrupt { fcntl(file.rawValue, setOpenFileLock, &request) }
            return true
        } catch {
            // EACCES or EAGAIN: another process has the lock, see fcntl(2).
            if [.permissionDenied, .resourceTemporarilyUnavailable].contains(error) { return false }
            throw LibraryError(errno: error.rawValue, path: path)
        }
    }

    /// Waits until this process gets a lock.
    ///
    /// - Throws: ``LibraryError/locked(path:)`` if another process has the lock for longer than `limit`.
    func acquire(_ kind: Kind, _ byte: Byte, within limit: Duration, library: String) throws(LibraryError) {
        let end = ContinuousClock.now.advanced(by: limit)
        while try !attempt(kind, byte) {
            guard ContinuousClock.now < end else { throw LibraryError.locked(path: library) }
            // The waiting call F_OFD_SETLKW has no time limit, so this polls instead, about as often as another process
            // can have opened the library.
            usleep(10_000)
        }
    }

    func release(_ byte: Byte) throws(LibraryError) { _ = try attempt(.none, byte) }
}

extension LibraryError {
    init(_ error: FileError) { self.init(errno: error.errno.rawValue, path: error.path) }

    /// Converts an error from SystemPackage, which throws only `Errno`.
    init(system error: any Error, path: String) {
        self.init(errno: (error as? Errno)?.rawValue ?? EIO, path: path)
    }

    init(errno code: Int32, path: String) {
        switch code {
        case EACCES, EPERM, EROFS: self = .permission(path: path, errno: code)
        case ENOSPC, EDQUOT: self = .diskFull(path: path)
        default: self = .inputOutput(path: path, code: code)
        }
    }
}
