import FoundationEssentials

/// One time through a book; a re-read is a second one.
public struct Reading: Sendable, Equatable {
    public var id: ID<Reading>
    public var state: State
    /// A day, perhaps only its month or year. What a person gave is never overwritten.
    public var started: CalendarDay?
    public var finished: CalendarDay?
    /// When it was given up.
    public var stopped: CalendarDay?
    /// The latest progress entry, `nil` when there is none.
    public var progress: ProgressEntry?

    public init(
        id: ID<Reading> = ID(), state: State = .open, started: CalendarDay? = nil, finished: CalendarDay? = nil,
        stopped: CalendarDay? = nil, progress: ProgressEntry? = nil
    ) {
        self.id = id
        self.state = state
        self.started = started
        self.finished = finished
        self.stopped = stopped
        self.progress = progress
    }

    /// Raw values are stored and exported.
    public enum State: String, Sendable, Codable, CaseIterable {
        /// Going on, or on hold.
        case open
        case finished
        /// Given up: Did Not Finish.
        case stopped
        /// Taken back by To Read: kept, but shown and counted nowhere.
        case cancelled

        /// What the reading of a copy with this status is in; `nil` for To Read, which has none.
        public init?(after status: Copy.Status) {
            switch status {
            case .toRead: return nil
            case .reading, .onHold: self = .open
            case .read: self = .finished
            case .dnf: self = .stopped
            }
        }
    }
}

extension [Reading] {
    /// Of a copy's readings, oldest first, the one that a status speaks of: none for To Read, else the last that counts.
    func shown(by status: Copy.Status) -> Reading? {
        status == .toRead ? nil : last { $0.state != .cancelled }
    }
}
