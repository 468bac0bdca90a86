import ArgumentParser
import Bookplate
import Foundation
import Library
import Terminal

struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Write a verified copy of the library.",
        discussion: """
            Without a target, the backup is written to the folder backups beside the
            library and, if the setting backupFolder is set, also to that folder. A
            backup that you make with this command is never removed by Bookplate.

            The first change of each day makes a daily backup automatically. In each
            folder, the newest daily backup of a day is kept for the last seven days
            with backups, and the newest of a week for the last four weeks with backups.
            Older daily backups of the same library are removed. With --daily, this
            command makes the daily backup, unless it was already made today.

              scan backup
              scan backup /media/usb/books/
              scan backup /media/usb/library.sqlite
              scan backup --list
            """)

    @Argument(
        help: ArgumentHelp(
            "The file to write, or the folder to write it to (an existing folder, or a path that ends in /).",
            valueName: "target"),
        completion: .file())
    var target: String?
    @Flag(help: "List the backups, newest first. If you name a target folder, its backups are listed too.")
    var list = false
    @Flag(help: "Make the daily backup, unless it was already made today. For timers.") var daily = false
    @Flag(help: "Replace the target file even if it is a backup of another library.") var force = false
    @OptionGroup var printed: PrintedListOptions
    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if daily, target != nil || list { throw ValidationError("--daily takes no target and no --list.") }
        if !list, let given = printed.given.first { throw ValidationError("\(given) works only with --list.") }
        if force, target == nil || list { throw ValidationError("--force is only for a target file.") }
    }

    func run() async throws {
        let settings = try paths.settings()
        if list { return try await BackupList(settings, json: output.json).show(also: target, printed) }
        let library = try Wiring(settings: settings, isForAllReaders: true).requireLibrary()
        defer { Interrupts.release() }
        Interrupts.onEnd { library.abandonBackups() }
        Interrupts.handle { "Interrupted. The unfinished backup was removed; older backups are unchanged." }
        if daily { return try await makeDaily(library, settings) }
        if let target {
            let isFolder = target.hasSuffix("/") || isFolder(target)
            return try await report { progress in
                isFolder
                    ? try await library.backup(into: target, as: .manual, at: Date(), progress: progress)
                    : try await library.backup(to: target, force: force, progress: progress)
            }
        }
        guard let path = library.path else { return }
        let own = LibraryFile.ownBackupFolder(of: path)
        try await report { try await library.backup(into: own, as: .manual, at: Date(), progress: $0) }
        guard let second = settings[.backupFolder] else { return }
        guard isFolder(second) else { throw LibraryError.noBackupFolder(path: second) }
        try await report { try await library.backup(into: second, as: .manual, at: Date(), progress: $0) }
    }

    private func makeDaily(_ library: LibraryFile, _ settings: Settings) async throws {
        let daily = try await withProgress {
            try await library.backUpIfDue(at: Date(), copying: settings[.backupFolder], progress: $0)
        }
        guard let daily else {
            Output.shared.printNotice("Today's backup has already been made.")
            // A stick that is missing is reported every day.
            if let second = settings[.backupFolder], !isFolder(second) {
                throw LibraryError.noBackupFolder(path: second)
            }
            return
        }
        for made in daily.made { show(made) }
        if let error = daily.secondError { throw error }
    }

    private func report(
        _ make: (@escaping @Sendable (Double) throws -> Void) async throws -> CopyReport
    ) async throws { show(try await withProgress(make)) }

    private func withProgress<Result>(
        _ make: (@escaping @Sendable (Double) throws -> Void) async throws -> Result
    ) async throws -> Result {
        let bar = ProgressBar("% copied", total: 100)
        defer { bar.finish() }
        return try await make { bar.set(Int($0 * 100), of: 100) }
    }

    private func show(_ report: CopyReport) {
        if output.json { return Output.shared.printLine(report.json) }
        Output.shared.printLine(report.path)
        let removed = report.removed.isEmpty ? "" : " Removed \(counted(report.removed.count, "older backup"))."
        Output.shared.printNotice("\(counted(report.books, "book")), \(report.bytes) bytes, verified.\(removed)")
    }
}

/// Lists the backups in the folders where a library's backups are kept.
struct BackupList {
    private let settings: Settings
    private let json: Bool

    init(_ settings: Settings, json: Bool) {
        self.settings = settings
        self.json = json
    }

