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
