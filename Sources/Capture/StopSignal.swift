import Glibc
import Synchronization
import SystemCalls
import SystemPackage

/// A signal by which one thread ends the current wait and all later waits of another thread.
///
/// If the process has no descriptors left for the signal's pipe, a wait ends only when its time is up, which takes at
/// most a second.
final class StopSignal: Sendable {
    private let isSet = Atomic(false)
    /// The pipe that ``stop()`` writes to; `nil` if it could not be created.
    private let pipe: (readEnd: FileDescriptor, writeEnd: FileDescriptor)?

    init() {
        do { pipe = try FileDescriptor.pipe(options: .closeOnExec) } catch { pipe = nil }
    }

    deinit {
        // Errors can be ignored, because nothing is written to these descriptors any more.
        try? pipe?.readEnd.close()
        try? pipe?.writeEnd.close()
    }

    var isStopped: Bool { isSet.load(ordering: .acquiring) }

    /// Ends all waits. May be called from any thread, any number of times.
    func stop() {
        guard !isSet.exchange(true, ordering: .acquiringAndReleasing), let pipe else { return }
        // The byte is never read, so the pipe stays readable for every later wait. The pipe's buffer is empty, so the
        // write cannot fail.
        _ = try? withUnsafeBytes(of: UInt8(0)) { try pipe.writeEnd.write($0) }
    }

    enum Outcome: Equatable {
        /// The descriptor has data or an error.
        case ready
        /// The time is up, ``stop()`` was called, or a Unix signal arrived.
        case ended
        case failed(errno: Errno)
    }

    /// Waits until `descriptor` has data, ``stop()`` is called, a Unix signal arrives, or the time is up.
    ///
    /// - Parameter descriptor: the descriptor to wait for; `nil` to wait only for the other three events.
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

    /// Waits until ``stop()`` is called or the time is up. If waiting fails because memory has run out, sleeps briefly
    /// instead, so that no loop runs without a pause.
    func pause(_ time: Duration) {
        if case .failed = wait(for: nil, atMost: time) { usleep(100_000) }
    }
}
