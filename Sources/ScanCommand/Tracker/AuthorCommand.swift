import ArgumentParser
import Bookplate
import Foundation
import Library
import Terminal

struct AuthorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "author", abstract: "Authors of all books: list, rename, sort, merge, delete.",
        discussion: """
            Authors are never merged automatically: you decide which names belong to the
            same author. Later lookups do not revert your changes. To change the authors
            of one book, run 'scan library edit BOOK --author NAME'.

              scan author list
              scan author rename "JRR Tolkien" "J. R. R. Tolkien"
              scan author sort "Gabriel García Márquez" "García Márquez, Gabriel"
              scan author merge "J.K. Rowling" --into "J. K. Rowling"
            """,
        subcommands: [List.self, Rename.self, Sort.self, Merge.self, Delete.self], defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the authors, each with roles and number of books.",
            discussion: "  scan author list")
        @OptionGroup var arrangement: NameListOptions
        @OptionGroup var printed: PrintedListOptions
        @OptionGroup var paths: PathOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let printer = try ListPrinter(printed, json: output.json, .authors)
            let library = try Wiring(settings: paths.settings()).openExistingLibrary()
            let authors = arrangement.arranged(try await library?.authors() ?? [], books: \.books)
            if authors.isEmpty, !output.json {
                Output.shared.printNotice("There are no authors yet. Each book that you save adds its authors.")
            }
            let width = min(60, authors.map(\.name.oneLine.columns).max() ?? 0)
            try await printer.paged {
                try printer.print(authors, json: \.json) { [Self.line(for: $0, width: width)] }
            }
        }

        static func line(for author: Author, width: Int) -> String {
            let roles = Contributor.Role.allCases.filter { $0 != .author && author.roles[$0] != nil }
            let others = roles.map { "\($0.rawValue) of \(author.roles[$0] ?? 0)" }.joined(separator: ", ")
            return "\(author.name.oneLine.padded(width))  \(counted(author.books, "book"))"
                + (others.isEmpty ? "" : "  (\(others))")
        }
    }

    struct Rename: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rename", abstract: "Rename an author in all books.",
            discussion: "  scan author rename \"JRR Tolkien\" \"J. R. R. Tolkien\"")
        @Argument(help: "The author's name.", completion: .values(.author)) var name: String
        @Argument(help: "The new name.", completion: .values(.author)) var newName: String
        @OptionGroup var paths: PathOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let library = try Wiring(settings: paths.settings()).requireLibrary()
            let done = try await library.renameAuthor(name, to: newName, at: Date())
            printChanged([done], "Renamed", output, unchanged: "this is already the name of the author")
        }
    }

    struct Sort: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "sort", abstract: "Correct the name by which an author is sorted.",
            discussion: """
                Authors are sorted by family name, which a rule derives from the name. It is
                sometimes wrong. What you correct here stays, whatever a later lookup finds.
                Without a sort name, the one of the rule applies again.

                  scan author sort "Gabriel García Márquez" "García Márquez, Gabriel"
                  scan author sort "Gabriel García Márquez"
                """)
        @Argument(help: "The author's name.", completion: .values(.author)) var name: String
        @Argument(help: ArgumentHelp("The sort name, with the family name first.", valueName: "sort-name"))
        var sortName: String?
        @OptionGroup var paths: PathOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let library = try Wiring(settings: paths.settings()).requireLibrary()
            let done = try await library.setSortName(of: name, to: sortName, at: Date())
            printChanged(
                [done], "Sorted as \"\(done.author.sortName.oneLine)\"", output,
                unchanged: "this is already the sort name of the author")
        }
    }

    struct Merge: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "merge", abstract: "Merge authors into an existing one (to undo this, run 'scan undo').",
            discussion: "  scan author merge \"J.K. Rowling\" --into \"J. K. Rowling\"")
        @Argument(help: "The authors to merge.", completion: .values(.author)) var names: [String]
        @Option(help: ArgumentHelp("The author to keep.", valueName: "name"), completion: .values(.author)) var into:
            String
        @Flag(name: .shortAndLong, help: "Do not ask for confirmation.") var yes = false
        @OptionGroup var paths: PathOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let library = try Wiring(settings: paths.settings()).requireLibrary()
            let question = "Merge \(quoted(names)) into \(quoted([into]))?"
            guard try Asking.mayGoOn(question, yes: yes, json: output.json) else { return }
            printChanged([try await library.mergeAuthors(names, into: into, at: Date())], "Merged", output)
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Remove authors from all their books, but keep the books (to undo this, run 'scan undo').",
            discussion: "  scan author delete \"Penguin Classics\"")
        @Argument(help: "The authors to delete.", completion: .values(.author)) var names: [String]
        @Flag(name: .shortAndLong, help: "Do not ask for confirmation.") var yes = false
        @OptionGroup var paths: PathOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let library = try Wiring(settings: paths.settings()).requireLibrary()
            let question = "Delete \(quoted(names))? The books stay in the library."
            guard try Asking.mayGoOn(question, yes: yes, json: output.json) else { return }
            printChanged(try await library.deleteAuthors(names, at: Date()), "Deleted", output, from: "removed from ")
        }
    }
}

/// Prints the authors after a change.
///
/// - Parameters:
///   - relation: the words before the number of books.
///   - unchanged: the reason if nothing changed.
private func printChanged(
    _ done: [AuthorChange], _ what: String, _ output: OutputOptions, from relation: String = "",
    unchanged: String = "the authors have no books"
) {
    if !output.json {
        return Output.shared.printChange(
            done.map { "\(what): \($0.author.name.oneLine), \(relation)\(counted($0.author.books, "book"))" },
            done.first?.change, unchanged: "Nothing changed: \(unchanged).")
    }
    for change in done { Output.shared.printLine(change.author.json) }
}
