import Async
import Bookplate
import Foundation
import Library
import Lookup
import Station
import Synchronization
import Terminal

/// Connects the modules according to the settings, and chooses the adapter that implements each port.
struct Wiring {
    let settings: Settings
    private let configuration: LookupConfiguration
    private let isForAllReaders: Bool
    /// The requests to the sources that are in progress.
    let open = OpenRequests()

    /// - Parameter isForAllReaders: true for a command that does the same for all readers. If the settings name a
    ///   reader who does not exist, it runs for the first one, so that it can bring a deleted reader back.
    init(settings: Settings, isForAllReaders: Bool = false) throws {
        self.settings = settings
        self.isForAllReaders = isForAllReaders
        configuration = try Self.configuration { settings[$0] }
    }

    /// Checks that the values of the settings file work together.
    ///
    /// - Throws: ``LookupConfigurationError`` or ``CommandError`` if the values do not work together.
    static func check(_ values: [Setting: String]) throws {
        if let listen = values[.listen] { try ListenCheck.check(listen, as: Setting.listen.rawValue) }
        let paths = Paths(environment: [:])
        _ = try configuration { setting in
            let value = values[setting] ?? setting.defaultValue(paths)
            return value.isEmpty ? nil : value
        }
    }

    private static func configuration(_ value: (Setting) -> String?) throws -> LookupConfiguration {
        try Settings.checkSwitch(.offline, value(.offline))
        try Settings.checkSwitch(.tls, value(.tls))
        _ = try FrameSize(setting: value(.cameraSize))
        _ = try ListDefaults(value)
        return try LookupConfiguration(
            version: productVersion, homepage: productURL, contact: value(.contact),
            openLibrary: value(.openLibraryURL) ?? "", googleBooks: value(.googleBooksURL) ?? "",
            covers: value(.coversURL) ?? "",
            catalogues: Setting.catalogues.compactMapValues(value), googleBooksKey: value(.googleBooksKey),
            certificateFile: value(.caFile),
            isOffline: Settings.means(on: value(.offline)))
    }

    /// Opens the library for the reader of the settings. If there is no library, creates one.
    func openLibrary() throws -> LibraryFile { try openLibrary(for: settings[.reader]) }

    /// - Parameter reader: the name of the reader; `nil` for the first one.
    /// - Throws: ``LibraryError`` if the library cannot be opened or written.
    func openLibrary(for reader: String?) throws -> LibraryFile {
        let library = try open(for: reader)
        try library.checkWritable()
        return library
    }

    private func open(for reader: String?) throws -> LibraryFile {
        guard let path = settings[.library] else {
            throw CommandError(.configuration, "no library is set. Give the path of one with --library.")
        }
        let library = try LibraryFile.open(at: path)
        library.onError { Output.shared.printError($0) }
        OpenedLibraries.register(library, backupFolder: settings[.backupFolder])
        if let backup = library.updateBackup {
            Output.shared.printNotice(
                "The library was upgraded for this version of Bookplate. A backup of it as it was before is "
                    + "\(backup.path.printable).")
        }
        if library.isNew { Self.warnOfLostLibrary(at: path) }
        do {
            return try library.reading(asNamed: reader, holder: TerminalSession.current)
        } catch let refusal as ReaderRefusal where settings.level(of: .reader) != .flag {
            let advice = adviceOnMissingReader
            guard isForAllReaders else {
                throw CommandError(
                    ExitStatus(refusal.kind),
                    "cannot run for the reader whom \(advice.origin) names: \(refusal). \(advice.text)")
            }
            Output.shared.printNotice(
                "\(reader.map { quoted([$0]) } ?? ""), whom \(advice.origin) names, is no reader of this library, so this "
                    + "runs for the first reader. \(advice.text)")
            return try library.reading(asNamed: nil, holder: TerminalSession.current)
        }
    }

    /// The origin of the name of a reader who does not exist, and what to do.
    private var adviceOnMissingReader: (origin: String, text: String) {
        let isVariable = settings.level(of: .reader) == .environment
        let variable = Setting.reader.environmentName
        let change =
            isVariable ? "change \(variable)" : "run 'scan settings set reader NAME' or 'scan settings unset reader'"
        return (
            isVariable ? variable : "the setting 'reader'",
            "To choose another, \(change). To bring a deleted reader back, run 'scan reader restore NAME'."
        )
    }

    /// Prints a warning if a new library was begun beside the backups of another one.
    private static func warnOfLostLibrary(at path: String) {
        do {
            guard let lost = try LibraryFile.newestBackup(besideLibraryAt: path) else { return }
            Output.shared.printError("a new library was begun at \(path.printable), but \(lost.warningOfOtherLibrary)")
        } catch {
            Output.shared.printError(CommandError(describing: error).description)
        }
    }

    /// Opens the library for the reader of the settings, if there is a library. Says so if it can only be read.
    ///
    /// - Returns: `nil` if there is no library yet, or only an empty file. In that case none is created.
    func openExistingLibrary() throws -> LibraryFile? { try openExistingLibrary(for: settings[.reader]) }

