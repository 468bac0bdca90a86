import ArgumentParser
import Bookplate
import Foundation
import Library
import Terminal

/// The options of a command that can change all books that match a query.
struct QueryActOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Instead of naming books: all books that match this query, as in 'scan library list'.", valueName: "query"),
        completion: .values(.query))
    var query: String?
    @Flag(help: "Instead of naming books: all books of the library.") var all = false
    @Flag(help: "With --query or --all: only show which books they are.") var dryRun = false
    @Flag(name: .shortAndLong, help: "Do not ask for confirmation.") var yes = false

    /// True if the books are found by a query.
    var isGiven: Bool { query != nil || all }

    /// Checks the combination with the names of books.
    ///
    /// - Parameter isOptional: true if the command makes sense without any books.
    func check(_ names: [String], isOptional: Bool = false) throws {
        if isGiven, !names.isEmpty { throw ValidationError("Name the books or use --query, but not both.") }
        if query != nil, all { throw ValidationError("Use --query or --all, but not both.") }
        if dryRun, !isGiven { throw ValidationError("--dry-run works only with --query or --all.") }
        if let query, query.allSatisfy(\.isWhitespace) {
            throw ValidationError("The query is empty. To choose all books, use --all.")
        }
        if names.isEmpty, !isGiven, !isOptional {
            throw ValidationError("Missing expected argument '<book> ...'. Name the books, or use --query.")
        }
    }

    /// The largest number of titles that are shown before the question.
    private static let shown = 10

    /// Finds the books, shows their number and the first titles, and asks for confirmation. Exactly these books are to
    /// be changed then, whatever matches by that time.
    ///
    /// - Parameter act: the question's verb and, after the books, its end: ("Move", "to the trash").
    /// - Returns: the ids in the order of the query; `nil` if the person does not agree, or with `--dry-run`.
    /// - Throws: ``CommandError`` if no book matches, or if nobody can be asked.
    func books(in library: LibraryFile, to act: (String, String), json: Bool) async throws -> [ID<Copy>]? {
        // One argument is read as in a list.
        let query = query.map { QueryParser.query(fromArguments: [$0]) }
        if let query, try await library.parse(query).isEmpty {
            throw CommandError(
                .usage, "the query has no condition, so it would choose every book. To choose all books, use --all.")
        }
        // In a list, a misspelt field shows at once. Here, -tga:sf would choose more books than was meant.
        if let (word, field) = query.flatMap(QueryParser.misspeltField) {
            throw CommandError(
                .usage,
                "\"\(word.prefix(80).printable)\" names no field. Did you mean \(field.rawValue):? To search for it as words, write it in quotation marks."
            )
        }
        let books = try await library.books(matchingQuery: query ?? "")
        guard !books.isEmpty else {
            throw CommandError(
                .nothing, "no book matches\(query.map { " \"\($0.prefix(80).printable)\"" } ?? ""). Nothing changed.")
        }
        if !json || dryRun {
            for book in books.prefix(dryRun ? .max : Self.shown) {
                Output.shared.printLine(json ? book.json.text : BookList.line(for: book, width: 80))
            }
            if !dryRun, books.count > Self.shown {
                Output.shared.printNotice("and \(counted(books.count - Self.shown, "more book"))")
            }
        }
        guard !dryRun else {
            if !json { Output.shared.printNotice("\(counted(books.count, "book")). Nothing changed.") }
            return nil
        }
        let what = "\(act.0) \(books.count == 1 ? "this book" : "these \(books.count) books") \(act.1)".cleaned
        let refusal = "there is no terminal for the question \"\(what)?\". To go ahead without it, use --yes."
        guard try Asking.mayGoOn("\(what)?", yes: yes, json: json, .choice(refusal)) else { return nil }
        return books.map(\.id)
    }
}

extension LibraryFile {
    /// Returns all books that match a query, in its order.
    ///
    /// - Throws: ``CommandError``, which points at the mistake.
    func books(matchingQuery text: String) async throws -> [Book] {
        var query = BookQuery()
        query.zone = LocalTime.current.zone
        query.add(try await parse(text))
        (query.limit, query.countLimit) = (500, 0)
        var books: [Book] = []
        repeat {
            let page = try await self.books(matching: query)
            books += page.books
            query.after = page.next
        } while query.after != nil
        return books
    }
}

/// Changes books piece by piece, so that other programs can write in between. All pieces are one change, which one undo
/// reverts. If the program ends before the last piece, the change consists of the pieces so far.
func changeInPieces(
    _ ids: [ID<Copy>],
    _ change: ([ID<Copy>], _ earlier: ID<Change>?) async throws -> (changed: Int, change: ID<Change>?)
) async throws -> (changed: Int, change: ID<Change>?) {
    let piece = 500
    let bar = ProgressBar("books changed", total: ids.count > piece ? ids.count : 0)
    defer { bar.finish() }
    var (changed, made): (Int, ID<Change>?) = (0, nil)
    for start in stride(from: 0, to: ids.count, by: piece) {
        let done = try await change(Array(ids[start..<min(start + piece, ids.count)]), made)
        changed += done.changed
        made = done.change ?? made
        bar.set(min(start + piece, ids.count), of: ids.count)
    }
    return (changed, made)
}

/// Prints the result of a change of all books that match a query.
func printCount(_ changed: Int, of count: Int, _ change: ID<Change>?, _ what: String, json: Bool) {
    if json {
        return Output.shared.printLine([
            "books": .integer(count), "changed": .integer(changed), "change": JSONValue(change?.rawValue),
        ])
    }
    let rest =
        count > changed
        ? " \(counted(count - changed, changed == 0 ? "book" : "other book")) already had these values." : ""
    Output.shared.printChange(
        ["\(counted(changed, "book")) \(what).\(rest)"], change, unchanged: "Nothing changed.\(rest)")
}
