import Bookplate
import Foundation
import Synchronization

/// Writes to standard output and standard error: whole lines, from any task, with a status line at the bottom of a terminal.
///
/// If the reader of a pipe is gone (EPIPE), the process ends with SIGPIPE, as programs in a pipe do.
final class Output: Sendable {
    static let shared = Output()

    private struct State {
        /// The status line, without escapes; empty if there is none.
        var status = ""
        /// Receives the texts that would be printed while a screen covers the terminal.
        var screen: (@Sendable (String) -> Void)?
    }

    private let state = Mutex(State())
    let isTerminal = isatty(STDOUT_FILENO) == 1
    /// True if a status line is shown: on standard error, so that it does not mix with data on standard output.
    let showsStatus = isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    let style: Style

    init() { style = Style(isOn: isTerminal && Style.isWanted) }

    /// Prints one or more whole lines on standard output.
    func printLine(_ text: String) {
        state.withLock { state in
            if let screen = state.screen { return screen(text) }
            clear(&state)
            Self.write(text + "\n", to: STDOUT_FILENO)
        }
    }

    /// Prints a JSON value on one line.
    func printLine(_ value: JSONValue) { printLine(value.text) }

    /// Prints text on standard output, without adding a line break.
    func printRaw(_ text: String) {
        state.withLock { state in
            if let screen = state.screen { return screen(text) }
            clear(&state)
            Self.write(text, to: STDOUT_FILENO)
        }
    }

    /// Prints an error on standard error, after the program's name.
    func printError(_ text: String) {
        state.withLock { state in
            if let screen = state.screen { return screen(text.printable) }
            clear(&state)
            Self.write("scan: \(text.printable)\n", to: STDERR_FILENO)
        }
    }

    /// Prints something that is neither data nor an error, on standard error.
    func printNotice(_ text: String) {
        state.withLock { state in
            if let screen = state.screen { return screen(text) }
            clear(&state)
            Self.write(text + "\n", to: STDERR_FILENO)
        }
    }

    /// Prints what a command changed on standard output, and how to undo it on standard error.
    func printChange(_ results: [String]) {
        for result in results { printLine(result) }
        printNotice("scan undo takes it back.")
    }

    /// Replaces the status line, if standard error is a terminal. An empty text removes it.
    func showStatus(_ text: String) {
        guard showsStatus else { return }
        state.withLock { state in
            guard text != state.status, state.screen == nil else { return }
            let width = max(20, terminalSize().columns) - 1
            Self.write("\r\u{1B}[K" + String(text.prefix(width)), to: STDERR_FILENO)
            state.status = text
        }
    }

    /// Covers the terminal with a full screen on the alternate buffer (xterm's private modes 1049, 25, 7, and 2004 to distinguish pasted
    /// text from keys). Does nothing if it is open already.
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

    /// Closes the full screen and shows the terminal's content before it. Does nothing if it is closed already.
    func closeScreen() {
        state.withLock { state in
            guard state.screen != nil else { return }
            state.screen = nil
            Self.write("\u{1B}[?2026l\u{1B}[?2004l\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l", to: STDOUT_FILENO)
        }
    }

    /// Writes to the full screen, if it is open.
    ///
    /// - Returns: true if it is open.
    @discardableResult
    func draw(_ text: String) -> Bool {
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
            let written = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if written > 0 {
                rest = rest.dropFirst(written)
            } else if errno == EAGAIN {
                var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&waiting, 1, -1)
            } else if errno != EINTR {
                guard descriptor == STDOUT_FILENO else { return }
                let reason = String(cString: strerror(errno))
                write(
                    "scan: cannot write the output: \(reason). What was captured and saved is in the library.\n",
                    to: STDERR_FILENO)
                exit(ExitStatus.inputOutput.rawValue)
            }
        }
    }
}

/// Returns the columns and rows of the terminal; 80x24 if they are not known.
func terminalSize() -> (columns: Int, rows: Int) {
    var size = winsize()
    for descriptor in [STDOUT_FILENO, STDERR_FILENO, STDIN_FILENO] {
        if ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 {
            return (Int(size.ws_col), Int(size.ws_row))
        }
    }
    return (80, 24)
}

/// Colours by meaning. If they are off, texts are unchanged.
struct Style: Sendable {
    let isOn: Bool

    /// False with NO_COLOR (https://no-color.org) and on a terminal without colours.
    static var isWanted: Bool {
        let environment = ProcessInfo.processInfo.environment
        return (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }

    func new(_ text: String) -> String { wrap(text, "32") }
    func owned(_ text: String) -> String { wrap(text, "34") }
    func attention(_ text: String) -> String { wrap(text, "33") }
    func problem(_ text: String) -> String { wrap(text, "31") }
    func strong(_ text: String) -> String { wrap(text, "1") }
    func faint(_ text: String) -> String { wrap(text, "2") }

    private func wrap(_ text: String, _ code: String) -> String { isOn ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text }
}

extension String {
    /// The text without anything that could control a terminal: control characters and bidirectional overrides become spaces.
    var printable: String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.map { scalar in
                    switch scalar.value {
                    case 0x0A: scalar
                    case 0..<0x20, 0x7F..<0xA0, 0x202A...0x202E, 0x2066...0x2069: " "
                    default: scalar
                    }
                }))
    }
}
