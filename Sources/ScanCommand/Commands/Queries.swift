import ArgumentParser
import Bookplate
import Foundation
import Library
import Terminal

/// The query of a list, typed as the arguments of the command.
struct QueryArguments: ParsableArguments {
    // Words that begin with a hyphen exclude books, so they are no options.
    @Argument(
        parsing: .allUnrecognized,
        help: ArgumentHelp(
            "Words to search for, and conditions such as author:camus, -tag:sf, pages:..200 or added-. To see all of them, run 'scan filter fields'.",
            valueName: "query"), completion: .values(.query))
    var words: [String] = []

    var text: String { QueryParser.query(fromArguments: words) }

    /// - Parameter help: the help text of the command, which lists its options.
    /// - Throws: ``ValidationError`` for an option that the command does not have.
    func check(options help: String) throws {
        guard let unknown = words.first(where: { $0.hasPrefix("--") && $0.count > 2 }) else { return }
        let name = unknown.prefix { $0 != "=" }
        let known = Set(help.matches(of: /--[a-z][a-z-]+/).map { String($0.output) })
        let nearest = String(name).nearest(among: known.sorted(), limit: 1).first
        throw ValidationError(
            "Unknown option '\(name.printable)'." + (nearest.map { " Did you mean '\($0)'?" } ?? ""))
    }
}

extension LibraryFile {
    /// Parses a query for the present reader.
    ///
    /// - Throws: ``CommandError``, which points at the mistake.
    func parse(_ text: String, localTime: LocalTime = .current) async throws -> ParsedQuery {
        let names = text.lowercased()
        // Most queries name neither a reader nor a filter.
        let context = QueryContext(
            today: CalendarDay(localTime.now, in: localTime.zone),
            readers: names.contains("readby:") ? try await readers() : [],
            filters: names.contains("filter:") ? try await savedFilters() : [])
        do throws(QueryMistake) {
            return try QueryParser(context).parse(text)
        } catch {
            throw CommandError(error)
        }
    }
}

extension CommandError {
    /// Describes a mistake in a query, with its place marked below the query.
    init(_ mistake: QueryMistake) {
        // The query is on one line, so that the marks are below their characters.
        let shown = mistake.query.map { $0.isNewline || $0 == "\t" ? " " : String($0).oneLine }
        let before = shown.prefix(mistake.place.lowerBound).joined().columns
        let marked = shown.dropFirst(mistake.place.lowerBound).prefix(mistake.place.count).joined().columns
        self.init(
            .usage,
            "\(mistake.reason.oneLine).\n  \(shown.joined())\n  "
                + String(repeating: " ", count: before) + String(repeating: "^", count: max(1, marked)))
    }
}
