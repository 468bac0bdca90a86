import Bookplate
import Foundation
import Library
import Lookup
import Station
import Synchronization

/// Puts the modules together as the settings say. The only place that knows which technology stands behind a port.
struct Wiring {
    let settings: Settings
    private let configuration: LookupConfiguration

    init(settings: Settings) throws {
        self.settings = settings
        configuration = try Self.configuration { settings[$0] }
    }

    /// - Throws: ``LookupConfigurationError`` when values from the settings file would not work together.
    static func check(_ values: [Setting: String]) throws {
        let places = Paths(environment: [:])
        _ = try configuration { setting in
            (values[setting] ?? setting.defaultValue(places)).isEmpty
                ? nil : values[setting] ?? setting.defaultValue(places)
        }
    }

    private static func configuration(_ value: (Setting) -> String?) throws -> LookupConfiguration {
        try Settings.checkSwitch(.offline, value(.offline))
        _ = try FrameSize(setting: value(.cameraSize))
        return try LookupConfiguration(
            version: productVersion, homepage: productURL, contact: value(.contact),
            openLibrary: value(.openLibraryURL) ?? "", googleBooks: value(.googleBooksURL) ?? "",
            covers: value(.coversURL) ?? "", googleBooksKey: value(.googleBooksKey), certificateFile: value(.caFile),
            isOffline: Settings.means(on: value(.offline)))
    }

    /// Opens the library, and makes it where there is none.
    func openLibrary() throws -> LibraryFile {
        guard let path = settings[.library] else {
            throw CommandError(.configuration, "no library is set. Name one with --library.")
        }
        let library = try LibraryFile.open(at: path)
        OpenedLibraries.keep(library, backupFolder: settings[.backupFolder])
        return library
    }

    /// - Returns: `nil` where there is no library yet; none is made.
    func openExistingLibrary() throws -> LibraryFile? {
        guard let path = settings[.library], FileManager.default.fileExists(atPath: path) else { return nil }
        return try openLibrary()
    }

    /// Opens the library for an act on what is in it: where there is none, nothing is made for the act to fail on.
    ///
    /// - Throws: ``CommandError`` where there is no library yet.
    func requireLibrary() throws -> LibraryFile {
        guard let library = try openExistingLibrary() else {
            let place = settings[.library].map { " at \($0.printable)" } ?? ""
            throw CommandError(.nothing, "there is no library yet\(place). \(Self.firstBook)")
        }
        return library
    }

    /// What to do where there is no book yet.
    static let firstBook = "scan --isbn, scan --image, scan library add or scan import puts the first book in."

    /// All sources in their order. Without a library nothing is remembered, neither answers nor policy. An offline index that
    /// cannot be read is told and left out: capturing goes on.
    func lookup(_ library: LibraryFile?) -> LookupChain {
        var index: OfflineIndex?
        var notAsked: [NotAsked] = []
        if let path = settings[.index] {
            do throws(OfflineIndexError) {
                index = try OfflineIndex(path: path)
            } catch {
                Output.shared.complain("\(error). Going on without it.")
                notAsked = [NotAsked(source: .offlineIndex, reason: error.description)]
            }
        }
        return LookupChain(
            configuration, index: index, notAsked: notAsked, cache: library, states: library ?? UnsharedRateLimits(),
            report: { Output.shared.complain($0) })
    }

    /// Asks each online source by itself, with the policy of this machine.
    func probe(_ library: LibraryFile?) -> SourceProbe {
        SourceProbe(configuration, states: library ?? UnsharedRateLimits())
    }

    func captureFlow(_ library: LibraryFile) -> CaptureFlow {
        CaptureFlow(intake: library, shelf: library, lookup: lookup(library))
    }

    func coverFetcher(_ library: LibraryFile) -> CoverFetcher {
        CoverFetcher(covers: library, fetch: CoverDownloader(configuration, states: library))
    }

    var isOffline: Bool { Settings.means(on: settings[.offline]) }

    /// What a run does for others at its end, within seconds: looks up what waits in the queue and is due, and fetches covers of
    /// what was saved. What is left is done by the next run; nothing of it changes how this one ends.
    func catchUp(_ library: LibraryFile, saved: Int) async {
        guard !isOffline else { return }
        do {
            let flow = captureFlow(library)
            try await within(.seconds(8)) {
                try await flow.lookUpDue { _ in }
            }
            if saved > 0 { try await fetchCovers(library, limit: saved, patience: .seconds(8)) }
        } catch {
            Output.shared.complain(CommandError(describing: error).description)
        }
    }

    /// Fetches covers that are missing, with a bar. What cannot be had now is put off.
    func fetchCovers(_ library: LibraryFile, limit: Int, patience: Duration) async throws {
        guard !isOffline else { return }
        let bar = ProgressBar("covers", total: limit)
        defer { bar.finish() }
        _ = try await coverFetcher(library).fetchMissing(limit: limit, patience: patience) { bar.set($0, of: $1) }
    }
}

/// Runs the work, and cancels it when the time is over.
private func within(_ limit: Duration, _ work: @escaping @Sendable () async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await work() }
        group.addTask { try await Task.sleep(for: limit) }
        defer { group.cancelAll() }
        try await group.next()
    }
}

/// The libraries that this run has opened: at its end, one that was changed gets its backup of the day, whichever command it was.
enum OpenedLibraries {
    private struct Opened {
        let library: LibraryFile
        let backupFolder: String?
    }

    /// `nil` until a command begins: who opens a library otherwise, such as a test, has it for itself.
    private static let opened = Mutex<[Opened]?>(nil)

    static func start() { opened.withLock { $0 = [] } }

    static func keep(_ library: LibraryFile, backupFolder: String?) {
        opened.withLock { $0?.append(Opened(library: library, backupFolder: backupFolder)) }
    }

    /// Makes the backup of the day where it is missing, with a bar when it takes long. What goes wrong is told, and changes nothing
    /// of how the command ended.
    static func backUpWhatChanged() async {
        // Taken out: with its last reference a library is closed cleanly.
        let libraries = opened.withLock { opened in
            defer { opened = nil }
            return opened ?? []
        }
        // What still ends may hold the library: closed by hand, its write-ahead log is folded in. Nothing is lost when that fails: the next
        // opening reads the log.
        defer {
            for opened in libraries {
                do { try opened.library.close() } catch {
                    Output.shared.complain("the library was not closed cleanly: \(CommandError(describing: error))")
                }
            }
        }
        guard let changed = libraries.first(where: { $0.library.hasChanges }) else { return }
        Interrupts.giveBack()
        Interrupts.onEnd { changed.library.abandonBackups() }
        Interrupts.handle { "The backup of today was broken off; the next change makes it. What was saved is saved." }
        let bar = ProgressBar("% of today's backup", total: 100)
        defer {
            bar.finish()
            // It holds the library, which is closed with its last reference.
            Interrupts.giveBack()
        }
        do {
            let daily = try await changed.library.backUpIfDue(at: Date(), copying: changed.backupFolder) {
                bar.set(Int($0 * 100), of: 100)
            }
            if let error = daily?.secondError { tell(error) }
        } catch {
            tell(error)
        }
    }

    private static func tell(_ error: any Error) {
        Output.shared.complain("today's backup was not made: \(CommandError(describing: error))")
    }
}

/// The policy of one process, where there is no library that could share them.
actor UnsharedRateLimits: RateLimits {
    private var states: [SourceName: SourceState] = [:]

    func update<Result: Sendable>(
        _ source: SourceName, _ change: @Sendable (inout SourceState) -> Result
    ) async throws -> Result {
        change(&states[source, default: SourceState()])
    }
}
