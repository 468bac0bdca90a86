import Bookplate
import Dispatch
import Foundation
import GRDB
import Glibc
import Synchronization

extension LibraryFile: LibraryWatch {
    private static let pollInterval: DispatchTimeInterval = .milliseconds(200)
    /// The pause between an error and the next attempt.
    private static let retryInterval: DispatchTimeInterval = .seconds(1)

    /// Returns a stream that counts the changes to the library. It polls `PRAGMA data_version` on a separate
    /// connection, because this value changes with every commit of any other connection, including connections of this
    /// process. A library in memory never reports a change.
    ///
    /// The watch has a thread of its own: on the threads for tasks, so many short turns would keep every thread awake
    /// that any burst of work has started.
    public func changes(onError: @escaping @Sendable (any Error) -> Void) -> AsyncStream<Int> {
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self, bufferingPolicy: .bufferingNewest(1))
        guard let path else { return stream }
        let end = DispatchSemaphore(value: 0)
        continuation.onTermination = { _ in end.signal() }
        let thread = Thread { [watches] in
            var watcher = FileWatcher(path: path, connections: watches)
            var count = 0
            var isReported = false
            repeat {
                do {
                    if try watcher.hasChanged() {
                        count += 1
                        continuation.yield(count)
                    }
                    isReported = false
                } catch {
                    // An error is expected if the library closes at this moment.
                    if watches.isEnded || end.wait(timeout: .now()) == .success { break }
                    if !isReported { onError(LibraryError.translated(error, path: path)) }
                    isReported = true
                    watcher.close()
                }
            } while end.wait(timeout: .now() + (isReported ? Self.retryInterval : Self.pollInterval)) == .timedOut
            watcher.close()
            continuation.finish()
        }
        thread.name = "library watch"
        thread.start()
        return stream
    }
}

/// Polls one file for changes.
struct FileWatcher: Sendable {
    let path: String
    let connections: WatchConnections
    private var connection: DatabaseQueue?
    /// The file that the connection has open. Another file may have replaced it at the same path.
    private var identity: FileIdentity?
    /// The last value of `data_version`. Values can be compared only if they come from the same connection.
    private var version: Int?

    init(path: String, connections: WatchConnections) { (self.path, self.connections) = (path, connections) }

    /// Returns true if something was committed since the last call. Also returns true on the first call, and if the
    /// file was replaced, because then nothing is known about earlier commits.
    ///
    /// - Throws: an error of the file or of the database. After an error, call ``close()`` before the next attempt.
    mutating func hasChanged() throws -> Bool {
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
        let new = try Self.version(on: connection)
        defer { version = new }
        return new != version
    }

    /// Reads the version on the caller's thread. It takes microseconds, and would otherwise keep threads of the other
    /// connections awake.
    private static func version(on connection: DatabaseQueue) throws -> Int? {
        // A single statement does not need one of GRDB's transactions.
        try connection.unsafeRead { db in
            try Int.fetchOne(db.cachedStatement(sql: "PRAGMA data_version"))
        }
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

/// The connections that watch a library's file. They are closed before the other connections, because they cannot
/// write, and the last connection to close has to copy the write-ahead log into the file.
final class WatchConnections: Sendable {
    private struct State {
        var open: [DatabaseQueue] = []
        var isEnded = false
    }

    private let state = Mutex(State())

    var isEnded: Bool { state.withLock(\.isEnded) }

    /// Opens a connection. This and ``end()`` never run at the same time, so that no connection is half open while the
    /// library closes.
    ///
    /// - Throws: `CancellationError` if the library is closed; otherwise the error of the database.
    func open(_ path: String) throws -> DatabaseQueue {
        try state.withLock { state in
            if state.isEnded { throw CancellationError() }
            let connection = try DatabaseQueue(path: path, configuration: LibraryFile.configuration(readonly: true))
            state.open.append(connection)
            return connection
        }
    }

    func close(_ connection: DatabaseQueue) {
        state.withLock { state in
            state.open.removeAll { $0 === connection }
            // The connection has only read, so nothing is lost if closing it fails.
            try? connection.close()
        }
    }

    /// Closes all connections, and refuses to open further ones.
    func end() throws {
        try state.withLock { state in
            state.isEnded = true
            for connection in state.open { try connection.close() }
            state.open = []
        }
    }
}
