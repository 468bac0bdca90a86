import Foundation

/// One line that nobody is to see.
enum SecretLine {
    /// Whether a person types it: then nobody sees a slip.
    static var isTyped: Bool { isatty(STDIN_FILENO) == 1 }

    /// - Returns: without the line's end; `nil` at the end of the input.
    static func read(_ prompt: String) -> String? {
        var saved = termios()
        guard isTyped, tcgetattr(STDIN_FILENO, &saved) == 0 else { return readLine() }
        var silent = saved
        silent.c_lflag &= ~tcflag_t(ECHO)
        Interrupts.restoreOnSignal(terminal: STDIN_FILENO, to: saved)
        Interrupts.onResume { [silent] in
            // The shell had the terminal meanwhile, and shows what is typed.
            var silent = silent
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        }
        Interrupts.handle { nil }
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        defer {
            Interrupts.onResume(nil)
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &saved)
            Interrupts.restoreOnSignal(terminal: nil, to: saved)
            Output.shared.raw("\n")
        }
        Output.shared.raw(prompt)
        return readLine()
    }
}
