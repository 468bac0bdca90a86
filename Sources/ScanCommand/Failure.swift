import Bookplate
import Foundation
import Library
import Lookup

/// Turns what the modules throw into what a person is told, and the exit code.
enum Failure {
    static func complaint(for error: any Error) -> Complaint {
        switch error {
        case let complaint as Complaint: complaint
        case let error as LibraryError: Complaint(status(of: error), error.description)
        case let refusal as UndoRefusal: Complaint(.nothing, refusal.description + ".")
        case let refusal as ConfirmRefusal: Complaint(.nothing, refusal.description + ".")
        case let refusal as TextRefusal: Complaint(.usage, refusal.description + ".")
        case let error as LookupConfigurationError: Complaint(.configuration, error.description + ".")
        case let error as OfflineIndexError: Complaint(status(of: error), error.description + ".")
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
