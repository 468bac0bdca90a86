import ArgumentParser
import Bookplate
import Foundation
import Library
import Terminal

/// Returns the time for which a book can still be taken out of the trash, as text: "12 days left".
func timeLeft(inTrashSince deleted: Date, now: Date = Date()) -> String {
    "\(counted(Trash.daysLeft(deleted: deleted, now: now), "day")) left"
}

/// Prints a list of books.
struct BookList {
    private let paths: PathOptions
    private let printed: PrintedListOptions
    private let printer: ListPrinter
    private let defaults: ListDefaults

    /// - Throws: ``CommandError`` if the options for the form of the list are wrong.
    init(_ printed: PrintedListOptions, paths: PathOptions, json: Bool) throws {
        (self.printed, self.paths) = (printed, paths)
        defaults = try paths.settings().listDefaults()
        printer = try ListPrinter(printed, json: json, .books, columns: defaults.columns?.joined(separator: ","))
    }

    /// The number of books that are read from the library at a time.
    private static let chunkSize = 500

    /// Prints the books that match, or with `--counts` the number of books for each value of each filter, such as each
    /// tag.
    ///
    /// - Parameter text: a query in the query language.
    /// - Returns: the total number of books that match.
    @discardableResult
    func show(
        _ filters: BookFilters, _ options: ListOptions, query text: String = "", inTrash: Bool = false,
        missing: Set<MissingField> = []
    ) async throws -> Int {
        if options.counts, let given = printed.given.first {
            throw CommandError(.usage, "\(given) cannot be combined with --counts, which lists no books.")
        }
        var query = try options.query(filters)
        (query.inTrash, query.missing) = (inTrash, missing)
        guard let library = try Wiring(settings: paths.settings()).openExistingLibrary() else {
            if !printer.isJSON {
                Output.shared.printNotice("There is no library yet. \(Wiring.firstBook)")
            }
            return 0
        }
        if !text.isEmpty {
            query.add(try await library.parse(text))
            // An option is more than a part of the query, which may be a saved one.
            if let sort = options.sort { (query.sort, query.isReversed) = (sort, options.reverse) }
        }
        // The settings are for people. A search keeps its own order.
        if query.sort == nil, query.text.isEmpty, printer.isForPeople { query.sort = defaults.sort }
        do {
            return try await printer.paged {
                guard !options.counts else { return try await printCounts(library, query) }
                return try await print(
                    library, query, typed: text, limit: printer.limit(options.limit, usual: defaults.limit))
            }
        } catch let refusal as SearchRefusal {
            throw CommandError(.usage, "--after: " + refusal.description)
        }
    }

    private func printCounts(_ library: LibraryFile, _ query: BookQuery) async throws -> Int {
        let facets = try await library.facets(matching: query)
        if printer.isJSON { Output.shared.printLine(facets.json) } else { FacetSheet(facets: facets).show() }
        return try await library.books(matching: query).total
    }

    /// Prints at most `limit` books. Those for a program are printed while they are read, those for a person at once.
    private func print(
        _ library: LibraryFile, _ whole: BookQuery, typed: String, limit: Int
    ) async throws -> Int {
        var query = whole
        var first: SearchResults?
        var shown: [BookHit] = []
        var count = 0
        let bar = ProgressBar("books", total: 0)
        defer { bar.finish() }
        repeat {
            query.limit = min(limit - count, Self.chunkSize)
            let results = try await library.books(matching: query)
            if printer.isForPeople {
                shown += results.hits
            } else {
                try await print(results.hits, from: library, isFirst: count == 0)
            }
            first = first ?? results
            count += results.hits.count
            bar.set(count, of: max(count, min(limit, first?.total ?? 0)))
            query.after = results.next
            // The books are counted only once.
            query.countLimit = 0
        } while query.after != nil && count < limit
        bar.finish()
        guard let first else { return 0 }
        if count == 0, !printer.isJSON {
            Output.shared.printNotice(
                whole.after == nil
                    ? try await EmptyList(library, whole, typed: typed).text() : "There are no more books.")
        }
        if !shown.isEmpty { try await print(shown, from: library, isFirst: true) }
        if let next = query.after {
            // This goes to standard error, because every line on standard output is a book.
            let total = first.isTotalExact ? "\(first.total)" : "more than \(first.total)"
            let place = printer.isForPeople ? "\(count) of \(total). " : ""
            Output.shared.printNotice("\(place)To show more, add this option: --after \(next)")
        }
        return first.total
    }

