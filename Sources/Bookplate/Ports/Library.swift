import FoundationEssentials

/// Tells that the library has changed, whichever process of the machine changed it.
public protocol LibraryWatch: Sendable {
    /// A number that grows, the first when the watch begins, then one for every time that changes were noticed, within half a second of
    /// the commit; the stream never holds more than the newest.
    ///
    /// - Parameter trouble: called when the library cannot be looked at, once until it can be again; it is tried again for as long
    ///   as somebody listens.
    func changes(trouble: @escaping @Sendable (any Error) -> Void) -> AsyncStream<Int>
}

/// What a person has set for the library itself.
public protocol LibrarySettings: Sendable {
    /// By name; what was never set is left out.
    func settings() async throws -> [String: String]
    /// Stores a setting; `nil` takes it back to its default.
    ///
    /// - Returns: the change that undo takes back; `nil` when it was so already.
    @discardableResult
    func set(_ name: String, to value: String?, at now: Date) async throws -> ID<Change>?
}

/// What a person sets for the library itself, whichever program opens it. Raw values are stored.
public enum LibrarySetting: String, Sendable, CaseIterable {
    /// Whether a change of status dates the reading: on unless set to off.
    case automaticDates
    /// Pages a day.
    case dailyGoal
    /// Books a year: the annual challenge.
    case yearlyGoal
    /// Whether the kiosk shows its pages, without their acts, to who has no sign-in.
    case guestView

    /// What it is for, in one line.
    public var explanation: String {
        switch self {
        case .automaticDates: "1 to date a reading by its changes of status, 0 to leave its dates to you"
        case .dailyGoal: "pages that you want to read a day"
        case .yearlyGoal: "books that you want to read a year"
        case .guestView: "1 to show the kiosk's pages to guests of your network, who can change nothing"
        }
    }

    /// What holds when nothing is set; empty for none.
    public var defaultValue: String {
        switch self {
        case .automaticDates: "1"
        case .dailyGoal, .yearlyGoal: ""
        case .guestView: "0"
        }
    }

    /// What ``value(parsing:)`` takes, for a person.
    public var allowed: String {
        switch self {
        case .automaticDates, .guestView: "1 or 0, on or off, yes or no"
        case .dailyGoal, .yearlyGoal: "a whole number from 1 to 100,000"
        }
    }

    /// The value as it is stored.
    ///
    /// - Returns: `nil` when `text` is no value for this setting: a switch takes 1/0, on/off, yes/no, true/false; a goal a
    ///   whole number from 1 to 100,000.
    public func value(parsing text: String) -> String? {
        switch self {
        case .automaticDates, .guestView:
            switch text.lowercased() {
            case "1", "on", "yes", "true": "1"
            case "0", "off", "no", "false": "0"
            default: nil
            }
        case .dailyGoal, .yearlyGoal:
            Int(text).flatMap { NumberLimit.goal.contains($0) ? String($0) : nil }
        }
    }
}

/// An error that may be over when the same is tried again: a lock that another process holds, a disk that is full now.
public protocol TransientError: Error {
    /// Whether waiting may help.
    var isTransient: Bool { get }
}

/// Whether the same may work when it is tried again.
public func isTransient(_ error: any Error) -> Bool { (error as? any TransientError)?.isTransient ?? false }
