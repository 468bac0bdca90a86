import Foundation
import Synchronization
import SystemPackage

/// Handles Control-C, a closed terminal and `kill`. The terminal is restored, and one line says what was kept. Then the
/// process ends with the same signal, so that the caller sees the exit status 128 + the number of the signal. Nothing
/// has to be saved at that point, because everything that was acknowledged is already on disk.
package enum Interrupts {
    private struct State {
        var isListening = false
        /// True from the moment at which a signal begins to end the program.
        var isEnding = false
        // Every value here begins as zeros, that is false or nil: the optimiser of Swift 6.3.1 stores zeros in a global
        // `Mutex`, whatever its value is. An optional number would be 0 instead of nil, and an empty closure would end
        // the program when it is called.
        /// Restores the terminal; nil if there is nothing to restore.
        var restore: (@Sendable () -> Void)?
        var lastMessage: (@Sendable () -> String?)?
        /// Called before the program ends, to release devices; nil if there is nothing to release.
        var release: (@Sendable () -> Void)?
        var resume: (@Sendable () -> Void)?
        /// Closes the full screen; called before the terminal is restored.
        var leave: (@Sendable () -> Void)?
        /// Called when the first signal arrives, instead of ending the program; nil if the first signal ends the
        /// program.
        var first: (@Sendable () -> Void)?
    }

    private static let state = Mutex(State())
    private static let ends = [SIGINT, SIGTERM, SIGHUP]

    /// Starts to handle signals. When a signal ends the program, the line that `lastMessage` returns is printed. If it
    /// returns nil, nothing is printed.
    package static func handle(lastMessage: @escaping @Sendable () -> String?) {
        let isFirst = state.withLock { state in
            state.lastMessage = lastMessage
            defer { state.isListening = true }
            return !state.isListening
        }
        guard isFirst else { return }
        Signals.listen(to: ends + [SIGCONT]) { number in
            switch number {
            case SIGCONT: resume()
            case SIGTSTP: stop()
            default:
                if let first = removeFirst() { first() } else { end(by: number) }
            }
        }
    }

    /// Sets the closure that is called at the first signal, so that a service can shut down cleanly. A second signal
    /// ends the program at once.
    package static func onFirst(_ first: @escaping @Sendable () -> Void) { state.withLock { $0.first = first } }

    private static func removeFirst() -> (@Sendable () -> Void)? {
        state.withLock { state in
            defer { state.first = nil }
            return state.first
        }
    }

    /// Sets the closure that is called before the program ends, whether normally or because of a signal. It can restore
    /// the camera's controls, for example.
    package static func onEnd(_ release: @escaping @Sendable () -> Void) { state.withLock { $0.release = release } }

    /// Immediately calls the closure that was set with ``onEnd(_:)``, and removes it so that it is not called again.
    package static func release() {
        let release = state.withLock { state in
            defer { state.release = nil }
            return state.release
        }
        release?()
    }

    /// Returns at once unless a signal is ending the program; in that case it never returns. Call it before the program
    /// ends in another way: what ``onEnd(_:)`` releases may make the running command fail, and the exit status has to
    /// be that of the signal.
    package static func waitIfEnding() {
        while state.withLock({ $0.isEnding }) { pause() }
    }

    /// Sets the terminal to restore when a signal ends the program; nil if no terminal needs to be restored.
    static func restoreOnSignal(terminal: FileDescriptor?, to settings: termios) {
        guard let terminal else { return state.withLock { $0.restore = nil } }
        let restore: @Sendable () -> Void = {
            var settings = settings
            tcsetattr(terminal.rawValue, TCSANOW, &settings)
        }
        state.withLock { $0.restore = restore }
    }

    /// Sets the closure that is called when the program continues after Control-Z; nil to call nothing.
    static func onResume(_ resume: (@Sendable () -> Void)?) { state.withLock { $0.resume = resume } }

    /// Sets the closure that closes a full screen. When Control-Z or a signal that ends the program arrives, it is
    /// called before the terminal is restored. Pass nil when the full screen has been closed.
    static func onLeaving(_ leave: (@Sendable () -> Void)?) {
        state.withLock { $0.leave = leave }
        if leave == nil { Signals.useDefault(SIGTSTP) } else { Signals.install(SIGTSTP) }
    }

    /// Handles Control-Z: restores the terminal, and stops the program, as the system would have done.
    private static func stop() {
        let isScreen = state.withLock { state in
            guard let leave = state.leave else { return false }
            leave()
            state.restore?()
            return true
        }
        guard isScreen else { return }
        // The kernel does not stop a process that no shell could continue. The signal is then lost, and the program
        // continues here at once.
        Signals.useDefault(SIGTSTP)
        Signals.raise(SIGTSTP)
        Signals.install(SIGTSTP)
        resume()
    }

    private static func resume() {
        let resume = state.withLock { $0.resume }
        resume?()
    }

    private static func end(by number: Int32) {
        let message: String? = state.withLock { state in
            state.isEnding = true
            state.leave?()
            state.restore?()
            return state.lastMessage?()
        }
        if let message { Output.shared.printNotice("\n" + message) }
        release()
        Signals.useDefault(number)
        Signals.raise(number)
    }
}
