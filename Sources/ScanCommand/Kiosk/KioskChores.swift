import Foundation
import Library
import Logging
import Synchronization

/// What a service does for its library besides: the backup of the day, and a look for damage.
struct KioskChores: Sendable {
    let library: LibraryFile
    let wiring: Wiring
    let logger: Logger

    /// The first round waits until the service has settled.
    private static let firstAfter: Duration = .seconds(60)
    private static let rounds: Duration = .seconds(3600)

    /// Until the task is cancelled; a backup under way is given up then, and the next to come makes it.
    func run() async {
        var checked: Date?
        var pause = Self.firstAfter
        while true {
            do { try await Task.sleep(for: pause) } catch { return }
            pause = Self.rounds
            await backUp()
            if checked.map({ -$0.timeIntervalSinceNow >= 86_400 }) ?? true, await check() { checked = Date() }
        }
    }

    private func backUp() async {
        let isOver = SharedValue(false)
        do {
            let daily = try await withTaskCancellationHandler {
                try await library.backUpIfDue(at: Date(), copying: wiring.settings[.backupFolder]) { _ in
                    if isOver.value { throw CancellationError() }
                }
            } onCancel: {
                isOver.withLock { $0 = true }
            }
            for made in daily?.made ?? [] { logger.notice("backup: \(made.path) books=\(made.books)") }
            if let trouble = daily?.trouble { logger.error("backup: the second one was not made: \(trouble)") }
        } catch {
            if !Task.isCancelled { logger.error("backup: not made, tried again in an hour: \(error)") }
        }
    }

    /// - Returns: whether it was looked at.
    private func check() async -> Bool {
        do {
            try await library.check()
            return true
        } catch {
            if !Task.isCancelled { logger.error("check: \(error)") }
            return false
        }
    }
}
