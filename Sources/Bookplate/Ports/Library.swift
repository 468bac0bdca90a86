import FoundationEssentials

/// Reports changes that any process on this machine makes to the library.
public protocol LibraryWatch: Sendable {
    /// Returns a stream of increasing numbers: one number when the watch begins, then one each time changes are
    /// noticed, within half a second of the commit. The stream buffers only the newest number.
    ///
    /// - Parameter onError: called when the library can no longer be read. It is called again only if the library could
    ///   be read in between. Reading is retried as long as anything listens to the stream.
    func changes(onError: @escaping @Sendable (any Error) -> Void) -> AsyncStream<Int>
}

/// The settings stored in the library itself.
public protocol LibrarySettings: Sendable {
    /// Returns the settings by name, without settings that were never set.
    func settings() async throws -> [String: String]
    /// Stores a setting; `nil` resets it to its default.
    ///
    /// - Returns: the change, which undo reverts; `nil` if nothing changed.
    @discardableResult
    func set(_ name: String, to value: String?, at now: Date) async throws -> ID<Change>?
}

/// A setting that is stored in the library, and applies to every program that opens this library. Raw values are
/// stored.
public enum LibrarySetting: String, Sendable, CaseIterable {
    /// A switch, on by default: if it is on, a change of status sets the dates of the reading.
    case automaticDates
    /// The number of pages to read per day.
    case dailyGoal
    /// The number of books to finish per year: the annual challenge.
    case yearlyGoal
    /// A switch: if it is on, guests may view the kiosk's pages without a sign-in.
    case guestView
    /// A switch, on by default: if it is on, titles are sorted without the article at their beginning (``SortTitle``).
    case ignoreArticles
    /// A switch, on by default: if it is on, authors are sorted by their sort names (``SortName``), else by their names
    /// as they are written.
    case authorsByFamilyName
    /// The online sources that may be asked, in the order in which they win a field (``SourceOrder``).
    case sources

    /// True if each reader has a value of their own, false if all readers share one.
    public var isPerReader: Bool { self == .dailyGoal || self == .yearlyGoal }

    /// One line that explains the setting.
    public var explanation: String {
        switch self {
        case .automaticDates: "1 to set a book's reading dates when its status changes, 0 to set them by hand"
        case .dailyGoal: "the number of pages that you want to read per day"
        case .yearlyGoal: "the number of books that you want to read per year"
        case .guestView: "1 to let guests view the kiosk's pages without signing in; they can change nothing"
        case .ignoreArticles: "1 to sort titles without the article at their beginning, 0 to sort them as they are"
        case .authorsByFamilyName: "1 to sort authors by family name, 0 to sort them by their names as they are written"
        case .sources:
            "the sources that are asked online: an earlier one wins a field, and one that is missing is off; BOOKPLATE_SOURCES overrides this on one machine"
        }
    }

    /// The value that applies if nothing is set; empty if there is no such value.
    public var defaultValue: String {
        switch self {
        case .automaticDates, .ignoreArticles, .authorsByFamilyName: "1"
        case .dailyGoal, .yearlyGoal: ""
        case .guestView: "0"
        case .sources: SourceOrder.standard.text
        }
    }

    /// The values that ``value(parsing:)`` accepts, as a text for people.
    public var allowed: String {
        switch self {
        case .automaticDates, .guestView, .ignoreArticles, .authorsByFamilyName: "1 or 0, on or off, yes or no"
        case .dailyGoal, .yearlyGoal: "a whole number from 1 to 100,000"
        case .sources: "one or more of \(SourceOrder.standard.text)"
        }
    }

    /// Returns the value in stored form.
    ///
    /// - Returns: `nil` if `text` is not a value for this setting. A switch accepts 1/0, on/off, yes/no and true/false;
    ///   a goal accepts a whole number from 1 to 100,000; sources are names with commas between them.
    public func value(parsing text: String) -> String? {
        switch self {
        case .automaticDates, .guestView, .ignoreArticles, .authorsByFamilyName:
            switch text.lowercased() {
            case "1", "on", "yes", "true": "1"
            case "0", "off", "no", "false": "0"
            default: nil
            }
        case .dailyGoal, .yearlyGoal:
            Int(text).flatMap { NumberLimit.goal.contains($0) ? String($0) : nil }
        case .sources: SourceOrder(parsing: text)?.text
        }
    }
}

/// An error that may go away on a retry, such as a lock held by another process or a full disk.
public protocol TransientError: Error {
    /// True if the operation may succeed after a wait.
    var isTransient: Bool { get }
}

/// Returns true if the same operation may succeed on a retry.
public func isTransient(_ error: any Error) -> Bool { (error as? any TransientError)?.isTransient ?? false }
