import FoundationEssentials

/// The authors of all books. Names are stored as given and never merged automatically: a person decides who "J. K.
/// Rowling" is.
///
/// Every act counts as an edit of the authors of each edition it touches, so that no refresh reverts it, and is one
/// change, which undo reverts. An author is named exactly, or without regard to case and diacritics if only one
/// matches.
public protocol Authors: Sendable {
    /// Returns the authors of books outside the trash, by name.
    func authors() async throws -> [Author]
    /// Renames an author.
    ///
    /// - Throws: ``LabelRefusal/taken(what:name:by:)`` if another author has the new name: that is a merge.
    func renameAuthor(_ name: String, to newName: String, at now: Date) async throws -> AuthorChange
    /// Merges several authors into one that exists. Order and roles stay; an author who would appear twice on an
    /// edition in one role appears once.
    func mergeAuthors(_ names: [String], into target: String, at now: Date) async throws -> AuthorChange
    /// Removes authors from all their books, which stay.
    ///
    /// - Returns: one change for each author, as it was before.
    func deleteAuthors(_ names: [String], at now: Date) async throws -> [AuthorChange]
}

/// Someone who made books.
public struct Author: Sendable, Equatable {
    public var name: String
    /// The number of copies that name the author, without those in the trash.
    public var books: Int
    /// The number of these copies by role; roles that the author does not have are left out.
    public var roles: [Contributor.Role: Int]

    public init(name: String, books: Int, roles: [Contributor.Role: Int]) {
        self.name = name
        self.books = books
        self.roles = roles
    }
}

/// The result of changing an author.
public struct AuthorChange: Sendable, Equatable {
    /// The author as it is now.
    public var author: Author
    /// The number of books changed, without those in the trash.
    public var changedBooks: Int
    /// The change, which undo reverts; `nil` if nothing changed.
    public var change: ID<Change>?

    public init(author: Author, changedBooks: Int, change: ID<Change>? = nil) {
        self.author = author
        self.changedBooks = changedBooks
        self.change = change
    }
}
