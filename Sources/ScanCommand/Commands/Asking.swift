import Bookplate
import Foundation
import Terminal

/// Asks a person for confirmation. With `--yes`, every question is confirmed in advance.
enum Asking {
    /// The way to reverse an act. It also determines if the act is carried out when nobody can be asked, which is the
    /// case with `--json` or without a terminal.
    enum WayBack {
        /// `scan undo` can reverse the act. If nobody can be asked, the act is carried out without confirmation.
        case undo
        /// The act itself reverses another act. If nobody can be asked, it is carried out without confirmation.
        case isOne
        /// The act cannot be reversed. If nobody can be asked, it is carried out only with `--yes`.
        case forGood
        /// The command does not say exactly what to do, such as which backup to restore. If nobody can be asked, the
        /// command is refused with this message.
        case choice(String)
    }

    /// Returns true if the act may be carried out.
    ///
    /// - Parameter question: the question, such as "Delete the note?"
    /// - Throws: ``CommandError`` if the act needs confirmation and nobody can be asked.
    static func mayGoOn(
        _ question: String, yes: Bool, json: Bool, _ wayBack: WayBack = .undo
    ) throws -> Bool {
        if yes { return true }
        let isAlone = json || isatty(STDIN_FILENO) != 1
        switch wayBack {
        case .undo:
            return isAlone || ask("\(question) You can undo this with 'scan undo'.")
        case .isOne:
            return isAlone || ask(question)
        case .forGood:
            guard !isAlone else {
                throw CommandError(
                    .usage,
                    "this cannot be undone, and there is no terminal for the confirmation prompt. To go ahead anyway, use --yes."
                )
            }
            return ask("\(question) This cannot be undone.")
        case .choice(let refusal):
            guard !isAlone else { throw CommandError(.usage, refusal) }
            return ask(question)
        }
    }

    /// Asks at which page a running session ends.
    ///
    /// - Returns: `nil` if the person gives no answer (Control-D).
    static func sessionEnd() -> SessionEnd? {
        while true {
            Output.shared.printRaw("Page you are on (Enter for none): ")
            guard let line = readLine()?.cleaned else {
                Output.shared.printNotice("\nNothing changed.")
                return nil
            }
            if line.isEmpty { return SessionEnd(page: nil) }
            if let page = Int(line) { return SessionEnd(page: page) }
            Output.shared.printNotice(
                "\"\(line.oneLine.fitted(40))\" is not a page. Type a number, and then press Enter.")
        }
    }

    /// Asks for one of several names until the answer is one. Case does not matter.
    ///
    /// - Returns: the name; `nil` if the person gives no answer (Control-D).
    static func name(_ question: String, among names: [String]) -> String? {
        tcflush(STDIN_FILENO, TCIFLUSH)
        while true {
            Output.shared.printRaw("\(question) (\(names.map(\.oneLine).joined(separator: ", "))): ")
            guard let line = readLine()?.cleaned else {
                Output.shared.printNotice("\nNothing changed.")
                return nil
            }
            if let name = names.first(where: { $0.lowercased() == line.lowercased() }) { return name }
            Output.shared.printNotice("\"\(line.oneLine.fitted(40))\" is none of them.")
        }
    }

    /// Asks until the answer is yes or no. A handheld scanner may type a code into the question.
    private static func ask(_ question: String) -> Bool {
        // What was typed before the question appeared is no answer to it.
        tcflush(STDIN_FILENO, TCIFLUSH)
        while true {
            Output.shared.printRaw("\(question) [y/N] ")
            guard let line = readLine() else { return false }
            switch line.cleaned.lowercased() {
            case "y", "yes": return true
            case "n", "no", "": return false
            default:
                Output.shared.printNotice(
                    "\"\(line.oneLine.fitted(40))\" is neither yes nor no. Type y or n, and then press Enter.")
            }
        }
    }
}
