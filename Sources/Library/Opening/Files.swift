import Glibc
import SystemPackage

// Functions for files and folders, which are used for opening, for covers and for backups.

/// Reads the beginning of a file.
///
/// - Parameter limit: the largest number of bytes to read.
func readFile(_ path: String, limit: Int) throws(LibraryError) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    do {
        let file = try FileDescriptor.open(path, .readOnly, options: .closeOnExec)
        try file.closeAfter {
            while bytes.count < limit {
                let room = min(buffer.count, limit - bytes.count)
                let count = try buffer.withUnsafeMutableBytes { try file.read(into: .init(rebasing: $0[..<room])) }
                if count == 0 { break }
                bytes += buffer[..<count]
            }
        }
    } catch {
        throw LibraryError(system: error, path: path)
    }
    return bytes
}

/// Replaces a file completely or not at all. The file is on the disk when this function returns. Writes a partial file
/// beside the file, syncs it and renames it. Then syncs the folder, because rename(2) alone does not survive a power
/// cut.
func replaceFile(_ path: String, with bytes: [UInt8], mode: mode_t) throws(LibraryError) {
    let partial = path + ".partial"
    var isCreated = false
    do {
        let file = try FileDescriptor.open(
            partial, .writeOnly, options: [.create, .truncate, .closeOnExec],
            permissions: FilePermissions(rawValue: mode))
        isCreated = true
        try file.closeAfter {
            try file.writeAll(bytes)
            if fsync(file.rawValue) != 0 { throw Errno(rawValue: errno) }
        }
        if rename(partial, path) != 0 { throw Errno(rawValue: errno) }
    } catch {
        if isCreated { unlink(partial) }
        throw LibraryError(system: error, path: path)
    }
    try syncFolder(of: path)
}

/// Syncs a file's content to the disk.
func syncFile(_ path: String) throws(LibraryError) { try sync(path) }

/// Syncs the names in a file's folder to the disk. File systems that cannot sync a folder (FUSE and some network file
/// systems) answer EINVAL or ENOTSUP. This is not an error, because they write the names without a sync.
func syncFolder(of path: String) throws(LibraryError) { try sync(folder(of: path), ignoring: [EINVAL, ENOTSUP]) }

private func sync(_ path: String, ignoring harmless: Set<Int32> = []) throws(LibraryError) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw LibraryError(errno: errno, path: path) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 || harmless.contains(errno) else { throw LibraryError(errno: errno, path: path) }
}

/// Returns the folder of `path`; "." if the path is only a name.
func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
}

/// Returns the last component of a path.
func name(of path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

/// Returns the names in a folder; an empty list if the folder cannot be read.
func fileNames(in folder: String) -> [String] {
    guard let entries = opendir(folder) else { return [] }
    defer { closedir(entries) }
    var names: [String] = []
    while let entry = readdir(entries) {
        names.append(
            withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            })
    }
    return names
}

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

/// Creates a folder and its parent folders, with access for their owner only. Existing folders stay as they are.
func createFolder(_ path: String) throws(LibraryError) {
    if mkdir(path, 0o700) == 0 { return }
    switch errno {
    case EEXIST: return
    case ENOENT where folder(of: path) != path:
        try createFolder(folder(of: path))
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw LibraryError(errno: errno, path: path) }
    default: throw LibraryError(errno: errno, path: path)
    }
}

/// Creates a folder beside a library. The group gets access to the new folder if it has access to the library's own
/// folder. An existing folder stays as it is.
func createFolderBeside(_ path: String) throws(LibraryError) {
    let isNew = try fileFacts(path) == nil
    guard isNew, try fileMode(in: folder(of: path)) == 0o660 else { return try createFolder(path) }
    guard mkdir(path, 0o770) == 0 || errno == EEXIST else { throw LibraryError(errno: errno, path: path) }
    // The umask must not exclude the group, and new files must belong to the group (inode(7), S_ISGID). The new folder
    // usually inherits this bit from its parent folder. If it has the bit, chmod is not called, because systemd may
    // forbid it to a service (RestrictSUIDSGID).
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
