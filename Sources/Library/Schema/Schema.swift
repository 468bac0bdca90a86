import Bookplate
import GRDB

/// The versions of the schema. A migration that has been released must never be edited. Append another migration
/// instead.
enum Schema {
    /// The text "BKPL" as a number, which the file's header contains (PRAGMA application_id).
    static let applicationID: UInt32 = 0x424B_504C

    /// The migrations in their order. The `user_version` of a file is the number of migrations that it has had.
    private static let migrations: [(name: String, migrate: @Sendable (Database) throws -> Void)] = [
        ("1 books, intake queue, changes", createFirstSchema),
        ("2 readings, notes, quotes", createTracker),
        ("3 search", createSearch),
        ("4 access code, sign-ins", createAccess),
        ("5 paired stations, outbox", createHub),
        ("6 the hub's library, stats, sign-in attempts, redo", migrateToVersion6),
        ("7 pending sources", addPendingSources),
        ("8 readers", addReaders),
        ("9 saved filters", addSavedFilters),
        ("10 facts of copies", addCopyFacts),
        ("11 wishlist links", createWishlistLinks),
        ("12 stats of works", addStatsOfWorks),
        ("13 sort names, additions by day", addSortNames),
        ("14 distinct copies", addDistinctCopies),
    ]

    @Sendable private static func migrateToVersion6(_ db: Database) throws {
        try addHubLibrary(db)
        try createStatsBlocks(db)
        try createSignInAttempts(db)
        try createRedo(db)
    }

    /// Answers whose gaps other sources may fill.
    @Sendable private static func addPendingSources(_ db: Database) throws {
        try db.execute(
            sql: """
                -- The time from which the pending sources are to be asked; NULL if there are none.
                ALTER TABLE answer ADD COLUMN gapsDue INTEGER;
                CREATE INDEX answerByGapsDue ON answer (gapsDue) WHERE gapsDue IS NOT NULL;
                """)
    }

    /// The newest version of the schema that this program knows.
    static var version: Int { migrations.count }

    /// Migrates a file to ``version``, or to an earlier version. Each migration is one transaction. A new file gets all
    /// versions in one transaction, so that it is never found with only some of them.
    static func migrate(_ database: any DatabaseWriter, upTo version: Int = Schema.version) throws {
        let stored = try database.read(storedVersion)
        guard stored < version else { return }
        if stored == 0, version == Schema.version {
            try copyNew(to: database)
        } else {
            try runMigrations(on: database, from: stored, upTo: version)
        }
    }

    /// A library without books, in memory. Every new library is a copy of it, because the migrations take a tenth of a
    /// second.
    private static let new = Result {
        let queue = try DatabaseQueue(configuration: LibraryFile.configuration())
        try runMigrations(on: queue, from: 0, upTo: version)
        return queue
    }

    /// Makes a new library, with ids of its own, in one transaction.
    private static func copyNew(to database: any DatabaseWriter) throws {
        try new.get().writeWithoutTransaction { new in
            try new.run("UPDATE identity SET id = ?", [LibraryFile.newIdentity()])
            try new.run("UPDATE reader SET uuid = ?", [ID<Reader>().rawValue])
            try database.writeWithoutTransaction { try new.backup(to: $0) }
        }
    }

    private static func runMigrations(
        on database: any DatabaseWriter, from stored: Int, upTo version: Int
    ) throws {
        var migrator = DatabaseMigrator()
        if stored == 0 {
            migrator.registerMigration(migrations[0].name) { db in
                for migration in migrations.prefix(version) { try migration.migrate(db) }
                // GRDB records the first migration itself.
                for migration in migrations.prefix(version).dropFirst() {
                    try db.run("INSERT INTO grdb_migrations (identifier) VALUES (?)", [migration.name])
                }
                try finish(db, version)
            }
        } else {
            for (index, migration) in migrations.enumerated() {
                migrator.registerMigration(migration.name) { db in
                    try migration.migrate(db)
                    try finish(db, index + 1)
                }
            }
        }
        try migrator.migrate(database, upTo: stored == 0 ? migrations[0].name : migrations[version - 1].name)
    }

    private static func finish(_ db: Database, _ version: Int) throws {
        try createUndoTriggers(db)
        try db.execute(sql: "PRAGMA application_id = \(applicationID)")
        try db.execute(sql: "PRAGMA user_version = \(version)")
    }

    /// - Returns: the version of the schema in the file.
    /// - Throws: ``LibraryError/newerSchema(path:version:known:)`` if the file has a newer version of the schema.
    @discardableResult
    static func checkVersion(_ db: Database, path: String) throws -> Int {
        let stored = try storedVersion(db)
        guard stored <= version else {
            throw LibraryError.newerSchema(path: path, version: stored, known: version)
        }
        return stored
    }

    @Sendable private static func storedVersion(_ db: Database) throws -> Int {
        try Int.fetchOne(db.cachedStatement(sql: "PRAGMA user_version")) ?? 0
    }
}
