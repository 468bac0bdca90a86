import Bookplate
import FoundationEssentials
import GRDB
import Glibc

/// What the backup of a day came to.
public struct DailyBackup: Sendable {
    /// The backup beside the library, then the second one where there was a place for it.
    public var made: [CopyReport] = []
    /// What went wrong with the second one: the first is there all the same.
    public var trouble: (any Error)?
}

extension LibraryFile {
    /// Makes the backup of the day, in UTC, when there is none: for a service's timer, and for a program that has changed something.
    /// Of several processes that come to it at once, one makes it.
    ///
    /// - Parameters:
    ///   - second: another folder for a second one, such as a memory stick's; left out when it is not there.
    ///   - progress: told the part done of each, 0 to 1; throwing ends it.
    /// - Returns: `nil` when the day has its backup, another process is at it, or the library is in memory.
    /// - Throws: ``LibraryError``; then the day has none, and the next to come tries again.
    public func backUpIfDue(
        at now: Date, copying second: String? = nil,
        progress: @escaping @Sendable (Double) throws -> Void = { _ in }
    ) async throws -> DailyBackup? {
        guard let own = folderBeside("backups"), let lock else { return nil }
        guard try await isBackupDue(at: now), try lock.attempt(.exclusive, .backup) else { return nil }
        defer { try? lock.release(.backup) }
        // Whoever had the lock may have made it just now.
        guard try await isBackupDue(at: now) else { return nil }
        var daily = DailyBackup()
        daily.made.append(try await backup(into: own, at: now, progress: progress))
        guard let second else { return daily }
        do {
            guard try fileFacts(second) != nil else { throw LibraryError.noBackupFolder(path: second) }
            daily.made.append(try await backup(into: second, at: now, progress: progress))
        } catch {
            daily.trouble = error
        }
        return daily
    }

    private func isBackupDue(at now: Date) async throws -> Bool {
        let done = try await read { db in try Chore.backup.lastDone(db) }
        // Another day, not only a later one: a clock that was once far ahead must not stop it for ever.
        return done != now.utcDayNumber
    }

    /// Records that the day has its backup. No change: there is nothing to take back.
    func recordBackup(at now: Date) async throws {
        try await write { db in try Chore.backup.record(db, at: now) }
    }
}
