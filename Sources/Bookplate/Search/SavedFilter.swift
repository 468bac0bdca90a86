import FoundationEssentials

/// A query that a reader has saved under a name.
public struct SavedFilter: Sendable, Equatable {
    public var id: ID<SavedFilter>
    /// The name, which no other filter of the reader has, ignoring case.
    public var name: String
    /// The query as the reader typed it.
    public var query: String

    public init(id: ID<SavedFilter> = ID(), name: String, query: String) {
        (self.id, self.name, self.query) = (id, name, query)
    }

    public func isNamed(_ text: String) -> Bool { name.caseFolded == text.cleanedLine.caseFolded }

    /// One line of `scan filter list --json`.
    public var json: JSONValue {
        ["id": .string(id.rawValue), "name": .string(name), "query": .string(query)]
    }
}

/// The saved filters of the present reader.
public protocol SavedFilters: Sendable {
    /// Returns the filters by name.
    func savedFilters() async throws -> [SavedFilter]

    /// Saves a query under a name. If the reader has a filter with this name, its query is replaced.
    ///
    /// - Returns: the filter, and the change with which it can be undone; `nil` if it was saved already.
    /// - Throws: ``TextRefusal`` for a name or query that is refused.
    func saveFilter(_ name: String, _ query: String, at now: Date) async throws -> (SavedFilter, ID<Change>?)

    /// Renames a filter.
    ///
    /// - Throws: ``SavedFilterRefusal``, ``TextRefusal``.
    func renameFilter(_ id: ID<SavedFilter>, to name: String, at now: Date) async throws -> (SavedFilter, ID<Change>?)

    func deleteFilter(_ id: ID<SavedFilter>, at now: Date) async throws -> ID<Change>?
}

/// The reason why a saved filter cannot be changed.
public enum SavedFilterRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    case noSuchFilter
    /// Another filter of the reader has this name.
    case nameTaken(String)

    public var description: String {
        switch self {
        case .noSuchFilter: "there is no such saved filter. It may have been deleted"
        case .nameTaken(let name): "another filter is called \"\(name.cleanedLine.prefix(80))\". Choose another name"
        }
    }
}
