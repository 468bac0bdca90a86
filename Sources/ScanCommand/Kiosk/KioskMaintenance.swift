import Async
import Bookplate
import Exchange
import Foundation
import Kiosk
import Library
import Logging
import Synchronization

extension Wiring {
    /// What the kiosk's Settings page shows and does besides the library's own settings.
    func upkeep(_ library: LibraryFile) -> Maintenance {
        var upkeep = Maintenance()
        let program = Setting.allCases.map { setting in
            ProgramSetting(
                name: setting.rawValue, value: settings.shown(setting), origin: settings.level(of: setting).rawValue,
                explanation: setting.explanation)
        }
        upkeep.settings = { program }
        upkeep.sources = { await sources(library) }
        upkeep.export = { kind in try await WrittenExport(of: library, as: kind) }
        guard let path = library.path else { return upkeep }
        let own = LibraryFile.ownBackupFolder(of: path)
        upkeep.lastBackup = {
            try LibraryFile.backups(in: own).first { $0.problem == nil }.map(KeptBackup.init)
        }
        let second = settings[.backupFolder]
        upkeep.backUp = {
            let now = Date()
            let report = try await library.backup(into: own, at: now)
            if let second {
                guard isFolder(second) else { throw LibraryError.noBackupFolder(path: second) }
                _ = try await library.backup(into: second, at: now)
            }
            return KeptBackup(path: report.path, at: now, bytes: report.bytes, books: report.books)
        }
        return upkeep
    }

    private func sources(_ library: LibraryFile) async -> [SourceStatus] {
        await probe(library).ask(for: SourceChecks.book, patience: DoctorFindings.sourcePatience).map { finding in
            let check = SourceChecks.check(finding)
            return SourceStatus(
                name: check.name, isFine: check.state == .ok, fact: check.fact, next: check.next)
        }
    }
}

extension KeptBackup {
    fileprivate init(_ stored: StoredBackup) {
        self.init(path: stored.path, at: stored.at, bytes: stored.bytes, books: stored.books)
    }
}

/// The library written to a file that has no name: a slow browser holds no transaction, and nothing is left behind. Read from one
/// task at a time.
final class WrittenExport: ExportedFile {
    private let descriptor: Int32
    private static let chunk = 64 << 10

    /// Writes all of it.
    ///
    /// - Throws: ``CommandError`` when the disk does not take it, or the library's error.
    init(of library: LibraryFile, as kind: ExportKind) async throws {
        var name = Array((NSTemporaryDirectory() + "/bookplate-export-XXXXXX").utf8CString)
        descriptor = mkstemp(&name)
        guard descriptor >= 0 else { throw Self.error(errno) }
        unlink(name)
        guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else { throw Self.error(errno) }
        let text = ExportText(kind, to: descriptor)
        try await library.export { try text.take($0) }
        try text.finish()
        guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw Self.error(errno) }
    }

    deinit { close(descriptor) }

    func read() throws -> [UInt8] {
        let bytes = try [UInt8](unsafeUninitializedCapacity: Self.chunk) { buffer, count in
            repeat {
                count = Foundation.read(descriptor, buffer.baseAddress, buffer.count)
            } while count < 0 && errno == EINTR
            guard count >= 0 else {
                count = 0
                throw Self.error(errno)
            }
        }
        return bytes
    }

    fileprivate static func error(_ code: Int32) -> CommandError {
        CommandError(
            .inputOutput, "cannot write the export: \(String(cString: strerror(code))). Make room on the disk.")
    }
}

/// Records on their way into a file, some 64 KB at a time.
private final class ExportText: Sendable {
    private struct State {
        var json = JSONWriter()
        var buffer = ""
    }

    private let csv: CSVWriter?
    private let descriptor: Int32
    // The library gives its records one after the other; the lock only says so to the compiler.
    private let state: Mutex<State>

    init(_ kind: ExportKind, to descriptor: Int32) {
        csv = kind == .csv ? CSVWriter() : nil
        self.descriptor = descriptor
        state = Mutex(State(buffer: csv?.header ?? ""))
    }

    func take(_ record: LibraryRecord) throws {
        try state.withLock { state in
            state.buffer += csv?.rows(of: record) ?? state.json.text(of: record)
            if state.buffer.utf8.count > 1 << 16 { try flush(&state) }
        }
    }

    func finish() throws {
        try state.withLock { state in
            if csv == nil { state.buffer += state.json.end }
            try flush(&state)
        }
    }

    private func flush(_ state: inout State) throws {
        var rest = Array(state.buffer.utf8)[...]
        state.buffer = ""
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw WrittenExport.error(errno) }
            rest = rest.dropFirst(count)
        }
    }
}

/// What a service does for its library besides: the backup of the day, and a look for damage.
struct KioskMaintenance: Sendable {
    let library: LibraryFile
    let wiring: Wiring
    let logger: Logger

    /// The first round waits until the service has settled.
    private static let firstAfter: Duration = .seconds(60)
    private static let rounds: Duration = .seconds(3600)

    /// Until the task is cancelled; a backup under way is given up then, and the next to come makes it.
    func run() async {
        var checked: Date?
        var pause = Self.firstAfter
        while true {
            do { try await Task.sleep(for: pause) } catch { return }
            pause = Self.rounds
            await backUp()
            if checked.map({ -$0.timeIntervalSinceNow >= 86_400 }) ?? true, await check() { checked = Date() }
        }
    }

    private func backUp() async {
        let isOver = SharedValue(false)
        do {
            let daily = try await withTaskCancellationHandler {
                try await library.backUpIfDue(at: Date(), copying: wiring.settings[.backupFolder]) { _ in
                    if isOver.value { throw CancellationError() }
                }
            } onCancel: {
                isOver.withLock { $0 = true }
            }
            for made in daily?.made ?? [] { logger.notice("backup: \(made.path) books=\(made.books)") }
            if let error = daily?.secondError { logger.error("backup: the second one was not made: \(error)") }
        } catch {
            if !Task.isCancelled { logger.error("backup: not made, tried again in an hour: \(error)") }
        }
    }

    /// - Returns: whether it was looked at.
    private func check() async -> Bool {
        do {
            try await library.check()
            return true
        } catch {
            if !Task.isCancelled { logger.error("check: \(error)") }
            return false
        }
    }
}
