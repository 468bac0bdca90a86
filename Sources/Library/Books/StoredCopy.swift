import Bookplate
import GRDB

/// What is known of a copy as a row. Its status, tags and readings are stored apart: they follow rules of their own.
enum StoredCopy {
    private static let columns = [
        "isOwned", "isOnWishlist", "isFavourite", "shelf", "rating", "added", "isPublic", "recommendedBy",
        "wouldRecommend",
        "dailyGoal", "countsForCulturalGoal", "culturalGoalCategory",
    ]
    private static let insertion =
        "INSERT INTO copy (uuid, edition, status, deleted, \(columns.joined(separator: ", "))) VALUES (?, ?, ?, ?"
        + String(repeating: ", ?", count: columns.count) + ")"
    private static let update =
        "UPDATE copy SET " + columns.map { "\($0) = ?" }.joined(separator: ", ") + " WHERE id = ?"

    /// Stores a new copy, its tags too.
    ///
    /// - Returns: its row number.
    static func insert(_ copy: Copy, of edition: Int64, _ db: Database) throws -> Int64 {
        let head: StatementArguments = [
            copy.id.rawValue, edition, copy.status.rawValue, copy.deleted?.milliseconds,
        ]
        try db.run(insertion, head + values(of: copy, db))
        let row = db.lastInsertedRowID
        try addTags(db, copy.tags, to: row)
        return row
    }

    /// Stores what a person says of a copy.
    ///
    /// - Throws: ``EntryRefusal``.
    static func store(_ copy: Copy, at row: Int64, _ db: Database) throws {
        try copy.checkEntries()
        try db.run(update, values(of: copy, db) + [row])
    }

    private static func values(of copy: Copy, _ db: Database) throws -> StatementArguments {
        let values: [(any DatabaseValueConvertible)?] = [
            copy.isOwned, copy.isOnWishlist, copy.isFavourite, try copy.shelf.flatMap { try shelfRow(db, $0) },
            copy.rating.map { Int($0 * 4) }, copy.added.milliseconds, copy.isPublic,
            copy.recommendedBy?.storable(TextLimit.name), copy.wouldRecommend, copy.dailyGoal,
            copy.countsForCulturalGoal, copy.culturalGoalCategory?.storable(TextLimit.name),
        ]
        return StatementArguments(values)
    }
}
