import Bookplate
import CSQLite
import Dispatch
import SystemCalls
import FoundationEssentials
import GRDB
import Glibc
import Synchronization
import SystemPackage

/// An open library: one SQLite file, with its covers and backups beside it. Other processes can have the same file
/// open.
///
/// Implements the domain's ports; each entity has a source file of its own. A change is on the disk when the method
/// that makes it returns.
public final class LibraryFile: Sendable {
    /// The path of the file, with links resolved; `nil` for a library in memory.
    public let path: String?
    /// The name of the device, which is stored with captures and changes.
    public let device: String
    /// The id of this instance, which distinguishes its leases from those of other processes.
    let holder: String
    let database: any DatabaseWriter
    /// The reader whose status, readings and opinions this instance reads and writes.
    let readerAccess: ReaderAccess
    let clock: @Sendable () -> Date
    /// The reader's time zone, which decides to which day a time belongs.
    let zone: TimeZone
    let lock: LibraryLock?
    let watches: WatchConnections
    private let shared: SharedState
    private let lockTimeout: LockTimeout
    let codeChecks: CodeCheckQueue
    let statsBlocks: StatsBlocks
    let answers: KeptAnswers
    let lastUse: LastUseRecorder
    /// The instance that has opened the file, which stays open as long as an instance for another reader needs it;
    /// `nil` for that instance itself.
    private let opener: LibraryFile?

    /// The state that the instances for all readers of one open library share.
    private final class SharedState: Sendable {
        let closeGuard = CloseGuard()
        let report = Mutex<@Sendable (String) -> Void>({ _ in })
        let hasChanged = Atomic(false)
    }
    /// True if the library can only be read, because its medium is mounted read-only or this user may not write it.
    /// Every write throws ``LibraryError/permission(path:errno:)``.
    public var isReadOnly: Bool { readOnlyReason != nil }
    private let readOnlyReason: Errno?
    /// True if opening has created this library.
    public let isNew: Bool
    /// The backup that opening has made before it has migrated the library; `nil` if it has not migrated a library that
    /// contained anything.
    public let updateBackup: CopyReport?
    /// True if this instance has changed a book, for example by an undo or by moving the book to the trash. In this
    /// case, the day's backup is due.
    public var hasChanges: Bool { shared.hasChanged.load(ordering: .relaxed) }

    /// Notes that this process has changed a book.
    func noteChange() { shared.hasChanged.store(true, ordering: .relaxed) }

    init(
        path: String?, device: String, database: any DatabaseWriter, lock: LibraryLock?,
        isNew: Bool = false,
        updateBackup: CopyReport? = nil, readOnlyReason: Errno? = nil,
        lockTimeout: LockTimeout = LockTimeout(.seconds(5)), clock: @escaping @Sendable () -> Date, zone: TimeZone
    ) {
        self.path = path
        self.device = device
        self.database = database
        readerAccess = ReaderAccess()
        self.lock = lock
        self.isNew = isNew
        self.updateBackup = updateBackup
        self.readOnlyReason = readOnlyReason
        self.lockTimeout = lockTimeout
        self.clock = clock
        self.zone = zone
        (shared, opener) = (SharedState(), nil)
        (holder, watches, codeChecks) = (UUID().uuidString.lowercased(), WatchConnections(), CodeCheckQueue())
        answers = KeptAnswers(path: readOnlyReason == nil ? path : nil, watches)
        (statsBlocks, lastUse) = (StatsBlocks(), LastUseRecorder())
    }

    /// Makes an instance of the same open library for another reader.
    private init(_ other: LibraryFile, _ access: ReaderAccess) {
        (path, device, database, lock) = (other.path, other.device, other.database, other.lock)
        (isNew, updateBackup, readOnlyReason) = (other.isNew, other.updateBackup, other.readOnlyReason)
        (lockTimeout, clock, zone) = (other.lockTimeout, other.clock, other.zone)
        (shared, opener, readerAccess) = (other.shared, other.opener ?? other, access)
        (holder, watches, codeChecks) = (other.holder, other.watches, other.codeChecks)
        (statsBlocks, answers, lastUse) = (other.statsBlocks, other.answers, other.lastUse)
    }

