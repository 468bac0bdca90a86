import ArgumentParser
import Bookplate
import Foundation
import Library

struct UndoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo", abstract: "Take back the last change in the library.",
        discussion: """
            Shows the change and the station that made it, and asks on a terminal
            before it is taken back. A batch or an import is one change. Changes are
            kept for 30 days. With an id, an earlier change is taken back, if nothing
            later touched the same.

              scan undo
              scan undo --list --limit 100
              scan undo 5f0c9a1e
            """)

    @Argument(help: ArgumentHelp("An earlier change: its id, or the end of it as --list shows it.", valueName: "id"))
    var name: String?
    @Flag(help: "List the last changes, newest first.") var list = false
    @Option(help: "How many to list; 50, and with --json all.") var limit: Int?
    @Flag(help: "Do not ask.") var yes = false
    @OptionGroup var places: PathOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit is 1 or more.") }
        if list, name != nil { throw ValidationError("--list lists changes, an id takes one back: say one of them.") }
    }

    func run() async throws {
        let wiring = try Wiring(settings: places.settings())
        if list {
            let most = limit ?? (output.json ? .max : 50)
            return show(try await wiring.openExistingLibrary()?.changes(limit: most) ?? [])
        }
        let library = try wiring.requireLibrary()
        let change = try await chosen(library)
        if !output.json { Output.shared.line(Self.line(for: change)) }
        guard try Asking.mayGoOn("Take it back?", yes: yes, json: output.json, .isOne) else { return }
        let bar = ProgressBar("rows taken back", total: 0)
        defer { bar.finish() }
        let undone = try await library.undo(change.id, at: Date()) { bar.set($0, of: $1) }
        bar.finish()
        if output.json { Output.shared.line(undone.json) } else { Output.shared.note("Undone.") }
    }

    private func show(_ changes: [Change]) {
        if changes.isEmpty, !output.json { Output.shared.note("Nothing was changed in the last 30 days.") }
        for change in changes { Output.shared.line(output.json ? change.json.text : Self.line(for: change)) }
    }

    private func chosen(_ library: LibraryFile) async throws -> Change {
        guard let name else {
            guard let last = try await library.lastChange() else {
                throw CommandError(
                    .nothing, "there is nothing to undo: no change of the last 30 days is left to take back.")
            }
            return last
        }
        let fits = name.count >= 4 ? try await library.changes(endingIn: name) : []
        guard let change = fits.first else {
            throw CommandError(
                .nothing,
                "there is no change \"\(name.prefix(80).printable)\"; scan undo --list shows them, with their ids in front."
            )
        }
        guard fits.count == 1 else {
            throw CommandError(
                .nothing,
                "\"\(name.prefix(80).printable)\" is the end of several ids; give more of one:\n"
                    + fits.map { "  \($0.id)  \($0.summary.oneLine)" }.joined(separator: "\n"))
        }
        return change
    }

    static func line(for change: Change) -> String {
        let undone = change.undone.map { "  (undone \($0.rfc3339))" } ?? ""
        return "\(change.id.rawValue.suffix(8))  \(change.at.rfc3339)  \(change.station.oneLine)  "
            + change.summary.oneLine + undone
    }
}
