import Glibc
import Synchronization

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