    /// Returns an instance of this open library that reads and writes what is another reader's own.
    ///
    /// - Parameters:
    ///   - reader: the reader; `nil` for the first one.
    ///   - holder: the sign-in or terminal in which a reader with a PIN may be unlocked.
    ///   - isGuest: true for somebody who sees no private notes and quotes.
    ///   - now: the time at which the reader must be unlocked.
    /// - Throws: ``ReaderRefusal/noSuchReader`` if there is no such reader outside the trash, or ``LibraryError``.
    public func reading(
        as reader: ID<Reader>?, holder: String?, isGuest: Bool, at now: Date
    ) async throws -> LibraryFile {
        var access = ReaderAccess(holder: holder, isGuest: isGuest, now: now)
        if let reader {
            let row = try await read { db in
                try db.value(Int64.self, "SELECT id FROM reader WHERE uuid = ? AND deleted IS NULL", [reader.rawValue])
            }
            guard let row else { throw ReaderRefusal.noSuchReader }
            access.reader = row
        }
        return LibraryFile(self, access)
    }

    /// Returns an instance of this open library with another access.
    func reading(with access: ReaderAccess) -> LibraryFile { LibraryFile(self, access) }

    /// Returns an instance for the reader with a name. Case does not matter. Blocks for a read.
    ///
    /// - Parameter holder: the terminal in which a reader with a PIN may be unlocked.
    /// - Throws: ``ReaderRefusal/unknown(name:known:)``, or ``LibraryError``.
    public func reading(asNamed name: String?, holder: String?) throws -> LibraryFile {
        guard let name else { return LibraryFile(self, ReaderAccess(holder: holder)) }
        let rows: [(id: Int64, name: String)]
        do {
            rows = try database.read { db in
                try db.rows(
                    "SELECT id, coalesce(displayName, '') AS name FROM reader WHERE deleted IS NULL ORDER BY id"
                )
                .map { ($0["id"], $0["name"]) }
            }
        } catch {
            throw LibraryError.translated(error, path: path ?? ":memory:")
        }
        guard let found = rows.first(where: { $0.name.cleanedLine.caseFolded == name.cleanedLine.caseFolded }) else {
            throw ReaderRefusal.unknown(name: name, known: rows.map(\.name).filter { !$0.isEmpty })
        }
        return LibraryFile(self, ReaderAccess(reader: found.id, holder: holder))
    }

    /// Opens the library and migrates it to this program's schema. If the file is missing or empty, creates the library
    /// and its folders. Blocks for a few milliseconds, or longer if other processes open the library at the same time.
    ///
    /// Before a library of an earlier version is migrated, a checked backup is made in its folder `backups`; see
    /// ``updateBackup``. A file that is damaged, or that a newer Bookplate or another program has written or altered,
    /// is left as it is, byte for byte. A library on a medium that is mounted read-only, or without write permission,
    /// can be read; see ``isReadOnly``.
    ///
    /// - Parameters:
    ///   - device: the device's name in captures and changes; the host name by default.
    ///   - lockTimeout: the maximum time to wait for another process's lock when the library is opened or written to.
    ///   - clock: the wall clock, which gives the time of events for which the caller gives no time.
    ///   - zone: the reader's time zone, which decides on what day a reading is started or finished; the machine's time
    ///     zone by default.
    /// - Throws: ``LibraryError``.
    public static func open(
        at path: String, device: String? = nil, lockTimeout: Duration = .seconds(5),
        clock: @escaping @Sendable () -> Date = { Date() }, zone: TimeZone = .current
    ) throws -> LibraryFile {
        let location = LibraryLocation(path)
        let path = location.path
        do {
            if let reason = try location.reasonForReadingOnly() {
                return LibraryFile(
                    path: path, device: device ?? hostName(), database: try openReadOnly(location, reason), lock: nil,
                    readOnlyReason: reason, clock: clock, zone: zone)
            }
            let lock = try location.prepare()
            try lock.acquire(.exclusive, .opening, within: lockTimeout, library: path)
            let isAlone = try lock.attempt(.exclusive, .inUse)
            let state = try location.inspect(
                isAlone: isAlone, endedUncleanly: isAlone && location.hasLeftoverLog())
            var updateBackup: CopyReport?
            if case .existing(let version) = state, (1..<Schema.version).contains(version) {
                updateBackup = try location.backUpBeforeUpdate(isAlone: isAlone, at: clock())
            }
            if state == .new { try createFile(at: path, mode: location.mode) }
            let timeout = LockTimeout(lockTimeout)
            let hasLog = try state != .new && FileHeader(of: path).hasLog
            let pool = try openPool(at: path, lockTimeout: timeout)
            do {
                // SQLite has begun the log in a transaction with a rollback journal. If SQLite cannot sync the removal
                // of the journal, it goes on nevertheless (os_unix.c, unixDelete), and after a power cut it would roll
                // the file back to a state without the log.
                if !hasLog { try syncFolder(of: path) }
                try Schema.migrate(pool)
                try lock.acquire(.shared, .inUse, within: lockTimeout, library: path)
                try lock.release(.opening)
            } catch {
                closeAll(of: pool)
                throw error
            }
            return LibraryFile(
                path: path, device: device ?? hostName(), database: pool, lock: lock,
                isNew: state == .new,
                updateBackup: updateBackup, lockTimeout: timeout, clock: clock, zone: zone)
        } catch {
            throw LibraryError.translated(error, path: path)
        }
    }

