import Bookplate
import FoundationEssentials
import GRDB

/// One thing that happened to the library: a change that was made, continued, undone or redone.
public struct ChangeEvent: Sendable, Equatable {
    public enum Kind: Sendable, Equatable { case made, undone, redone }

    public var kind: Kind
    /// The change as it is now.
    public var change: Change
    /// The time of the event. The library does not record the time of a redo, so that of a redo is the time at which
    /// it was noticed.
    public var at: Date
    /// The copies that the event touched, at most ``ChangeFeed/maxBooks``.
    public var books: [ID<Copy>]
}

/// A place in the change history, after which the events have not been read yet.
public struct ChangeFeed: Sendable {
    /// The maximum number of copies that one event names.
    public static let maxBooks = 1000
    /// The maximum number of logged rows in which the copies of one event are searched for; an import has millions.
    fileprivate static let maxRows = 20_000

    /// The state of a change when it was last read. A change that is continued gets more rows.
    fileprivate struct Known: Equatable {
        var lastRow: Int64
        var isUndone: Bool
    }

    fileprivate var known: [Int64: Known] = [:]
}

extension LibraryFile {
    /// Returns the feed that begins after a change, or now.
    ///
    /// - Parameter change: the change after which the feed begins; `nil` to begin now.
    /// - Throws: ``UndoRefusal/noSuchChange`` if there is no such change, or none that the reader may see.
    public func feed(after change: ID<Change>?) async throws -> ChangeFeed {
        try await read { db in
            var feed = ChangeFeed()
            feed.known = try Self.states(db)
            guard let change else { return feed }
            guard let row = try Change.row(db, change) else { throw UndoRefusal.noSuchChange }
            let id = row["id"] as Int64
            feed.known = feed.known.filter { $0.key <= id }
            return feed
        }
    }

    /// Returns the events since the feed was read last, and moves the feed behind them. Changes that the reader may not
    /// see are left out.
    public func events(of feed: ChangeFeed, at now: Date) async throws -> (events: [ChangeEvent], next: ChangeFeed) {
        try await read { db in
            var next = ChangeFeed()
            next.known = try Self.states(db)
            var events: [ChangeEvent] = []
            for (id, state) in next.known.sorted(by: { $0.key < $1.key }) where feed.known[id] != state {
                if let event = try Self.event(of: id, state, before: feed.known[id], at: now, db) {
                    events.append(event)
                }
            }
            return (events, next)
        }
    }

    private static func states(_ db: Database) throws -> [Int64: ChangeFeed.Known] {
        let rows = try db.rows(
            """
            SELECT id, undone IS NOT NULL AS isUndone,
                coalesce((SELECT max(id) FROM changeRow WHERE change = change.id), 0) AS lastRow
            FROM change
            """)
        return Dictionary(
            uniqueKeysWithValues: rows.map {
                ($0["id"] as Int64, ChangeFeed.Known(lastRow: $0["lastRow"], isUndone: $0["isUndone"]))
            })
    }

    /// - Parameter id: the row of a change, or of the record that an undo has left.
    /// - Returns: `nil` if nothing happened that the reader may see.
    private static func event(
        of id: Int64, _ state: ChangeFeed.Known, before: ChangeFeed.Known?, at now: Date, _ db: Database
    ) throws -> ChangeEvent? {
        let undone = try db.value(Int64.self, "SELECT undoes FROM change WHERE id = ?", [id])
        let found = try db.row(
            "SELECT \(Change.columns) FROM change WHERE id = ? AND undoes IS NULL AND \(Change.isVisible)",
            [undone ?? id])
        guard let change = try found.map(Change.init(row:)) else { return nil }
        if undone != nil {
            let books = try copies(of: id, after: 0, db)
            return ChangeEvent(kind: .undone, change: change, at: change.undone ?? now, books: books)
        }
        if let before, before.lastRow == state.lastRow {
            // The record of an undo is an event of its own.
            guard before.isUndone, !state.isUndone else { return nil }
            return ChangeEvent(kind: .redone, change: change, at: now, books: try copies(of: id, after: 0, db))
        }
        let books = try copies(of: id, after: before?.lastRow ?? 0, db)
        return ChangeEvent(kind: .made, change: change, at: change.at, books: books)
    }

    /// Returns the copies that a change touched in the rows that it has logged after the given one, in this order.
    private static func copies(of change: Int64, after row: Int64, _ db: Database) throws -> [ID<Copy>] {
        try db.rows(
            """
            WITH logged AS (
                SELECT id, tableName, key, coalesce(after, before) AS image FROM changeRow
                WHERE change = ?1 AND id > ?2 ORDER BY id LIMIT \(ChangeFeed.maxRows)
            ), touched AS (
                SELECT id, json_extract(image, '$.uuid') AS uuid FROM logged WHERE tableName = 'copy'
                UNION ALL
                SELECT logged.id, copy.uuid FROM logged JOIN copy ON copy.id = json_extract(image, '$.copy')
                UNION ALL
                SELECT logged.id, copy.uuid FROM logged JOIN reading ON reading.id = json_extract(image, '$.reading')
                    JOIN copy ON copy.id = reading.copy
                UNION ALL
                SELECT logged.id, copy.uuid FROM logged JOIN copy ON copy.edition = iif(
                    tableName = 'edition', json_extract(key, '$[0]'), json_extract(image, '$.edition'))
                WHERE tableName <> 'copy'
            )
            SELECT uuid FROM touched WHERE uuid IS NOT NULL GROUP BY uuid ORDER BY min(id) LIMIT \(ChangeFeed.maxBooks)
            """, [change, row]
        ).map { ID(rawValue: $0["uuid"]) }
    }
}
