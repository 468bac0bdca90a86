import ArgumentParser
import Bookplate
import Foundation
import Hub
import Library
import Lookup
import Synchronization

/// The exit status of the program. If several apply, the first in the order of the cases wins.
enum ExitStatus: Int32, CaseIterable {
    case usage = 64
    /// A newer schema, or invalid settings.
    case configuration = 78
    case corrupt = 65
    case permission = 77
    /// An I/O error, or a full disk.
    case inputOutput = 74
    /// Another process keeps the library locked.
    case locked = 75
    case unreadable = 66
    /// A source or the camera is unavailable, and something was left undone because of it.
    case unavailable = 69
    case unconfirmed = 4
    /// No ISBN in any photo, an invalid number, or a book or record that does not exist.
    case nothing = 3
    case success = 0

    /// Returns the status that wins when both apply.
    func and(_ other: ExitStatus) -> ExitStatus {
        Self.allCases.first { $0 == self || $0 == other } ?? self
    }
}

/// Collects the statuses of a run; the most important one becomes the exit code.
final class ExitReport: Sendable {
    private let status = Mutex(ExitStatus.success)

    func note(_ other: ExitStatus) { status.withLock { $0 = $0.and(other) } }

    /// Ends the command with the exit code.
    func end() throws {
        let status = status.withLock { $0 }
        if status != .success { throw ExitCode(status.rawValue) }
    }
}

/// The reason why a command cannot go on, as a message (*what, where, what next*) and an exit status.
struct CommandError: Error, CustomStringConvertible {
    let status: ExitStatus
    let description: String

    init(_ status: ExitStatus, _ description: String) {
        self.status = status
        self.description = description
    }
}

/// Turns the modules' errors into messages and exit statuses.
extension CommandError {
    init(describing error: any Error) {
        self =
            switch error {
            case let error as CommandError: error
            case let error as LibraryError: Self(Self.status(of: error), error.description)
            case let refusal as UndoRefusal: Self(.nothing, refusal.description + "." + Self.advice(on: refusal))
            case let refusal as ConfirmRefusal: Self(.nothing, refusal.description + ".")
            case let refusal as TextRefusal: Self(.usage, refusal.description + ".")
            case let refusal as InputRefusal: Self(.usage, refusal.description + ".")
            case let refusal as LabelRefusal:
                Self(.nothing, refusal.description + "." + (Self.advice(on: refusal) ?? ""))
            case let refusal as InTrashRefusal: Self(.nothing, refusal.description + ": scan library restore.")
            case let refusal as AnnotationRefusal:
                Self(.nothing, refusal.description + "." + Self.advice(on: refusal))
            case let refusal as ReadingRefusal:
                Self(Self.status(of: refusal), refusal.description + "." + (Self.advice(on: refusal) ?? ""))
            case SessionError.persistenceFailed(let cause):
                Self(Self(describing: cause).status, SessionError.persistenceFailed(cause).description)
            case let error as SessionError:
                // The command named here replaces the error's own suggestion.
                Self(
                    .nothing, Self.advice(on: error).map { (error.errorDescription ?? "") + $0 } ?? error.description)
            case let error as LookupConfigurationError: Self(.configuration, error.description + ".")
            case let error as OfflineIndexError: Self(Self.status(of: error), error.description + ".")
            case let error as HubError: Self(Self.status(of: error), error.description + ".")
            case let error as PairedHubsError: Self(.configuration, error.description + ".")
            case let refusal as StationRefusal:
                Self(.nothing, refusal.description + ". scan hub stations lists them.")
            default: Self(.inputOutput, "\(error)")
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

    /// A value that no book can have is a usage error; the other refusals depend on what the library holds.
    private static func status(of refusal: ReadingRefusal) -> ExitStatus {
        switch refusal {
        case .negativePage, .hugePage, .badPercent: .usage
        default: .nothing
        }
    }

    private static func advice(on refusal: UndoRefusal) -> String {
        switch refusal {
        case .noSuchChange: ""
        case .alreadyUndone, .changedSince(_, nil):
            " scan undo --list shows the changes; scan undo ID takes another one back."
        case .changedSince(_, let later?):
            " scan undo \(later.id.rawValue.suffix(8)) does so; scan undo --list shows the other changes."
        }
    }

    /// Names the command that helps.
    private static func advice(on refusal: ReadingRefusal) -> String? {
        switch refusal {
        case .closed: " scan reading start starts it again; scan undo takes the last change back."
        case .wrongEnd(.open): " Use scan reading finish --on DAY or scan reading drop --on DAY."
        case .noReading: " scan reading start starts it."
        case .noSuchReading: " scan reading history shows them."
        case .lastReading: " Use scan reading reset."
        case .sessionRunning: " Use scan session stop or scan session delete."
        default: nil
        }
    }

    private static func advice(on refusal: LabelRefusal) -> String? {
        switch refusal {
        case .none(let what, _, let near): near.isEmpty ? " scan \(what) list shows them all." : nil
        case .taken(let what, let name, let other):
            " Use scan \(what) merge \"\(name.oneLine)\" --into \"\(other.oneLine)\"."
        case .ambiguous, .alreadyOne: nil
        }
    }

    private static func advice(on refusal: AnnotationRefusal) -> String {
        switch refusal {
        case .noSuchNote: " scan note list shows them."
        case .noSuchQuote: " scan quote list shows them."
        }
    }

    private static func advice(on error: SessionError) -> String? {
        switch error {
        case .alreadyActive: " scan session status shows it; scan session stop ends it."
        case .notActive: " scan session start BOOK starts one."
        case .clockWentBackwards: " Check the date and time of this device; --end TIME says when the session ended."
        case .stillRunning: " scan session stop ends it."
        case .noSuchSession: " scan session list shows them."
        default: nil
        }
    }

    private static func status(of error: HubError) -> ExitStatus {
        switch error {
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
