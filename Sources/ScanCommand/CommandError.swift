import ArgumentParser
import Bookplate
import Foundation
import Synchronization
import Terminal

/// The exit status of the program. If several apply, the one that comes first among these cases wins.
enum ExitStatus: Int32, CaseIterable {
    case usage = 64
    /// The library has a newer schema, or the settings are invalid.
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

    /// Returns this status or the other one, whichever is more important.
    func and(_ other: ExitStatus) -> ExitStatus {
        Self.allCases.first { $0 == self || $0 == other } ?? self
    }
}

/// Collects the statuses of a run; the most important one becomes the exit code.
final class ExitReport: Sendable {
    private let status = Mutex(ExitStatus.success)

    func record(_ other: ExitStatus) { status.withLock { $0 = $0.and(other) } }

    func record(issue: RunIssue) {
        switch issue {
        case .error(let error): record(CommandError(describing: error).status)
        case .unreadable: record(.unreadable)
        case .unavailable: record(.unavailable)
        case .unconfirmed: record(.unconfirmed)
        case .nothingFound: record(.nothing)
        }
    }

    /// Ends the command with the exit code.
    func end() throws {
        let status = status.withLock { $0 }
        if status != .success { throw ExitCode(status.rawValue) }
    }
}

extension EventPrinter {
    /// Creates a printer that describes errors as ``CommandError`` does, and records issues for the exit code.
    convenience init(
        json: Bool, report: ExitReport, undoHint: String = "To undo the last change, run 'scan undo'.",
        onSaved: (@Sendable (ID<Copy>) -> Void)? = nil
    ) {
        self.init(
            json: json, undoHint: undoHint, describe: { CommandError(describing: $0).description },
            report: { report.record(issue: $0) }, onSaved: onSaved)
    }
}

/// The reason why a command cannot continue, as a message (*what, where, what next*) and an exit status.
struct CommandError: Error, CustomStringConvertible {
    let status: ExitStatus
    let description: String

    init(_ status: ExitStatus, _ description: String) {
        self.status = status
        self.description = description
    }
}

extension CommandError {
    /// Creates the error for the end of an id that several ids have, with a line for each of them.
    ///
    /// - Parameter fits: the whole ids, each with what it names.
    init(severalEndingIn name: String, _ fits: [(id: String, title: String)]) {
        self.init(
            .nothing,
            "several ids end with \"\(name.prefix(80).printable)\". Give more characters of one of them:\n"
                + fits.map { "  \($0.id)  \($0.title.oneLine)" }.joined(separator: "\n"))
    }
}

extension CommandError {
    /// Describes an error from any module. If there is a command that helps, the message includes it.
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
        // The advice with a command replaces the suggestion of a localized error.
        let description = (refusal as? any LocalizedError)?.errorDescription ?? refusal.description
        return advice.hasPrefix(":") ? description + advice : sentence(description) + advice
    }

    private static func sentence(_ text: String) -> String { text.hasSuffix(".") ? text : text + "." }

    /// Returns advice with a command that helps; nil if there is no such command. If the advice begins with a colon, it
    /// continues the sentence of the refusal.
    private static func advice(on refusal: any Refusal) -> String? {
        let arguments = refusal.arguments
        return switch refusal.code {
        case "alreadyUndone": " To list the changes, run 'scan undo --list'. To undo another one, run 'scan undo ID'."
        case "notUndone", "notKeptForRedo":
            " To list the changes that can be redone, run 'scan redo --list'."
        case "redoAfterUndo", "redoAfterRedo":
            if case .text(let other)? = arguments["other"] {
                " To do so, run 'scan \(refusal.code == "redoAfterUndo" ? "undo" : "redo") \(other.suffix(8))'."
            } else {
                " To list the changes that can be redone, run 'scan redo --list'."
            }
        case "changedSince":
            if case .text(let later)? = arguments["later"] {
                " To do so, run 'scan undo \(later.suffix(8))'. To list the other changes, run 'scan undo --list'."
            } else {
                " To list the changes, run 'scan undo --list'. To undo another one, run 'scan undo ID'."
            }
        case "closed":
            " To start it again, run 'scan reading start'. To undo the last change, run 'scan undo'."
        case "wrongEndOpen": " To do so, run 'scan reading finish --on DAY' or 'scan reading drop --on DAY'."
        case "noReading": " To start it, run 'scan reading start'."
        case "entryOfSession": " To do so, run 'scan session edit' or 'scan session delete'."
        case "noSuchReading": " To list the readings, run 'scan reading history'."
        case "lastReading": " To do so, run 'scan reading reset'."
        case "sessionRunning": " To end it, run 'scan session stop'."
        case "labelNone" where arguments["near"] == .list([]):
            " To see all of them, run 'scan \(text(arguments["kind"])) list'."
        case "labelTaken":
            " To do so, run 'scan \(text(arguments["kind"])) merge \"\(text(arguments["name"]).oneLine)\" "
                + "--into \"\(text(arguments["by"]).oneLine)\"'."
        case "mergeDifferentISBNs", "mergeDifferentYears", "mergeDifferentLanguages":
            " To merge them anyway, use --editions."
        case "mergeTwoOpenReadings": " To do so, run 'scan reading finish' or 'scan reading reset'."
        case "noAnnotation":
            " To list the \(text(arguments["kind"]))s, run 'scan \(text(arguments["kind"])) list'."
        case "inTrash": ": run 'scan library restore'."
        case "alreadyActive": " To see it, run 'scan session status'. To end it, run 'scan session stop'."
        case "notActive": " To start one, run 'scan session start BOOK'."
        case "pageBeyondBook":
            " Give the right page, or correct the page count with 'scan library edit BOOK --pages N' first."
        case "clockWentBackwards":
            " Check the date and time of this device, or give the time at which the session ended with --end TIME."
        case "stillRunning": " To end it, run 'scan session stop'."
        case "noSuchSession": " To list the sessions, run 'scan session list'."
        case "stationBadID", "stationNone", "stationTooMany":
            " To list the stations, run 'scan hub stations'."
        default: nil
        }
    }

    private static func text(_ argument: RefusalArgument?) -> String {
        if case .text(let text)? = argument { text } else { "" }
    }
}

extension ExitStatus {
    /// Creates the status for a kind of refusal. Each exit status in the table of ``RefusalKind`` is one of these
    /// cases.
    init(_ kind: RefusalKind) { self = ExitStatus(rawValue: kind.exitStatus) ?? .inputOutput }
}