    /// Creates a library in memory, for tests and dry runs. It has no covers and no backups.
    public static func inMemory(
        device: String = "memory", clock: @escaping @Sendable () -> Date = { Date() }, zone: TimeZone = .current
    ) throws -> LibraryFile {
        let queue = try DatabaseQueue(configuration: configuration())
        try Schema.migrate(queue)
        return LibraryFile(path: nil, device: device, database: queue, lock: nil, clock: clock, zone: zone)
    }

    /// Frees the memory of SQLite's caches, and closes the connections for reading, as soon as accesses in progress
    /// have ended. The next read opens a connection again, which takes a millisecond.
    public func releaseMemory() {
        (database as? DatabasePool)?.releaseMemoryEventually()
    }

    /// Waits for the reads in progress and refuses further ones, copies the write-ahead log into the file, and closes
    /// the file. A process that ends without calling this loses nothing, but then the next opening checks the whole
    /// file.
    public func close() async throws {
        await shared.closeGuard.close()
        // Readers close first, because SQLite copies the log into the file when the last connection closes, and a
        // reader cannot write.
        try watches.end()
        (database as? DatabasePool)?.releaseMemory()
        try database.close()
        if let path, !isReadOnly { try foldLog(of: path) }
        try lock?.release(.inUse)
    }

    /// Copies the write-ahead log into the file if the pool has left it behind. GRDB closes a pool's writer before its
    /// readers (its DatabasePool.close refers to groue/GRDB.swift#739), and if a reader closes last, the log stays.
    /// Then another connection, which may write, has to copy it.
    private func foldLog(of path: String) throws {
        guard try fileFacts(path + "-wal") != nil else { return }
        let last = try DatabaseQueue(path: path, configuration: Self.configuration())
        try last.read { db in _ = try Int.fetchOne(db, sql: "PRAGMA user_version") }
        try last.close()
    }

    /// Sets the function that logs errors that are not thrown, because the request itself was completed. Such an error
    /// occurs if the time at which a sign-in or a station was last used cannot be stored, or if the picture of a
    /// deleted book cannot be removed.
    public func onError(_ log: @escaping @Sendable (String) -> Void) { shared.report.withLock { $0 = log } }

    /// Logs an error that is not thrown to the caller of a method.
    func log(_ message: String) { shared.report.withLock(\.self)(message) }

    /// Shortens the time for which writes wait for another process's lock. This includes a write that is already
    /// waiting. A service calls this when it is about to end.
    public func shortenLockTimeout(to limit: Duration) { lockTimeout.shorten(to: limit) }

    deinit { if opener == nil { Self.closeAll(of: database) } }

    private static func closeAll(of database: any DatabaseWriter) {
        (database as? DatabasePool)?.releaseMemory()
        // Nothing is lost if closing fails, because the next opening reads the log.
        try? database.close()
    }

