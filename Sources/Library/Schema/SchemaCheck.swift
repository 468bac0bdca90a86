import Bookplate
import Cryptography
import GRDB
import Synchronization

/// Compares the schema in a file with the schema that this program creates.
///
/// A library can come from somebody else, for example as a backup to restore. A trigger or view in it would run with
/// the reader's rights at a later change, such as one that inserts a sign-in. Therefore a file is refused if it has a
/// trigger or view that this program has not created, or a table of its own that is not the one that this program
/// creates. Other tables and indexes have no effect, so they are only reported.
struct SchemaCheck {
    /// The SHA-256 hash of ``fingerprint`` for the newest version of the schema, in hexadecimal digits. With it, the
    /// schema is checked in a fraction of a millisecond. If it does not match, the file's schema is compared with one
    /// that the migrations create, which takes some hundredths of a second. A test prints the new value after a new
    /// migration.
    static let newest = "9c8ab633c9ba64803bf0a3d261baa840a20efa9d9ad99dfb3a7dc6afdedf4c2f"

    /// A table, index, trigger or view.
    private struct Object {
        var type: String
        var name: String
        var table: String
        /// The statement that creates the object.
        var sql: String

        init(_ row: Row) {
            (type, name, table) = (row["type"] ?? "", row["name"] ?? "", row["tbl_name"] ?? "")
            sql = row["sql"] ?? ""
        }

        var key: String { "\(type) \(name)" }

        func isSame(as other: Object) -> Bool {
            key == other.key && table == other.table && normalised(sql) == normalised(other.sql)
        }
    }

    /// The version of the schema according to the file.
    private let version: Int
    private let objects: [Object]

    /// Reads the schema, without SQLite's own objects, the migrator's table and the tables in which FTS5 keeps its
    /// index: their definitions depend on the versions of these libraries.
    ///
    /// - Throws: ``LibraryError/newerSchema(path:version:known:)``, or GRDB's error.
    init(_ db: Database, path: String) throws {
        version = try Schema.checkVersion(db, path: path)
        objects = try Row.fetchAll(
            db,
            sql: """
                SELECT CAST(type AS TEXT) AS type, CAST(name AS TEXT) AS name, CAST(tbl_name AS TEXT) AS tbl_name,
                    CAST(sql AS TEXT) AS sql
                FROM sqlite_schema
                WHERE NOT (type = 'index' AND sql IS NULL)
                    AND NOT (
                        type = 'table'
                        AND (name GLOB 'sqlite_*' OR name GLOB 'searchText_*' OR name = 'grdb_migrations'))
                ORDER BY type, name
                """
        ).map(Object.init)
    }

    /// The definitions of all tables, triggers and views. Only tables have comments, which differ between releases.
    private var fingerprint: String {
        objects.filter { $0.type != "index" }.map { object in
            "\(object.key) \(object.table) \(object.type == "table" ? normalised(object.sql) : object.sql)\u{1E}"
        }.joined()
    }

    /// The hash of ``fingerprint``; see ``newest``.
    var digest: String { SHA256.hash(fingerprint.utf8).hexadecimal }

    /// The schema that was last found to be sound, as it is stored. A process that opens the same schema again does not
    /// compute the hash again.
    private static let sound = Mutex<String?>(nil)

    /// - Returns: the version of the schema.
    /// - Throws: ``LibraryError/alteredSchema(path:what:)`` if the file has a trigger, view or table that this program
    ///   would not create, or lacks one that it would create. ``LibraryError/newerSchema(path:version:known:)`` if the
    ///   file has a newer version of the schema.
    static func check(_ db: Database, path: String) throws -> Int {
        let version = try Schema.checkVersion(db, path: path)
        let objects = try String.fetchOne(
            db,
            sql: """
                SELECT group_concat(object, char(30))
                FROM (
                    SELECT type || char(31) || name || char(31) || tbl_name || char(31) || coalesce(sql, '') AS object
                    FROM sqlite_schema WHERE type <> 'index' ORDER BY type, name)
                """)
        let stored = "\(version) \(objects ?? "")"
        if sound.withLock({ $0 == stored }) { return version }
        let check = try SchemaCheck(db, path: path)
        if check.version != Schema.version || check.digest != newest { try check.compare(path: path) }
        sound.withLock { $0 = stored }
        return version
    }

