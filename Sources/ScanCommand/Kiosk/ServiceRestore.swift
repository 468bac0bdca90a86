import Bookplate
import Foundation
import Kiosk
import Library
import Synchronization

/// Replaces the library of a running service with a backup. The service ends as it does at a signal, its library is
/// closed and replaced, and the service begins again in the same process. So no part of it can still show or write the
/// previous library, and browsers find the service at the same address.
final class ServiceRestore: Sendable {
    private struct State {
        var stop: (@Sendable () async -> Void)?
        var backup: KeptBackup?
        var outcome: RestoreOutcome?
        var ports: ListeningPorts?
        var isEnded = false
    }

    private let state = Mutex(State())

    /// The ports on which the service has listened so far; `nil` before it has begun.
    var ports: ListeningPorts? {
        get { state.withLock { $0.ports } }
        set { state.withLock { $0.ports = newValue } }
    }

    /// True if a restore was requested, after which the service begins again.
    var beginsAgain: Bool { state.withLock { $0.backup != nil && !$0.isEnded } }

    /// Notes that a signal ends the service, so that it does not begin again.
    func end() { state.withLock { $0.isEnded = true } }

    /// Offers the restore of a library's backups, and the result of the last restore, to the pages.
    func offer(_ library: LibraryFile, in maintenance: inout Maintenance) {
        maintenance.restored = state.withLock { state in
            state.backup = nil
            return state.outcome
        }
        guard let path = library.path else { return }
        maintenance.restore = { [self] backup in
            guard try !library.isOpenElsewhere() else { throw LibraryError.inUse(path: path) }
            _ = try await library.backup(into: LibraryFile.ownBackupFolder(of: path), as: .manual, at: Date())
            let stop = state.withLock { state in
                state.backup = backup
                return state.stop
            }
            // The service answers this request before it ends.
            Task { await stop?() }
        }
    }

    /// Sets the function that ends the service.
    func onRequest(_ stop: @escaping @Sendable () async -> Void) { state.withLock { $0.stop = stop } }

    /// Closes the library of the service that has ended, and replaces it with the backup that was requested. A failure
    /// is kept for the page; the library is then unchanged.
    func restore(over library: LibraryFile) async {
        guard let backup = state.withLock({ $0.backup }), let path = library.path else { return }
        var outcome = RestoreOutcome(backup: backup, at: Date())
        do {
            let identity = try await library.identity()
            try await OpenedLibraries.close(library)
            let report = try await onThread {
                try LibraryFile.restore(from: backup.path, to: path, keeping: identity, at: Date())
            }
            (outcome.books, outcome.isAccessClosed) = (report.books, report.isAccessClosed)
        } catch {
            outcome.error = error
        }
        outcome.at = Date()
        state.withLock { ($0.outcome, $0.stop) = (outcome, nil) }
    }

    /// Runs work that blocks for as long as a copy of the library takes, so that the messages to systemd go on.
    private func onThread<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Swift.Result(catching: work)) }
        }
    }
}
