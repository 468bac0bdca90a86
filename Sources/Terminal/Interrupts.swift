import Foundation
import Synchronization

/// The handling of Control-C, a closed terminal and `kill`: the terminal is restored, one line says what is kept, and the process ends with
/// the same signal, so that the caller sees 128 + its number. Nothing needs to be saved: what was acknowledged is on disk.
package enum Interrupts {
    private struct State {
        var isListening = false
        var terminal: Int32?
        var settings = termios()
        var lastMessage: (@Sendable () -> String?)?
        /// Releases devices before the program ends.
        var release: (@Sendable () -> Void)?
        // No closure that does nothing: Swift 6.3.1, optimising, keeps a null pointer for it in a global, and its call ends the program.
        var resume: (@Sendable () -> Void)?
        /// Called before the terminal is restored.
        var leave: (@Sendable () -> Void)?
        /// Called by the first signal, instead of ending the program.
        var first: (@Sendable () -> Void)?
    }

    private static let state = Mutex(State())
    private static let ends = [SIGINT, SIGTERM, SIGHUP]

    /// Starts to handle signals. `lastMessage` returns the line to print, nil for none.
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
                if let first = takeFirst() { first() } else { end(by: number) }
            }
        }
    }

    /// Has the first signal shut a service down in order; only the second ends the program at once.
    package static func onFirst(_ first: @escaping @Sendable () -> Void) { state.withLock { $0.first = first } }

    private static func takeFirst() -> (@Sendable () -> Void)? {
        state.withLock { state in
            defer { state.first = nil }
            return state.first
        }
    }

    /// Sets what is called before the program ends, whether by a signal or normally, such as restoring the camera's controls.
    package static func onEnd(_ release: @escaping @Sendable () -> Void) { state.withLock { $0.release = release } }

    /// Calls the closure of ``onEnd(_:)`` now, once.
    package static func release() {
        let release = state.withLock { state in
            defer { state.release = nil }
            return state.release
        }
        release?()
    }

    /// Sets the terminal to restore; nil if it is restored already.
    static func restoreOnSignal(terminal: Int32?, to settings: termios) {
        state.withLock { state in
            state.terminal = terminal
            state.settings = settings
        }
    }

    /// Sets what is called when the program continues after Control-Z; nil for nothing.
    static func onResume(_ resume: (@Sendable () -> Void)?) { state.withLock { $0.resume = resume } }

    /// Sets what is called before the terminal is restored because of a signal that ends the program or of Control-Z: closes a full screen.
    /// nil if there is no full screen any more.
    static func onLeaving(_ leave: (@Sendable () -> Void)?) {
        state.withLock { $0.leave = leave }
        if leave == nil { Signals.useDefault(SIGTSTP) } else { Signals.install(SIGTSTP) }
    }

    /// Handles Control-Z: restores the terminal, and stops the program as the system would have.
    private static func stop() {
        let isScreen = state.withLock { state in
            guard let leave = state.leave else { return false }
            leave()
            if let terminal = state.terminal { tcsetattr(terminal, TCSANOW, &state.settings) }
            return true
        }
        guard isScreen else { return }
        // The kernel stops no process that no shell could continue: the signal is then lost, and this continues at once.
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
            state.leave?()
            if let terminal = state.terminal { tcsetattr(terminal, TCSANOW, &state.settings) }
            return state.lastMessage?()
        }
        if let message { Output.shared.printNotice("\n" + message) }
        release()
        Signals.useDefault(number)
        Signals.raise(number)
    }
}