    /// The folders with backups: first the folder beside the library, then the folder in the setting backupFolder.
    var folders: [String] {
        [settings[.library].map { LibraryFile.ownBackupFolder(of: $0) }, settings[.backupFolder]].compactMap(\.self)
    }

    /// Returns the backups, folder by folder. In each folder, the newest backup comes first. A folder that cannot be
    /// read is skipped.
    ///
    /// - Returns: the backups, and the error of the first folder that could not be read. The errors of others are
    ///   printed.
    func backups(also folder: String? = nil) -> (found: [StoredBackup], failure: (any Error)?) {
        var found: [StoredBackup] = []
        var failure: (any Error)?
        for folder in folders + [folder].compactMap(\.self) {
            do {
                found += try LibraryFile.backups(in: folder)
            } catch {
                if failure != nil { Output.shared.printError(CommandError(describing: error).description) }
                failure = failure ?? error
            }
        }
        return (found, failure)
    }

    /// - Throws: the error of a folder that could not be read, after the others' backups were printed.
    func show(also folder: String? = nil, _ printed: PrintedListOptions) async throws {
        let printer = try ListPrinter(printed, json: json, .backups)
        let (backups, failure) = backups(also: folder)
        try await printer.paged { try printer.print(backups, json: \.json) { [Self.line(for: $0)] } }
        if let failure { throw failure }
        if backups.isEmpty, !json {
            let searched = (folders + [folder].compactMap(\.self)).joined(separator: ", ")
            Output.shared.printNotice("There is no backup in \(searched). To write one, run 'scan backup'.")
        }
    }

    func printLines(for backups: [StoredBackup]) {
        for backup in backups { Output.shared.printLine(json ? backup.json.text : Self.line(for: backup)) }
    }

    private static func line(for backup: StoredBackup) -> String {
        let content = backup.books.map { counted($0, "book") } ?? "cannot be read"
        let megabytes = (Double(backup.bytes) / 1_000_000).formatted(.number.precision(.fractionLength(1)))
        let why = backup.problem.map { "\n  " + $0.description.oneLine } ?? ""
        return "\(LocalTime.current.dateTime(backup.at))  \(megabytes) MB  \(content)  \(backup.path.printable)\(why)"
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
    /// The warning that the backups of another library, of which this is the newest, are beside the library.
    var warningOfOtherLibrary: String { "\(factOfOtherLibrary). \(adviceOnOtherLibrary)" }

    var factOfOtherLibrary: String { fact(of: "backups of another library") }

    /// The fact that backups, of which this is the newest, are where a library is missing.
    var factOfLostLibrary: String { fact(of: "backups") }

    private func fact(of backups: String) -> String {
        "the folder \(folder.printable) has \(backups), the newest of \(CalendarDay(at, in: .current)) with \(counted(books ?? 0, "book"))"
    }

    var adviceOnOtherLibrary: String {
        "If books are missing, run 'scan restore \(name.printable)'. Otherwise, move the backups of the other library "
            + "to another folder."
    }

    private var folder: String { (path as NSString).deletingLastPathComponent }
    private var name: String { (path as NSString).lastPathComponent }

    var json: JSONValue {
        [
            "path": .string(path), "at": .string(at.rfc3339), "bytes": .integer(bytes),
            "books": books.map(JSONValue.integer) ?? .null, "problem": JSONValue(problem?.description),
        ]
    }
}

func isFolder(_ path: String) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
}

struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Replace the library with a backup, and move the old library aside.",
        discussion: """
            First stop all other scan programs that have the library open. Without a
            name, this command lists the backups of this library and, on a terminal,
            offers to restore the newest one. To restore a backup of another library,
            give the name of the backup. It is verified before anything is changed.

              scan restore
              scan restore library-2026-11-21T093000Z.sqlite
              scan restore /media/usb/library.sqlite
            """)

    @Argument(
        help: ArgumentHelp(
            "A backup file, or the name of a backup in one of the library's backup folders.", valueName: "backup"),
        completion: .values(.backup))
    var backup: String?
    @Flag(name: .shortAndLong, help: "Do not ask for confirmation. Without a name, restore the newest backup.")
    var yes = false
    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let settings = try paths.settings()
        guard let path = settings[.library] else {
            throw CommandError(.configuration, "no library is set. Name one with --library.")
        }
        let identity = identity(of: path)
        guard let backup = try chosen(settings, for: path, identity) else { return }
        let report: CopyReport
        do {
            report = try LibraryFile.restore(from: backup, to: path, keeping: identity, at: Date())
        } catch LibraryError.foreign(_, let what) {
            throw CommandError(
                .corrupt, "\(backup) is \(what), not a backup of Bookplate. The library was not changed.")
        } catch LibraryError.alteredSchema(_, let what) {
            throw CommandError(
                .corrupt,
                "the backup \(backup) is not safe to restore: \(what), so another program has altered it. "
                    + "The library was not changed. Choose another backup.")
        } catch LibraryError.corrupt(let damaged, let what) where damaged != path {
            throw CommandError(.corrupt, "the backup \(backup) is damaged (\(what)). The library was not changed.")
        }
        if !report.unknownObjects.isEmpty {
            Output.shared.printNotice(
                "The backup contains something that Bookplate has not created: "
                    + "\(report.unknownObjects.joined(separator: ", ")). It does nothing.")
        }
        if report.isAccessClosed {
            Output.shared.printNotice(
                "The access code, the paired stations and the setting guestView of the old library could not be read, "
                    + "so the restored library has no access code and no paired stations, and guests cannot view its "
                    + "pages. Set a code with 'scan kiosk code', and pair the stations again.")
        }
        if output.json { return Output.shared.printLine(report.json) }
        let aside = report.movedAside.first.map { " The old library is now \($0)." } ?? ""
        Output.shared.printNotice("Restored \(counted(report.books, "book")) to \(path).\(aside)")
    }

    /// Returns the id of the existing library; `nil` if there is no library, it is empty, or it cannot be read. In the
    /// last case, an error is printed. Without an id, the library's backups are recognised by their file names.
    private func identity(of path: String) -> String? {
        do {
            return try LibraryFile.identity(at: path)
        } catch {
            Output.shared.printNotice(
                "The current library cannot be read, so its backups are recognised by their names: "
                    + CommandError(describing: error).description)
            return nil
        }
    }

    /// Chooses the backup to restore.
    ///
    /// - Returns: the backup file, or `nil` if the user declines.
    private func chosen(_ settings: Settings, for path: String, _ identity: String?) throws -> String? {
        let list = BackupList(settings, json: output.json)
        if let backup { return try file(named: backup, in: list) }
        let (found, failure) = list.backups()
        let own = LibraryFile.ownBackups(among: found, of: path, identity: identity)
        let backups = own.backups
        guard let newest = backups.first else {
            if let failure { throw failure }
            let searched = list.folders.joined(separator: ", ")
            guard found.contains(where: { $0.problem == nil }) else {
                if let problem = found.first?.problem {
                    list.printLines(for: found)
                    throw CommandError(
                        ExitStatus(problem.kind), "no backup in \(searched) can be read. The library was not changed.")
                }
                throw CommandError(.nothing, "there is no backup in \(searched). To write one, run 'scan backup'.")
            }
            throw CommandError(
                .nothing,
                "there is no backup of this library in \(searched), only backups of other libraries. To see them, run 'scan backup --list'. Then give the name of the backup to restore."
            )
        }
        if let failure { Output.shared.printError(CommandError(describing: failure).description) }
        for backup in found where backup.at > newest.at {
            // It may be this library's newest backup.
            if let problem = backup.problem { Output.shared.printNotice("Skipped a newer file: \(problem)") }
        }
        if own.areMixed {
            list.printLines(for: backups)
            throw CommandError(
                .usage,
                "these are backups of several libraries, and the library at \(path.printable) has no id that can be read. Give the name of the backup to restore."
            )
        }
        if yes { return newest.path }
        list.printLines(for: backups)
        let what = "\(newest.path.printable) with \(counted(newest.books ?? 0, "book"))"
        let isMeant = try Asking.mayGoOn(
            "Replace the library with the newest backup, \(what)?", yes: false, json: output.json,
            .choice("give the name of the backup to restore, or use --yes to restore the newest."))
        return isMeant ? newest.path : nil
    }

    private func file(named name: String, in list: BackupList) throws -> String {
        let candidates =
            [name] + (name.contains("/") ? [] : list.folders.flatMap { ["\($0)/\(name)", "\($0)/\(name).sqlite"] })
        guard let file = candidates.first(where: { FileManager.default.fileExists(atPath: $0) && !isFolder($0) }) else {
            throw CommandError(
                .unreadable, "there is no backup \(name.printable). To see the backups, run 'scan backup --list'.")
        }
        return file
    }
}
