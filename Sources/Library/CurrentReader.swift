import Bookplate
import FoundationEssentials
import GRDB
import Synchronization

/// The reader for whom a connection runs its present access. In SQL, it is `reader()`, so that a statement is the same
/// for every reader; `seesPrivate()` is 1 if the access may see the reader's private notes and quotes.
///
/// ``LibraryFile/read(_:)`` and ``LibraryFile/write(_:)`` set both at the beginning of each access. An access has its
/// connection for itself, so they stay the same until the access ends.
enum CurrentReader {
    /// The value of `reader()` for all readers together. No reader has this row id, so that a statement that does not
    /// provide for everybody finds nothing that is a reader's own.
    static let everybody: Int64 = 0

    private final class Box: Sendable {
        let reader = Atomic<Int64>(1)
        let seesPrivate = Atomic<Int64>(1)
    }

    /// Defines `reader()`, `seesPrivate()` and `setReader(id, seesPrivate)` for a new connection.
    static func prepare(_ db: Database) {
        let box = Box()
        // SQLite computes them once for each run of a statement, because they are deterministic in the sense of
        // https://www.sqlite.org/deterministic.html: they do not change while a statement runs.
        db.add(
            function: DatabaseFunction("reader", argumentCount: 0, pure: true) { _ in
                box.reader.load(ordering: .relaxed)
            })
        db.add(
            function: DatabaseFunction("seesPrivate", argumentCount: 0, pure: true) { _ in
                box.seesPrivate.load(ordering: .relaxed)
            })
        db.add(
            function: DatabaseFunction("setReader", argumentCount: 2) { values in
                guard let reader = Int64.fromDatabaseValue(values[0]) else { return nil }
                box.reader.store(reader, ordering: .relaxed)
                box.seesPrivate.store(Int64.fromDatabaseValue(values[1]) ?? 0, ordering: .relaxed)
                return reader
            })
    }

    static func set(_ reader: Int64, seesPrivate: Bool, _ db: Database) throws {
        _ = try db.row("SELECT setReader(?, ?)", [reader, seesPrivate ? 1 : 0])
    }
}

/// The reader whose status, readings and opinions a library file reads and writes, and who asks for them.
struct ReaderAccess: Sendable {
    /// The row id of the reader; `nil` for the first reader outside the trash, ``CurrentReader/everybody`` for all
    /// readers together.
    var reader: Int64?
    /// The sign-in or terminal, in which a reader with a PIN may be unlocked.
    var holder: String?
    /// True for guests, who never see private notes and quotes.
    var isGuest = false
    /// The time at which the reader must be unlocked; `nil` for the time of each access.
    var now: Date?

    /// Sets the reader of an access.
    ///
    /// - Throws: ``ReaderRefusal/noSuchReader`` if the reader is in the trash.
    func begin(_ db: Database, at now: Date) throws {
        guard reader != CurrentReader.everybody else {
            return try CurrentReader.set(CurrentReader.everybody, seesPrivate: false, db)
        }
        let found = try db.row(
            """
            SELECT setReader(reader.id, NOT ?1 AND (
                NOT EXISTS (SELECT 1 FROM readerPIN WHERE readerPIN.reader = reader.id)
                OR EXISTS (
                    SELECT 1 FROM readerUnlock unlock
                    WHERE unlock.reader = reader.id AND holder = ?2 AND until > ?3)))
            FROM reader WHERE id = coalesce(?4, (SELECT min(id) FROM reader WHERE deleted IS NULL)) AND deleted IS NULL
            """, [isGuest, holder, (self.now ?? now).milliseconds, reader])
        if found == nil { throw ReaderRefusal.noSuchReader }
    }

    /// - Throws: ``ReaderRefusal/everybody`` for all readers together, because a change belongs to one reader.
    func checkCanWrite() throws {
        guard reader != CurrentReader.everybody else { throw ReaderRefusal.everybody }
    }
}

extension LibraryFile {
    public func ofEverybody() -> LibraryFile {
        reading(with: ReaderAccess(reader: CurrentReader.everybody))
    }
}

extension Database {
    /// The reader of the present access.
    var reader: Int64 {
        get throws { try value(Int64.self, "SELECT reader()") ?? 1 }
    }

    /// True if the present access is for all readers together.
    var isEverybody: Bool {
        get throws { try reader == CurrentReader.everybody }
    }

