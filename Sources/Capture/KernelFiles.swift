import Glibc
import Synchronization

/// The names in a folder without "." and ".."; none when it is not there or not to be read, as other users' processes are.
func entries(of folder: String) -> [String] {
    guard let stream = opendir(folder) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
        let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        if name != "." && name != ".." { names.append(name) }
    }
    return names
}

/// The beginning of a kernel's text file; empty when it cannot be read.
func textFile(_ path: String, atMost limit: Int) -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: min(limit, 64 << 10))
    while bytes.count < limit {
        let count = read(descriptor, &chunk, min(chunk.count, limit - bytes.count))
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { break }
        bytes.append(contentsOf: chunk[..<count])
    }
    return String(decoding: bytes, as: UTF8.self)
}

extension String {
    /// A name that a device or a driver gives, as one line: whoever makes a device can put anything into it, and it goes to terminals.
    var withoutControls: String {
        let scalars = unicodeScalars.filter { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: false
            default: true
            }
        }
        return String(String.UnicodeScalarView(scalars))
    }
}

/// Ends a wait from another thread, for good.
///
/// Without descriptors to spare there is no pipe to do it with; then a wait ends with its time, at most a second.
final class Wake: Sendable {
    private let isSet = Atomic(false)
    /// -1 where they could not be made; poll() passes over them.
    private let ends: (read: Int32, write: Int32)

    init() {
        var ends: [Int32] = [-1, -1]
        self.ends = pipe(&ends) == 0 ? (ends[0], ends[1]) : (-1, -1)
        for end in ends where end >= 0 { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    }

    deinit {
        for end in [ends.read, ends.write] where end >= 0 { close(end) }
    }

    var isStopped: Bool { isSet.load(ordering: .acquiring) }

    /// From any thread, any number of times.
    func stop() {
        guard !isSet.exchange(true, ordering: .acquiringAndReleasing), ends.write >= 0 else { return }
        // Never read, so the pipe stays readable for every later wait.
        var byte: UInt8 = 0
        _ = retryingOnInterrupt { Int32(write(ends.write, &byte, 1)) }
    }

    enum Outcome: Equatable {
        /// There is something on the descriptor, be it an error.
        case ready
        /// The time is up, ``stop()`` was called, or a signal came.
        case over
        case failed(errno: Int32)
    }

    /// Waits for what comes first: something on `descriptor`, ``stop()``, a signal, or the end of the time.
    func wait(for descriptor: Int32, atMost time: Duration) -> Outcome {
        if isStopped { return .over }
        var waiting = (
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: ends.read, events: Int16(POLLIN), revents: 0)
        )
        let milliseconds = Int32(clamping: Int64((time / .milliseconds(1)).rounded(.up)))
        let (count, code) = withUnsafeMutableBytes(of: &waiting) { bytes in
            let count = poll(bytes.bindMemory(to: pollfd.self).baseAddress, 2, milliseconds)
            return (count, errno)
        }
        if count < 0 { return code == EINTR ? .over : .failed(errno: code) }
        return waiting.0.revents != 0 ? .ready : .over
    }

    /// Waits until ``stop()`` or the end of the time. Where even that fails (no memory) it sleeps a little: no pause is a tight loop.
    func pause(_ time: Duration) {
        if case .failed = wait(for: -1, atMost: time) { usleep(100_000) }
    }
}
