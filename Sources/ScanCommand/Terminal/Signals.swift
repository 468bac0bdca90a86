import Foundation
import SystemPackage

/// Signals as events on a thread of their own.
///
/// Not dispatch sources: those ignore a signal first and begin to listen some time later, on a busy machine noticeably; a Control-C
/// in between is lost (seen as a program that did not end). Here a signal is heard from the moment `listen` returns.
enum Signals {
    /// - Parameter hear: called on a thread that is there for nothing else.
    static func listen(to numbers: [Int32], _ hear: @escaping @Sendable (Int32) -> Void) {
        if pipeEnds.write < 0 {
            var ends: [Int32] = [-1, -1]
            // Without descriptors to spare the signals do what they do to every program.
            guard pipe(&ends) == 0 else { return }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            pipeEnds = (ends[0], ends[1])
        }
        let from = FileDescriptor(rawValue: pipeEnds.read)
        for number in numbers { install(number) }
        let thread = Thread {
            var number: UInt8 = 0
            while true {
                guard let count = try? withUnsafeMutableBytes(of: &number, { try from.read(into: $0) }), count == 1
                else { return }
                hear(Int32(number))
            }
        }
        thread.name = "signals"
        thread.start()
    }

    /// Has a signal heard; what else was done with it, such as ``asUsual(_:)``, is over.
    static func install(_ number: Int32) {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { number in
            // Nothing but what signal-safety(7) allows.
            let code = errno
            var byte = UInt8(truncatingIfNeeded: number)
            _ = write(Signals.pipeEnds.write, &byte, 1)
            errno = code
        }
        action.sa_flags = SA_RESTART
        sigaction(number, &action, nil)
    }

    /// What the system does with a signal when nobody listens.
    static func asUsual(_ number: Int32) { signal(number, SIG_DFL) }

    /// Sends a signal to this process and has it take effect before it returns, whatever the calling thread blocks.
    static func raise(_ number: Int32) {
        var (mask, old) = (sigset_t(), sigset_t())
        sigemptyset(&mask)
        sigaddset(&mask, number)
        pthread_sigmask(SIG_UNBLOCK, &mask, &old)
        _ = Foundation.raise(number)
        pthread_sigmask(SIG_SETMASK, &old, nil)
    }

    // Written once, before the first handler is installed that reads it: a handler can hold no lock.
    nonisolated(unsafe) private static var pipeEnds: (read: Int32, write: Int32) = (-1, -1)
}
