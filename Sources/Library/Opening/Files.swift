import Glibc
import SystemPackage

// The few calls on files and folders that opening, covers and backups share.

/// Reads a whole file.
///
/// - Parameter limit: in bytes; what is longer is cut.
func readFile(_ path: String, limit: Int) throws(LibraryError) -> [UInt8] {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    do {
        let file = try FileDescriptor.open(path, .readOnly, options: .closeOnExec)
        try file.closeAfter {
            while bytes.count < limit {
                let room = min(piece.count, limit - bytes.count)
                let count = try piece.withUnsafeMutableBytes { try file.read(into: .init(rebasing: $0[..<room])) }
                if count == 0 { break }
                bytes += piece[..<count]
            }
        }
    } catch {
        throw LibraryError(system: error, path: path)
    }
    return bytes
}

/// Replaces a file whole or not at all, on the disk when it returns: a partial file beside it, fsync, rename, fsync of the
/// folder (rename(2) alone does not survive a power cut).
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

/// Brings a file's content to the disk.
func syncFile(_ path: String) throws(LibraryError) { try sync(path) }

/// Brings the names in a file's folder to the disk, on file systems that can: others (FUSE's, some network ones) answer EINVAL or
/// ENOTSUP for a folder, and there the names go to the disk by themselves.
func syncFolder(of path: String) throws(LibraryError) { try sync(folder(of: path), except: [EINVAL, ENOTSUP]) }

private func sync(_ path: String, except harmless: Set<Int32> = []) throws(LibraryError) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw LibraryError(errno: errno, path: path) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 || harmless.contains(errno) else { throw LibraryError(errno: errno, path: path) }
}

/// The folder that holds `path`; "." for a bare name.
func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
}

/// The last part of a path.
func name(of path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

/// The names in a folder; none when it cannot be read.
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

/// The file itself behind symbolic links, also behind one whose target is yet to be made; `path` as it is when not even its
/// folder is there.
func realPath(_ path: String) -> String {
    var path = path
    // As many links as the kernel follows (path_resolution(7)).
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

/// Makes a folder and those above it, for their owner alone; what exists stays as it is.
func makeFolder(_ path: String) throws(LibraryError) {
    if mkdir(path, 0o700) == 0 { return }
    switch errno {
    case EEXIST: return
    case ENOENT where folder(of: path) != path:
        try makeFolder(folder(of: path))
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw LibraryError(errno: errno, path: path) }
    default: throw LibraryError(errno: errno, path: path)
    }
}

/// Makes a folder beside a library, open to the group where the library's own folder is; what exists stays as it is.
func makeFolderBeside(_ path: String) throws(LibraryError) {
    let isNew = try fileFacts(path) == nil
    guard isNew, try fileMode(in: folder(of: path)) == 0o660 else { return try makeFolder(path) }
    guard mkdir(path, 0o770) == 0 || errno == EEXIST else { throw LibraryError(errno: errno, path: path) }
    // The umask must not shut out the group, and what is made in it is to be the group's (inode(7), S_ISGID). Mostly the folder above
    // has seen to it; a service that systemd lets set no such bit (RestrictSUIDSGID) could not.
    guard let facts = try fileFacts(path), facts.st_mode & 0o7777 != 0o2770 else { return }
    guard chmod(path, 0o2770) == 0 else { throw LibraryError(errno: errno, path: path) }
}

/// - Returns: `nil` when there is no such file.
func fileFacts(_ path: String) throws(LibraryError) -> stat? {
    var facts = stat()
    if stat(path, &facts) == 0 { return facts }
    guard errno == ENOENT else { throw LibraryError(errno: errno, path: path) }
    return nil
}

/// The rights for new files in a folder: readable and writable for the group where the group may write the folder (the
/// service's library), else for the owner alone.
func fileMode(in folder: String) throws(LibraryError) -> mode_t {
    guard let facts = try fileFacts(folder) else { return 0o600 }
    return facts.st_mode & S_IWGRP != 0 ? 0o660 : 0o600
}
