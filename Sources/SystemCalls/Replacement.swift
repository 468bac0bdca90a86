import Glibc
import SystemPackage

/// An error that the system reported for a path.
public struct FileError: Error, Sendable, Equatable, CustomStringConvertible {
    public let path: String
    public let errno: Errno

    public init(path: String, errno: Errno) { (self.path, self.errno) = (path, errno) }

    public var description: String { "\(path): \(errno)" }

    /// True if the path is wrong, or somebody else's, so that another one must be chosen. The disk itself works.
    public var isAboutPath: Bool { [.permissionDenied, .isDirectory, .notDirectory].contains(errno) }
}

/// Replaces a file completely or not at all. The file is on the disk when this function returns.
///
/// The bytes are first written to a partial file in the same folder, which then replaces the file; see
/// ``commitFile(_:to:)``. If an error occurs, the partial file is removed and the file is unchanged. The one exception
/// is an error while the folder is synced, because the file has already been replaced by then.
///
/// - Parameter mode: the mode of the new file, whatever the umask is.
public func replaceFile(_ path: String, with bytes: some Sequence<UInt8>, mode: mode_t) throws(FileError) {
    // Each call uses a name of its own, so that two processes that replace a file at once do not mix their bytes.
    let partial = "\(path).partial-\(String(UInt64.random(in: .min ... .max), radix: 36))"
    var isCreated = false
    do {
        let file = try FileDescriptor.open(
            partial, .writeOnly, options: [.create, .exclusiveCreate, .closeOnExec],
            permissions: FilePermissions(rawValue: mode))
        isCreated = true
        _ = try file.closeAfter {
            // A file system without modes, such as FAT, answers EPERM.
            guard fchmod(file.rawValue, mode) == 0 || Errno.current == .notPermitted else { throw Errno.current }
            return try file.writeAll(bytes)
        }
        try commitFile(partial, to: path)
    } catch {
        if isCreated { unlink(partial) }
        throw (error as? FileError) ?? FileError(path: path, errno: error as? Errno ?? .ioError)
    }
}

/// Moves a complete file to its final path, where it replaces an older file. The file is synced before the move and its
/// folder after it, because rename(2) alone does not survive a power cut. After a power cut, there is either the old
/// file or the complete new file.
public func commitFile(_ partial: String, to path: String) throws(FileError) {
    try syncFile(partial)
    do throws(Errno) {
        try retryOnInterrupt { rename(partial, path) }
    } catch {
        throw FileError(path: path, errno: error)
    }
    try syncFolder(of: path)
}

/// Creates a folder and its missing parent folders. Each new folder's name is on the disk when this function returns.
/// Existing folders stay as they are.
///
/// - Parameter mode: the mode of the new folders, without the bits of the umask.
public func createFolder(_ path: String, mode: mode_t = 0o700) throws(FileError) {
    if mkdir(path, mode) != 0 {
        if Errno.current == .noSuchFileOrDirectory, folder(of: path) != path {
            try createFolder(folder(of: path), mode: mode)
            if mkdir(path, mode) == 0 { return try syncNewFolder(path) }
        }
        let error = Errno.current
        if error == .fileExists { return }
        throw FileError(path: path, errno: error)
    }
    try syncNewFolder(path)
}

/// Syncs the name of a new, empty folder. If this fails, the folder is removed, so that the next attempt creates it
/// again and syncs it.
private func syncNewFolder(_ path: String) throws(FileError) {
    do throws(FileError) { try syncFolder(of: path) } catch {
        rmdir(path)
        throw error
    }
}

/// Syncs a file's content to the disk.
public func syncFile(_ path: String) throws(FileError) { try sync(path) }

/// Syncs the names in a file's folder to the disk. File systems that cannot sync a folder (FUSE and some network file
/// systems) answer EINVAL or ENOTSUP. This is not an error, because they write the names without a sync.
public func syncFolder(of path: String) throws(FileError) {
    try sync(folder(of: path), ignoring: [.invalidArgument, .notSupported])
}

private func sync(_ path: String, ignoring harmless: Set<Errno> = []) throws(FileError) {
    let result = Result {
        let file = try FileDescriptor.open(path, .readOnly, options: .closeOnExec)
        try file.closeAfter { _ = try retryOnInterrupt { fsync(file.rawValue) } }
    }
    guard case .failure(let error) = result else { return }
    let code = error as? Errno ?? .ioError
    if !harmless.contains(code) { throw FileError(path: path, errno: code) }
}

/// Returns the folder of `path`; "." if the path is only a name. Slashes at its end do not count, as in dirname(3).
public func folder(of path: String) -> String {
    if path.utf8.count > 1, path.hasSuffix("/") { return folder(of: String(path.dropLast())) }
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
}
