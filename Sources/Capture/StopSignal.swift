import Glibc
import Synchronization
import SystemPackage

/// Ends a thread's waits from another thread, for good.
///
/// If no descriptor is left for its pipe, a wait ends only with its time, which is at most a second.
final class StopSignal: Sendable {
    private let isSet = Atomic(false)
    /// The pipe that ``stop()`` writes to; `nil` if it could not be created.
    private let pipe: (readEnd: FileDescriptor, writeEnd: FileDescriptor)?

    init() {
        do { pipe = try FileDescriptor.pipe(options: .closeOnExec) } catch { pipe = nil }
    }

    deinit {
        // A descriptor that is never written to again has nothing to lose when it is closed.
        try? pipe?.readEnd.close()
        try? pipe?.writeEnd.close()
    }

    var isStopped: Bool { isSet.load(ordering: .acquiring) }

    /// Ends all waits. May be called from any thread, any number of times.
    func stop() {
        guard !isSet.exchange(true, ordering: .acquiringAndReleasing), let pipe else { return }
        // Never read, so the pipe stays readable for every later wait. Its buffer is empty, so the write cannot fail.
        _ = try? withUnsafeBytes(of: UInt8(0)) { try pipe.writeEnd.write($0) }
    }

    enum Outcome: Equatable {
        /// The descriptor has data or an error.
        case ready
        /// The time is up, ``stop()`` was called, or a signal came.
        case ended
        case failed(errno: Errno)
    }

    /// Waits for the first of these: data on `descriptor`, ``stop()``, a signal, or the end of the time.
    ///
    /// - Parameter descriptor: `nil` to wait only for the others.
    func wait(for descriptor: FileDescriptor?, atMost time: Duration) -> Outcome {
        if isStopped { return .ended }
        // poll() ignores negative descriptors.
        var waiting = (
            pollfd(fd: descriptor?.rawValue ?? -1, events: Int16(POLLIN), revents: 0),
            pollfd(fd: pipe?.readEnd.rawValue ?? -1, events: Int16(POLLIN), revents: 0)
        )
        let milliseconds = Int32(clamping: Int64((time / .milliseconds(1)).rounded(.up)))
        let (count, error) = withUnsafeMutableBytes(of: &waiting) { bytes in
            let count = poll(bytes.bindMemory(to: pollfd.self).baseAddress, 2, milliseconds)
            return (count, Errno.current)
        }
        if count < 0 { return error == .interrupted ? .ended : .failed(errno: error) }
        return waiting.0.revents != 0 ? .ready : .ended
    }

    /// Waits until ``stop()`` or the end of the time. If even that fails, for lack of memory, it sleeps briefly, so
    /// that no loop runs without a pause.
    func pause(_ time: Duration) {
        if case .failed = wait(for: nil, atMost: time) { usleep(100_000) }
    }
}
