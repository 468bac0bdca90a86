import ArgumentParser
import Bookplate
import Library
import Terminal

struct LibraryRandomCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "random", abstract: "Choose a book at random.",
        discussion: """
            Takes the queries and filters of 'scan library list', and chooses among the
            books that match.

              scan library random
              scan library random --status toRead --owned
              scan library random shelf:attic -tag:lend --limit 3
            """)

    @OptionGroup var query: QueryArguments
    @OptionGroup var filters: BookFilters
    @Option(help: "The maximum number of books.") var limit = 1
    @OptionGroup var paths: PathOptions
    @OptionGroup var output: QueryOutputOptions

    func validate() throws {
        try query.check(options: Self.helpMessage())
        if limit < 1 { throw ValidationError("--limit must be 1 or more.") }
    }

    func run() async throws {
        let library = try Wiring(settings: paths.settings()).requireLibrary()
        var wanted = try filters.query()
        wanted.add(try await library.parse(query.text))
        let books = try await library.randomBooks(matching: wanted, limit: limit)
        if books.isEmpty, !output.json {
            Output.shared.printNotice(try await EmptyList(library, wanted, typed: query.text).text())
        }
        let width = terminalSize().columns
        for book in books {
            Output.shared.printLine(output.json ? book.json.text : BookList.line(for: book, width: width))
        }
        if books.isEmpty { throw ExitCode(ExitStatus.nothing.rawValue) }
    }
}