    /// Marks an empty file as a library before anything else is written. If the process is killed at any moment, it
    /// leaves either an empty file or one that the next opening recognises as a library.
    private static func createFile(at path: String, mode: mode_t) throws {
        // SQLite gives its side files the mode of the main file.
        try openShared(path, mode: mode).close()
        try syncFolder(of: path)
        let queue = try DatabaseQueue(path: path, configuration: configuration())
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA application_id = \(Schema.applicationID)")
        }
        try queue.close()
    }

    /// Opens a library that this process cannot change.
    ///
    /// If SQLite's side files are there, another process may have the library open, and they are used without changing
    /// them. Otherwise nobody has it open, and it is read without side files, which SQLite could not create, or which
    /// would then belong to the wrong user. Sources: https://www.sqlite.org/wal.html#readonly and
    /// https://www.sqlite.org/uri.html#uriimmutable
    ///
    /// - Throws: ``LibraryError/permission(path:errno:)`` if there is only a log, which cannot be read without its
    ///   index, or if the schema is older, because the library cannot be migrated.
    private static func openReadOnly(_ location: LibraryLocation, _ reason: Errno) throws -> DatabaseQueue {
        let path = location.path
        if reason != .readOnlyFileSystem, let network = try FileSystemKind.network(at: folder(of: path)) {
            throw LibraryError.networkFileSystem(path: path, type: network)
        }
        let header = try FileHeader(of: path)
        try header.check(path: path)
        let hasSideFiles = try fileFacts(path + "-wal") != nil && fileFacts(path + "-shm") != nil
        guard header.userVersion == Schema.version, try hasSideFiles || !location.hasLeftoverLog() else {
            throw LibraryError(errno: reason.rawValue, path: path)
        }
        let queue =
            try hasSideFiles
            ? DatabaseQueue(path: path, configuration: configuration(readonly: true)) : immutableQueue(at: path)
        _ = try queue.read { db in
            try Schema.checkVersion(db, path: path)
            return try SchemaCheck.check(db, path: path)
        }
        return queue
    }

    /// Opens a file for reading without locks and side files, as if no process could change it.
    static func immutableQueue(at path: String) throws -> DatabaseQueue {
        let name = path.replacing("%", with: "%25").replacing("?", with: "%3F").replacing("#", with: "%23")
        return try DatabaseQueue(path: "file:\(name)?immutable=1", configuration: configuration(readonly: true))
    }

    /// - Throws: ``LibraryError/permission(path:errno:)`` if the library can only be read.
    public func checkWritable() throws(LibraryError) {
        if let readOnlyReason { throw LibraryError(errno: readOnlyReason.rawValue, path: path ?? ":memory:") }
    }

    private static func openPool(at path: String, lockTimeout: LockTimeout) throws -> DatabasePool {
        let configuration = configuration(lockTimeout: lockTimeout)
        let first = try beginLog(of: path, configuration)
        let pool = try DatabasePool(path: path, configuration: configuration)
        try first?.close()
        try pool.writeWithoutTransaction { db in
            // GRDB sets NORMAL, which can lose the last commits in a power cut. Only the connection that writes needs
            // FULL.
            try db.execute(sql: "PRAGMA synchronous = FULL")
            // A log that has grown during a long read is cut to this size, once all of it is in the file. Usually,
            // SQLite starts at the beginning of the log again after 1,000 pages, which are 4 MiB.
            try db.execute(sql: "PRAGMA journal_size_limit = \(4 << 20)")
        }
        return pool
    }

    /// Makes an empty write-ahead log 32 bytes long. If the log is empty, GRDB's pool writes to the library when it is
    /// opened (Database.setUpWALMode; groue/GRDB.swift#102), and so waits for the write of another process, even if
    /// nothing is written later. SQLite takes a log of at most 32 bytes, the length of its header, for an empty one
    /// (wal.c, walIndexRecover).
    ///
    /// - Returns: a connection that has to stay open until the pool is open, because the last connection to close
    ///   removes the log; `nil` if the log has content.
    private static func beginLog(of path: String, _ configuration: Configuration) throws -> DatabaseQueue? {
        guard try fileFacts(path + "-wal")?.st_size ?? 0 == 0 else { return nil }
        let first = try DatabaseQueue(path: path, configuration: configuration)
        // At the first read, SQLite creates the log, with the owner and the mode of the library.
        let read = { (db: Database) in _ = try Int.fetchOne(db, sql: "PRAGMA user_version") }
        try first.read(read)
        if try fileFacts(path + "-wal") == nil {
            // The library has a rollback journal until now. GRDB's pool would not notice that the switch to the log
            // fails when it is committed, because SQLite reports this only after the row with the new mode, and GRDB
            // reads no further. Without the log, SQLite would not sync the end of each commit.
            try first.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA journal_mode = WAL") }
            try first.read(read)
        }
        guard try fileFacts(path + "-wal") != nil else { return first }
        do {
            // If another process has just written to the log, the bytes are appended, and its next commit overwrites
            // them.
            let log = try FileDescriptor.open(path + "-wal", .writeOnly, options: [.append, .closeOnExec])
            _ = try log.closeAfter { try log.writeAll([UInt8](repeating: 0, count: LibraryLocation.logHeaderSize)) }
        } catch {
            throw LibraryError(system: error, path: path + "-wal")
        }
        return first
    }

    /// Stops SQLite's count of its memory, once in a process. If another database was opened before, the count goes on,
    /// and threads wait for each other longer.
    private static let stopsCountingMemory: Void = csqlite_stop_counting_memory()

    /// Returns the configuration for a connection to a library.
    static func configuration(
        readonly: Bool = false, lockTimeout: LockTimeout = LockTimeout(.seconds(5))
    ) -> Configuration {
        stopsCountingMemory
        var configuration = Configuration()
        configuration.readonly = readonly
        configuration.foreignKeysEnabled = true
        configuration.busyMode = .callback { lockTimeout.waitForRetry(after: $0) }
        configuration.label = "bookplate.library"
        configuration.prepareDatabase { db in
            CurrentReader.prepare(db)
            TextPattern.prepare(db)
            try db.execute(sql: "PRAGMA cache_size = -\(ConnectionTuning.standard.cache)")
        }
        // All connections share the threads of this queue: one per processor, and more only while accesses wait for the
        // disk. Queues without a target start a thread whenever all others are busy, and those threads stay.
        configuration.targetQueue = .global(qos: .userInitiated)
        // Each reader has a cache and two descriptors. Pages are read in milliseconds, so that even two long reads
        // leave enough room for them.
        configuration.maximumReaderCount = 3
        return configuration
    }

    static func hostName() -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "unknown" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension LibraryFile {
    /// Runs `body`, which sees one consistent state of the library.
    func read<Result: Sendable>(
        _ body: @Sendable @escaping (Database) throws -> Result
    ) async throws -> Result {
        do {
            return try await shared.closeGuard.perform { [readerAccess, clock] in
                try await database.read { db in
                    try readerAccess.begin(db, at: clock())
                    return try body(db)
                }
            }
        } catch {
            throw LibraryError.translated(error, path: path ?? ":memory:")
        }
    }

    /// Runs `body` in one `BEGIN IMMEDIATE` transaction, which is on the disk when this function returns. The search
    /// index is updated in the same transaction.
    func write<Result: Sendable>(
        _ body: @Sendable @escaping (Database) throws -> Result
    ) async throws -> Result {
        do {
            try checkWritable()
            try readerAccess.checkCanWrite()
            return try await database.write { [path, readerAccess, clock] db in
                // A newer version of the program may have migrated the file while this program has it open.
                try Schema.checkVersion(db, path: path ?? ":memory:")
                try readerAccess.begin(db, at: clock())
                let result = try body(db)
                try SearchIndex.update(db)
                return result
            }
        } catch {
            throw LibraryError.translated(error, path: path ?? ":memory:")
        }
    }

    /// Returns the path of a folder beside the library; `nil` for a library in memory.
    func folderBeside(_ name: String) -> String? { path.map { folder(of: $0) + "/" + name } }
}

