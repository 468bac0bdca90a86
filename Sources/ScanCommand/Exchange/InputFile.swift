import Foundation

/// A file, or standard input, read in chunks; an errno is told as what it means.
final class InputFile {
    /// As errors call it.
    let name: String
    /// In bytes; 0 when it is not known.
    let size: Int
    private let descriptor: Int32
    private static let chunk = 256 << 10

    /// - Parameter path: `-` for standard input.
    /// - Throws: ``Complaint`` when it cannot be opened or is a folder.
    init(_ path: String) throws {
        name = path == "-" ? "standard input" : path
        descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.complaint(name, errno) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { throw Self.complaint(name, errno) }
        guard facts.st_mode & S_IFMT != S_IFDIR else {
            throw Complaint(.unreadable, "cannot read \(name): it is a folder. Name the file in it.")
        }
        size = facts.st_mode & S_IFMT == S_IFREG ? Int(facts.st_size) : 0
    }

    deinit { if descriptor > STDIN_FILENO { close(descriptor) } }

    /// - Returns: `nil` at the end.
    func next() throws -> [UInt8]? {
        var code: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: Self.chunk) { buffer, count in
            var got = 0
            repeat { got = read(descriptor, buffer.baseAddress, Self.chunk) } while got < 0 && errno == EINTR
            if got < 0 { code = errno }
            count = max(0, got)
        }
        guard code == 0 else { throw Self.complaint(name, code) }
        return bytes.isEmpty ? nil : bytes
    }

    private static func complaint(_ name: String, _ code: Int32) -> Complaint {
        Complaint(.unreadable, "cannot read \(name): \(String(cString: strerror(code))).")
    }
}
