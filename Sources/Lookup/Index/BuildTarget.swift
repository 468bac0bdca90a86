import Glibc

/// Where an index is built: beside its place, and moved there when it is whole.
struct BuildTarget {
    let path: String
    /// The index while it grows.
    var unfinished: String { path + ".building" }
    /// The rows before they are put together.
    var rows: String { path + ".rows" }

    /// Refuses a place that holds anything but an index of ours, and one that a build would take a dump away from.
    ///
    /// An empty file may be replaced, and so may an index that is damaged or of another version: its first bytes tell it.
    init(_ path: String, dumpFiles: [String]) throws(OfflineIndexError) {
        self.path = path
        for place in [path, unfinished, rows] {
            guard let there = Self.facts(of: place) else { continue }
            for dump in dumpFiles {
                guard let facts = Self.facts(of: dump) else { continue }
                guard facts.st_dev != there.st_dev || facts.st_ino != there.st_ino else {
                    throw .dumpInTheWay(path: path, dump: dump)
                }
            }
        }
        guard let there = Self.facts(of: path) else { return }
        guard there.st_mode & S_IFMT == S_IFREG else { throw .occupied(path: path) }
        guard there.st_size > 0 else { return }
        guard try Self.isIndex(path) else { throw .occupied(path: path) }
    }

    /// - Returns: `nil` when there is nothing; what cannot be looked at is met when it is opened.
    private static func facts(of path: String) -> stat? {
        var facts = stat()
        return stat(path, &facts) == 0 ? facts : nil
    }

    /// Whether the header names SQLite and our application. Source: sqlite.org/fileformat2.html, "The Database Header".
    private static func isIndex(_ path: String) throws(OfflineIndexError) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .unreadable(path: path, cause: OfflineIndexError.systemCause) }
        defer { close(descriptor) }
        var header = [UInt8](repeating: 0, count: 72)
        let count = read(descriptor, &header, header.count)
        guard count >= 0 else { throw .unreadable(path: path, cause: OfflineIndexError.systemCause) }
        let applicationID = header[68..<72].reduce(Int32(0)) { $0 << 8 | Int32($1) }
        return count == header.count && header.starts(with: "SQLite format 3\0".utf8)
            && applicationID == IndexSchema.applicationID
    }

    /// fsync, rename, fsync of the folder: after a power cut the old index is there, or the new one whole.
    func putInPlace() throws(OfflineIndexError) {
        try sync(unfinished, O_RDONLY)
        guard rename(unfinished, path) == 0 else {
            throw .cannotWrite(path: path, cause: OfflineIndexError.systemCause)
        }
        let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        try sync(folder, O_RDONLY | O_DIRECTORY)
    }

    private func sync(_ file: String, _ flags: Int32) throws(OfflineIndexError) {
        let descriptor = open(file, flags | O_CLOEXEC)
        defer { if descriptor >= 0 { close(descriptor) } }
        guard descriptor >= 0, fsync(descriptor) == 0 else {
            throw .cannotWrite(path: path, cause: OfflineIndexError.systemCause)
        }
    }
}
