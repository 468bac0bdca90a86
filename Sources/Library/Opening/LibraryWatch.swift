import Bookplate
import GRDB
import Glibc
import Synchronization

extension LibraryFile: LibraryWatch {
    /// How often the file's counter is looked at.
    private static let glance: Duration = .milliseconds(200)
    /// Between two tries to look at a file that cannot be.
    private static let retry: Duration = .seconds(1)

    /// Looks at `PRAGMA data_version` on a connection of its own, which counts what all others commit, in this process too. A library
    /// in memory never tells.
    public func changes(onError: @escaping @Sendable (any Error) -> Void) -> AsyncStream<Int> {
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self, bufferingPolicy: .bufferingNewest(1))
        guard let path else { return stream }
        let task = Task { [watches] in
            var watcher = FileWatcher(path: path, connections: watches)
            var count = 0
            var isTold = false
            while !Task.isCancelled {
                do {
                    if try await watcher.hasChanged() {
                        count += 1
                        continuation.yield(count)
                    }
                    isTold = false
                } catch {
                    if Task.isCancelled { break }
                    if !isTold { onError(LibraryError.translated(error, path: path)) }
                    isTold = true
                    watcher.close()
                }
                do { try await Task.sleep(for: isTold ? Self.retry : Self.glance) } catch { break }
            }
            watcher.close()
            continuation.finish()
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }
}

/// Looks at one file for changes, over and over.
private struct FileWatcher {
    let path: String
    let connections: WatchConnections
    private var connection: DatabaseQueue?
    /// The file that the connection is to: another one may be put in its place.
    private var identity: FileIdentity?
    /// What the counter said last; it counts anew with every connection.
    private var version: Int?

    init(path: String, connections: WatchConnections) { (self.path, self.connections) = (path, connections) }

    /// Whether something was committed since the last time. `true` the first time and whenever another file is there: what happened
    /// before, nobody knows.
    ///
    /// - Throws: the file's or the database's error. ``close()`` before the next look.
    mutating func hasChanged() async throws -> Bool {
        guard let facts = try fileFacts(path) else { throw LibraryError(errno: ENOENT, path: path) }
        let now = FileIdentity(device: UInt64(facts.st_dev), inode: UInt64(facts.st_ino))
        if now != identity { close() }
        let connection: DatabaseQueue
        if let known = self.connection {
            connection = known
        } else {
            connection = try connections.open(path)
            (self.connection, identity) = (connection, now)
        }
        // Without a transaction of GRDB's around it: SQLite takes its own, and one statement is all there is to it.
        let new = try await connection.unsafeRead { db in
            try Int.fetchOne(db.cachedStatement(sql: "PRAGMA data_version"))
        }
        defer { version = new }
        return new != version
    }

    mutating func close() {
        if let connection { connections.close(connection) }
        (connection, identity, version) = (nil, nil, nil)
    }
}

private struct FileIdentity: Equatable {
    var device: UInt64
    var inode: UInt64
}

/// The connections that watch a library's file. They only read, and the last of all connections folds the log in: so they go first.
final class WatchConnections: Sendable {
    private struct State {
        var open: [DatabaseQueue] = []
        var isOver = false
    }

    private let state = Mutex(State())

    /// One at a time with ``end()``: none is half open while the library closes.
    ///
    /// - Throws: `CancellationError` when the library is closed, else the database's error.
    func open(_ path: String) throws -> DatabaseQueue {
        try state.withLock { state in
            if state.isOver { throw CancellationError() }
            let connection = try DatabaseQueue(path: path, configuration: LibraryFile.configuration(readonly: true))
            state.open.append(connection)
            return connection
        }
    }

    func close(_ connection: DatabaseQueue) {
        state.withLock { state in
            state.open.removeAll { $0 === connection }
            // It has only read; what cannot be closed goes with its last reference.
            try? connection.close()
        }
    }

    /// Closes them; no other is opened.
    func end() throws {
        try state.withLock { state in
            state.isOver = true
            for connection in state.open { try connection.close() }
            state.open = []
        }
    }
}
