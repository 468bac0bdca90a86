import FoundationEssentials

/// Why a session cannot be started, ended or changed.
public enum SessionError: Error, LocalizedError, Sendable, CustomStringConvertible {
    case alreadyActive
    case notActive
    /// The session that is meant is over, ended elsewhere.
    case alreadyEnded
    case entryNotFound
    case invalidPageNumber
    case sessionTooShort
    case persistenceFailed(any Error)
    /// There is no such session.
    case noSuchSession
    /// The clock stands before the session's start: nobody knows when it ended but the reader.
    case clockWentBackwards(start: Date)
    case startInFuture
    case endInFuture
    case endBeforeStart
    /// Longer than a day: a slip in one of the two times.
    case sessionTooLong
    /// An end for a session that is running.
    case stillRunning

    public var errorDescription: String? {
        switch self {
        case .alreadyActive:
            "A reading session is already active. End the current session before starting a new one."
        case .notActive: "No active reading session found."
        case .alreadyEnded: "This reading session has ended already."
        case .entryNotFound: "Library entry not found. The book may have been deleted."
        case .invalidPageNumber:
            "Invalid page number. Ending page must be greater than or equal to starting page."
        case .sessionTooShort: "Session duration too short. Minimum 1 minute required."
        case .persistenceFailed(let error): "Failed to save session: \(error)"
        case .noSuchSession: "Session not found. It may have been deleted."
        case .clockWentBackwards(let start):
            "The clock went backwards: the session started at \(start.rfc3339), which is still to come."
        case .startInFuture: "Session start is in the future."
        case .endInFuture: "Session end is in the future."
        case .endBeforeStart: "Session end is before its start."
        case .sessionTooLong: "Session duration too long. A session lasts a day at the most."
        case .stillRunning: "The session is still running: it has no end yet."
        }
    }

    public var recoverySuggestion: String? {
        switch self {
        case .alreadyActive: "End your current session first."
        case .notActive: "Start a new reading session."
        case .alreadyEnded: "See the reading history for how it ended."
        case .entryNotFound: "Try looking into the trash or selecting a different book."
        case .invalidPageNumber: "Enter a valid ending page number."
        case .sessionTooShort: "Read for at least 1 minute before ending the session."
        case .persistenceFailed: "Check available storage space and try again."
        case .noSuchSession: "Choose one from the list of sessions."
        case .clockWentBackwards: "Check the date and time of this device, or say when the session ended."
        case .startInFuture, .endInFuture, .endBeforeStart: "Enter the right time."
        case .sessionTooLong: "Check the start and the end."
        case .stillRunning: "End the session instead."
        }
    }

    /// Both, as one text.
    public var description: String { [errorDescription, recoverySuggestion].compactMap(\.self).joined(separator: " ") }
}

extension SessionError: Equatable {
    /// What is told is the same.
    public static func == (left: SessionError, right: SessionError) -> Bool { left.description == right.description }
}