    private func print(_ hits: [BookHit], from library: LibraryFile, isFirst: Bool) async throws {
        let ids =
            printer.needsShortIDs
            ? try await library.shortIDs(of: hits.map(\.book.id.rawValue), in: .copy) : [:]
        let column = ids.values.map(\.columns).max() ?? 0
        let width = terminalSize().columns
        try printer.print(hits, isFirst: isFirst, ids: ids, json: \.json) { hit in
            let id = (ids[hit.book.id.rawValue] ?? "").padded(column)
            return [Self.line(for: hit.book, id: id, width: width)]
                + (hit.match.map { [String(repeating: " ", count: column + 2) + Self.reason($0)] } ?? [])
        }
    }

    /// Returns the line that shows the place of the match: `Matched in notes: “…the ⟦spice⟧ must…”`. On a terminal with
    /// colours, the match is in bold instead of in brackets.
    static func reason(_ match: BookHit.Match) -> String {
        let style = Output.shared.style
        let excerpt = match.snippet.parts.map { part in
            let text = part.text.printable
            return part.isMatch ? (style.isOn ? style.strong(text) : "⟦\(text)⟧") : style.faint(text)
        }
        return "                   " + style.faint("Matched in \(match.field.displayName): “") + excerpt.joined()
            + style.faint("”")
    }

    /// Returns the line for a book, which begins with its id if one is given.
    ///
    /// - Parameter width: the columns of the terminal. Output that does not go to a terminal may be wider.
    static func line(for book: Book, id: String? = nil, width: Int) -> String {
        let marks =
            [
                book.copy.status == .toRead ? nil : book.copy.status.displayName,
                book.copy.isOnWishlist ? "wishlist" : nil,
                book.copy.deleted.map { timeLeft(inTrashSince: $0) }, book.copy.shelf,
                book.copy.rating.map { "★ \($0.formatted())" },
            ].compactMap { $0?.oneLine } + book.copy.tags.map { "#\($0.oneLine)" }
        let year = book.edition.metadata.publishedDate.map { " (\($0.year))" } ?? ""
        let number =
            (id.map { "\($0.oneLine)  " } ?? "") + (book.edition.isbn?.hyphenated ?? "no ISBN").padded(17)
        let text = "\(book.displayTitle.oneLine) · \(book.displayAuthors.oneLine)\(year)"
        let tail = marks.isEmpty ? "" : "  [\(marks.joined(separator: ", "))]"
        let room = max(20, (Output.shared.isTerminal ? max(60, width) : 200) - number.columns - 2 - tail.columns)
        return "\(number)  \(text.fitted(room))\(Output.shared.style.faint(tail))"
    }
}

/// The message for an empty list: why it is empty, and what to do next.
struct EmptyList {
    private let search: any Search
    private let query: BookQuery
    /// The query as it was typed.
    private let typed: String

    init(_ search: any Search, _ query: BookQuery, typed: String = "") {
        self.search = search
        self.query = query
        self.typed = typed
    }

