import ArgumentParser
import Bookplate
import Library
import Terminal

struct LibraryRandomCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "random", abstract: "Choose a book at random.",
        discussion: """
            Takes the filters of 'scan library list', and chooses among the books that
            match.

              scan library random
              scan library random --status toRead --owned
              scan library random --shelf Attic --limit 3
            """)

    @OptionGroup var filters: ListOptions
    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if filters.sort != nil || filters.reverse || filters.after != nil || filters.counts {
            throw ValidationError(
                "--sort, --reverse, --after and --counts are for lists. To sort books, run 'scan library list'.")
        }
    }

    func run() async throws {
        let query = try filters.query()
        let library = try Wiring(settings: paths.settings()).requireLibrary()
        let books = try await library.randomBooks(matching: query, limit: filters.limit ?? 1)
        if books.isEmpty, !output.json { Output.shared.printNotice(try await EmptyList(library, query).text()) }
        let width = terminalSize().columns
        for book in books {
            Output.shared.printLine(output.json ? book.json.text : BookList.line(for: book, width: width))
        }
        if books.isEmpty { throw ExitCode(ExitStatus.nothing.rawValue) }
    }
}
