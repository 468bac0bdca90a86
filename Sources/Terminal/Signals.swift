import Foundation
import SystemPackage

/// Handles signals on a separate thread.
///
/// A dispatch source is not used, because it first ignores its signal and begins to listen only some time later. On a
/// busy machine, a Control-C that arrived in between was lost, and the program did not end. Here, every signal that
/// arrives after `listen` has returned is handled.
enum Signals {
    /// Starts to handle signals.
    ///
    /// - Parameter handle: called with each signal, on a thread that does nothing else.
    static func listen(to numbers: [Int32], _ handle: @escaping @Sendable (Int32) -> Void) {
        if pipeEnds.write < 0 {
            // If no descriptors are left, signals keep their default action.
            guard let ends = try? FileDescriptor.pipe(options: .closeOnExec) else { return }
            pipeEnds = (ends.readEnd.rawValue, ends.writeEnd.rawValue)
        }
        let from = FileDescriptor(rawValue: pipeEnds.read)
        for number in numbers { install(number) }
        let thread = Thread {
            var number: UInt8 = 0
            while true {
                guard let count = try? withUnsafeMutableBytes(of: &number, { try from.read(into: $0) }), count == 1
                else { return }
                handle(Int32(number))
            }
        }
        thread.name = "signals"
        thread.start()
    }

    /// Starts to handle a signal, either for the first time or again after ``useDefault(_:)``.
    static func install(_ number: Int32) {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { number in
            // A signal handler may call only the functions that signal-safety(7) allows.
            let code = errno
            var byte = UInt8(truncatingIfNeeded: number)
            _ = write(Signals.pipeEnds.write, &byte, 1)
            errno = code
        }
        action.sa_flags = SA_RESTART
        sigaction(number, &action, nil)
    }

    /// Restores the default action of a signal.
    static func useDefault(_ number: Int32) { signal(number, SIG_DFL) }

    /// Sends a signal to this process. The signal takes effect before this function returns, even if the calling thread
    /// blocks signals.
    static func raise(_ number: Int32) {
        var (mask, old) = (sigset_t(), sigset_t())
        sigemptyset(&mask)
        sigaddset(&mask, number)
        pthread_sigmask(SIG_UNBLOCK, &mask, &old)
        _ = Foundation.raise(number)
        pthread_sigmask(SIG_SETMASK, &old, nil)
    }

    // Written once, before the first signal handler is installed. It has no lock, because a signal handler cannot hold
    // one.
    nonisolated(unsafe) private static var pipeEnds: (read: Int32, write: Int32) = (-1, -1)
}
