import ArgumentParser
import Bookplate
import Foundation
import Library
import Terminal

struct UndoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo", abstract: "Undo the last change in the library.",
        discussion: """
            Shows the change and the station that made it. On a terminal, it asks for
            confirmation before it undoes the change. A whole batch or import is one
            change. A change can be undone for 30 days. To undo a change before the last
            one, give its id. This fails if a later change affected the same data.
            To make an undone change again, run 'scan redo'.

              scan undo
              scan undo --list --limit 100
              scan undo 5f0c9a1e
            """)

    @OptionGroup var chosen: ChangeOptions
    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let wiring = try Wiring(settings: paths.settings(), isForAllReaders: true)
        if chosen.list {
            return try await chosen.show(
                wiring.openExistingLibrary(), output, ifEmpty: "Nothing was changed in the last 30 days."
            ) { try await $0.changes(limit: $1) }
        }
        let library = try wiring.requireLibrary()
        let change = try await library.change(named: chosen.name, for: "undo") { try await library.lastChange() }
        if !output.json { Output.shared.printLine(ChangeOptions.line(for: change)) }
        guard try Asking.mayGoOn("Undo this change?", yes: chosen.yes, json: output.json, .isOne) else { return }
        let bar = ProgressBar("rows undone", total: 0)
        defer { bar.finish() }
        let undone = try await library.undo(change.id, at: Date()) { bar.set($0, of: $1) }
        bar.finish()
        if output.json { Output.shared.printLine(undone.json) } else { Output.shared.printNotice("Undone.") }
    }
}

struct RedoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "redo", abstract: "Make the change again that was undone last.",
        discussion: """
            Shows the change and the station that made it. On a terminal, it asks for
            confirmation before it makes the change again, exactly as it was. To redo
            another undone change, give its id. This fails if the same data was changed
            since the change was undone.

              scan redo
              scan redo --list
              scan redo 5f0c9a1e
            """)

    @OptionGroup var chosen: ChangeOptions
    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let wiring = try Wiring(settings: paths.settings(), isForAllReaders: true)
        if chosen.list {
            return try await chosen.show(
                wiring.openExistingLibrary(), output, ifEmpty: "There is nothing to redo."
            ) { try await $0.redoableChanges(limit: $1) }
        }
        let library = try wiring.requireLibrary()
        let change = try await library.change(named: chosen.name, for: "redo") {
            try await library.redoableChanges(limit: 1).first
        }
        if !output.json { Output.shared.printLine(ChangeOptions.line(for: change)) }
        guard try Asking.mayGoOn("Redo this change?", yes: chosen.yes, json: output.json, .isOne) else { return }
        let bar = ProgressBar("rows redone", total: 0)
        defer { bar.finish() }
        let redone = try await library.redo(change.id, at: Date()) { bar.set($0, of: $1) }
        bar.finish()
        if output.json { Output.shared.printLine(redone.json) } else { Output.shared.printNotice("Redone.") }
    }
}

/// The options with which a person lists changes or chooses one of them.
struct ChangeOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp("A change: its id, or the end of the id as --list shows it.", valueName: "id"),
        completion: .values(.change))
    var name: String?
    @Flag(help: "List the changes, the latest first.") var list = false
    @Option(
        name: [.customShort("n"), .long],
        help: "The maximum number of changes to list (default: 50, or all with --json, --format or --tsv).")
    var limit: Int?
    @OptionGroup var printed: PrintedListOptions
    @Flag(name: .shortAndLong, help: "Do not ask for confirmation.") var yes = false

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be 1 or more.") }
        if !list, let given = printed.given.first { throw ValidationError("\(given) works only with --list.") }
        if list, name != nil {
            throw ValidationError("--list and an id cannot be combined: --list lists changes, and an id chooses one.")
        }
    }

    /// Prints the changes, the latest first.
    ///
    /// - Parameters:
    ///   - library: `nil` if there is no library.
    ///   - changes: returns at most the given number of changes.
    func show(
        _ library: LibraryFile?, _ output: OutputOptions, ifEmpty notice: String,
        _ changes: (LibraryFile, Int) async throws -> [Change]
    ) async throws {
        let printer = try ListPrinter(printed, json: output.json, .changes)
        try await printer.paged {
            var (found, ids): ([Change], [String: String]) = ([], [:])
            if let library {
                found = try await changes(library, printer.limit(limit))
                if printer.needsShortIDs {
                    ids = try await library.shortIDs(of: found.map(\.id.rawValue), in: .change, atLeast: 8)
                }
            }
            if found.isEmpty, !printer.isJSON { Output.shared.printNotice(notice) }
            try printer.print(found, ids: ids, json: \.json) { [Self.line(for: $0, id: ids[$0.id.rawValue])] }
        }
    }

    /// - Parameter id: the short form of the id; `nil` for its last eight characters.
    static func line(for change: Change, id: String? = nil) -> String {
        let localTime = LocalTime.current
        let undone = change.undone.map { "  (undone \(localTime.dateTime($0)))" } ?? ""
        return "\(id ?? String(change.id.rawValue.suffix(8)))  \(localTime.dateTime(change.at))  "
            + "\(change.device.oneLine)  " + change.summary.oneLine + undone
    }
}

extension LibraryFile {
    /// Returns the change that a person has named, or the command's default.
    ///
    /// - Parameters:
    ///   - name: an id, or its last four or more characters; nil for the default.
    ///   - command: the command that needs the change: "undo" or "redo".
    /// - Throws: ``CommandError`` if there is no such change, or if several changes match.
    fileprivate func change(
        named name: String?, for command: String, default: () async throws -> Change?
    ) async throws -> Change {
        guard let name else {
            guard let change = try await `default`() else {
                throw CommandError(
                    .nothing,
                    command == "undo"
                        ? "there is nothing to undo: no change of the last 30 days can be undone."
                        : "there is nothing to redo: no undone change of the last 30 days can be redone.")
            }
            return change
        }
        return try await change(named: name, command: command)
    }

    /// Returns the change that a person has named.
    ///
    /// - Parameters:
    ///   - name: an id, or its last four or more characters.
    ///   - command: the command whose list shows the ids: "undo" or "redo".
    /// - Throws: ``CommandError`` if there is no such change, or if several changes match.
    func change(named name: String, command: String) async throws -> Change {
        let fits = name.count >= 4 ? try await changes(endingIn: name) : []
        guard let change = fits.first else {
            throw CommandError(
                .nothing,
                "there is no change \"\(name.prefix(80).printable)\". To see the changes with their ids, run 'scan \(command) --list'."
            )
        }
        guard fits.count == 1 else {
            throw CommandError(severalEndingIn: name, fits.map { ($0.id.rawValue, $0.summary) })
        }
        return change
    }
}
