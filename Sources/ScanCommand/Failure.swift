import Bookplate
import Foundation
import Hub
import Library
import Lookup

/// Turns what the modules throw into what a person is told, and the exit code.
enum Failure {
    static func complaint(for error: any Error) -> Complaint {
        switch error {
        case let complaint as Complaint: complaint
        case let error as LibraryError: Complaint(status(of: error), error.description)
        case let refusal as UndoRefusal: Complaint(.nothing, refusal.description + "." + wayOut(of: refusal))
        case let refusal as ConfirmRefusal: Complaint(.nothing, refusal.description + ".")
        case let refusal as TextRefusal: Complaint(.usage, refusal.description + ".")
        case let refusal as EntryRefusal: Complaint(.usage, refusal.description + ".")
        case let refusal as LabelRefusal: Complaint(.nothing, refusal.description + "." + (wayOut(of: refusal) ?? ""))
        case let refusal as InTrash: Complaint(.nothing, refusal.description + ": scan library restore.")
        case let refusal as RemarkRefusal: Complaint(.nothing, refusal.description + "." + wayOut(of: refusal))
        case let refusal as ReadingRefusal:
            Complaint(status(of: refusal), refusal.description + "." + (wayOut(of: refusal) ?? ""))
        case SessionError.persistenceFailed(let cause):
            Complaint(complaint(for: cause).status, SessionError.persistenceFailed(cause).description)
        case let error as SessionError:
            // The command that helps says all that the suggestion does.
            Complaint(.nothing, wayOut(of: error).map { (error.errorDescription ?? "") + $0 } ?? error.description)
        case let error as LookupConfigurationError: Complaint(.configuration, error.description + ".")
        case let error as OfflineIndexError: Complaint(status(of: error), error.description + ".")
        case let trouble as HubTrouble: Complaint(status(of: trouble), trouble.description + ".")
        case let error as PairedHubsError: Complaint(.configuration, error.description + ".")
        case let refusal as StationRefusal:
            Complaint(.nothing, refusal.description + ". scan hub stations lists them.")
        default: Complaint(.inputOutput, "\(error)")
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

    private static func wayOut(of refusal: RemarkRefusal) -> String {
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

    private static func status(of trouble: HubTrouble) -> ExitStatus {
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
