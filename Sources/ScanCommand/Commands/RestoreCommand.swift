import ArgumentParser
import Bookplate
import Foundation
import Library

struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Put a backup in the library's place; what was there is moved aside.",
        discussion: """
            Every other scan that has the library open must be closed first. Without
            a name it shows the backups of this library, and offers the newest on a
            terminal; another library's must be named. The backup is checked before
            anything is touched.

              scan restore
              scan restore library-2026-11-21T093000Z.sqlite
              scan restore /media/usb/library.sqlite
            """)

    @Argument(
        help: ArgumentHelp(
            "A file, or the name of one in the folder backups or the setting backupFolder.", valueName: "backup"),
        completion: .file())
    var backup: String?
    @Flag(help: "Do not ask: without a name, the newest.") var yes = false
    @OptionGroup var places: PlaceOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let settings = try places.settings()
        guard let path = settings[.library] else {
            throw Complaint(.configuration, "no library is set. Name one with --library.")
        }
        let identity = await identity(of: path)
        guard let backup = try chosen(settings, for: path, identity) else { return }
        let report: CopyReport
        do {
            report = try LibraryFile.restore(from: backup, to: path, keeping: identity, at: Date())
        } catch LibraryError.foreign(_, let what) {
            throw Complaint(.corrupt, "\(backup) is \(what), not a backup of Bookplate. The library was left as it is.")
        } catch LibraryError.corrupt(let damaged, let what) where damaged != path {
            throw Complaint(.corrupt, "the backup \(backup) is damaged (\(what)). The library was left as it is.")
        }
        if report.isClosed {
            Output.shared.note(
                "Whom the library let in that was there could not be read: no access code is set now, and no station is paired. "
                    + "Set a code with 'scan kiosk code', and pair the stations again.")
        }
        if output.json { return Output.shared.line(report.json) }
        let aside = report.movedAside.first.map { " What was there before is now \($0)." } ?? ""
        Output.shared.note("Restored \(counted(report.books, "book")) to \(path).\(aside)")
    }

    /// The id of the library that is there, for which it is opened as every command does; `nil` when there is none, or it is
    /// damaged: what is to be restored then is told by the names.
    private func identity(of path: String) async -> String? {
        guard FileManager.default.fileExists(atPath: path), let library = try? LibraryFile.open(at: path) else {
            return nil
        }
        defer { try? library.close() }
        return try? await library.identity()
    }

    /// - Returns: the file, `nil` when the person says no.
    private func chosen(_ settings: Settings, for path: String, _ identity: String?) throws -> String? {
        let list = BackupList(settings, json: false)
        if let backup { return try file(named: backup, in: list) }
        let found = list.backups()
        let own = LibraryFile.ownBackups(among: found, of: path, identity: identity)
        let backups = own.backups
        guard let newest = backups.first else {
            let places = list.folders.joined(separator: ", ")
            guard found.contains(where: { $0.problem == nil }) else {
                throw Complaint(.nothing, "there is no backup in \(places). scan backup writes one.")
            }
            throw Complaint(
                .nothing,
                "there is no backup of this library in \(places), only of others. scan backup --list shows them; one that is named is restored."
            )
        }
        if own.areMixed {
            for backup in backups { Output.shared.line(BackupList.line(for: backup)) }
            throw Complaint(
                .usage,
                "these are backups of several libraries, and which of them this one is cannot be read. Name the backup to restore."
            )
        }
        if yes { return newest.path }
        for backup in backups { Output.shared.line(BackupList.line(for: backup)) }
        let what = "\(newest.path.printable) with \(counted(newest.books ?? 0, "book"))"
        let isMeant = try Asking.mayGoOn(
            "Put the newest, \(what), in the library's place?", yes: false, json: output.json,
            .choice("name the backup to restore; --yes takes the newest."))
        return isMeant ? newest.path : nil
    }

    private func file(named name: String, in list: BackupList) throws -> String {
        let places =
            [name] + (name.contains("/") ? [] : list.folders.flatMap { ["\($0)/\(name)", "\($0)/\(name).sqlite"] })
        guard let file = places.first(where: { FileManager.default.fileExists(atPath: $0) && !isFolder($0) }) else {
            throw Complaint(
                .unreadable, "there is no backup \(name.printable). scan backup --list shows those that there are.")
        }
        return file
    }
}
