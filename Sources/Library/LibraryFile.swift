import Bookplate
import FoundationEssentials
import GRDB
import Glibc
import Synchronization

/// An open library: one SQLite file with its covers and backups beside it, shared with every other process that has it open.
///
/// Implements the domain's ports, one file per topic. What a writing method acknowledges is on the disk.
public final class LibraryFile: Sendable {
    /// Where the file is, links resolved; `nil` for a library in memory.
    public let path: String?
    /// The name under which this device captures and changes things.
    public let station: String
    /// Tells this instance's leases from those of other processes.
    let holder = UUID().uuidString.lowercased()
    let database: any DatabaseWriter
    let clock: @Sendable () -> Date
    /// Whose calendar says what day it is.
    let zone: TimeZone
    let lock: LibraryLock?
    let watches = WatchConnections()
    private let closeGuard = CloseGuard()
    private let patience: WritePatience
    let codeTurns = CodeTurns()
    let useNotes = UseNotes()
    /// Whether this instance has made a change, an undo or a restore from the trash: what makes a day's backup due.
    let hasChanged = Atomic(false)
    public var hasChanges: Bool { hasChanged.load(ordering: .relaxed) }

    init(
        path: String?, station: String, database: any DatabaseWriter, lock: LibraryLock?,
        patience: WritePatience = WritePatience(.seconds(5)), clock: @escaping @Sendable () -> Date, zone: TimeZone
    ) {
        self.path = path
        self.station = station
        self.database = database
        self.lock = lock
        self.patience = patience
        self.clock = clock
        self.zone = zone
    }

    /// Opens the library and brings it to this program's schema; creates it, with its folders, where there is none or an
    /// empty file. Blocks for some milliseconds, longer when other processes open it at the same time.
    ///
    /// A file that is damaged, another program's or newer is left as it is, byte for byte.
    ///
    /// - Parameters:
    ///   - station: the device's name in captures and changes; the host name unless told.
    ///   - patience: how long opening, and each write, waits for another process's lock before it says so.
    ///   - clock: the wall clock, for what no caller dates.
    ///   - zone: the reader's, which says on what day a reading is started or finished; the machine's unless told.
    /// - Throws: ``LibraryError``.
    public static func open(
        at path: String, station: String? = nil, patience: Duration = .seconds(5),
        clock: @escaping @Sendable () -> Date = { Date() }, zone: TimeZone = .current
    ) throws -> LibraryFile {
        let place = LibraryLocation(path)
        let path = place.path
        do {
            let lock = try place.prepare()
            try lock.acquire(.exclusive, .opening, within: patience, library: path)
            let isAlone = try lock.attempt(.exclusive, .inUse)
            let state = try place.inspect(endedUncleanly: isAlone && place.hasLeftoverLog())
            if state == .new { try createFile(at: path, mode: place.mode) }
            let writePatience = WritePatience(patience)
            let pool = try openPool(at: path, patience: writePatience)
            do {
                try Schema.migrate(pool)
                try lock.acquire(.shared, .inUse, within: patience, library: path)
                try lock.release(.opening)
            } catch {
                closeAll(of: pool)
                throw error
            }
            return LibraryFile(
                path: path, station: station ?? hostName(), database: pool, lock: lock,
                patience: writePatience, clock: clock, zone: zone)
        } catch {
            throw LibraryError.translated(error, path: path)
        }
    }

    /// A library that is gone with its last reference: for tests and trials. Has no covers and no backups folder.
    public static func inMemory(
        station: String = "memory", clock: @escaping @Sendable () -> Date = { Date() }, zone: TimeZone = .current
    ) throws -> LibraryFile {
        let queue = try DatabaseQueue(configuration: configuration())
        try Schema.migrate(queue)
        return LibraryFile(path: nil, station: station, database: queue, lock: nil, clock: clock, zone: zone)
    }

    /// Closes the file cleanly: its write-ahead log is folded in. A process that ends without it loses nothing, but the next
    /// opening checks the whole file.
    public func close() throws {
        closeGuard.close()
        // The readers first: SQLite folds the log in when the last connection closes, and a reader cannot.
        try watches.end()
        (database as? DatabasePool)?.releaseMemory()
        try database.close()
        if let path { try foldLog(of: path) }
        try lock?.release(.inUse)
    }

    /// GRDB closes a pool's writer before its readers (its DatabasePool.close names groue/GRDB.swift#739), and a reader that was begun just
    /// then is the last: the log stays. One connection more, which may write, takes it along when it closes.
    private func foldLog(of path: String) throws {
        guard try fileFacts(path + "-wal") != nil else { return }
        let last = try DatabaseQueue(path: path, configuration: Self.configuration())
        try last.read { db in _ = try Int.fetchOne(db, sql: "PRAGMA user_version") }
        try last.close()
    }

    /// From now on no write waits for another process's lock for longer than this, also one that waits already: for a service that is
    /// to end.
    public func hurry(within limit: Duration) { patience.shorten(to: limit) }

    deinit { Self.closeAll(of: database) }

