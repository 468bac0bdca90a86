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

    /// The short forms that other commands have.
    private static let shortForms = ["-j": "--json", "-n": "--limit", "-s": "--shelf", "-t": "--tag"]

    /// - Parameter help: the help text of the command, which lists its options.
    /// - Throws: `ValidationError` for an option that the command does not have, and for the short form of an option,
    ///   with which nobody wants to exclude books.
    func check(options help: @autoclosure () -> String) throws {
        // What follows the terminator is never an option.
        let unknown = words.prefix { $0 != "--" }.filter {
            Self.shortForms[$0] != nil || ($0.hasPrefix("--") && $0.count > 2)
        }
        guard !unknown.isEmpty else { return }
        let known = Set(help().matches(of: /--[a-z][a-z-]+/).map { String($0.output) })
        for (word, long) in unknown.map({ ($0, Self.shortForms[$0]) }) {
            guard let long else { throw Self.refusal(of: word, known) }
            if known.contains(long) {
                throw ValidationError("Write \(long), because \(word) in a query excludes books.")
            }
        }
    }

    private static func refusal(of word: String, _ known: Set<String>) -> ValidationError {
        let name = word.prefix { $0 != "=" }
        let nearest = String(name).nearest(among: known.sorted(), limit: 1).first
        return ValidationError(
            "Unknown option '\(name.printable)'." + (nearest.map { " Did you mean '\($0)'?" } ?? ""))
    }
}

extension LibraryFile {
    /// Parses a query for the present reader.
    ///
    /// - Throws: ``CommandError``, which points at the mistake.
    func parse(_ text: String, localTime: LocalTime = .current) async throws -> ParsedQuery {
        let names = text.lowercased()
        // Most queries name neither a reader nor a filter. A filter can name a reader.
        let filters = names.contains("filter:") ? try await savedFilters() : []
        let context = QueryContext(
            today: CalendarDay(localTime.now, in: localTime.zone),
            readers: names.contains("readby:") || !filters.isEmpty ? try await readers() : [], filters: filters)
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
