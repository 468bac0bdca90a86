import FoundationEssentials

/// Tags and shelves: names that a person has given. Two tags, or two shelves, never differ only in case. The spelling
/// that was used first is kept, and a name may exist without books.
///
/// Each act is one change, which undo reverts. An act that is not possible throws ``LabelRefusal``.
public protocol Labels: Sendable {
    /// Returns all labels of one kind, sorted by name.
    func labels(_ kind: Label.Kind) async throws -> [Label]
    /// Creates the label if it is new, and puts it on the copies. A tag is added to the other tags of the copies; a
    /// shelf replaces their present shelf.
    func addLabel(_ kind: Label.Kind, _ name: String, to copies: [ID<Copy>], at now: Date) async throws -> LabelChange
    /// Removes the label from the copies; the label itself stays.
    func removeLabel(
        _ kind: Label.Kind, _ name: String, from copies: [ID<Copy>], at now: Date
    ) async throws -> LabelChange
    /// Renames a label. The new name may be another spelling of the old one, but not the name of another label. To
    /// combine two labels, merge them.
    func renameLabel(_ kind: Label.Kind, _ name: String, to newName: String, at now: Date) async throws -> LabelChange
    /// Merges labels into an existing label.
    func mergeLabels(_ kind: Label.Kind, _ names: [String], into target: String, at now: Date) async throws
        -> LabelChange
    /// Deletes labels; their books stay.
    ///
    /// - Returns: one result for each label, with the label as it was before.
    func deleteLabels(_ kind: Label.Kind, _ names: [String], at now: Date) async throws -> [LabelChange]
}

/// A tag or a shelf.
public struct Label: Sendable, Equatable {
    public var kind: Kind
    /// The name, spelled as it is shown to people.
    public var name: String
    /// The number of copies with the label, not counting copies in the trash.
    public var books: Int

    public init(kind: Kind, name: String, books: Int) {
        self.kind = kind
        self.name = name
        self.books = books
    }

    public enum Kind: String, Sendable, CaseIterable { case tag, shelf }
}

/// The result of changing a label.
public struct LabelChange: Sendable, Equatable {
    /// The label as it is now.
    public var label: Label
    /// The number of books that changed, not counting books in the trash.
    public var changedBooks: Int
    /// The change, which undo reverts; `nil` if nothing changed.
    public var change: ID<Change>?

    public init(label: Label, changedBooks: Int, change: ID<Change>? = nil) {
        self.label = label
        self.changedBooks = changedBooks
        self.change = change
    }
}

/// The reason why a tag, a shelf or an author cannot be changed. `what` is "tag", "shelf" or "author".
public enum LabelRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// - Parameter near: existing names that the person may have meant.
    case none(what: String, name: String, near: [String])
    /// The name matches several labels or authors.
    case ambiguous(what: String, name: String, fits: [String])
    /// Another label or author has the name already.
    case taken(what: String, name: String, by: String)
    /// All the given names refer to the same label or author.
    case alreadyOne(what: String, name: String)

    public var description: String {
        switch self {
        case .none(let what, let name, let near):
            "there is no \(what) \"\(Self.short(name))\""
                + (near.isEmpty ? "" : "; similar names: \(near.map(Self.short).joined(separator: ", "))")
        case .ambiguous(let what, let name, let fits):
            "\"\(Self.short(name))\" matches more than one \(what). Use one of these names: "
                + fits.map { "\"\(Self.short($0))\"" }.joined(separator: ", ")
        case .taken(let what, let name, let other):
            "there is already \(what == "author" ? "an" : "a") \(what) \"\(Self.short(other))\"; to combine \"\(Self.short(name))\" with it, merge the two"
        case .alreadyOne(let what, let name):
            "all these names refer to the same \(what) \"\(Self.short(name))\"; there is nothing to merge"
        }
    }

    private static func short(_ name: String) -> String { String(name.cleanedLine.prefix(80)) }
}