    /// - Parameter reader: the name of the reader; `nil` for the first one.
    func openExistingLibrary(for reader: String?) throws -> LibraryFile? {
        guard let path = settings[.library] else { return nil }
        var facts = stat()
        if stat(path, &facts) == 0 {
            if facts.st_mode & S_IFMT == S_IFREG, facts.st_size == 0 { return nil }
        } else if errno == ENOENT || errno == ENOTDIR {
            return nil
        }
        // If the file cannot even be examined, opening it reports the reason.
        let library = try open(for: reader)
        if library.isReadOnly {
            Output.shared.printNotice(
                "The library \(path.printable) is read-only here: it can be read, but not changed.")
        }
        return library
    }

    /// Opens the library for a command that works on books that are already in it. If there is no library, none is
    /// created, because the command would fail on an empty library.
    ///
    /// - Throws: ``CommandError`` if there is no library yet.
    func requireLibrary() throws -> LibraryFile { try requireLibrary(for: settings[.reader]) }

    /// - Parameter reader: the name of the reader; `nil` for the first one.
    func requireLibrary(for reader: String?) throws -> LibraryFile {
        guard let library = try openExistingLibrary(for: reader) else {
            let location = settings[.library].map { " at \($0.printable)" } ?? ""
            throw CommandError(.nothing, "there is no library yet\(location). \(Self.firstBook)")
        }
        return library
    }

    /// The advice for a library that has no books yet.
    static let firstBook =
        "To add the first book, use 'scan --isbn', 'scan --image', 'scan library add' or 'scan import'."

    /// Returns the chain of all sources, in the order in which they win a field. Without a library, answers are not
    /// stored. An offline index that cannot be read is reported and left out, so that capturing can
    /// continue.
    func lookup(_ library: LibraryFile?) -> LookupChain {
        var index: OfflineIndex?
        var notAsked: [NotAsked] = []
        if let path = settings[.index] {
            do throws(OfflineIndexError) {
                index = try OfflineIndex(path: path)
            } catch {
                Output.shared.printError("\(error). Continuing without the offline index.")
                notAsked = [NotAsked(source: .offlineIndex, reason: error.description)]
            }
        }
        return LookupChain(
            configuration, index: index, notAsked: notAsked, order: { try await sourceOrder(library) },
            cache: library, states: rateLimits, report: { Output.shared.printError($0) }, open: open)
    }

    /// Returns the sources that may be asked: those in the environment, or else those that are set in the library.
    func sourceOrder(_ library: LibraryFile?) async throws -> SourceOrder {
        if let order = settings.sourceOrder { return order }
        guard let stored = try await library?.setting(LibrarySetting.sources.rawValue) else { return .standard }
        return SourceOrder(stored: stored)
    }

    /// Returns a probe that queries each source that is switched on separately, within the rate limits of this machine.
    ///
    /// - Parameter library: returns the library with the setting, or throws the reason why it cannot be read.
    func probe(_ library: @escaping @Sendable () throws -> LibraryFile?) -> SourceProbe {
        SourceProbe(configuration, order: { try await sourceOrder(library()) }, states: rateLimits)
    }

    /// The rate limits, which all processes of a user share, with any library and without one. The processes that use
    /// the service's library share those in the library's folder, because they belong to several users.
    private var rateLimits: RateLimitFile {
        if let library = settings[.library], let shared = LibraryFile.groupFolder(of: library) {
            return RateLimitFile(path: shared + "/rate-limits.json", isShared: true)
        }
        return RateLimitFile(path: settings.paths.rateLimitsFile, isShared: false)
    }

    /// - Parameter lookup: the chain of the command, so that an index that cannot be read is reported once.
    func captureFlow(_ library: LibraryFile, _ lookup: LookupChain) -> CaptureFlow {
        CaptureFlow(queue: library, shelf: library, lookup: lookup)
    }

    /// - Parameter lookup: the chain of the command, as for ``captureFlow(_:_:)``.
    func titleFinder(_ library: LibraryFile?, _ lookup: LookupChain) -> TitleFinder {
        TitleFinder(search: lookup, lookup: lookup, shelf: library, language: Self.systemLanguage)
    }

