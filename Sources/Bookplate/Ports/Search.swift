import FoundationEssentials

/// Finds books.
public protocol Search: Sendable {
    /// Returns one page of the books that match the whole query.
    ///
    /// - Throws: ``SearchRefusal`` if the query's ``BookQuery/after`` belongs to another query.
    func books(matching query: BookQuery) async throws -> SearchResults

    /// For each value of each filter, counts the books that have this value and match the rest of the query. Sort
    /// order, limit and position are ignored.
    ///
    /// - Parameter countsAuthors: false to leave out the authors, who take a fifth of the time.
    func facets(matching query: BookQuery, countsAuthors: Bool) async throws -> BookFacets

    /// Counts the books of each publisher or series that match the query except for its filter by them. There may be
    /// very many, so they are no part of ``facets(matching:countsAuthors:)``.
    ///
    /// - Returns: the names with the most books, at most `limit`, and the names that the query contains.
    func counts(of facet: NamedFacet, matching query: BookQuery, limit: Int) async throws -> [NameCount]

    /// Counts the books that match by the letter with which their sort key begins, in the order of the list. Position
    /// and limit are ignored.
    ///
    /// - Returns: no groups, unless the order is by title or author.
    func letters(matching query: BookQuery) async throws -> [LetterGroup]

    /// Returns the names that start with `beginning`, most used first. Case and diacritics are ignored.
    ///
    /// - Parameter beginning: the text typed so far; empty for the most used names of all.
    func suggestions(for kind: NameKind, beginning: String, limit: Int) async throws -> [NameCount]
}

/// The filters by a name that is stored with each edition.
public enum NamedFacet: Sendable { case publisher, series }

/// The kinds of names that can be completed while typing.
public enum NameKind: Sendable, CaseIterable { case author, tag, shelf, publisher, series }

extension Search {
    public func facets(matching query: BookQuery) async throws -> BookFacets {
        try await facets(matching: query, countsAuthors: true)
    }
}
