import Foundation
import Terminal

/// Asks a person for confirmation. `--yes` confirms in advance, whatever the question.
enum Asking {
    /// The way to reverse an act. It also decides what applies if nobody can be asked: with `--json`, or without a terminal.
    enum WayBack {
        /// `scan undo` reverses the act, so giving the command is enough.
        case undo
        /// The act itself reverses another, so giving the command is enough.
        case isOne
        /// The act cannot be reversed: only `--yes` is enough.
        case forGood
        /// The command alone does not say what to do: refused with this message.
        case choice(String)
    }

    /// Returns true if the act may be carried out.
    ///
    /// - Parameter question: such as "Delete the note?"
    /// - Throws: ``CommandError`` if nobody can be asked and the command alone is not enough.
    static func mayGoOn(
        _ question: String, yes: Bool, json: Bool, _ wayBack: WayBack = .undo
    ) throws -> Bool {
        if yes { return true }
        let isAlone = json || isatty(STDIN_FILENO) != 1
        switch wayBack {
        case .undo:
            return isAlone || ask("\(question) scan undo can take it back.")
        case .isOne:
            return isAlone || ask(question)
        case .forGood:
            guard !isAlone else {
                throw CommandError(
                    .usage, "this cannot be undone, and there is no terminal to ask at. Confirm it with --yes.")
            }
            return ask("\(question) This cannot be undone.")
        case .choice(let refusal):
            guard !isAlone else { throw CommandError(.usage, refusal) }
            return ask(question)
        }
    }

    private static func ask(_ question: String) -> Bool {
        Output.shared.printRaw("\(question) [y/N] ")
        return readLine()?.lowercased().hasPrefix("y") == true
    }
}
