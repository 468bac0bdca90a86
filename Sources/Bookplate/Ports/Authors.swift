import FoundationEssentials

/// Authors of all books. Nothing is taken for the same by itself: who "J. K. Rowling" is, a person says. Names are kept as given.
///
/// An act counts as the person's edit of the authors of every edition that it touches, so that no refresh changes it back. Each is
/// one change that undo takes back. An author is named exactly, or without regard to case and diacritics where only one fits.
public protocol Authors: Sendable {
    /// Those who have a book that is not in the trash, by name.
    func authors() async throws -> [Author]
    /// - Throws: ``LabelRefusal/taken(what:name:by:)`` when the new name is another author's: that is a merge.
    func renameAuthor(_ name: String, to newName: String, at now: Date) async throws -> AuthorChange
    /// Makes several one that is there already. Paths and roles stay; who stands on an edition twice in one role afterwards
    /// stands there once.
    func mergeAuthors(_ names: [String], into target: String, at now: Date) async throws -> AuthorChange
    /// Takes authors off all their books, which stay.
    ///
    /// - Returns: one for each, with the author as he was.
    func deleteAuthors(_ names: [String], at now: Date) async throws -> [AuthorChange]
}

/// Someone who made books.
public struct Author: Sendable, Equatable {
    public var name: String
    /// How many copies name the author, those in the trash not counted.
    public var books: Int
    /// How many of them in which role; roles that the author has not are left out.
    public var roles: [Contributor.Role: Int]

    public init(name: String, books: Int, roles: [Contributor.Role: Int]) {
        self.name = name
        self.books = books
        self.roles = roles
    }
}

/// What became of an author.
public struct AuthorChange: Sendable, Equatable {
    /// As it is now.
    public var author: Author
    /// How many books were changed by it, those in the trash not counted.
    public var changedBooks: Int
    /// What undo takes back; `nil` when nothing changed.
    public var change: ID<Change>?

    public init(author: Author, changedBooks: Int, change: ID<Change>? = nil) {
        self.author = author
        self.changedBooks = changedBooks
        self.change = change
    }
}
