import FoundationEssentials

/// The authors of all books. Names are stored as given and never merged automatically, because only a person can decide
/// whether two names belong to the same author.
///
/// Every act is one change, which undo reverts. In each edition that an act changes, the authors then count as edited
/// by a person, so that no refresh reverts the act. A name is matched exactly. If no author has exactly this name, case
/// and diacritics are ignored, provided that only one author then matches.
public protocol Authors: Sendable {
    /// Returns the authors of books outside the trash, sorted by sort name or, if the setting says so, by name.
    func authors() async throws -> [Author]
    /// Renames an author.
    ///
    /// - Throws: ``LabelRefusal/taken(what:name:by:)`` if another author has the new name. To combine the two, merge
    ///   them.
    func renameAuthor(_ name: String, to newName: String, at now: Date) async throws -> AuthorChange
    /// Corrects the sort name of an author, for good: no refresh, import or new name of the author changes it.
    ///
    /// - Parameter sortName: the sort name; `nil` for the one that ``SortName`` derives.
    func setSortName(of name: String, to sortName: String?, at now: Date) async throws -> AuthorChange
    /// Merges authors into an existing author. Order and roles stay the same. An author who would appear twice on an
    /// edition in the same role appears once.
    func mergeAuthors(_ names: [String], into target: String, at now: Date) async throws -> AuthorChange
    /// Removes authors from all their books. The books stay.
    ///
    /// - Returns: one result for each author, with the author as it was before.
    func deleteAuthors(_ names: [String], at now: Date) async throws -> [AuthorChange]
}

/// A person who contributed to books in any role.
public struct Author: Sendable, Equatable {
    public var name: String
    /// The number of copies with this author, not counting copies in the trash.
    public var books: Int
    /// The number of copies by the role of the author. Roles that the author does not have are left out.
    public var roles: [Contributor.Role: Int]
    /// The sort name that a person has entered; `nil` if there is none.
    public var correctedSortName: String?

    public init(
        name: String, books: Int, roles: [Contributor.Role: Int], correctedSortName: String? = nil
    ) {
        self.name = name
        self.books = books
        self.roles = roles
        self.correctedSortName = correctedSortName
    }

    /// The form of the name by which lists are sorted.
    public var sortName: String { correctedSortName ?? SortName.derived(from: name) }
}

/// The result of changing an author.
public struct AuthorChange: Sendable, Equatable {
    /// The author as it is now.
    public var author: Author
    /// The number of books that changed, not counting books in the trash.
    public var changedBooks: Int
    /// The change, which undo reverts; `nil` if nothing changed.
    public var change: ID<Change>?

    public init(author: Author, changedBooks: Int, change: ID<Change>? = nil) {
        self.author = author
        self.changedBooks = changedBooks
        self.change = change
    }
}
