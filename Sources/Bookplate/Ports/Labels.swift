import FoundationEssentials

/// Tags and shelves: names that a person gives, unique without regard to case, in the form in which they were first given. They
/// may exist without books. Each act is one change that undo takes back, and throws ``LabelRefusal`` when it does not fit.
public protocol Labels: Sendable {
    /// By name.
    func labels(_ kind: Label.Kind) async throws -> [Label]
    /// Makes the label where it is new, and puts it on the copies: a tag beside their others, a shelf in place of theirs.
    func addLabel(_ kind: Label.Kind, _ name: String, to copies: [ID<Copy>], at now: Date) async throws -> Relabelling
    /// Takes it off the copies; the label stays.
    func removeLabel(
        _ kind: Label.Kind, _ name: String, from copies: [ID<Copy>], at now: Date
    ) async throws -> Relabelling
    /// The new name may be another spelling of the old one, but not another label's: that is a merge.
    func renameLabel(_ kind: Label.Kind, _ name: String, to newName: String, at now: Date) async throws -> Relabelling
    /// Makes all of them one that is there already.
    func mergeLabels(_ kind: Label.Kind, _ names: [String], into target: String, at now: Date) async throws
        -> Relabelling
    /// Deletes labels; their books stay.
    ///
    /// - Returns: one for each, with its label as it was.
    func deleteLabels(_ kind: Label.Kind, _ names: [String], at now: Date) async throws -> [Relabelling]
}

/// A tag or a shelf.
public struct Label: Sendable, Equatable {
    public var kind: Kind
    /// In its display form.
    public var name: String
    /// How many copies have it, those in the trash not counted.
    public var books: Int

    public init(kind: Kind, name: String, books: Int) {
        self.kind = kind
        self.name = name
        self.books = books
    }

    public enum Kind: String, Sendable, CaseIterable { case tag, shelf }
}

/// What became of a label.
public struct Relabelling: Sendable, Equatable {
    /// As it is now.
    public var label: Label
    /// How many books were changed by it, those in the trash not counted.
    public var changedBooks: Int
    /// What undo takes back; `nil` when nothing changed.
    public var change: ID<Change>?

    public init(label: Label, changedBooks: Int, change: ID<Change>? = nil) {
        self.label = label
        self.changedBooks = changedBooks
        self.change = change
    }
}

/// Why a tag, a shelf or an author stays as it is. `what` is "tag", "shelf" or "author".
public enum LabelRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// - Parameter near: names that may have been meant.
    case none(what: String, name: String, near: [String])
    /// The name fits several.
    case ambiguous(what: String, name: String, fits: [String])
    /// Another one has the name already.
    case taken(what: String, name: String, by: String)
    /// All names given mean the same.
    case alreadyOne(what: String, name: String)

    public var description: String {
        switch self {
        case .none(let what, let name, let near):
            "there is no \(what) \"\(Self.short(name))\""
                + (near.isEmpty ? "" : "; there are: \(near.map(Self.short).joined(separator: ", "))")
        case .ambiguous(let what, let name, let fits):
            "\"\(Self.short(name))\" fits several; name the \(what) exactly: "
                + fits.map { "\"\(Self.short($0))\"" }.joined(separator: ", ")
        case .taken(let what, let name, let other):
            "there is \(what == "author" ? "an" : "a") \(what) \"\(Self.short(other))\" already; to make \"\(Self.short(name))\" part of it, merge them"
        case .alreadyOne(let what, let name):
            "\"\(Self.short(name))\" is one \(what) already; there is nothing to merge"
        }
    }

    private static func short(_ name: String) -> String { String(name.cleanedLine.prefix(80)) }
}