    /// True if there is more than one reader outside the trash.
    var hasSeveralReaders: Bool {
        get throws { (try value(Int.self, "SELECT count(*) FROM reader WHERE deleted IS NULL") ?? 1) > 1 }
    }

    /// Returns the condition that a row belongs to the reader of the present access or, for everybody, to any reader
    /// outside the trash.
    ///
    /// - Parameter column: the column with the reader.
    func isOwn(_ column: String) throws -> String {
        try isEverybody ? "\(column) IN (SELECT id FROM reader WHERE deleted IS NULL)" : "\(column) = reader()"
    }

    /// Runs `body` for each reader outside the trash, in the order in which they were added.
    func forEachReader<Value>(_ body: (ID<Reader>) throws -> Value) throws -> [Value] {
        try rows("SELECT id, uuid FROM reader WHERE deleted IS NULL ORDER BY id").map { row in
            try withReader(row["id"]) { try body(ID(rawValue: row["uuid"])) }
        }
    }

    /// Runs `body` for another reader.
    func withReader<Value>(_ other: Int64, _ body: () throws -> Value) throws -> Value {
        let (own, seesPrivate) = (try reader, try value(Bool.self, "SELECT seesPrivate()") ?? false)
        try CurrentReader.set(other, seesPrivate: other == own && seesPrivate, self)
        let result = Result { try body() }
        try CurrentReader.set(own, seesPrivate: seesPrivate, self)
        return try result.get()
    }
}

/// The present reader's status and opinion of a copy: a row of the table `readerCopy`. A reader who has done nothing
/// with a copy has no row.
enum OwnCopy {
    /// Joins the row, under the name `own`, to the table `copy`. As a subquery, the reader is computed only once; in a
    /// LEFT JOIN, SQLite would call the function for every row.
    static let join = "LEFT JOIN readerCopy own ON own.copy = copy.id AND own.reader = (SELECT reader())"
    static let status = "coalesce(own.status, 'toRead')"
    static let isOnWishlist = "coalesce(own.isOnWishlist, 0)"
    static let isFavourite = "coalesce(own.isFavourite, 0)"
    /// All columns of the joined row.
    static let values = """
        \(status) AS status, \(isOnWishlist) AS isOnWishlist, \(isFavourite) AS isFavourite, own.rating,
            own.recommendedBy, own.wouldRecommend, own.dailyGoal,
            coalesce(own.countsForCulturalGoal, 0) AS countsForCulturalGoal, own.culturalGoalCategory
        """

    private static func saysNothing(_ value: Value) -> Bool {
        switch value.value {
        case nil: true
        case let flag as Bool: !flag
        case let text as String: value.column == "status" && text == Copy.Status.toRead.rawValue
        default: false
        }
    }

    typealias Value = (column: String, value: (any DatabaseValueConvertible)?)

    /// The rating as it is stored: in quarter stars.
    static func rating(_ stars: Double?) -> Value { ("rating", stars.map { Int($0 * 4) }) }

    /// The values of a copy that a person may edit. The status follows rules of its own.
    static func facts(of copy: Copy) -> [Value] {
        [
            ("isOnWishlist", copy.isOnWishlist), ("isFavourite", copy.isFavourite), rating(copy.rating),
            ("recommendedBy", copy.recommendedBy?.storable(TextLimit.name)), ("wouldRecommend", copy.wouldRecommend),
            ("dailyGoal", copy.dailyGoal), ("countsForCulturalGoal", copy.countsForCulturalGoal),
            ("culturalGoalCategory", copy.culturalGoalCategory?.storable(TextLimit.name)),
        ]
    }

    /// Stores values of the present reader. A reader who has no row gets none for values that say nothing.
    ///
    /// - Parameter isNew: true for a new copy, for which its reader gets a row in any case.
    static func store(_ values: [Value], of copy: Int64, isNew: Bool = false, _ db: Database) throws {
        if !isNew, values.allSatisfy(saysNothing),
            try db.row("SELECT 1 FROM readerCopy WHERE copy = ? AND reader = reader()", [copy]) == nil
        {
            return
        }
        let columns = values.map(\.column)
        try db.run(
            """
            INSERT INTO readerCopy (copy, reader, \(columns.joined(separator: ", ")))
            VALUES (?, reader()\(String(repeating: ", ?", count: columns.count)))
            ON CONFLICT (copy, reader) DO UPDATE
                SET \(columns.map { "\($0) = excluded.\($0)" }.joined(separator: ", "))
            """, StatementArguments([copy]) + StatementArguments(values.map(\.value)))
    }
}
