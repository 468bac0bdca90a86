import FoundationEssentials

/// Reports changes of the library, by any process of the machine.
public protocol LibraryWatch: Sendable {
    /// Returns a stream of increasing numbers: one when the watch begins, then one each time changes are noticed,
    /// within half a second of the commit. The stream buffers only the newest.
    ///
    /// - Parameter trouble: called if the library cannot be read, once until it can be read again; reading is retried
    ///   as long as somebody listens.
    func changes(onError: @escaping @Sendable (any Error) -> Void) -> AsyncStream<Int>
}

/// The settings stored in the library itself.
public protocol LibrarySettings: Sendable {
    /// Returns the settings by name, without those that were never set.
    func settings() async throws -> [String: String]
    /// Stores a setting; `nil` resets it to its default.
    ///
    /// - Returns: the change, which undo reverts; `nil` if nothing changed.
    @discardableResult
    func set(_ name: String, to value: String?, at now: Date) async throws -> ID<Change>?
}

/// A setting stored in the library, which holds for every program that opens it. Raw values are stored.
public enum LibrarySetting: String, Sendable, CaseIterable {
    /// A switch: a change of status sets the dates of the reading. On by default.
    case automaticDates
    /// Pages a day.
    case dailyGoal
    /// Books a year: the annual challenge.
    case yearlyGoal
    /// A switch: guests without a sign-in may view the kiosk's pages.
    case guestView

    /// One line that explains the setting.
    public var explanation: String {
        switch self {
        case .automaticDates: "1 to set a reading's dates when its status changes, 0 to leave its dates to you"
        case .dailyGoal: "pages that you want to read a day"
        case .yearlyGoal: "books that you want to read a year"
        case .guestView: "1 to show the kiosk's pages to guests of your network, who can change nothing"
        }
    }

    /// The value if nothing is set; empty for none.
    public var defaultValue: String {
        switch self {
        case .automaticDates: "1"
        case .dailyGoal, .yearlyGoal: ""
        case .guestView: "0"
        }
    }

    /// The values that ``value(parsing:)`` accepts, for people.
    public var allowed: String {
        switch self {
        case .automaticDates, .guestView: "1 or 0, on or off, yes or no"
        case .dailyGoal, .yearlyGoal: "a whole number from 1 to 100,000"
        }
    }

    /// Returns the value in stored form.
    ///
    /// - Returns: `nil` if `text` is not a value for this setting: a switch accepts 1/0, on/off, yes/no, true/false; a
    ///   goal a whole number from 1 to 100,000.
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

/// An error that may go away on a retry, such as a lock held by another process or a full disk.
public protocol TransientError: Error {
    /// True if waiting may help.
    var isTransient: Bool { get }
}

/// Returns true if the same operation may succeed on a retry.
public func isTransient(_ error: any Error) -> Bool { (error as? any TransientError)?.isTransient ?? false }
