import Bookplate
import Foundation
import Synchronization
import SystemPackage

/// Standard output and standard error: whole lines at once, from any task, with a status line at the bottom of a terminal.
///
/// When nobody reads any more (EPIPE) the process ends by SIGPIPE, as programs in a pipe do.
final class Output: Sendable {
    static let shared = Output()

    private struct State {
        /// What the status line shows now, without escapes; empty when there is none.
        var status = ""
        /// While a screen covers the terminal: takes what would be printed.
        var screen: (@Sendable (String) -> Void)?
    }

    private let state = Mutex(State())
    let isTerminal = isatty(STDOUT_FILENO) == 1
    /// Where the status line goes: standard error, so that data on standard output stays clean.
    let showsStatus = isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    let style: Style

    init() { style = Style(isOn: isTerminal && Style.isWanted) }

    /// Prints one or several whole lines to standard output.
    func line(_ text: String) {
        state.withLock { state in
            if let screen = state.screen { return screen(text) }
            clear(&state)
            Self.write(text + "\n", to: STDOUT_FILENO)
        }
    }

    /// Prints a JSON value on one line.
    func line(_ value: JSONValue) { line(value.text) }

    /// Prints text as it is, without a line break.
    func raw(_ text: String) {
        state.withLock { state in
            if let screen = state.screen { return screen(text) }
            clear(&state)
            Self.write(text, to: STDOUT_FILENO)
        }
    }

    /// Tells what went wrong, on standard error, with the program's name in front.
    func complain(_ text: String) {
        state.withLock { state in
            if let screen = state.screen { return screen(text.printable) }
            clear(&state)
            Self.write("scan: \(text.printable)\n", to: STDERR_FILENO)
        }
    }

    /// Tells something that is neither data nor an error, on standard error.
    func note(_ text: String) {
        state.withLock { state in
            if let screen = state.screen { return screen(text) }
            clear(&state)
            Self.write(text + "\n", to: STDERR_FILENO)
        }
    }

    /// Tells what a command changed: the results on standard output, the way back on standard error.
    func changed(_ results: [String]) {
        for result in results { line(result) }
        note("scan undo takes it back.")
    }

    /// Replaces the status line; on anything but a terminal nothing happens. Empty takes it away.
    func status(_ text: String) {
        guard showsStatus else { return }
        state.withLock { state in
            guard text != state.status, state.screen == nil else { return }
            let width = max(20, terminalSize().columns) - 1
            Self.write("\r\u{1B}[K" + String(text.prefix(width)), to: STDERR_FILENO)
            state.status = text
        }
    }

    /// Covers the terminal with a screen of its own, on the alternate buffer (xterm's control sequences, private modes 1049, 25,
    /// 7, and 2004 so that what is pasted is told from keys). Until it is closed, `takes` is given what would have been printed. Opened twice is opened once.
    func openScreen(_ takes: @escaping @Sendable (String) -> Void) {
        state.withLock { state in
            guard state.screen == nil else { return }
            clear(&state)
            state.screen = takes
            Self.write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[?2004h\u{1B}[2J", to: STDOUT_FILENO)
        }
    }

    /// Shows what was there before the screen. Closed twice is closed once.
    func closeScreen() {
        state.withLock { state in
            guard state.screen != nil else { return }
            state.screen = nil
            Self.write("\u{1B}[?2026l\u{1B}[?2004l\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l", to: STDOUT_FILENO)
        }
    }

    /// Writes to the screen; nothing happens while it is closed.
    ///
    /// - Returns: whether it was open.
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
            do {
                rest = rest.dropFirst(
                    try rest.withUnsafeBytes { try FileDescriptor(rawValue: descriptor).write($0) })
            } catch Errno.resourceTemporarilyUnavailable {
                var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&waiting, 1, -1)
            } catch {
                guard descriptor == STDOUT_FILENO else { return }
                write(
                    "scan: cannot write the output: \(error). What was captured and saved is in the library.\n",
                    to: STDERR_FILENO)
                exit(ExitStatus.inputOutput.rawValue)
            }
        }
    }
}

/// Columns and rows of the terminal, 80x24 where it does not say.
func terminalSize() -> (columns: Int, rows: Int) {
    var size = winsize()
    for descriptor in [STDOUT_FILENO, STDERR_FILENO, STDIN_FILENO] {
        if ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 {
            return (Int(size.ws_col), Int(size.ws_row))
        }
    }
    return (80, 24)
}

/// Colours by meaning, empty when they are not wanted.
struct Style: Sendable {
    let isOn: Bool

    /// Never with NO_COLOR (https://no-color.org) or on a terminal that has none.
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
    /// The text without anything that could steer a terminal: control characters and bidirectional overrides become spaces.
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
