import FoundationEssentials

/// Finds books.
public protocol Search: Sendable {
    /// Returns one page of the books that match the whole query.
    ///
    /// - Throws: ``SearchRefusal`` if the query's ``BookQuery/after`` belongs to another query.
    func books(matching query: BookQuery) async throws -> SearchResults

    /// Counts, for each value of each filter, the books that have the value and match the query without that filter.
    /// Sort order, limit and position are ignored.
    func facets(matching query: BookQuery) async throws -> BookFacets

    /// Returns names with this beginning, ignoring case and diacritics, most used first.
    ///
    /// - Parameter beginning: the text typed so far; empty for the most used names of all.
    func suggestions(for kind: NameKind, beginning: String, limit: Int) async throws -> [NameCount]
}

/// The kinds of names that can be completed while typing.
public enum NameKind: Sendable, CaseIterable { case author, tag, shelf }