/// Delays closing the library until its reads have finished. GRDB's pool opens connections on demand, so a read that
/// starts while the library closes would leave a write-ahead log behind.
final class CloseGuard: Sendable {
    private let isClosed = Mutex(false)
    private let reads = DispatchGroup()

    /// Runs a read of the library, unless the library is closed.
    ///
    /// - Throws: `CancellationError` if the library is closed; otherwise the error that `read` throws.
    func perform<Result>(_ read: () async throws -> Result) async throws -> Result {
        try isClosed.withLock { isClosed in
            if isClosed { throw CancellationError() }
            reads.enter()
        }
        defer { reads.leave() }
        return try await read()
    }

    /// Refuses further reads, and waits for the reads in progress. It blocks no thread, because a read needs one of the
    /// threads for tasks to end, and there is only one for each processor.
    func close() async {
        isClosed.withLock { $0 = true }
        await withCheckedContinuation { continuation in
            reads.notify(queue: .global()) { continuation.resume() }
        }
    }
}

/// The maximum time for which SQLite waits for another connection's lock. This replaces SQLite's own timeout, which
/// cannot be shortened during a wait.
final class LockTimeout: Sendable {
    /// The maximum time to wait, in milliseconds.
    private let limit: Atomic<Int64>

    init(_ limit: Duration) { self.limit = Atomic(limit.milliseconds) }

    func shorten(to limit: Duration) {
        self.limit.store(min(self.limit.load(ordering: .relaxed), limit.milliseconds), ordering: .relaxed)
    }

    /// The pauses before each retry, in milliseconds, as in SQLite's own timeout (sqliteDefaultBusyCallback). The last
    /// pause is repeated.
    private static let pauses: [Int64] = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100]

    /// Sleeps before the next attempt to get a lock, because SQLite reports no release of a lock.
    ///
    /// - Parameter tries: the number of earlier waits for this lock.
    /// - Returns: false if the time is up.
    func waitForRetry(after tries: Int) -> Bool {
        let (pauses, last) = (Self.pauses, Self.pauses.count - 1)
        let waited = pauses.prefix(tries).reduce(0, +) + Int64(max(0, tries - pauses.count)) * pauses[last]
        let pause = min(pauses[min(tries, last)], limit.load(ordering: .relaxed) - waited)
        guard pause > 0 else { return false }
        usleep(UInt32(pause) * 1000)
        return true
    }
}
