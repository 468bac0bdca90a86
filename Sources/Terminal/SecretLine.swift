import Foundation
import SystemPackage

/// Reads a line of standard input without showing it.
package enum SecretLine {
    /// True if standard input is a terminal, at which a person types the line. The person may make a mistake, because
    /// the characters are not shown.
    package static var isTyped: Bool { isatty(STDIN_FILENO) == 1 }

    /// Prints the prompt and reads a line.
    ///
    /// - Returns: the line without its line break; nil at the end of the input.
    package static func read(_ prompt: String) -> String? {
        var saved = termios()
        guard isTyped, tcgetattr(STDIN_FILENO, &saved) == 0 else { return readLine() }
        var silent = saved
        silent.c_lflag &= ~tcflag_t(ECHO)
        Interrupts.restoreOnSignal(terminal: .standardInput, to: saved)
        Interrupts.onResume { [silent] in
            // Meanwhile the shell used the terminal and turned the echo on.
            var silent = silent
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        }
        Interrupts.handle { nil }
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        defer {
            Interrupts.onResume(nil)
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &saved)
            Interrupts.restoreOnSignal(terminal: nil, to: saved)
            Output.shared.printRaw("\n")
        }
        Output.shared.printRaw(prompt)
        return readLine()
    }
}
