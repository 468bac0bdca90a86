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
              scan library search le guin
              scan library show 9780441478125
            """,
        subcommands: [
            List.self, Search.self, Show.self, LibraryAddCommand.self, LibraryEditCommand.self, Delete.self, Trash.self,
            Restore.self,
        ],
        defaultSubcommand: List.self)

    /// What narrows a list down.
    struct Filters: ParsableArguments {
        @Option(help: ArgumentHelp("toRead, reading, read, onHold or dnf (can be repeated).", valueName: "status"))
        var status: [Copy.Status] = []
        @Option(
            name: .customLong("tag"), help: ArgumentHelp("With this tag (can be repeated: either).", valueName: "name"))
        var tags: [String] = []
        @Option(help: ArgumentHelp("On this shelf (can be repeated: either).", valueName: "name")) var shelf: [String] =
            []
        @Flag(help: "Only what is on the wishlist.") var wishlist = false
        @Flag(help: "Only what is owned.") var owned = false
        @Flag(help: "Only favourites.") var favourite = false
        @Option(help: "added, title, author or rating.") var sort: BookQuery.Sort = .added
        @Option(help: "How many at the most; 50, and with --json all.") var limit: Int?
        @Option(help: "How many to pass over.") var offset = 0

        func query(text: String = "", json: Bool) throws -> BookQuery {
            let limit = limit ?? (json ? .max : 50)
            guard limit > 0, offset >= 0 else { throw Complaint(.usage, "--limit is 1 or more, --offset 0 or more.") }
            var query = BookQuery()
            query.text = text
            query.statuses = Set(status)
            query.tags = tags
            query.shelves = shelf
            query.isOnWishlist = wishlist ? true : nil
            query.isOwned = owned ? true : nil
            query.isFavourite = favourite ? true : nil
            query.sort = sort
            query.limit = limit
            query.offset = offset
            return query
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "list", abstract: "List books.")
        @OptionGroup var filters: Filters
        @OptionGroup var places: PlaceOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await BookList(places: places, json: output.json).show(filters.query(json: output.json))
        }
    }

    struct Search: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "search",
            abstract: "Search title, subtitle, authors, ISBN and tags; case and diacritics do not matter.")
        @Argument(help: "The words.") var words: [String]
        @OptionGroup var filters: Filters
        @OptionGroup var places: PlaceOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let found = try await BookList(places: places, json: output.json).show(
                filters.query(text: words.joined(separator: " "), json: output.json))
            if found == 0 { throw ExitCode(ExitStatus.nothing.rawValue) }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "show", abstract: "Show all of one book.")
        @Argument(help: ArgumentHelp("ISBN, id or words.", valueName: "book")) var name: String
        @OptionGroup var places: PlaceOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let library = try Wiring(settings: places.settings()).openLibrary()
            let book = try await library.book(named: name)
            if output.json { Output.shared.line(book.json) } else { BookSheet(book: book).show() }
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Move books to the trash, where they stay for 30 days (scan undo, scan library restore).")
        @Argument(help: ArgumentHelp("ISBN, id or words.", valueName: "book")) var names: [String]
        @OptionGroup var places: PlaceOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let library = try Wiring(settings: places.settings()).openLibrary()
            var books: [Book] = []
            for name in names { books.append(try await library.book(named: name)) }
            _ = try await library.trash(books.map(\.id), at: Date())
            try await tell(books, library, output, "In the trash", ". scan undo takes it back.")
        }
    }

    struct Trash: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "trash", abstract: "List the trash.")
        @OptionGroup var filters: Filters
        @OptionGroup var places: PlaceOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            var query = try filters.query(json: output.json)
            query.inTrash = true
            try await BookList(places: places, json: output.json).show(query)
        }
    }

    struct Restore: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "restore", abstract: "Take books out of the trash.")
        @Argument(help: ArgumentHelp("ISBN, id or words.", valueName: "book")) var names: [String]
        @OptionGroup var places: PlaceOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let library = try Wiring(settings: places.settings()).openLibrary()
            var books: [Book] = []
            for name in names { books.append(try await library.book(named: name, inTrash: true)) }
            _ = try await library.restore(books.map(\.id), at: Date())
            try await tell(books, library, output, "Back in the library", ".")
        }
    }
}

extension BookQuery.Sort: ExpressibleByArgument {}

/// Tells what became of books: each as JSON as it is now, or a line for a person.
private func tell(
    _ books: [Book], _ library: LibraryFile, _ output: OutputOptions, _ what: String, _ rest: String
) async throws {
    for book in books {
        if !output.json {
            Output.shared.note("\(what): \(book.displayTitle.oneLine)\(rest)")
        } else if let now = try await library.book(book.id) {
            Output.shared.line(now.json)
        }
    }
}