    private static func closeAll(of database: any DatabaseWriter) {
        (database as? DatabasePool)?.releaseMemory()
        // Nothing is lost when closing fails: the log is read by the next opening.
        try? database.close()
    }

    /// Marks an empty file as a library before anything else is in it, so that a process killed at any moment leaves either
    /// an empty file or one that the next opening knows for its own.
    private static func createFile(at path: String, mode: mode_t) throws {
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw LibraryError(errno: errno, path: path) }
        // SQLite gives its side files the rights of the main file; the umask must not shut out the group.
        _ = fchmod(descriptor, mode)
        Glibc.close(descriptor)
        try syncFolder(of: path)
        let queue = try DatabaseQueue(path: path, configuration: configuration())
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA application_id = \(Schema.applicationID)")
        }
        try queue.close()
    }

    private static func openPool(at path: String, patience: WritePatience) throws -> DatabasePool {
        let pool = try DatabasePool(path: path, configuration: configuration(patience: patience))
        // GRDB sets NORMAL, which can lose the last commits in a power cut. Only the writer connection writes.
        try pool.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA synchronous = FULL") }
        return pool
    }

    /// What every connection to a library has set.
    static func configuration(
        readonly: Bool = false, patience: WritePatience = WritePatience(.seconds(5))
    ) -> Configuration {
        var configuration = Configuration()
        configuration.readonly = readonly
        configuration.foreignKeysEnabled = true
        configuration.busyMode = .callback { patience.waits(afterTries: $0) }
        configuration.label = "bookplate.library"
        return configuration
    }

    static func hostName() -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "unknown" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension LibraryFile {
    /// Reads one consistent state.
    func read<Result: Sendable>(
        _ body: @Sendable @escaping (Database) throws -> Result
    ) async throws -> Result {
        do {
            return try await closeGuard.perform { try await database.read(body) }
        } catch {
            throw LibraryError.translated(error, path: path ?? ":memory:")
        }
    }

    /// Writes in one `BEGIN IMMEDIATE` transaction; on the disk when it returns. What search knows of the books that were
    /// touched is brought up to date in the same transaction.
    func write<Result: Sendable>(
        _ body: @Sendable @escaping (Database) throws -> Result
    ) async throws -> Result {
        do {
            return try await database.write { [path] db in
                // Another process may have been updated and have migrated the file under this one.
                try Schema.checkVersion(db, path: path ?? ":memory:")
                let result = try body(db)
                try SearchIndex.bringUpToDate(db)
                return result
            }
        } catch {
            throw LibraryError.translated(error, path: path ?? ":memory:")
        }
    }

    /// The folder of that name beside the library; `nil` for a library in memory.
    func folderBeside(_ name: String) -> String? { path.map { folder(of: $0) + "/" + name } }
}

/// Keeps a library from closing under reads that are under way. GRDB's pool opens a connection when a read wants one; a read that
/// starts while the library closes would leave a write-ahead log behind that nobody folds in.
final class CloseGuard: Sendable {
    private let state = Mutex((count: 0, isClosed: false))

    /// Runs a read.
    ///
    /// - Throws: `CancellationError` when the library is closed, else what `read` throws.
    func perform<Result>(_ read: () async throws -> Result) async throws -> Result {
        try state.withLock { state in
            if state.isClosed { throw CancellationError() }
            state.count += 1
        }
        defer { state.withLock { $0.count -= 1 } }
        return try await read()
    }

    /// Refuses further reads and waits for those under way, at most `limit`: closing the connections interrupts the rest.
    func close(within limit: Duration = .seconds(1)) {
        state.withLock { $0.isClosed = true }
        let end = ContinuousClock.now.advanced(by: limit)
        while state.withLock({ $0.count }) > 0, ContinuousClock.now < end { usleep(1000) }
    }
}

/// How long SQLite tries again at another connection's lock. Its own timeout cannot be shortened while somebody waits by it.
final class WritePatience: Sendable {
    /// Milliseconds.
    private let limit: Atomic<Int64>

    init(_ limit: Duration) { self.limit = Atomic(limit.milliseconds) }

    func shorten(to limit: Duration) {
        self.limit.store(min(self.limit.load(ordering: .relaxed), limit.milliseconds), ordering: .relaxed)
    }

    /// Milliseconds before each further try, as SQLite's own timeout has them (sqliteDefaultBusyCallback); the last one stays.
    private static let pauses: [Int64] = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100]

    /// Waits a little.
    ///
    /// - Parameter tries: how often it was waited for this lock already.
    /// - Returns: whether it is to be tried again.
    func waits(afterTries tries: Int) -> Bool {
        let (pauses, last) = (Self.pauses, Self.pauses.count - 1)
        let waited = pauses.prefix(tries).reduce(0, +) + Int64(max(0, tries - pauses.count)) * pauses[last]
        let pause = min(pauses[min(tries, last)], limit.load(ordering: .relaxed) - waited)
        guard pause > 0 else { return false }
        usleep(UInt32(pause) * 1000)
        return true
    }
}