    private func compare(path: String) throws {
        let expected = try Self.created(version)
        func refusal(_ what: String) -> LibraryError { .alteredSchema(path: path, what: what) }
        for object in objects where object.type != "index" {
            if let own = expected[object.key] {
                guard own.isSame(as: object) else { throw refusal("the \(object.key.quotedName) was altered") }
            } else if object.type != "table" {
                throw refusal("the \(object.key.quotedName) is not one of Bookplate's")
            }
        }
        let present = Set(objects.map(\.key))
        if let missing = expected.values.filter({ $0.type != "index" && !present.contains($0.key) }).map(\.key).min() {
            throw refusal("the \(missing.quotedName) is missing")
        }
    }

    /// Returns the tables and indexes that this program has not created, such as "table bookmark".
    static func unknownObjects(_ db: Database, path: String) throws -> [String] {
        let check = try SchemaCheck(db, path: path)
        let expected = try created(check.version)
        return check.objects.filter { object in
            ["table", "index"].contains(object.type) && expected[object.key]?.isSame(as: object) != true
        }.map(\.key.quotedName)
    }

    /// Returns the objects that the migrations up to a version create.
    private static func created(_ version: Int) throws -> [String: Object] {
        let queue = try DatabaseQueue(configuration: LibraryFile.configuration())
        try Schema.migrate(queue, upTo: version)
        let objects = try queue.read { db in try SchemaCheck(db, path: ":memory:").objects }
        return Dictionary(objects.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
    }
}

extension String {
    /// A name from a file, for a message: on one line and not too long.
    fileprivate var quotedName: String { String(cleanedLine.prefix(80)) }
}

/// Returns an SQL text without comments, and with a single space for each run of white space outside of quotes. Texts
/// that SQLite reads as the same tokens can still differ, but texts that it reads as different tokens never become
/// equal.
///
/// Source of the tokens: https://www.sqlite.org/lang_comment.html and sqlite3GetToken in SQLite's tokenize.c
func normalised(_ sql: String) -> String {
    let bytes = Array(sql.utf8)
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var index = 0
    var isAfterSpace = false
    func append(_ token: ArraySlice<UInt8>) {
        if isAfterSpace, !result.isEmpty { result.append(0x20) }
        isAfterSpace = false
        result += token
        index = token.endIndex
    }
    func byte(_ offset: Int) -> UInt8? { index + offset < bytes.count ? bytes[index + offset] : nil }
    func end(of closing: UInt8) -> Int {
        (bytes[(index + 1)...].firstIndex(of: closing)).map { $0 + 1 } ?? bytes.count
    }
    while index < bytes.count {
        switch (bytes[index], byte(1)) {
        case (UInt8(ascii: "'"), _), (UInt8(ascii: "\""), _), (UInt8(ascii: "`"), _), (UInt8(ascii: "["), _):
            // A doubled quote inside of a text begins another quoted part here, which leads to the same result.
            append(bytes[index..<end(of: bytes[index] == UInt8(ascii: "[") ? UInt8(ascii: "]") : bytes[index])])
            continue
        case (UInt8(ascii: "-"), UInt8(ascii: "-")):
            index = bytes[index...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
        case (UInt8(ascii: "/"), UInt8(ascii: "*")):
            index += 2
            while index < bytes.count, !(bytes[index] == UInt8(ascii: "*") && byte(1) == UInt8(ascii: "/")) {
                index += 1
            }
            index = min(index + 2, bytes.count)
        case (0x20, _), (0x09, _), (0x0A, _), (0x0C, _), (0x0D, _): index += 1
        default:
            append(bytes[index...index])
            continue
        }
        isAfterSpace = true
    }
    return String(decoding: result, as: UTF8.self)
}
