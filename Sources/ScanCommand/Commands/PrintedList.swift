import ArgumentParser
import Bookplate
import Library
import Terminal

/// The option that turns the pager off.
struct PagerOptions: ParsableArguments {
    @Flag(
        name: .customLong("no-pager"),
        help: "Print long output at once, instead of page by page with $BOOKPLATE_PAGER, $PAGER or less.")
    var isOff = false
}

/// The options for the form in which a list is printed.
struct PrintedListOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            #"Print each row as this text, with fields of the JSON in braces, such as '{title}\t{pages}'."#,
            valueName: "template"))
    var format: String?
    @Option(
        help: ArgumentHelp("Print a table with these fields, such as 'id,title,authors,pages'.", valueName: "fields"))
    var columns: String?
    @Flag(help: "Print a header and rows with tabs between the fields, for spreadsheets and scripts.") var tsv = false
    @OptionGroup var pager: PagerOptions

    func validate() throws {
        if format != nil, columns != nil || tsv {
            throw ValidationError("--format cannot be combined with --columns or --tsv.")
        }
    }

    /// Returns the options that `--json` excludes and that are given.
    var given: [String] {
        [format.map { _ in "--format" }, columns.map { _ in "--columns" }, tsv ? "--tsv" : nil].compactMap(\.self)
    }
}

/// The options of lists of names with numbers of books.
struct NameListOptions: ParsableArguments {
    enum Sort: String, CaseIterable, ExpressibleByArgument { case name, books }

    @Option(help: "The order: by name, or by number of books with the largest first.") var sort: Sort = .name
    @Option(name: [.customShort("n"), .long], help: "The maximum number of names (default: all).") var limit: Int?

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be 1 or more.") }
    }

    /// Arranges names that are sorted.
    func arranged<Item>(_ items: [Item], books: (Item) -> Int) -> [Item] {
        let sorted =
            switch sort {
            case .name: items
            // Names with equally many books stay sorted.
            case .books:
                items.enumerated().sorted { (-books($0.element), $0.offset) < (-books($1.element), $1.offset) }
                    .map(\.element)
            }
        return limit.map { Array(sorted.prefix($0)) } ?? sorted
    }
}

/// Prints the rows of a list in the form that the options choose.
struct ListPrinter {
    private enum Form {
        case lines, json
        case template(RowTemplate)
        case table([RowField])
        case tsv([RowField])
    }

    private let form: Form
    private let hasPager: Bool

    /// - Parameter columns: the fields of the table that is printed without options; `nil` to print lines.
    /// - Throws: ``CommandError`` if the options name an unknown field, or contradict each other.
    init(_ options: PrintedListOptions, json: Bool, _ fields: RowFields, columns: String? = nil) throws {
        hasPager = !json && !options.pager.isOff
        if json {
            guard options.given.isEmpty else {
                throw CommandError(.usage, "--json cannot be combined with \(options.given.joined(separator: " or ")).")
            }
            form = .json
        } else if let format = options.format {
            form = .template(try RowTemplate(format, fields))
        } else if options.tsv {
            let columns = options.columns ?? fields.defaults.joined(separator: ",")
            form = .tsv(try fields.fields(columns, for: "--columns"))
        } else if let columns = options.columns ?? columns {
            form = .table(try fields.fields(columns, for: "--columns"))
        } else {
            form = .lines
        }
    }

    var isJSON: Bool { if case .json = form { true } else { false } }

    /// False if the rows are for a program, which then gets all of them.
    var isForPeople: Bool {
        switch form {
        case .lines, .table: true
        case .json, .template, .tsv: false
        }
    }

    /// True if ``print(_:isFirst:ids:json:lines:)`` needs the short ids.
    var needsShortIDs: Bool {
        switch form {
        case .lines: true
        case .json: false
        case .template(let template): template.names.contains(RowFields.shortID)
        case .table(let fields): fields.contains { ["id", RowFields.shortID].contains($0.name) }
        case .tsv(let fields): fields.contains { $0.name == RowFields.shortID }
        }
    }

    /// Returns the maximum number of rows of a long list.
    ///
    /// - Parameters:
    ///   - given: the option `--limit`.
    ///   - usual: the maximum number of rows for a person. Programs get all rows.
    func limit(_ given: Int?, usual: Int? = nil) -> Int { given ?? (isForPeople ? usual ?? 50 : .max) }

    /// Shows what `body` prints page by page, if it is long.
    func paged<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        try await Output.shared.paged(hasPager, body)
    }

    /// Prints rows.
    ///
    /// - Parameters:
    ///   - isFirst: false if these rows continue a list whose first rows were printed before. A table is printed at
    ///     once.
    ///   - ids: the short form of the ids.
    ///   - lines: returns the lines of a row for a person, without the other options.
    func print<Item>(
        _ items: [Item], isFirst: Bool = true, ids: [String: String] = [:], json: (Item) -> JSONValue,
        lines: (Item) -> [String]
    ) throws {
        func row(_ item: Item) -> JSONValue {
            let row = json(item)
            return row.appending([(RowFields.shortID, JSONValue(row["id"]?.string.flatMap { ids[$0] }))])
        }
        switch form {
        case .lines: for item in items { for line in lines(item) { Output.shared.printLine(line) } }
        case .json:
            var text = TextWriter { Output.shared.printData($0) }
            for item in items { try text.write(json(item).text + "\n") }
            try text.finish()
        case .template(let template):
            var text = TextWriter { Output.shared.printRaw($0) }
            for item in items { try text.write(template.text(for: row(item)) + "\n") }
            try text.finish()
        case .tsv(let fields):
            var text = TextWriter { Output.shared.printRaw($0) }
            if isFirst { try text.write(fields.map(\.name).joined(separator: "\t") + "\n") }
            for item in items {
                let row = row(item)
                try text.write(fields.map { $0.text(in: row) }.joined(separator: "\t") + "\n")
            }
            try text.finish()
        case .table(let fields):
            let table = TextTable(
                header: fields.map(\.name),
                rows: items.map { item in
                    let row = row(item)
                    return fields.map { field in
                        // As in the lists without options, a person sees the short id.
                        (field.name == "id" ? row[RowFields.shortID]?.string : nil) ?? field.text(in: row)
                    }
                })
            let width = Output.shared.isTerminal ? terminalSize().columns : nil
            for line in table.lines(width: width, Output.shared.style) { Output.shared.printLine(line) }
        }
    }
}