    func text() async throws -> String {
        if !query.text.isEmpty, !query.hasWords {
            return
                "\"\(typed.prefix(80).printable)\" contains no word to search for. To see all books, run 'scan library list'."
        }
        let isWordless = typed.isEmpty
        if isWordless, !query.hasFilters {
            return query.inTrash
                ? "The trash is empty." : "The library is empty. \(Wiring.firstBook)"
        }
        var wishes = BookQuery()
        wishes.isOnWishlist = true
        if isWordless, query.isOnWishlist == true, try await total(wishes) == 0 {
            return "The wishlist is empty. To put a book on it, run 'scan --isbn NUMBER --wishlist'."
        }
        let place = query.inTrash ? "in the trash" : "in the library"
        var others = query
        others.missing = []
        if !query.missing.isEmpty, !others.hasFilters {
            return "No book \(place) lacks \(MissingField.listed(query.missing))."
        }
        var text =
            isWordless
            ? "No book \(place) matches."
            : "No book \(place) matches \"\(typed.prefix(80).printable)\"."
        var alternatives: [String] = []
        for (name, without) in withoutOne {
            let count = try await total(without)
            let matches = count == 1 ? "1 book matches" : "\(count) books match"
            if count > 0 { alternatives.append("without \(name), \(matches)") }
        }
        if !alternatives.isEmpty {
            text += " But " + alternatives.joined(separator: "; ") + "."
        } else if let (_, field) = QueryParser.misspeltField(in: typed) {
            text += " Did you mean \(field.rawValue):?"
        } else if let field = Self.fieldWithSpace(typed) {
            text += " A value follows its field without a space: \(field):…"
        } else if CommandLine.arguments.dropFirst().starts(with: ["library", typed]),
            let command = LibraryCommand.subcommand(near: typed)
        {
            text += " Did you mean 'scan library \(command._commandName)'?"
        } else if typed.split(separator: " ").contains("AND") {
            text += " Conditions are combined anyway, so leave out AND."
        } else if query.hasFilters {
            text += query.condition == nil ? " Try fewer filters." : " Try fewer conditions."
        } else {
            text +=
                " Each search word must be the beginning of a word in a title, author, series, ISBN, tag, note or quote. Try fewer or shorter words."
        }
        return text
    }

    /// Returns the field of `author: camus`, which is taken for words.
    private static func fieldWithSpace(_ typed: String) -> String? {
        typed.split(separator: " ").dropLast().lazy.filter { $0.hasSuffix(":") }.compactMap {
            QueryField(name: String($0.dropLast()))?.rawValue
        }.first
    }

    private func total(_ query: BookQuery) async throws -> Int {
        var query = query
        query.limit = 1
        return try await search.books(matching: query).total
    }

    /// Copies of the query, each without one of its filters and with the name of that filter's option.
    private var withoutOne: [(name: String, query: BookQuery)] {
        let drops: [(String, (inout BookQuery) -> Void)] = [
            ("--status", { $0.statuses = [] }), ("--tag", { $0.tags = [] }), ("--shelf", { $0.shelves = [] }),
            ("--author", { $0.authors = [] }), ("--language", { $0.languages = [] }), ("--rating", { $0.ratings = [] }),
            ("--wishlist", { $0.isOnWishlist = nil }), ("--owned", { $0.isOwned = nil }),
            ("--favourite", { $0.isFavourite = nil }), ("--added", { $0.added = nil }),
            ("--started", { $0.started = nil }), ("--finished", { $0.finished = nil }),
            ("the conditions", { if !$0.text.isEmpty { $0.condition = nil } }),
        ]
        return drops.compactMap { name, drop in
            var without = query
            drop(&without)
            return without == query ? nil : (name, without)
        }
    }
}

/// Prints the number of books for each value of each filter, such as each status and each tag.
struct FacetSheet {
    let facets: BookFacets

    func show() {
        let rows: [(String, [(String, Int)])] = [
            ("Status", Copy.Status.allCases.map { ($0.displayName, facets.statuses[$0] ?? 0) }),
            ("Rating", RatingBand.all.map { ($0 == .unrated ? "unrated" : "★ \($0.text)", facets.ratings[$0] ?? 0) }),
            ("", [("owned", facets.owned), ("wishlist", facets.wishlist), ("favourites", facets.favourites)]),
            ("Shelf", facets.shelves.map { ($0.name, $0.count) }), ("Tag", facets.tags.map { ($0.name, $0.count) }),
            ("Language", facets.languages.map { ($0.name, $0.count) }),
            ("Author", facets.authors.map { ($0.name, $0.count) }),
        ]
        for (label, counts) in rows {
            let shown = counts.filter { $0.1 > 0 }.map { "\($0.0.oneLine) \($0.1)" }
            guard !shown.isEmpty else { continue }
            Output.shared.printLine("\(Output.shared.style.faint(label.padded(10))) \(shown.joined(separator: " · "))")
        }
    }
}
