import Foundation
import Synchronization

/// What Control-C, a closed terminal or `kill` does: the terminal is put back, one line says what stays, and the process ends
/// by the very signal, so that the caller sees 128 + its number. Nothing needs to be saved: what was acknowledged is on the disk.
enum Interrupts {
    private struct State: @unchecked Sendable {
        // Dispatch sources are thread-safe objects; termios is a plain value. Both are only touched under the mutex.
        var sources: [any DispatchSourceSignal] = []
        var terminal: Int32?
        var settings = termios()
        var lastWords: (@Sendable () -> String?)?
        var resume: @Sendable () -> Void = {}
        var resumeSource: (any DispatchSourceSignal)?
    }

    private static let state = Mutex(State())

    /// Starts to listen. `lastWords` makes the line that is printed, `nil` for none.
    static func handle(lastWords: @escaping @Sendable () -> String?) {
        state.withLock { state in
            state.lastWords = lastWords
            guard state.sources.isEmpty else { return }
            state.sources = [SIGINT, SIGTERM, SIGHUP].map(listen)
        }
    }

    /// The terminal to put back, `nil` when it is back already.
    static func restoreOnSignal(terminal: Int32?, to settings: termios) {
        state.withLock { state in
            state.terminal = terminal
            state.settings = settings
        }
    }

    /// What is done when the program goes on after Control-Z.
    static func onResume(_ resume: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.resume = resume
            guard state.resumeSource == nil else { return }
            let source = DispatchSource.makeSignalSource(signal: SIGCONT, queue: .global())
            source.setEventHandler { Self.state.withLock(\.resume)() }
            source.resume()
            state.resumeSource = source
        }
    }

    private static func listen(to number: Int32) -> any DispatchSourceSignal {
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler { end(by: number) }
        source.resume()
        return source
    }

    private static func end(by number: Int32) {
        let words: String? = state.withLock { state in
            if let terminal = state.terminal { tcsetattr(terminal, TCSANOW, &state.settings) }
            return state.lastWords?()
        }
        if let words { Output.shared.note("\n" + words) }
        signal(number, SIG_DFL)
        kill(getpid(), number)
    }
}