    /// The language of the locale, such as "de" of "de_AT.UTF-8"; `nil` for the locales C and POSIX.
    static var systemLanguage: String? {
        let environment = ProcessInfo.processInfo.environment
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].compactMap { environment[$0] }.first { !$0.isEmpty }
        let code = locale?.prefix { $0.isLetter } ?? ""
        return code.count == 2 ? code.lowercased() : nil
    }

    func coverFetcher(_ library: LibraryFile) -> CoverFetcher {
        CoverFetcher(covers: library, fetch: coverDownloader(library))
    }

    func coverDownloader(_ library: LibraryFile) -> CoverDownloader {
        CoverDownloader(
            configuration, order: { try await sourceOrder(library) }, states: rateLimits,
            report: { Output.shared.printError($0) })
    }

    var isOffline: Bool { Settings.means(on: settings[.offline]) }

    /// Looks up the queued items that are due, fills gaps of records, and fetches the covers of the books that were
    /// just saved. Called at the end of a run. What it does not reach in time, the next run does. A failure is printed.
    /// Only the failure of a disk changes the exit status, because the next run cannot do better.
    ///
    /// - Parameter isAttended: true if a person waits for the end, so that each part takes at most 8 seconds; false to
    ///   give the gaps two and a half minutes, which are enough for 120 books at a source that takes one a second.
    func catchUp(_ library: LibraryFile, saved: Int, isAttended: Bool, _ report: ExitReport) async {
        guard !isOffline else { return }
        do {
            let flow = captureFlow(library, lookup(library))
            _ = try await withTimeLimit(.seconds(8)) { try await flow.lookUpDue { _ in } }
            Interrupts.handle { "Interrupted. Nothing is lost; the next run fills in what is still missing." }
            try await fillGaps(library, flow, patience: isAttended ? .seconds(8) : .seconds(150))
            if saved > 0 { try await fetchCovers(library, limit: saved, patience: .seconds(8)) }
        } catch {
            let error = CommandError(describing: error)
            Output.shared.printError(error.description)
            if error.status == .inputOutput { report.record(error.status) }
        }
    }

    /// Asks other sources for what the records of captured books lack, and shows a progress bar.
    private func fillGaps(_ library: LibraryFile, _ flow: CaptureFlow, patience: Duration) async throws {
        let gaps = try await library.gapCount(at: Date())
        guard gaps > 0 else { return }
        let bar = ProgressBar("books completed", total: gaps, waitingFor: open)
        defer { bar.finish() }
        let filled = try await withTimeLimit(patience) {
            try await flow.fillGaps(deliver: { _ in }, onAnswer: { bar.advance() })
        }
        guard filled == nil else { return }
        bar.finish()
        Output.shared.printNotice("The records of some books still lack fields. The next run goes on filling them in.")
    }

    /// Fetches missing covers and shows a progress bar. Covers that cannot be fetched now are postponed, and reported.
    func fetchCovers(_ library: LibraryFile, limit: Int, patience: Duration) async throws {
        guard !isOffline else { return }
        let bar = ProgressBar("covers", total: limit)
        defer { bar.finish() }
        let (_, failures) = try await coverFetcher(library).fetchMissing(limit: limit, patience: patience) {
            bar.set($0, of: $1)
        }
        guard let first = failures.first else { return }
        bar.finish()
        Output.shared.printNotice(
            "\(counted(failures.count, "cover")) could not be fetched and will be fetched later. \(first)")
    }
}

/// The libraries that this run has opened. At the end of every command, a library that was changed gets its daily
/// backup.
enum OpenedLibraries {
    private struct Opened {
        let library: LibraryFile
        let backupFolder: String?
    }

    /// `nil` until a command begins. A library that is opened without a command, such as by a test, is not registered.
    private static let opened = Mutex<[Opened]?>(nil)

    static func start() { opened.withLock { $0 = [] } }

    static func register(_ library: LibraryFile, backupFolder: String?) {
        opened.withLock { $0?.append(Opened(library: library, backupFolder: backupFolder)) }
    }

    /// Closes a library before the end of the command.
    static func close(_ library: LibraryFile) async throws {
        opened.withLock { $0?.removeAll { $0.library === library } }
        try await library.close()
    }

    /// Makes the daily backup of the library that was changed, and closes the libraries. A failure is printed, but does
    /// not change the exit status.
    static func backUpAndClose() async {
        // The list is emptied, because a library is closed cleanly when its last reference is released.
        let libraries = opened.withLock { opened in
            defer { opened = nil }
            return opened ?? []
        }
        if let changed = libraries.first(where: { $0.library.hasChanges }) { await backUp(changed) }
        // A task that is still ending may hold a reference to the library. Therefore the library is closed explicitly,
        // which merges its write-ahead log into it. If that fails, nothing is lost, because the log is read when the
        // library is opened again.
        for opened in libraries {
            do { try await opened.library.close() } catch {
                Output.shared.printError("the library was not closed cleanly: \(CommandError(describing: error))")
            }
        }
    }

    /// Makes the daily backup if there is none for today, with a progress bar if it takes long.
    private static func backUp(_ changed: Opened) async {
        Interrupts.release()
        Interrupts.onEnd { changed.library.abandonBackups() }
        Interrupts.handle {
            "Today's backup was interrupted. It will be made after the next change. Everything that was saved is safe."
        }
        let bar = ProgressBar("steps of today's backup", total: 100)
        defer {
            bar.finish()
            // The handler holds a reference to the library, which is closed when its last reference is released.
            Interrupts.release()
        }
        do {
            let daily = try await changed.library.backUpIfDue(at: Date(), copying: changed.backupFolder) {
                bar.set(Int($0 * 100), of: 100)
            }
            if let error = daily?.secondError { printFailure(error) }
            if daily != nil, !changed.library.isNew, let other = try await changed.library.newestOtherBackup() {
                Output.shared.printError(other.warningOfOtherLibrary)
            }
        } catch {
            printFailure(error)
        }
    }

    private static func printFailure(_ error: any Error) {
        Output.shared.printError("today's backup was not made: \(CommandError(describing: error))")
    }
}
