import ArgumentParser
import Bookplate
import Foundation
import Library
import Terminal

struct FilterCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "filter", abstract: "Saved queries: list, add, rename, delete, fields.",
        discussion: """
            A saved filter is a query with a name, for every list and also for the
            kiosk. Each reader has filters of their own.

              scan filter add "to lend" is:owned status:read rating:4.. -shelf:attic
              scan library list filter:"to lend" added:2024..
            """,
        subcommands: [List.self, Add.self, Rename.self, Delete.self, Fields.self], defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List your saved filters.", discussion: "  scan filter list")
        @OptionGroup var printed: PrintedListOptions
        @OptionGroup var paths: PathOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let printer = try ListPrinter(printed, json: output.json, .filters)
            let filters = try await Wiring(settings: paths.settings()).openExistingLibrary()?.savedFilters() ?? []
            if filters.isEmpty, !output.json {
                Output.shared.printNotice("There is no saved filter. To save one, run 'scan filter add NAME QUERY'.")
            }
            let width = filters.map { $0.name.oneLine.columns }.max() ?? 0
            try await printer.paged {
                try printer.print(filters, json: \.json) {
                    ["\($0.name.oneLine.padded(width))  \($0.query.oneLine)"]
                }
            }
        }
    }

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add", abstract: "Save a query under a name, or replace a saved one.",
            discussion: "  scan filter add short pages:..200 status:toread")
        @Argument(help: "The name of the filter.") var name: String
        @OptionGroup var query: QueryArguments
        @OptionGroup var paths: PathOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            try query.check(options: Self.helpMessage())
            if query.words.isEmpty { throw ValidationError("Give the query to save, such as tag:sf.") }
        }

        func run() async throws {
            let library = try Wiring(settings: paths.settings()).requireLibrary()
            _ = try await library.parse(query.text)
            try await library.checkNoCycle(SavedFilter(name: name, query: query.text))
            let (filter, change) = try await library.saveFilter(name, query.text, at: Date())
            if output.json { return Output.shared.printLine(filter.json) }
            Output.shared.printChange(["Saved: \(filter.reference)"], change, unchanged: "Saved already.")
        }
    }

    struct Rename: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rename", abstract: "Rename a saved filter.", discussion: "  scan filter rename short brief")
        @Argument(help: "The filter.", completion: .values(.filter)) var name: String
        @Argument(help: ArgumentHelp("The new name.", valueName: "new-name")) var newName: String
        @OptionGroup var paths: PathOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let library = try Wiring(settings: paths.settings()).requireLibrary()
            let id = try await library.savedFilter(named: name).id
            let (filter, change) = try await library.renameFilter(id, to: newName, at: Date())
            if output.json { return Output.shared.printLine(filter.json) }
            Output.shared.printChange(
                ["Renamed: \(filter.reference)"], change, unchanged: "The filter has this name already.")
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete", abstract: "Delete a saved filter (to undo this, run 'scan undo').",
            discussion: "  scan filter delete brief")
        @Argument(help: "The filter.", completion: .values(.filter)) var name: String
        @OptionGroup var paths: PathOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let library = try Wiring(settings: paths.settings()).requireLibrary()
            let filter = try await library.savedFilter(named: name)
            let change = try await library.deleteFilter(filter.id, at: Date())
            if output.json { return Output.shared.printLine(filter.json) }
            Output.shared.printChange(["Deleted: \(filter.name.oneLine)"], change)
        }
    }

    struct Fields: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "fields", abstract: "List the fields of the query language, each with an example.",
            discussion: "  scan filter fields")
        @OptionGroup var output: OutputOptions

        func run() {
            let width = QueryField.allCases.map(\.rawValue.count).max() ?? 0
            for field in QueryField.allCases {
                if output.json {
                    Output.shared.printLine([
                        "field": .string(field.rawValue), "example": .string(field.example),
                        "meaning": .string(field.meaning),
                    ])
                } else {
                    Output.shared.printLine(
                        "\(field.rawValue.padded(width))  \(field.example.padded(20))  \(field.meaning)")
                }
            }
            guard !output.json else { return }
            Output.shared.printNotice(
                """

                word "two words" -word a OR b (a OR b) c    combine conditions
                +title title+ added-                        sort: \(BookQuery.Sort.allCases.map(\.rawValue).joined(separator: ", "))
                """)
        }
    }
}

extension LibraryFile {
    /// - Throws: ``CommandError`` if the filter, once it is saved, would contain itself by way of others.
    fileprivate func checkNoCycle(_ filter: SavedFilter) async throws {
        let others = try await savedFilters().filter { !$0.isNamed(filter.name) }
        let context = QueryContext(
            today: CalendarDay(number: 0), readers: try await readers(), filters: others + [filter])
        do throws(QueryMistake) {
            _ = try QueryParser(context).parse(QueryField.filter.condition(filter.name))
        } catch {
            throw CommandError(error)
        }
    }

    fileprivate func savedFilter(named name: String) async throws -> SavedFilter {
        let filters = try await savedFilters()
        guard let filter = filters.first(where: { $0.isNamed(name) }) else {
            throw CommandError(
                .nothing,
                "there is no saved filter \"\(name.prefix(80).printable)\". To list the filters, run 'scan filter list'."
            )
        }
        return filter
    }
}

extension SavedFilter {
    /// The condition that names the filter.
    fileprivate var reference: String { QueryField.filter.condition(name.oneLine) }
}

extension QueryField {
    /// One line about the field's values.
    var meaning: String {
        switch self {
        case .title, .subtitle, .series, .publisher: "words of the \(rawValue)"
        case .author: "words of the name of an author or another contributor"
        case .genre: "words of a genre or subject"
        case .note, .quote: "words of a \(rawValue)"
        case .tag, .shelf: "the whole name; sci* for its beginning"
        case .status: "toRead, reading, read, onHold or dnf"
        case .language: "an ISO 639 code (short: lang)"
        case .format: "physical, digital or audiobook"
        case .isbn: "the beginning of the ISBN"
        case .id: "the end of the id"
        case .pages, .year: "a number or a range"
        case .rating: "stars or a range; 4 includes 4.75"
        case .added, .started, .finished: "a day, month, year or range; -30d, \"last week\""
        case .read: "a period in which you finished it, also before you read it again"
        case .times: "how often you finished it, a number or a range"
        case .has: "the book has this field"
        case .missing: "the book lacks this field"
        case .is: "owned, wishlist or favourite"
        case .readby: "a reader, or nobody"
        case .filter: "the name of a saved filter"
        }
    }
}
