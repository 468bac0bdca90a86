import ArgumentParser
import Bookplate
import Foundation
import Hub
import Library
import Lookup
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
struct CommandError: Error, CustomStringConvertible {
    let status: ExitStatus
    let description: String

    init(_ status: ExitStatus, _ description: String) {
        self.status = status
        self.description = description
    }
}

extension CommandError {
    /// What a person reads of an error that a module threw, and the exit code.
    init(describing error: any Error) {
        self =
            switch error {
            case let error as CommandError: error
            case let error as LibraryError: CommandError(Self.status(of: error), error.description)
            case let refusal as UndoRefusal:
                CommandError(.nothing, refusal.description + "." + Self.wayOut(of: refusal))
            case let refusal as ConfirmRefusal: CommandError(.nothing, refusal.description + ".")
            case let refusal as TextRefusal: CommandError(.usage, refusal.description + ".")
            case let refusal as InputRefusal: CommandError(.usage, refusal.description + ".")
            case let refusal as LabelRefusal:
                CommandError(.nothing, refusal.description + "." + (Self.wayOut(of: refusal) ?? ""))
            case let refusal as InTrash: CommandError(.nothing, refusal.description + ": scan library restore.")
            case let refusal as AnnotationRefusal:
                CommandError(.nothing, refusal.description + "." + Self.wayOut(of: refusal))
            case let refusal as ReadingRefusal:
                CommandError(Self.status(of: refusal), refusal.description + "." + (Self.wayOut(of: refusal) ?? ""))
            case SessionError.persistenceFailed(let cause):
                CommandError(CommandError(describing: cause).status, SessionError.persistenceFailed(cause).description)
            case let error as SessionError:
                // The command that helps says all that the suggestion does.
                CommandError(
                    .nothing, Self.wayOut(of: error).map { (error.errorDescription ?? "") + $0 } ?? error.description)
            case let error as LookupConfigurationError: CommandError(.configuration, error.description + ".")
            case let error as OfflineIndexError: CommandError(Self.status(of: error), error.description + ".")
            case let trouble as HubError: CommandError(Self.status(of: trouble), trouble.description + ".")
            case let error as PairedHubsError: CommandError(.configuration, error.description + ".")
            case let refusal as StationRefusal:
                CommandError(.nothing, refusal.description + ". scan hub stations lists them.")
            default: CommandError(.inputOutput, "\(error)")
            }
    }

    private static func status(of error: LibraryError) -> ExitStatus {
        switch error.category {
        case .configuration: .configuration
        case .corrupt: .corrupt
        case .permission: .permission
        case .inputOutput, .fault: .inputOutput
        case .locked: .locked
        case .refused: .nothing
        }
    }

    /// A value that no book has is wrong whatever the library holds; the rest is refused for what it holds.
    private static func status(of refusal: ReadingRefusal) -> ExitStatus {
        switch refusal {
        case .negativePage, .hugePage, .badPercent: .usage
        default: .nothing
        }
    }

    private static func wayOut(of refusal: UndoRefusal) -> String {
        switch refusal {
        case .noSuchChange: ""
        case .alreadyUndone, .changedSince(_, nil):
            " scan undo --list shows the changes, and scan undo ID takes another one back."
        case .changedSince(_, let later?):
            " That is scan undo \(later.id.rawValue.suffix(8)); scan undo --list shows the others."
        }
    }

    /// The command that helps.
    private static func wayOut(of refusal: ReadingRefusal) -> String? {
        switch refusal {
        case .closed: " scan reading start begins again, scan undo takes the last change back."
        case .wrongEnd(.open): " That is scan reading finish --on DAY, scan reading drop --on DAY."
        case .noReading: " scan reading start starts it."
        case .noSuchReading: " scan reading history shows them."
        case .lastReading: " That is scan reading reset."
        case .sessionRunning: " That is scan session stop, scan session delete."
        default: nil
        }
    }

    private static func wayOut(of refusal: LabelRefusal) -> String? {
        switch refusal {
        case .none(let what, _, let near): near.isEmpty ? " scan \(what) list shows what there is." : nil
        case .taken(let what, let name, let other):
            " That is scan \(what) merge \"\(name.oneLine)\" --into \"\(other.oneLine)\"."
        case .ambiguous, .alreadyOne: nil
        }
    }

    private static func wayOut(of refusal: AnnotationRefusal) -> String {
        switch refusal {
        case .noSuchNote: " scan note list shows them."
        case .noSuchQuote: " scan quote list shows them."
        }
    }

    private static func wayOut(of error: SessionError) -> String? {
        switch error {
        case .alreadyActive: " scan session status shows it, scan session stop ends it."
        case .notActive: " scan session start BOOK starts one."
        case .clockWentBackwards: " Check the date and time of this device; --end TIME says when the session ended."
        case .stillRunning: " scan session stop ends it."
        case .noSuchSession: " scan session list shows them."
        default: nil
        }
    }

    private static func status(of trouble: HubError) -> ExitStatus {
        switch trouble {
        case .badAddress: .usage
        case .away, .notAHub, .throttled, .turnedAway, .failed: .unavailable
        case .revoked, .wrongCode: .permission
        case .refused: .nothing
        }
    }

    private static func status(of error: OfflineIndexError) -> ExitStatus {
        switch error {
        case .missing, .unreadable, .noEditions, .brokenDump: .unreadable
        case .foreign, .damaged: .corrupt
        case .newer: .configuration
        case .cannotWrite: .inputOutput
        case .occupied, .dumpInTheWay: .usage
        case .alreadyBuilding: .locked
        case .cancelled: .inputOutput
        }
    }
}
