import SystemCalls
import Glibc
import SystemPackage

// Functions for files and folders, which are used for opening, for covers and for backups.

/// Returns the last component of a path.
func name(of path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

/// Resolves symbolic links, including a link whose target does not exist yet. Returns `path` itself if its folder does
/// not exist.
func realPath(_ path: String) -> String {
    var path = path
    // The kernel follows at most 40 links (path_resolution(7)).
    for _ in 0..<40 {
        if let real = resolved(path) { return real }
        guard let target = linkTarget(path) else { break }
        path = target.hasPrefix("/") ? target : folder(of: path) + "/" + target
    }
    guard let folder = resolved(folder(of: path)) else { return path }
    return (folder == "/" ? "" : folder) + "/" + name(of: path)
}

private func resolved(_ path: String) -> String? {
    guard let real = realpath(path, nil) else { return nil }
    defer { free(real) }
    return String(cString: real)
}

private func linkTarget(_ path: String) -> String? {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = buffer.withUnsafeMutableBytes { readlink(path, $0.baseAddress!, $0.count) }
    return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
}

/// Creates a folder and its parent folders, with access for their owner only. Their names are on the disk when this
/// function returns. Existing folders stay as they are.
func createFolder(_ path: String) throws(LibraryError) {
    do throws(FileError) { try SystemCalls.createFolder(path) } catch { throw LibraryError(error) }
}

/// Creates a folder beside a library. The group gets access to the new folder if it has access to the library's own
/// folder. An existing folder stays as it is.
func createFolderBeside(_ path: String) throws(LibraryError) {
    let isNew = try fileFacts(path) == nil
    guard isNew, try fileMode(in: folder(of: path)) == 0o660 else { return try createFolder(path) }
    do throws(FileError) { try SystemCalls.createFolder(path, mode: 0o770) } catch { throw LibraryError(error) }
    // The umask must not exclude the group, and new files must belong to the group (inode(7), S_ISGID). The new folder
    // usually inherits this bit from its parent folder. If the new folder already has the bit, chmod is not called,
    // because systemd may forbid this call in a service (RestrictSUIDSGID).
    guard let facts = try fileFacts(path), facts.st_mode & 0o7777 != 0o2770 else { return }
    guard chmod(path, 0o2770) == 0 else { throw LibraryError(errno: errno, path: path) }
}

/// Returns the metadata of a file; `nil` if there is no such file.
func fileFacts(_ path: String) throws(LibraryError) -> stat? {
    var facts = stat()
    if stat(path, &facts) == 0 { return facts }
    guard errno == ENOENT else { throw LibraryError(errno: errno, path: path) }
    return nil
}

/// Returns the mode for new files in a folder. The owner and the group get access if the group may write to the folder,
/// as in the service's library; otherwise, only the owner gets access.
func fileMode(in folder: String) throws(LibraryError) -> mode_t {
    guard let facts = try fileFacts(folder) else { return 0o600 }
    return facts.st_mode & S_IWGRP != 0 ? 0o660 : 0o600
}

extension LibraryFile {
    /// Returns the folder of a library if a group shares the folder, as it shares the service's; otherwise `nil`.
    ///
    /// - Parameter path: the path of the library, which need not exist.
    public static func groupFolder(of path: String) -> String? {
        let folder = folder(of: realPath(path))
        // A folder that is missing or cannot be read is not shared with this user. Opening the library reports the
        // error.
        return (try? fileMode(in: folder)) == 0o660 ? folder : nil
    }
}

/// Opens a file for reading and writing, and creates it if it does not exist. Then sets its mode to `mode`, because the
/// umask must not exclude the group that shares the library. If the file belongs to another user, its mode stays as it
/// is.
func openShared(_ path: String, mode: mode_t) throws(LibraryError) -> FileDescriptor {
    do {
        let file = try FileDescriptor.open(
            path, .readWrite, options: [.create, .closeOnExec], permissions: FilePermissions(rawValue: mode))
        _ = fchmod(file.rawValue, mode)
        return file
    } catch {
        throw LibraryError(system: error, path: path)
    }
}
