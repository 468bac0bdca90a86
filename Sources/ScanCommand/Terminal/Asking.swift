import Foundation

/// Asks a person before something goes. `--yes` answers in advance, whatever the question.
enum Asking {
    /// What the question says of the way back, and what holds where nobody can be asked: with `--json`, or without a terminal.
    enum WayBack {
        /// scan undo: the command itself is the answer.
        case undo
        /// The act is a way back itself, and the command the answer.
        case isOne
        /// None: only `--yes` is an answer.
        case forGood
        /// None that a command takes; refused with these words.
        case choice(String)
    }

    /// - Parameter question: "Delete the note?"
    /// - Throws: ``CommandError`` where nobody can be asked and the command alone does not say enough.
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
                    .usage, "this cannot be undone, and there is no terminal to ask at; --yes says that it is meant.")
            }
            return ask("\(question) This cannot be undone.")
        case .choice(let refusal):
            guard !isAlone else { throw CommandError(.usage, refusal) }
            return ask(question)
        }
    }

    private static func ask(_ question: String) -> Bool {
        Output.shared.raw("\(question) [y/N] ")
        return readLine()?.lowercased().hasPrefix("y") == true
    }
}

/// `"Dune", "Emma"`
func quoted(_ names: [String]) -> String { names.map { "\"\($0.oneLine)\"" }.joined(separator: ", ") }
