import FoundationEssentials

/// Finds books.
public protocol Search: Sendable {
    /// One page of the books that match all of the query.
    ///
    /// - Throws: ``SearchRefusal`` when the query's ``BookQuery/after`` comes from elsewhere.
    func books(matching query: BookQuery) async throws -> SearchResults

    /// What each filter's values would give: for a value of one filter, the books that match all of the query but that filter,
    /// and have the value. Sort, limit and place do not count.
    func facets(matching query: BookQuery) async throws -> BookFacets

    /// Names that begin so, case and diacritics aside, the most used first.
    ///
    /// - Parameter beginning: what is typed by now; nothing suggests the most used of all.
    func suggestions(for kind: NameKind, beginning: String, limit: Int) async throws -> [NameCount]
}

/// What can be completed while it is typed.
public enum NameKind: Sendable, CaseIterable { case author, tag, shelf }
