import Bookplate
import FoundationEssentials
import GRDB

extension LibraryFile: SavedFilters {
    public func savedFilters() async throws -> [SavedFilter] {
        try await read { db in try SavedFilter.fetch(db, "ORDER BY name") }
    }

    public func saveFilter(
        _ name: String, _ query: String, at now: Date
    ) async throws -> (SavedFilter, ID<Change>?) {
        let name = try name.checked(as: "name", limit: TextLimit.name)
        let query = try query.checked(as: "query", limit: QueryParser.longestQuery)
        return try await changed(.edit, at: now) { db, _ in
            try db.run(
                """
                INSERT INTO savedFilter (uuid, reader, name, displayName, query) VALUES (?, reader(), ?, ?, ?)
                ON CONFLICT (reader, name) DO UPDATE SET displayName = excluded.displayName, query = excluded.query
                """, [ID<SavedFilter>().rawValue, name.caseFolded, name, query])
            let saved = try SavedFilter.fetch(db, "AND name = ?", [name.caseFolded])
            return (try saved.first.orThrow(SavedFilterRefusal.noSuchFilter), "saved the filter \(quoted(name))")
        }
    }

    public func renameFilter(
        _ id: ID<SavedFilter>, to name: String, at now: Date
    ) async throws -> (SavedFilter, ID<Change>?) {
        let name = try name.checked(as: "name", limit: TextLimit.name)
        return try await changed(.edit, at: now) { db, _ in
            guard try SavedFilter.fetch(db, "AND name = ? AND uuid <> ?", [name.caseFolded, id.rawValue]).isEmpty else {
                throw SavedFilterRefusal.nameTaken(name)
            }
            try db.run(
                "UPDATE savedFilter SET name = ?, displayName = ? WHERE uuid = ? AND reader = reader()",
                [name.caseFolded, name, id.rawValue])
            let renamed = try SavedFilter.fetch(db, "AND uuid = ?", [id.rawValue])
            return (
                try renamed.first.orThrow(SavedFilterRefusal.noSuchFilter), "renamed a filter to \(quoted(name))"
            )
        }
    }

    public func deleteFilter(_ id: ID<SavedFilter>, at now: Date) async throws -> ID<Change>? {
        try await changed(.edit, at: now) { db, _ in
            let filter = try SavedFilter.fetch(db, "AND uuid = ?", [id.rawValue]).first
            let name = try filter.orThrow(SavedFilterRefusal.noSuchFilter).name
            try db.run("DELETE FROM savedFilter WHERE uuid = ? AND reader = reader()", [id.rawValue])
            return ((), "deleted the filter \(quoted(name))")
        }.change
    }
}

extension SavedFilter {
    fileprivate static func fetch(
        _ db: Database, _ clauses: String, _ arguments: StatementArguments = []
    ) throws -> [SavedFilter] {
        try db.rows(
            "SELECT uuid, displayName, query FROM savedFilter WHERE reader = reader() \(clauses)", arguments
        ).map { SavedFilter(id: ID(rawValue: $0["uuid"]), name: $0["displayName"], query: $0["query"]) }
    }
}

extension Optional {
    fileprivate func orThrow(_ error: some Error) throws -> Wrapped {
        guard let self else { throw error }
        return self
    }
}
