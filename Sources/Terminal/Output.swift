import Bookplate
import Foundation
import Synchronization
import SystemCalls
import SystemPackage

/// Writes whole lines to standard output and standard error, from any task, and can show a status line at the bottom of
/// a terminal.
///
/// On a terminal whose locale is not UTF-8, everything but data for programs is shown in ASCII (``isASCII``).
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
        /// The output that is kept for the pager; `nil` outside ``paged(_:_:)``.
        var kept: Kept?
        var color = ColorChoice.auto
        var style: Style
    }

    /// Output that is kept for the pager.
    private struct Kept {
        var text = ""
        /// The notices, which would disappear behind the pager if they were printed before it has ended.
        var notices: [String] = []
    }

    private let state: Mutex<State>
    package let isTerminal = isatty(STDOUT_FILENO) == 1
    private let isErrorTerminal = isatty(STDERR_FILENO) == 1
    /// True if a status line can be shown. The line is written to standard error, so that it does not mix with data on
    /// standard output.
    let showsStatus = isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    /// True if the locale is not UTF-8. Texts on a terminal are then shown in ASCII, and charts are drawn in ASCII.
    /// Other texts in pipes and files keep their letters.
    package let isASCII = !localeIsUTF8()
    package var style: Style { state.withLock(\.style) }
    /// The style for texts on standard error.
    package var errorStyle: Style { Style(state.withLock(\.color), isTerminal: isErrorTerminal) }

    init() { state = Mutex(State(style: Style(.auto, isTerminal: isTerminal))) }

    /// Chooses whether texts are coloured. Without a call, it is decided as for ``ColorChoice/auto``.
    package func useColor(_ choice: ColorChoice) {
        state.withLock { ($0.color, $0.style) = (choice, Style(choice, isTerminal: isTerminal)) }
    }

    /// Prints one or more whole lines on standard output.
    package func printLine(_ text: String) {
        state.withLock { state in
            if let screen = state.screen { return screen(text) }
            write(shown(text) + "\n", &state)
        }
    }

    /// Prints a JSON value on one line.
    package func printLine(_ value: JSONValue) { printData(value.text + "\n") }

    /// Prints text on standard output, without adding a line break.
    package func printRaw(_ text: String) {
        state.withLock { state in
            if let screen = state.screen { return screen(text) }
            write(shown(text), &state)
        }
    }

    /// Prints data for programs on standard output. It is the same in every locale.
    package func printData(_ text: String) {
        state.withLock { state in
            if let screen = state.screen { return screen(text) }
            write(text, &state)
        }
    }

    /// Keeps what `body` prints, and then shows it: through the person's pager if standard output is a terminal and the
    /// text is longer than its screen, otherwise directly. The person may quit the pager early.
    ///
    /// - Parameter isWanted: false to print directly.
    package func paged<Result>(_ isWanted: Bool = true, _ body: () async throws -> Result) async rethrows -> Result {
        guard isWanted, isTerminal, let pager = Pager.chosen() else { return try await body() }
        state.withLock { if $0.kept == nil { $0.kept = Kept() } }
        defer { showKept(with: pager) }
        return try await body()
    }

    private func showKept(with pager: Pager) {
        guard
            let kept = state.withLock({ state in
                defer { state.kept = nil }
                return state.kept
            })
        else { return }
        let size = terminalSize()
        if !kept.text.fits(columns: size.columns, rows: size.rows - 1), pager.show(kept.text) {
            // The pager has shown everything.
        } else if !kept.text.isEmpty {
            printData(kept.text)
        }
        for notice in kept.notices { printNotice(notice) }
    }

    /// Prints an error on standard error, after the program's name.
    package func printError(_ text: String) {
        state.withLock { state in
            if let screen = state.screen { return screen(text.printable) }
            clear(&state)
            Self.write("scan: \(shownAsError(text.printable))\n", to: STDERR_FILENO)
        }
    }

    /// Prints a notice, which is neither data nor an error, on standard error.
    package func printNotice(_ text: String) {
        state.withLock { state in
            if let screen = state.screen { return screen(text) }
            if state.kept != nil {
                state.kept?.notices.append(text)
                return
            }
            clear(&state)
            Self.write(shownAsError(text) + "\n", to: STDERR_FILENO)
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
            Self.write("\r\u{1B}[K" + shownAsError(String(text.prefix(width))), to: STDERR_FILENO)
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

    private func write(_ text: String, _ state: inout State) {
        if state.kept != nil {
            state.kept?.text += text
            return
        }
        clear(&state)
        Self.write(text, to: STDOUT_FILENO)
    }

    private func shown(_ text: String) -> String { isASCII && isTerminal ? text.inASCII : text }
    private func shownAsError(_ text: String) -> String { isASCII && isErrorTerminal ? text.inASCII : text }

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

/// A person's choice of colours.
package enum ColorChoice: String, CaseIterable, Sendable {
    case auto, always, never
}

/// The colours of texts, by meaning. If colours are off, texts stay unchanged.
package struct Style: Sendable {
    package let isOn: Bool

    package init(isOn: Bool) { self.isOn = isOn }

    /// With ``ColorChoice/auto``, NO_COLOR turns colours off (https://no-color.org). Otherwise, CLICOLOR_FORCE turns
    /// them on (https://bixense.com/clicolors), and without it, they are on if the output is a terminal with colours.
    package init(
        _ choice: ColorChoice, isTerminal: Bool,
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        let force = environment["CLICOLOR_FORCE"] ?? ""
        isOn =
            switch choice {
            case .always: true
            case .never: false
            case .auto where environment["NO_COLOR"]?.isEmpty == false: false
            case .auto where !force.isEmpty && force != "0": true
            case .auto: isTerminal && environment["TERM"] != "dumb"
            }
    }

    package func new(_ text: String) -> String { wrap(text, "32") }
    package func owned(_ text: String) -> String { wrap(text, "34") }
    package func attention(_ text: String) -> String { wrap(text, "33") }
    package func problem(_ text: String) -> String { wrap(text, "31") }
    package func strong(_ text: String) -> String { wrap(text, "1") }
    package func faint(_ text: String) -> String { wrap(text, "2") }

    private func wrap(_ text: String, _ code: String) -> String { isOn ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text }
}
