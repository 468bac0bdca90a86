import Foundation

/// A file that is there whole or not at all: written beside its place, synced, then renamed into it.
final class OutputFile {
    private let path: String
    private let partial: String
    private let mayReplace: Bool
    private var descriptor: Int32
    private var isFinished = false

    /// - Parameter mayReplace: whether an older file may go; a database never does.
    /// - Throws: ``Complaint``.
    init(_ path: String, mayReplace: Bool) throws {
        self.path = path
        self.mayReplace = mayReplace
        partial = "\(path).partial-\(getpid())"
        descriptor = -1
        try checkTarget()
        descriptor = open(partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw complaint(errno) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        if !isFinished { unlink(partial) }
    }

    func write(_ text: String) throws {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw complaint(errno) }
            rest = rest.dropFirst(count)
        }
    }

    /// Puts the file in its place.
    func finish() throws {
        guard fsync(descriptor) == 0 else { throw complaint(errno) }
        try checkTarget()
        guard rename(partial, path) == 0 else { throw complaint(errno) }
        isFinished = true
        let folder = open(
            URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw complaint(errno) }
        defer { close(folder) }
        // A file system that cannot sync folders says EINVAL.
        guard fsync(folder) == 0 || errno == EINVAL else { throw complaint(errno) }
    }

    private func checkTarget() throws {
        var facts = stat()
        guard lstat(path, &facts) == 0 else { return }
        guard facts.st_mode & S_IFMT == S_IFREG else {
            throw Complaint(.usage, "\(path) is no file that could be replaced; name another.")
        }
        guard mayReplace else { throw Complaint(.usage, "\(path) is there already; --force replaces it.") }
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw complaint(errno) }
        defer { close(file) }
        var head = [UInt8](repeating: 0, count: 15)
        let count = read(file, &head, head.count)
        guard count < head.count || !head.elementsEqual("SQLite format 3".utf8) else {
            throw Complaint(
                .usage, "\(path) is a database, perhaps the library itself; it is not replaced. Name another file.")
        }
    }

    private func complaint(_ code: Int32) -> Complaint {
        Complaint(
            code == EACCES || code == EPERM || code == EROFS ? .permission : .inputOutput,
            "cannot write \(path): \(String(cString: strerror(code))).")
    }
}
