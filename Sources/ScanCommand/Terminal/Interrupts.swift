import Foundation
import Synchronization

/// What Control-C, a closed terminal or `kill` does: the terminal is put back, one line says what stays, and the process ends
/// by the very signal, so that the caller sees 128 + its number. Nothing needs to be saved: what was acknowledged is on the disk.
enum Interrupts {
    private struct State {
        var isListening = false
        var terminal: Int32?
        var settings = termios()
        var lastWords: (@Sendable () -> String?)?
        /// What goes back to others before the program ends.
        var giveBack: (@Sendable () -> Void)?
        // No closure that does nothing: Swift 6.3.1, optimising, keeps a null pointer for it in a global, and its call ends the program.
        var resume: (@Sendable () -> Void)?
        /// What is done before the terminal is given back.
        var leave: (@Sendable () -> Void)?
        /// What the first signal does instead of ending the program.
        var first: (@Sendable () -> Void)?
    }

    private static let state = Mutex(State())
    private static let ends = [SIGINT, SIGTERM, SIGHUP]

    /// Starts to listen. `lastWords` makes the line that is printed, `nil` for none.
    static func handle(lastWords: @escaping @Sendable () -> String?) {
        let isFirst = state.withLock { state in
            state.lastWords = lastWords
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

    /// For a service: the first signal has it end in order, and only the second ends the program at once.
    static func onFirst(_ first: @escaping @Sendable () -> Void) { state.withLock { $0.first = first } }

    private static func takeFirst() -> (@Sendable () -> Void)? {
        state.withLock { state in
            defer { state.first = nil }
            return state.first
        }
    }

    /// What is done before the program ends, by a signal or by itself: so that a camera gets its controls back.
    static func onEnd(_ giveBack: @escaping @Sendable () -> Void) { state.withLock { $0.giveBack = giveBack } }

    /// Does now what ``onEnd(_:)`` was told, once.
    static func giveBack() {
        let giveBack = state.withLock { state in
            defer { state.giveBack = nil }
            return state.giveBack
        }
        giveBack?()
    }

    /// The terminal to put back, `nil` when it is back already.
    static func restoreOnSignal(terminal: Int32?, to settings: termios) {
        state.withLock { state in
            state.terminal = terminal
            state.settings = settings
        }
    }

    /// What is done when the program goes on after Control-Z, `nil` for nothing.
    static func onResume(_ resume: (@Sendable () -> Void)?) { state.withLock { $0.resume = resume } }

    /// What is done before the terminal is given back, to a signal that ends the program or to Control-Z: for a screen that is drawn
    /// over all of it. `nil` when there is none any more.
    static func onLeaving(_ leave: (@Sendable () -> Void)?) {
        state.withLock { $0.leave = leave }
        if leave == nil { Signals.asUsual(SIGTSTP) } else { Signals.install(SIGTSTP) }
    }

    /// Control-Z: the terminal is given back, and the program stops as it would have without us.
    private static func stop() {
        let isScreen = state.withLock { state in
            guard let leave = state.leave else { return false }
            leave()
            if let terminal = state.terminal { tcsetattr(terminal, TCSANOW, &state.settings) }
            return true
        }
        guard isScreen else { return }
        // The kernel stops nobody whom no shell could continue; then the signal is lost and this goes on at once.
        Signals.asUsual(SIGTSTP)
        Signals.raise(SIGTSTP)
        Signals.install(SIGTSTP)
        resume()
    }

    private static func resume() {
        let resume = state.withLock { $0.resume }
        resume?()
    }

    private static func end(by number: Int32) {
        let words: String? = state.withLock { state in
            state.leave?()
            if let terminal = state.terminal { tcsetattr(terminal, TCSANOW, &state.settings) }
            return state.lastWords?()
        }
        if let words { Output.shared.note("\n" + words) }
        giveBack()
        Signals.asUsual(number)
        Signals.raise(number)
    }
}
