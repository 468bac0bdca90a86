import Async
import Bookplate
import CProcess
import Foundation
import Kiosk
import Library
import Logging
import Lookup

extension Wiring {
    /// Returns the values and functions that the kiosk's Settings page offers besides the library's own settings.
    ///
    /// - Parameter present: returns the settings with which the service would start now.
    func maintenance(
        _ library: LibraryFile, settings present: @escaping @Sendable () throws -> Settings
    ) -> Maintenance {
        var maintenance = Maintenance()
        maintenance.settings = { try present().shownOnPage() }
        maintenance.set = { [path = settings.paths.settingsFile] name, value in
            guard let setting = Setting(rawValue: name), setting.control != nil else {
                throw KioskError(.notFound, "there is no setting \(name) that is changed on a page")
            }
            do {
                try SettingsFile(path: path).change(setting, to: value)
            } catch let error as CommandError where error.status == .configuration {
                throw KioskError(.invalid, error.description)
            } catch let error as LookupConfigurationError {
                throw KioskError(.invalid, error.description)
            }
        }
        maintenance.sourceOrder = settings.sourceOrder
        maintenance.sources = { await sources(library) }
        maintenance.export = { library, kind in
            guard let library = library as? LibraryFile else { throw KioskError(.fault, "the library is no file") }
            return try await WrittenExport(of: library, as: kind)
        }
        guard let path = library.path else { return maintenance }
        let own = LibraryFile.ownBackupFolder(of: path)
        maintenance.lastBackup = {
            let identity = try await library.identity()
            return try LibraryFile.ownBackups(among: LibraryFile.backups(in: own), of: path, identity: identity).backups
                .first.map(KeptBackup.init)
        }
        let second = settings[.backupFolder]
        maintenance.backups = {
            let identity = try await library.identity()
            // A second folder may be on a disk that is not connected.
            let folders = [own, second].compactMap(\.self).filter(isFolder)
            let found = try folders.flatMap { try LibraryFile.backups(in: $0) }
            return LibraryFile.ownBackups(among: found, of: path, identity: identity).backups.map(KeptBackup.init)
        }
        maintenance.backUp = {
            let now = Date()
            let report = try await library.backup(into: own, as: .manual, at: now)
            if let second {
                guard isFolder(second) else { throw LibraryError.noBackupFolder(path: second) }
                _ = try await library.backup(into: second, as: .manual, at: now)
            }
            return KeptBackup(path: report.path, at: now, bytes: report.bytes, books: report.books)
        }
        return maintenance
    }

    private func sources(_ library: LibraryFile) async -> [SourceStatus] {
        await probe { library }.ask(for: SourceChecks.book, timeout: DoctorFindings.sourcePatience).map { finding in
            let check = SourceChecks.check(finding)
            return SourceStatus(
                name: check.name, isFine: check.state == .ok, fact: check.fact, next: check.next)
        }
    }
}

extension Settings {
    fileprivate func shownOnPage() -> [ProgramSetting] {
        Setting.allCases.filter { $0 != .reader || self[.reader] != nil }.map { setting in
            ProgramSetting(
                name: setting.rawValue, value: shown(setting), origin: level(of: setting).rawValue,
                explanation: setting.explanation, control: setting.control)
        }
    }
}

extension Setting {
    /// The control on the Settings page. There is none for paths and addresses, with which somebody at another device
    /// could make the service read, write or ask what it must not, and none for the lists of the terminal.
    fileprivate var control: ProgramSetting.Control? {
        switch self {
        case .offline: .toggle
        case .contact, .camera, .cameraSize: .text
        case .googleBooksKey: .secret
        default: nil
        }
    }
}

extension KeptBackup {
    fileprivate init(_ stored: StoredBackup) {
        self.init(
            path: stored.path, at: stored.at, bytes: stored.bytes, books: stored.books, lastChange: stored.lastChange)
    }
}

/// The service's regular work: the daily backup, a check of the library for damage, and the return of unused memory.
struct KioskMaintenance: Sendable {
    let library: LibraryFile
    let wiring: Wiring
    let logger: Logger

    /// The time to wait before the first backup and check, while the service starts up.
    private static let initialDelay: Duration = .seconds(60)
    private static let interval: Duration = .seconds(3600)

    /// Runs until the task is cancelled. A backup that is in progress at that time is abandoned, and is made later:
    /// after the next change to the library or the next start.
    func run() async {
        async let _: Void = returnMemory()
        var checked: Date?
        var pause = Self.initialDelay
        while true {
            do { try await Task.sleep(for: pause) } catch { return }
            pause = Self.interval
            await backUp()
            if checked.map({ -$0.timeIntervalSinceNow >= 86_400 }) ?? true, await check() { checked = Date() }
        }
    }

    /// Returns unused memory to the system every 15 seconds: what the library keeps only to be faster, and what glibc
    /// keeps after a photo or a long page, of which it automatically returns only the end of its heap (malloc_trim(3)).
    private func returnMemory() async {
        while true {
            do { try await Task.sleep(for: .seconds(15)) } catch { return }
            library.releaseMemory()
            malloc_trim(0)
        }
    }

    private func backUp() async {
        let isCancelled = SharedValue(false)
        do {
            let daily = try await withTaskCancellationHandler {
                try await library.backUpIfDue(at: Date(), copying: wiring.settings[.backupFolder]) { _ in
                    if isCancelled.value { throw CancellationError() }
                }
            } onCancel: {
                isCancelled.withLock { $0 = true }
            }
            for made in daily?.made ?? [] { logger.notice("backup: \(made.path) books=\(made.books)") }
            if let error = daily?.secondError { logger.error("backup: the second copy was not made: \(error)") }
        } catch {
            if !Task.isCancelled { logger.error("backup: not made; it will be tried again in an hour: \(error)") }
        }
    }

    /// Checks the library for damage, and compares it with its backups.
    ///
    /// - Returns: true if the library was checked and is not damaged.
    private func check() async -> Bool {
        do {
            try await library.check()
            for difference in try await library.compareWithBackups() {
                logger.error("integrity check: no change explains a difference: \(difference)")
            }
            return true
        } catch {
            if !Task.isCancelled { logger.error("integrity check: \(error)") }
            return false
        }
    }
}
