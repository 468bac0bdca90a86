import ArgumentParser
import Bookplate
import Foundation
import Library

struct LibraryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "library", abstract: "The books: list, search, show, add, edit, delete, trash, restore.",
        discussion: """
            A book is named by its ISBN, its id, or words that fit one book only.

              scan library list --shelf "Living room" --sort title
              scan library list --finished 2024..2025 --rating 4 --rating 5
              scan library list --wishlist
              scan library search le guin
              scan library search spice --tag sf --counts
              scan library show 9780441478125
            """,
        subcommands: [
            List.self, Search.self, Show.self, LibraryAddCommand.self, LibraryEditCommand.self, Delete.self, Trash.self,
            Restore.self, LibraryPurgeCommand.self,
        ],
        defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "list", abstract: "List books.")
        @OptionGroup var filters: ListOptions
        @OptionGroup var places: PlaceOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await BookList(places: places, json: output.json).show(filters)
        }
    }

    struct Search: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "search",
            abstract: "Search titles, authors, series, ISBNs, tags, notes and quotes.",
            discussion: """
                Every word must be found, as the beginning of a word; case and
                diacritics do not matter. The best come first: titles before authors,
                series, tags, notes. Each hit says where it matched.
                """)
        @Argument(help: "The words.") var words: [String]
        @OptionGroup var filters: ListOptions
        @OptionGroup var places: PlaceOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let found = try await BookList(places: places, json: output.json).show(
                filters, text: words.joined(separator: " "))
            if found == 0 { throw ExitCode(ExitStatus.nothing.rawValue) }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "show", abstract: "Show all of one book.")
        @OptionGroup var named: NamedBook
        @OptionGroup var places: PlaceOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let library = try Wiring(settings: places.settings()).requireLibrary()
            let book = try await library.book(named: named.name)
            try await BookSheet.show(book, from: library, json: output.json)
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Move books to the trash, where they stay for 30 days (scan undo, scan library restore).",
            discussion: "  scan library delete 9780441478125 \"left hand\"")
        @OptionGroup var named: NamedBooks
        @Flag(help: "Do not ask.") var yes = false
        @OptionGroup var places: PlaceOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let library = try Wiring(settings: places.settings()).requireLibrary()
            var books: [Book] = []
            for name in named.names { books.append(try await library.book(named: name)) }
            let what = books.count > 3 ? counted(books.count, "book") : quoted(books.map(\.displayTitle))
            guard try Asking.mayGoOn("Move \(what) to the trash?", yes: yes, json: output.json) else { return }
            _ = try await library.trash(books.map(\.id), at: Date())
            try await tell(books, library, output, "In the trash")
        }
    }

    struct Trash: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "trash", abstract: "List the trash.")
        @OptionGroup var filters: ListOptions
        @OptionGroup var places: PlaceOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await BookList(places: places, json: output.json).show(filters, inTrash: true)
        }
    }

    struct Restore: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "restore", abstract: "Take books out of the trash.",
            discussion: "  scan library restore 9780441478125 \"left hand\"")
        @OptionGroup var named: NamedBooks
        @OptionGroup var places: PlaceOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let library = try Wiring(settings: places.settings()).requireLibrary()
            var books: [Book] = []
            for name in named.names { books.append(try await library.book(named: name, inTrash: true)) }
            _ = try await library.restore(books.map(\.id), at: Date())
            try await tell(books, library, output, "Back in the library")
        }
    }
}

/// Tells what became of books: each as JSON as it is now, or a line for a person.
private func tell(
    _ books: [Book], _ library: LibraryFile, _ output: OutputOptions, _ what: String
) async throws {
    if !output.json { return Output.shared.changed(books.map { "\(what): \($0.displayTitle.oneLine)" }) }
    for book in books {
        if let now = try await library.book(book.id) { Output.shared.line(now.json) }
    }
}
