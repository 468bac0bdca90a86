import ArgumentParser
import Bookplate
import Foundation
import Library

struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Write a checked copy of the library.",
        discussion: """
            Unless told where, it goes into the folder backups beside the library, and
            into the setting backupFolder when that is there. Of the backups that scan
            made itself, a folder keeps the newest of each of the last seven days and
            of the last four weeks that have one; a file that you named yourself
            stays. The first change of a day makes a backup without being told.

              scan backup
              scan backup /media/usb/books/
              scan backup /media/usb/library.sqlite
              scan backup --list
            """)

    @Argument(
        help: ArgumentHelp("A folder, an existing one or with a / at its end, or a file.", valueName: "target"),
        completion: .file())
    var target: String?
    @Flag(help: "List the backups that there are, newest first; of the folder that is named, too.") var list = false
    @OptionGroup var places: PathOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let settings = try places.settings()
        if list { return try BackupList(settings, json: output.json).show(also: target) }
        let library = try Wiring(settings: settings).requireLibrary()
        defer { Interrupts.giveBack() }
        Interrupts.onEnd { library.abandonBackups() }
        Interrupts.handle { "Interrupted. What was not finished is removed; older backups are as they were." }
        if let target {
            let isFolder = target.hasSuffix("/") || isFolder(target)
            return try await report { progress in
                isFolder
                    ? try await library.backup(into: target, at: Date(), progress: progress)
                    : try await library.backup(to: target, progress: progress)
            }
        }
        guard let path = library.path else { return }
        let own = LibraryFile.ownBackupFolder(of: path)
        try await report { try await library.backup(into: own, at: Date(), progress: $0) }
        guard let second = settings[.backupFolder] else { return }
        guard isFolder(second) else { throw LibraryError.noBackupFolder(path: second) }
        try await report { try await library.backup(into: second, at: Date(), progress: $0) }
    }

    private func report(
        _ make: (@escaping @Sendable (Double) throws -> Void) async throws -> CopyReport
    ) async throws {
        let bar = ProgressBar("% copied", total: 100)
        defer { bar.finish() }
        let report = try await make { bar.set(Int($0 * 100), of: 100) }
        bar.finish()
        if output.json { return Output.shared.line(report.json) }
        Output.shared.line(report.path)
        let removed = report.removed.isEmpty ? "" : " \(counted(report.removed.count, "older backup")) made room."
        Output.shared.note("\(counted(report.books, "book")), \(report.bytes) bytes, checked.\(removed)")
    }
}

/// The backups of the places where a library's are.
struct BackupList {
    private let settings: Settings
    private let json: Bool

    init(_ settings: Settings, json: Bool) {
        self.settings = settings
        self.json = json
    }

    /// The folder beside the library, then the setting's.
    var folders: [String] {
        [settings[.library].map { LibraryFile.ownBackupFolder(of: $0) }, settings[.backupFolder]].compactMap(\.self)
    }

    /// Newest first, each folder for itself. A folder that cannot be read is told and passed over.
    func backups(also folder: String? = nil) -> [StoredBackup] {
        (folders + [folder].compactMap(\.self)).flatMap { folder in
            do {
                return try LibraryFile.backups(in: folder)
            } catch {
                Output.shared.complain(CommandError(describing: error).description)
                return []
            }
        }
    }

    func show(also folder: String? = nil) throws {
        let backups = backups(also: folder)
        for backup in backups { Output.shared.line(json ? backup.json.text : Self.line(for: backup)) }
        if backups.isEmpty, !json {
            let places = (folders + [folder].compactMap(\.self)).joined(separator: ", ")
            Output.shared.note("There is no backup in \(places). scan backup writes one.")
        }
    }

    static func line(for backup: StoredBackup) -> String {
        let content = backup.books.map { counted($0, "book") } ?? "cannot be read"
        let megabytes = (Double(backup.bytes) / 1_000_000).formatted(.number.precision(.fractionLength(1)))
        let why = backup.problem.map { "\n  " + $0.oneLine } ?? ""
        return "\(backup.at.rfc3339)  \(megabytes) MB  \(content)  \(backup.path.printable)\(why)"
    }
}

extension CopyReport {
    var json: JSONValue {
        [
            "path": .string(path), "bytes": .integer(bytes), "books": .integer(books),
            "movedAside": JSONValue(movedAside), "removed": JSONValue(removed),
        ]
    }
}

extension StoredBackup {
    fileprivate var json: JSONValue {
        [
            "path": .string(path), "at": .string(at.rfc3339), "bytes": .integer(bytes),
            "books": books.map(JSONValue.integer) ?? .null, "problem": JSONValue(problem),
        ]
    }
}

func isFolder(_ path: String) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
}

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
    @OptionGroup var places: PathOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let settings = try places.settings()
        guard let path = settings[.library] else {
            throw CommandError(.configuration, "no library is set. Name one with --library.")
        }
        let identity = await identity(of: path)
        guard let backup = try chosen(settings, for: path, identity) else { return }
        let report: CopyReport
        do {
            report = try LibraryFile.restore(from: backup, to: path, keeping: identity, at: Date())
        } catch LibraryError.foreign(_, let what) {
            throw CommandError(
                .corrupt, "\(backup) is \(what), not a backup of Bookplate. The library was left as it is.")
        } catch LibraryError.corrupt(let damaged, let what) where damaged != path {
            throw CommandError(.corrupt, "the backup \(backup) is damaged (\(what)). The library was left as it is.")
        }
        if report.isAccessClosed {
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
                throw CommandError(.nothing, "there is no backup in \(places). scan backup writes one.")
            }
            throw CommandError(
                .nothing,
                "there is no backup of this library in \(places), only of others. scan backup --list shows them; one that is named is restored."
            )
        }
        if own.areMixed {
            for backup in backups { Output.shared.line(BackupList.line(for: backup)) }
            throw CommandError(
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
            throw CommandError(
                .unreadable, "there is no backup \(name.printable). scan backup --list shows those that there are.")
        }
        return file
    }
}
