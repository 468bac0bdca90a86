import Bookplate
import Foundation
import Synchronization
import SystemCalls
import SystemPackage

/// Writes whole lines to standard output and standard error, from any task, and can show a status line at the bottom of
/// a terminal.
///
/// If the output is a pipe whose reader has ended (EPIPE), this process ends with SIGPIPE, as is usual for programs in
/// a pipeline.
package final class Output: Sendable {
    package static let shared = Output()

    private struct State {
        /// The status line, without escape sequences; empty if there is none.
        var status = ""
        /// Receives the texts that would otherwise be printed, while a full screen covers the terminal.
        var screen: (@Sendable (String) -> Void)?
    }

    private let state = Mutex(State())
    package let isTerminal = isatty(STDOUT_FILENO) == 1
    /// True if a status line can be shown. The line is written to standard error, so that it does not mix with data on
    /// standard output.
    let showsStatus = isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    package let style: Style

    init() { style = Style(isOn: isTerminal && Style.isWanted) }

    /// Prints one or more whole lines on standard output.
    package func printLine(_ text: String) {
        state.withLock { state in
            if let screen = state.screen { return screen(text) }
            clear(&state)
            Self.write(text + "\n", to: STDOUT_FILENO)
        }
    }

    /// Prints a JSON value on one line.
    package func printLine(_ value: JSONValue) { printLine(value.text) }

    /// Prints text on standard output, without adding a line break.
    package func printRaw(_ text: String) {
        state.withLock { state in
            if let screen = state.screen { return screen(text) }
            clear(&state)
            Self.write(text, to: STDOUT_FILENO)
        }
    }

    /// Prints an error on standard error, after the program's name.
    package func printError(_ text: String) {
        state.withLock { state in
            if let screen = state.screen { return screen(text.printable) }
            clear(&state)
            Self.write("scan: \(text.printable)\n", to: STDERR_FILENO)
        }
    }

    /// Prints a notice, which is neither data nor an error, on standard error.
    package func printNotice(_ text: String) {
        state.withLock { state in
            if let screen = state.screen { return screen(text) }
            clear(&state)
            Self.write(text + "\n", to: STDERR_FILENO)
        }
    }

    /// Prints text on standard error, without adding a line break.
    func printRawNotice(_ text: String) {
        state.withLock { state in
            if let screen = state.screen { return screen(text) }
            clear(&state)
            Self.write(text, to: STDERR_FILENO)
        }
    }

    /// Prints the results of a command on standard output, and advice on undoing its change on standard error.
    ///
    /// - Parameters:
    ///   - change: the change that the command has made; nil if it changed nothing. Undo would then revert an earlier
    ///     change.
    ///   - unchanged: the message that replaces the results if nothing changed.
    package func printChange(_ results: [String], _ change: ID<Change>?, unchanged: String = "Nothing changed.") {
        guard change != nil else { return printNotice(unchanged) }
        for result in results { printLine(result) }
        printNotice("To undo this, run 'scan undo'.")
    }

    /// Replaces the status line, if standard error is a terminal. An empty text removes it.
    package func showStatus(_ text: String) {
        guard showsStatus else { return }
        state.withLock { state in
            guard text != state.status, state.screen == nil else { return }
            let width = max(20, terminalSize().columns) - 1
            Self.write("\r\u{1B}[K" + String(text.prefix(width)), to: STDERR_FILENO)
            state.status = text
        }
    }

    /// Covers the terminal with a full screen on the alternate buffer. Does nothing if a full screen is open.
    ///
    /// This uses xterm's private modes 1049, 25 and 7, and mode 2004, with which pasted text is distinguished from
    /// keys.
    ///
    /// - Parameter receive: called with each text that would have been printed, until the screen is closed.
    func openScreen(_ receive: @escaping @Sendable (String) -> Void) {
        state.withLock { state in
            guard state.screen == nil else { return }
            clear(&state)
            state.screen = receive
            Self.write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[?2004h\u{1B}[2J", to: STDOUT_FILENO)
        }
    }

    /// Closes the full screen and shows the terminal's earlier content again. Does nothing if no full screen is open.
    func closeScreen() {
        state.withLock { state in
            guard state.screen != nil else { return }
            state.screen = nil
            Self.write("\u{1B}[?2026l\u{1B}[?2004l\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l", to: STDOUT_FILENO)
        }
    }

    /// Writes text to the full screen, if one is open.
    ///
    /// - Returns: true if a full screen is open.
    @discardableResult
    package func draw(_ text: String) -> Bool {
        state.withLock { state in
            guard state.screen != nil else { return false }
            Self.write(text, to: STDOUT_FILENO)
            return true
        }
    }

    private func clear(_ state: inout State) {
        guard !state.status.isEmpty else { return }
        Self.write("\r\u{1B}[K", to: STDERR_FILENO)
        state.status = ""
    }

    private static func write(_ text: String, to descriptor: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            do {
                rest = rest.dropFirst(
                    try rest.withUnsafeBytes { try FileDescriptor(rawValue: descriptor).write($0) })
            } catch Errno.resourceTemporarilyUnavailable {
                var waiting = [pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)]
                _ = try? poll(&waiting)
            } catch {
                guard descriptor == STDOUT_FILENO else { return }
                write(
                    "scan: cannot write the output: \(error). Everything that was captured and saved is in the library.\n",
                    to: STDERR_FILENO)
                _exit(RefusalKind.inputOutput.exitStatus)
            }
        }
    }
}

/// Returns the number of columns and rows of the terminal, or 80x24 if they are not known.
package func terminalSize() -> (columns: Int, rows: Int) {
    var size = winsize()
    for descriptor in [STDOUT_FILENO, STDERR_FILENO, STDIN_FILENO] {
        if ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 {
            return (Int(size.ws_col), Int(size.ws_row))
        }
    }
    return (80, 24)
}

/// The colours of texts, by meaning. If colours are off, texts stay unchanged.
package struct Style: Sendable {
    package let isOn: Bool

    package init(isOn: Bool) { self.isOn = isOn }

    /// False if NO_COLOR is set (https://no-color.org), or if the terminal has no colours.
    static var isWanted: Bool {
        let environment = ProcessInfo.processInfo.environment
        return (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }

    package func new(_ text: String) -> String { wrap(text, "32") }
    package func owned(_ text: String) -> String { wrap(text, "34") }
    package func attention(_ text: String) -> String { wrap(text, "33") }
    package func problem(_ text: String) -> String { wrap(text, "31") }
    package func strong(_ text: String) -> String { wrap(text, "1") }
    package func faint(_ text: String) -> String { wrap(text, "2") }

    private func wrap(_ text: String, _ code: String) -> String { isOn ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text }
}
