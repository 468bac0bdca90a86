import ArgumentParser
import Synchronization

/// How the program ends. Where several fit, the first in the order of the cases is taken.
enum ExitStatus: Int32, CaseIterable {
    case usage = 64
    /// A newer schema, or bad settings.
    case configuration = 78
    case corrupt = 65
    case permission = 77
    /// Input and output failed: disk full, I/O error.
    case inputOutput = 74
    /// Locked by another process.
    case locked = 75
    case unreadable = 66
    /// A source or the camera is unavailable, and something was left because of it.
    case unavailable = 69
    case unconfirmed = 4
    /// No ISBN in any photo, a number refused, a book or record that is not there.
    case nothing = 3
    case success = 0

    /// The one that counts when both happened.
    func and(_ other: ExitStatus) -> ExitStatus {
        Self.allCases.first { $0 == self || $0 == other } ?? self
    }
}

/// Collects what went wrong on the way; the most important one becomes the exit code.
final class ExitReport: Sendable {
    private let status = Mutex(ExitStatus.success)

    func note(_ other: ExitStatus) { status.withLock { $0 = $0.and(other) } }

    /// Ends the command with the exit code.
    func end() throws {
        let status = status.withLock { $0 }
        if status != .success { throw ExitCode(status.rawValue) }
    }
}

/// What a person is told when a command cannot go on: *what, where, what next*; and the exit code that says it to scripts.
struct Complaint: Error, CustomStringConvertible {
    let status: ExitStatus
    let description: String

    init(_ status: ExitStatus, _ description: String) {
        self.status = status
        self.description = description
    }
}
