import ArgumentParser
import Bookplate
import Foundation
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

extension CommandError {
    /// Describes an error of any module, with the command that helps if there is one.
    init(describing error: any Error) {
        self =
            switch error {
            case let error as CommandError: error
            case let refusal as any Refusal: CommandError(ExitStatus(refusal.kind), Self.message(for: refusal))
            default: CommandError(.inputOutput, "\(error)")
            }
    }

    private static func message(for refusal: any Refusal) -> String {
        guard let advice = Self.advice(on: refusal) else { return sentence(refusal.description) }
        // The command that helps replaces the suggestion of a localized error.
        let description = (refusal as? any LocalizedError)?.errorDescription ?? refusal.description
        return advice.hasPrefix(":") ? description + advice : sentence(description) + advice
    }

    private static func sentence(_ text: String) -> String { text.hasSuffix(".") ? text : text + "." }

    /// Names the command that helps.
    private static func advice(on refusal: any Refusal) -> String? {
        let arguments = refusal.arguments
        return switch refusal.code {
        case "alreadyUndone": " scan undo --list shows the changes; scan undo ID takes another one back."
        case "changedSince":
            if case .text(let later)? = arguments["later"] {
                " scan undo \(later.suffix(8)) does so; scan undo --list shows the other changes."
            } else {
                " scan undo --list shows the changes; scan undo ID takes another one back."
            }
        case "closed": " scan reading start starts it again; scan undo takes the last change back."
        case "wrongEndOpen": " Use scan reading finish --on DAY or scan reading drop --on DAY."
        case "noReading": " scan reading start starts it."
        case "noSuchReading": " scan reading history shows them."
        case "lastReading": " Use scan reading reset."
        case "sessionRunning": " Use scan session stop or scan session delete."
        case "labelNone" where arguments["near"] == .list([]):
            " scan \(text(arguments["kind"])) list shows them all."
        case "labelTaken":
            " Use scan \(text(arguments["kind"])) merge \"\(text(arguments["name"]).oneLine)\" "
                + "--into \"\(text(arguments["by"]).oneLine)\"."
        case "noRemark": " scan \(text(arguments["kind"])) list shows them."
        case "inTrash": ": scan library restore."
        case "alreadyActive": " scan session status shows it; scan session stop ends it."
        case "notActive": " scan session start BOOK starts one."
        case "clockWentBackwards":
            " Check the date and time of this device; --end TIME says when the session ended."
        case "stillRunning": " scan session stop ends it."
        case "noSuchSession": " scan session list shows them."
        case "stationBadID", "stationNone", "stationTooMany": " scan hub stations lists them."
        default: nil
        }
    }

    private static func text(_ argument: RefusalArgument?) -> String {
        if case .text(let text)? = argument { text } else { "" }
    }
}

extension ExitStatus {
    /// The status of the kind in the table of ``RefusalKind``, each of which is one of these.
    init(_ kind: RefusalKind) { self = ExitStatus(rawValue: kind.exitStatus) ?? .inputOutput }
}
