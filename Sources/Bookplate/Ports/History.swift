import FoundationEssentials

/// One entry of the change history, which can be undone: a save, a batch, an edit, a deletion or an import.
public struct Change: Sendable, Equatable {
    public var id: ID<Change>
    public var at: Date
    /// The host name of the device that made the change.
    public var device: String
    public var kind: Kind
    /// A summary for people, such as "saved \"Dune\" and 23 more".
    public var summary: String
    public var undone: Date?
    /// True if the change was undone and the history still has what a redo needs.
    public var canBeRedone: Bool

    public enum Kind: String, Sendable, Codable, CaseIterable {
        case save, edit, trash, restore, importing = "import"
    }

    public init(
        id: ID<Change>, at: Date, device: String, kind: Kind, summary: String, undone: Date? = nil,
        canBeRedone: Bool = false
    ) {
        self.id = id
        self.at = at
        self.device = device
        self.kind = kind
        self.summary = summary
        self.undone = undone
        self.canBeRedone = canBeRedone
    }
}

/// The change history of the library, with undo and redo.
public protocol History: Sendable {
    /// Returns the latest change that has not been undone; `nil` if there is none.
    func lastChange() async throws -> Change?
    /// Returns the latest changes, newest first.
    func changes(limit: Int) async throws -> [Change]
    /// Undoes one change, entirely or not at all.
    ///
    /// - Throws: ``UndoRefusal`` if the change was undone before, or if anything that it touched has changed since.
    func undo(_ id: ID<Change>, at now: Date) async throws -> Change
    /// Returns the changes that can be redone, the most recently undone first.
    func redoableChanges(limit: Int) async throws -> [Change]
    /// Makes an undone change again, entirely or not at all, exactly as it was. It can then be undone again.
    ///
    /// - Throws: ``RedoRefusal`` if the change has not been undone, or if anything that the undo touched has changed
    ///   since.
    func redo(_ id: ID<Change>, at now: Date) async throws -> Change
}

/// The reason why a change cannot be undone.
public enum UndoRefusal: Error, Sendable, Equatable, CustomStringConvertible {
    case noSuchChange
    case alreadyUndone(Change)
    /// A later change to the same rows must be undone first.
    case changedSince(Change, later: Change?)

    public var description: String {
        switch self {
        case .noSuchChange: "there is nothing to undo"
        case .alreadyUndone(let change): "this has already been undone: \(change.summary)"
        case .changedSince(let change, let later):
            "\(change.summary) cannot be undone: \(later.map { "a later change affected the same data (\($0.summary)); undo the later change first" } ?? "the same data has been changed since")"
        }
    }
}

/// The reason why a change cannot be redone.
public enum RedoRefusal: Error, Sendable, Equatable, CustomStringConvertible {
    case noSuchChange
    /// The change has not been undone, or has been redone since.
    case notUndone(Change)
    /// The history no longer has what the undo did: an earlier version of the program undid the change, or one of its
    /// books was deleted for good.
    case notKept(Change)
    /// Another change stands in the way. If it applies, it must be undone first; if it was undone after this one, it
    /// must be redone first.
    case changedSince(Change, by: Change?)

    public var description: String {
        switch self {
        case .noSuchChange: "there is nothing to redo"
        case .notUndone(let change): "this has not been undone, or it has already been redone: \(change.summary)"
        case .notKept(let change):
            "\(change.summary) cannot be redone: an earlier version of the program undid it, or one of its books was deleted for good"
        case .changedSince(let change, nil):
            "\(change.summary) cannot be redone: the same data has been changed since"
        case .changedSince(let change, let other?) where other.undone == nil:
            "\(change.summary) cannot be redone: a later change affected the same data (\(other.summary)); undo the later change first"
        case .changedSince(let change, let other?):
            "\(change.summary) cannot be redone: a change that was undone later affected the same data (\(other.summary)); redo that change first"
        }
    }
}
