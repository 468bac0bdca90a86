import ArgumentParser
import Bookplate
import Terminal

struct ISBNCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "isbn", abstract: "Check and convert ISBNs.",
        discussion: """
            Accepts ISBN-10 and ISBN-13, with or without hyphens. For an invalid number,
            the message says which digit is wrong, or which rule the number breaks.

              scan isbn 0-441-47812-3
              scan isbn --json 9791032305690 9780441478126
            """)

    @Argument(help: ArgumentHelp("The ISBNs; - reads them from standard input, one per line.", valueName: "text"))
    var texts: [String]

    @OptionGroup var output: OutputOptions

    func run() throws {
        let report = ExitReport()
        for text in texts {
            if text == "-" {
                while let line = readLine() { show(line, report) }
            } else {
                show(text, report)
            }
        }
        try report.end()
    }

    private func show(_ text: String, _ report: ExitReport) {
        do throws(ISBNRefusal) {
            let isbn = try BookNumber(text).isbn
            if output.json {
                Output.shared.printLine(Self.json(input: text, isbn: isbn, error: nil))
            } else {
                let ten = isbn.isbn10.map { "  \($0)" } ?? ""
                Output.shared.printLine("\(isbn.hyphenated)  \(isbn.digits)\(ten)")
            }
        } catch {
            report.record(.nothing)
            if output.json {
                Output.shared.printLine(Self.json(input: text, isbn: nil, error: error.description))
            } else {
                Output.shared.printError("\"\(String(text.prefix(80)).printable)\" is not an ISBN: \(error).")
            }
        }
    }

    static func json(input: String, isbn: ISBN?, error: String?) -> JSONValue {
        [
            "input": .string(input), "isbn13": JSONValue(isbn?.digits), "isbn10": JSONValue(isbn?.isbn10),
            "hyphenated": JSONValue(isbn?.hyphenated), "error": JSONValue(error),
        ]
    }
}

extension EnteredNumber {
    /// Prints a warning if the number is not a valid ISBN.
    static func warn(_ number: EnteredNumber?) {
        guard let number, let refusal = number.refusal else { return }
        Output.shared.printError(
            "\"\(number.text.prefix(80).printable)\" is not a valid ISBN: \(refusal). It is kept as text.")
    }
}

extension ISBN {
    /// Parses a number that the user typed.
    ///
    /// - Throws: ``CommandError`` with the given status. Its message says which digit is wrong, or which rule
    ///   the number breaks.
    init(refusingWith status: ExitStatus, _ text: String) throws {
        do throws(ISBNRefusal) {
            self = try BookNumber(text).isbn
        } catch {
            throw CommandError(status, "\"\(text.prefix(80).printable)\" is not an ISBN: \(error).")
        }
    }
}
