import Glibc

/// The bytes of a photo, read whole up to ``PhotoLimit/bytes``.
///
/// Read, not mapped: a file that another program shortens would end the process with SIGBUS.
enum PhotoBytes {
    /// Reads a regular file. Anything else is refused before it is opened: opening a pipe can wait for ever, and opening a
    /// device can start it.
    static func read(path: String) throws(PhotoError) -> [UInt8] {
        var status = stat()
        guard stat(path, &status) == 0 else { throw .cannotOpen(photo: path, errno: errno) }
        try check(status, path)
        // O_NONBLOCK for the moment between stat and open, in which a pipe could have taken the file's place.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .cannotOpen(photo: path, errno: errno) }
        defer { close(descriptor) }
        guard fstat(descriptor, &status) == 0 else { throw .cannotOpen(photo: path, errno: errno) }
        try check(status, path)
        return try read(descriptor: descriptor, photo: path, expecting: Int(status.st_size))
    }

    /// Reads to the end, whatever the descriptor is.
    ///
    /// - Parameter expecting: how many bytes will come, as far as is known; only saves growing.
    static func read(descriptor: Int32, photo: String, expecting: Int = 1 << 20) throws(PhotoError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: min(max(expecting, 0), PhotoLimit.bytes) + 1)
        var filled = 0
        while true {
            if filled == bytes.count {
                guard filled <= PhotoLimit.bytes else { throw .fileTooLarge(photo: photo, limit: PhotoLimit.bytes) }
                bytes.append(contentsOf: repeatElement(0, count: min(filled, PhotoLimit.bytes + 1 - filled)))
            }
            let count = bytes.withUnsafeMutableBytes {
                Glibc.read(descriptor, $0.baseAddress! + filled, $0.count - filled)
            }
            if count > 0 {
                filled += count
            } else if count == 0 {
                break
            } else if errno == EAGAIN {
                var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                _ = poll(&waiting, 1, -1)
            } else if errno != EINTR {
                throw .cannotRead(photo: photo, errno: errno)
            }
        }
        guard filled > 0 else { throw .empty(photo: photo) }
        bytes.removeLast(bytes.count - filled)
        return bytes
    }

    private static func check(_ status: stat, _ path: String) throws(PhotoError) {
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: throw .notAFile(photo: path, kind: .folder)
        case S_IFIFO: throw .notAFile(photo: path, kind: .pipe)
        case S_IFSOCK: throw .notAFile(photo: path, kind: .socket)
        default: throw .notAFile(photo: path, kind: .device)
        }
        guard status.st_size <= PhotoLimit.bytes else { throw .fileTooLarge(photo: path, limit: PhotoLimit.bytes) }
    }
}
