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

    public enum Kind: String, Sendable, Codable, CaseIterable {
        case save, edit, trash, restore, importing = "import"
    }

    public init(id: ID<Change>, at: Date, device: String, kind: Kind, summary: String, undone: Date? = nil) {
        self.id = id
        self.at = at
        self.device = device
        self.kind = kind
        self.summary = summary
        self.undone = undone
    }
}

/// The change history of the library, and undo.
public protocol History: Sendable {
    /// Returns the latest change that has not been undone; `nil` if there is none.
    func lastChange() async throws -> Change?
    /// Returns the latest changes, newest first.
    func changes(limit: Int) async throws -> [Change]
    /// Undoes one change, entirely or not at all.
    ///
    /// - Throws: ``UndoRefusal`` if the change was undone before, or if anything that it touched has changed since.
    func undo(_ id: ID<Change>, at now: Date) async throws -> Change
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
