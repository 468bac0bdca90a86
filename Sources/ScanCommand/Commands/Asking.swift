import ArgumentParser
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

    /// Asks when a session ended that was probably forgotten.
    ///
    /// - Returns: the end; `nil` if the person gives no answer (Control-D).
    static func end(of session: Session, _ localTime: LocalTime) -> Date? {
        // What was typed before the question appeared is no answer to it.
        tcflush(STDIN_FILENO, TCIFLUSH)
        while true {
            Output.shared.printRaw(
                "Minutes that you read, or the time at which you stopped ('all' for the whole time): ")
            guard let line = readLine()?.cleaned else {
                Output.shared.printNotice("\nNothing changed.")
                return nil
            }
            if line.lowercased() == "all" { return localTime.now }
            do {
                let end =
                    try Int(line).map { session.start.addingTimeInterval(Double($0) * 60) }
                    ?? localTime.time(line, for: "The answer")
                if end > session.start, end <= localTime.now { return end }
                Output.shared.printNotice(
                    "This is not between the start at \(localTime.dateTime(session.start)) and now. "
                        + "For an earlier day, write the day, too.")
            } catch {
                Output.shared.printNotice(CommandError(describing: error).description)
            }
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

    /// The largest number of books that ``book(_:among:)`` offers.
    static let mostBooks = 1000

    /// Returns true if a person can be asked which of several books is meant. With `--yes`, no question is wanted.
    static func canChoose(json: Bool, yes: Bool = false) -> Bool { !json && !yes && Chooser.isPossible }

    /// Lets the person choose one of several books. Nothing must have been changed before.
    ///
    /// - Parameters:
    ///   - question: the question without its question mark, such as "Which book".
    ///   - books: the books, the likeliest first. Those beyond ``mostBooks`` are not offered.
    /// - Returns: `nil` if no keys can be read, because the program runs in the background.
    /// - Throws: `ExitCode` if the person chooses none.
    static func book(_ question: String, among books: [Book]) async throws -> Book? {
        let offered = books.prefix(mostBooks)
        var chooser = Chooser(question, rows: offered.map(Chooser.Row.init), isCut: books.count > offered.count)
        guard let keyboard = Keyboard.open(inList: true) else { return nil }
        defer { keyboard.close() }
        guard let place = await chooser.choose(with: keyboard) else {
            Output.shared.printNotice("No book was chosen, so nothing changed.")
            throw ExitCode(ExitStatus.nothing.rawValue)
        }
        return offered[place]
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

extension Chooser.Row {
    /// Creates the row for a book: its title, authors, year, status and shelf, and the end of its id. It can also be
    /// found by its ISBN in any form, its subtitle and its series.
    init(_ book: Book) {
        let (edition, metadata) = (book.edition, book.edition.metadata)
        let year = metadata.publishedDate.map { " (\($0.year))" } ?? ""
        let facts = [
            book.displayAuthors + year, book.copy.status.displayName, book.copy.isOnWishlist ? "wishlist" : nil,
            book.copy.shelf,
        ]
        let hidden = [
            edition.isbn?.digits, edition.isbn?.isbn10, edition.isbn?.hyphenated, edition.isbnText, metadata.subtitle,
            metadata.series,
        ]
        self.init(
            title: book.displayTitle, details: facts.compactMap(\.self).joined(separator: " · "),
            id: String(book.id.rawValue.suffix(8)), hidden: hidden.compactMap(\.self))
    }
}
