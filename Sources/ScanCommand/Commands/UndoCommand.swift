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

              scan undo
              scan undo --list --limit 100
              scan undo 5f0c9a1e
            """)

    @Argument(
        help: ArgumentHelp("An earlier change: its id, or the end of the id as --list shows it.", valueName: "id"))
    var name: String?
    @Flag(help: "List the latest changes, newest first.") var list = false
    @Option(help: "The maximum number of changes to list (default: 50, or all with --json).") var limit: Int?
    @Flag(help: "Do not ask for confirmation.") var yes = false
    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be 1 or more.") }
        if list, name != nil {
            throw ValidationError("--list and an id cannot be combined: --list lists changes, and an id undoes one.")
        }
    }

    func run() async throws {
        let wiring = try Wiring(settings: paths.settings())
        if list {
            let most = limit ?? (output.json ? .max : 50)
            return show(try await wiring.openExistingLibrary()?.changes(limit: most) ?? [])
        }
        let library = try wiring.requireLibrary()
        let change = try await chosen(library)
        if !output.json { Output.shared.printLine(Self.line(for: change)) }
        guard try Asking.mayGoOn("Undo this change?", yes: yes, json: output.json, .isOne) else { return }
        let bar = ProgressBar("rows undone", total: 0)
        defer { bar.finish() }
        let undone = try await library.undo(change.id, at: Date()) { bar.set($0, of: $1) }
        bar.finish()
        if output.json { Output.shared.printLine(undone.json) } else { Output.shared.printNotice("Undone.") }
    }

    private func show(_ changes: [Change]) {
        if changes.isEmpty, !output.json { Output.shared.printNotice("Nothing was changed in the last 30 days.") }
        for change in changes { Output.shared.printLine(output.json ? change.json.text : Self.line(for: change)) }
    }

    private func chosen(_ library: LibraryFile) async throws -> Change {
        guard let name else {
            guard let last = try await library.lastChange() else {
                throw CommandError(
                    .nothing, "there is nothing to undo: no change of the last 30 days can be undone.")
            }
            return last
        }
        let fits = name.count >= 4 ? try await library.changes(endingIn: name) : []
        guard let change = fits.first else {
            throw CommandError(
                .nothing,
                "there is no change \"\(name.prefix(80).printable)\". To see the changes with their ids, run 'scan undo --list'."
            )
        }
        guard fits.count == 1 else {
            throw CommandError(
                .nothing,
                "several ids end with \"\(name.prefix(80).printable)\". Give more characters of one of them:\n"
                    + fits.map { "  \($0.id)  \($0.summary.oneLine)" }.joined(separator: "\n"))
        }
        return change
    }

    static func line(for change: Change) -> String {
        let undone = change.undone.map { "  (undone \($0.rfc3339))" } ?? ""
        return "\(change.id.rawValue.suffix(8))  \(change.at.rfc3339)  \(change.device.oneLine)  "
            + change.summary.oneLine + undone
    }
}
