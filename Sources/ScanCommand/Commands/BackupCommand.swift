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
    @OptionGroup var places: PlaceOptions
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
                Output.shared.complain(Failure.complaint(for: error).description)
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
