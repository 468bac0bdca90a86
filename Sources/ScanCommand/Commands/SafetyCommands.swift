import ArgumentParser
import Bookplate
import Foundation
import Library

struct UndoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo", abstract: "Take back the last change in the library.",
        discussion: """
            Shows the change and the station that made it, and asks on a terminal before it is taken back.

              scan undo
              scan undo --list
            """)

    @Flag(help: "List the last changes, newest first.") var list = false
    @Flag(help: "Do not ask.") var yes = false
    @OptionGroup var places: PlaceOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let library = try Wiring(settings: places.settings()).openLibrary()
        if list {
            let changes = try await library.changes(limit: 20)
            if changes.isEmpty, !output.json { Output.shared.note("Nothing was changed in the last 30 days.") }
            for change in changes {
                Output.shared.line(output.json ? change.json.text : Self.line(for: change))
            }
            return
        }
        guard let last = try await library.lastChange() else {
            throw Complaint(.nothing, "there is nothing to undo.")
        }
        if !output.json { Output.shared.line(Self.line(for: last)) }
        if !yes, !output.json, isatty(STDIN_FILENO) == 1 {
            Output.shared.raw("Take it back? [y/N] ")
            guard readLine()?.lowercased().hasPrefix("y") == true else { return }
        }
        let undone = try await library.undo(last.id, at: Date())
        if output.json { Output.shared.line(undone.json) } else { Output.shared.note("Undone.") }
    }

    static func line(for change: Change) -> String {
        let undone = change.undone.map { "  (undone \($0.rfc3339))" } ?? ""
        return "\(change.at.rfc3339)  \(change.station.oneLine)  \(change.summary.oneLine)\(undone)"
    }
}

struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Write a checked copy of the library.",
        discussion: "  scan backup\n  scan backup --to /media/usb/library.sqlite")

    @Option(help: ArgumentHelp("Where to; else into the folder backups beside the library.", valueName: "file")) var to:
        String?
    @OptionGroup var places: PlaceOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let library = try Wiring(settings: places.settings()).openLibrary()
        guard let target = to ?? library.defaultBackupPath(at: Date()) else { return }
        guard !isFolder(target) else { throw Complaint(.usage, "\(target) is a folder; name the file to write in it.") }
        let bar = ProgressBar("% copied", total: 100)
        let report = try await library.backup(to: target) { bar.set(Int($0 * 100), of: 100) }
        bar.finish()
        if output.json { return Output.shared.line(report.json) }
        Output.shared.line(report.path)
        Output.shared.note("\(counted(report.books, "book")), \(report.bytes) bytes, checked.")
    }
}

struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Put a backup in the library's place; what was there is moved aside.",
        discussion:
            "Every other scan that has the library open must be closed first.\n\n  scan restore ~/.local/share/bookplate/backups/2026-11-21T09-30-00Z.sqlite"
    )

    @Argument(help: ArgumentHelp("The backup.", valueName: "file")) var backup: String
    @OptionGroup var places: PlaceOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let settings = try places.settings()
        guard let path = settings[.library] else { throw Complaint(.configuration, "no library is set.") }
        guard !isFolder(backup), FileManager.default.fileExists(atPath: backup) else {
            throw Complaint(
                .unreadable, "there is no backup \(backup). Backups are beside the library, in the folder backups.")
        }
        let report: CopyReport
        do {
            report = try LibraryFile.restore(from: backup, to: path, at: Date())
        } catch LibraryError.foreign(_, let what) {
            throw Complaint(.corrupt, "\(backup) is \(what), not a backup of Bookplate. The library was left as it is.")
        } catch LibraryError.corrupt(let damaged, let what) where damaged != path {
            throw Complaint(.corrupt, "the backup \(backup) is damaged (\(what)). The library was left as it is.")
        }
        if output.json { return Output.shared.line(report.json) }
        let aside = report.movedAside.first.map { " What was there before is now \($0)." } ?? ""
        Output.shared.note("Restored \(counted(report.books, "book")) to \(path).\(aside)")
    }
}

extension CopyReport {
    fileprivate var json: JSONValue {
        [
            "path": .string(path), "bytes": .integer(bytes), "books": .integer(books),
            "movedAside": JSONValue(movedAside),
        ]
    }
}

private func isFolder(_ path: String) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
}
