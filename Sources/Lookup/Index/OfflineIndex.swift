import Bookplate
import GRDB
import Glibc

/// A catalogue on this machine's disk, which is built from Open Library's dumps. This metadata source needs no network.
///
/// The file is only read. A new build replaces the file by renaming, and is used when the index is opened the next
/// time.
public struct OfflineIndex: MetadataSource {
    private let database: DatabaseQueue
    private let path: String

    public var name: SourceName { .offlineIndex }
    /// The number of ISBNs in one query.
    public var batchSize: Int { 500 }

    /// - Throws: ``OfflineIndexError`` if there is no file, or if it is not an index of Bookplate.
    public init(path: String) throws(OfflineIndexError) {
        self.path = path
        var configuration = Configuration()
        configuration.readonly = true
        configuration.label = "offline index"
        do {
            database = try DatabaseQueue(path: path, configuration: configuration)
            let (id, version) = try database.read { db in
                (
                    try Int32.fetchOne(db, sql: "PRAGMA application_id") ?? 0,
                    try Int32.fetchOne(db, sql: "PRAGMA user_version") ?? 0
                )
            }
            guard id == IndexSchema.applicationID else { throw OfflineIndexError.foreign(path: path) }
            guard version <= IndexSchema.version else { throw OfflineIndexError.newer(path: path) }
        } catch let error as OfflineIndexError {
            throw error
        } catch let error as DatabaseError {
            switch error.resultCode {
            case .SQLITE_NOTADB: throw .foreign(path: path)
            case .SQLITE_CANTOPEN: throw .missing(path: path)
            case .SQLITE_CORRUPT: throw .damaged(path: path, cause: OfflineIndexError.cause(error))
            default: throw .unreadable(path: path, cause: OfflineIndexError.cause(error))
            }
        } catch {
            throw .unreadable(path: path, cause: OfflineIndexError.cause(error))
        }
    }

    public func lookUp(_ isbns: [ISBN]) async -> [ISBN: SourceAnswer] {
        do {
            let found = try await database.read { try Self.records(of: isbns, in: $0) }
            return isbns.answered { found[$0].map(SourceAnswer.found) ?? .notFound }
        } catch {
            let reason = OfflineIndexError.damaged(path: path, cause: OfflineIndexError.cause(error)).description
            let failure = SourceError(source: name, reason: reason)
            return isbns.answered { _ in .badData(failure) }
        }
    }

    public func find(_ query: TitleQuery, limit: Int) async throws(SourceError) -> [EditionOffer] {
        throw SourceError(source: name, reason: "has no words for titles; build it again with 'scan index build'")
    }

    private static func records(of isbns: [ISBN], in db: Database) throws -> [ISBN: Metadata] {
        let numbers = Dictionary(isbns.compactMap { isbn in Int64(isbn.digits).map { ($0, isbn) } }) { first, _ in first
        }
        let asked = "[" + isbns.map(\.digits).joined(separator: ",") + "]"
        let rows = try Row.fetchCursor(db.cachedStatement(sql: IndexSchema.query), arguments: [asked])
        var found: [ISBN: Metadata] = [:]
        while let row = try rows.next() {
            guard let isbn = numbers[row["isbn"]] else { continue }
            var record = found[isbn] ?? metadata(row)
            if let name: String = row["creditName"] {
                let role = (row["creditRole"] as String?).flatMap(Contributor.Role.init(rawValue:)) ?? .author
                record.authors.append(Contributor(name: name, role: role))
            }
            found[isbn] = record
        }
        for isbn in found.keys { found[isbn]?.attribute(to: .offlineIndex) }
        return found
    }

    private static func metadata(_ row: Row) -> Metadata {
        var metadata = Metadata()
        metadata.title = row["title"]
        metadata.subtitle = row["subtitle"]
        metadata.publisher = row["publisher"]
        metadata.publishedDateText = row["published"]
        metadata.publishedDate = metadata.publishedDateText.flatMap(PublishedDate.day(in:))
        metadata.pageCount = row["pages"]
        metadata.language = row["language"]
        metadata.originalLanguage = row["originalLanguage"]
        metadata.format = (row["format"] as String?).flatMap(Metadata.Format.init)
        metadata.series = row["series"]
        metadata.seriesNumber = row["seriesNumber"]
        metadata.coverURL = row["cover"]
        metadata.identifiers["openlibrary"] = ["OL\(row["id"] as Int64)M"]
        return metadata
    }

    /// Returns facts about the content of the index.
    ///
    /// - Throws: ``OfflineIndexError/damaged(path:cause:)`` if the index cannot be read.
    public func info() throws(OfflineIndexError) -> Info {
        do {
            return try database.read(readInfo)
        } catch {
            throw .damaged(path: path, cause: OfflineIndexError.cause(error))
        }
    }

    private func readInfo(_ db: Database) throws -> Info {
        let pages = try Int64.fetchOne(db, sql: "PRAGMA page_count") ?? 0
        let pageSize = try Int64.fetchOne(db, sql: "PRAGMA page_size") ?? 0
        guard let about = try Row.fetchOne(db, sql: "SELECT * FROM about") else {
            throw DatabaseError(message: "its description is missing")
        }
        return Info(
            editions: about["editions"], isbns: about["isbns"], authors: about["authors"],
            builtFrom: try String.fetchAll(db, sql: "SELECT name FROM dump ORDER BY position"),
            newest: about["newest"], bytes: pages * pageSize)
    }

    /// The facts that `scan index info` shows.
    public struct Info: Sendable, Equatable {
        public var editions: Int
        public var isbns: Int
        public var authors: Int
        /// The names of the dump files without their folders.
        public var builtFrom: [String]
        /// The time of the latest change to any record, as the dump writes it.
        public var newest: String?
        public var bytes: Int64
    }
}

/// The tables of the offline index, and the staging tables from which it is built.
enum IndexSchema {
    /// The letters "BpIx", which distinguish the file from other SQLite databases.
    static let applicationID: Int32 = 0x4270_4978
    static let version: Int32 = 1

    /// The tables of the index. The table isbn has one row per ISBN, which refers to an edition; the other tables hold
    /// the editions, their authors and the names of the dumps.
    static let index = """
        CREATE TABLE main.isbn (isbn INTEGER PRIMARY KEY, edition INTEGER NOT NULL);
        CREATE TABLE main.edition (
            id INTEGER PRIMARY KEY, title TEXT NOT NULL, subtitle TEXT, publisher TEXT, published TEXT, pages INTEGER,
            language TEXT, originalLanguage TEXT, format TEXT, series TEXT, seriesNumber TEXT, cover TEXT
        );
        CREATE TABLE main.author (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
        -- Authors are stored by number; translators and others have no number and are stored by name and role.
        CREATE TABLE main.credit (
            edition INTEGER NOT NULL, position INTEGER NOT NULL, author INTEGER, name TEXT, role TEXT,
            PRIMARY KEY (edition, position)
        ) WITHOUT ROWID;
        CREATE TABLE main.dump (position INTEGER PRIMARY KEY, name TEXT NOT NULL);
        CREATE TABLE main.about (editions INTEGER NOT NULL, isbns INTEGER NOT NULL, authors INTEGER NOT NULL, newest TEXT);
        """

    /// The staging tables, which hold the newest revision of each row. Lists are stored as JSON, because they are not
    /// read before the last step.
    static let rows = """
        CREATE TABLE rows.edition (
            id INTEGER PRIMARY KEY, revision INTEGER, modified TEXT, isbns TEXT, work INTEGER, authors TEXT, contributors TEXT,
            title TEXT, subtitle TEXT, publisher TEXT, published TEXT, pages INTEGER,
            language TEXT, originalLanguage TEXT, format TEXT, series TEXT, seriesNumber TEXT, cover TEXT
        );
        CREATE TABLE rows.work (id INTEGER PRIMARY KEY, revision INTEGER, authors TEXT);
        CREATE TABLE rows.author (id INTEGER PRIMARY KEY, revision INTEGER, name TEXT);
        """

    static let editionColumns = [
        "id", "revision", "modified", "isbns", "work", "authors", "contributors", "title", "subtitle", "publisher",
        "published",
        "pages", "language", "originalLanguage", "format", "series", "seriesNumber", "cover",
    ]

    /// Returns the SQL statement that inserts a row, or replaces an older revision of the row.
    static func upsert(_ table: String, _ columns: [String]) -> String {
        let changes = columns.dropFirst().map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        let marks = columns.map { _ in "?" }.joined(separator: ", ")
        return """
            INSERT INTO rows.\(table) (\(columns.joined(separator: ", "))) VALUES (\(marks))
            ON CONFLICT (id) DO UPDATE SET \(changes) WHERE excluded.revision > \(table).revision
            """
    }

    /// The statements that fill the index from the staging tables. Each table is filled in the order of its key, so
    /// that the same rows always give the same bytes.
    ///
    /// If several editions have the same ISBN, the most complete edition wins. If they are equally complete, the
    /// edition that was changed last wins, and then the edition with the lowest number.
    static let assembly = [
        """
        UPDATE rows.edition SET authors = (SELECT authors FROM rows.work WHERE work.id = edition.work)
        WHERE authors = '[]' AND EXISTS (SELECT 1 FROM rows.work WHERE work.id = edition.work)
        """,
        """
        INSERT INTO main.isbn SELECT isbn, id FROM (
            SELECT CAST(item.value AS INTEGER) AS isbn, edition.id AS id, row_number() OVER (
                PARTITION BY item.value
                ORDER BY (authors <> '[]') + (subtitle IS NOT NULL) + (publisher IS NOT NULL) + (published IS NOT NULL)
                    + (pages IS NOT NULL) + (language IS NOT NULL) + (cover IS NOT NULL) DESC, modified DESC, edition.id
            ) AS rank
            FROM rows.edition, json_each(edition.isbns) AS item
        ) WHERE rank = 1 ORDER BY isbn
        """,
        """
        INSERT INTO main.edition
        SELECT id, title, subtitle, publisher, published, pages, language, originalLanguage, format, series, seriesNumber, cover
        FROM rows.edition WHERE id IN (SELECT edition FROM main.isbn) ORDER BY id
        """,
        """
        INSERT INTO main.credit
        SELECT edition.id, item.key, item.value, NULL, NULL FROM main.edition AS kept
        JOIN rows.edition AS edition ON edition.id = kept.id, json_each(edition.authors) AS item
        WHERE EXISTS (SELECT 1 FROM rows.author WHERE author.id = item.value)
        UNION ALL
        SELECT edition.id, 1000 + item.key, NULL, item.value ->> 'name', item.value ->> 'role' FROM main.edition AS kept
        JOIN rows.edition AS edition ON edition.id = kept.id, json_each(edition.contributors) AS item
        ORDER BY 1, 2
        """,
        """
        INSERT INTO main.author SELECT id, name FROM rows.author
        WHERE id IN (SELECT author FROM main.credit) ORDER BY id
        """,
    ]

    /// The SQL query for all facts about a list of ISBNs. Its argument is a JSON array of the ISBNs as numbers.
    static let query = """
        SELECT isbn.isbn AS isbn, edition.*, coalesce(author.name, credit.name) AS creditName, credit.role AS creditRole
        FROM json_each(?) AS asked
        JOIN isbn ON isbn.isbn = asked.value
        JOIN edition ON edition.id = isbn.edition
        LEFT JOIN credit ON credit.edition = edition.id
        LEFT JOIN author ON author.id = credit.author
        ORDER BY isbn.isbn, credit.position
        """
}

/// The reason why an offline index cannot be built or used.
public enum OfflineIndexError: Error, Sendable, Equatable, CustomStringConvertible {
    case missing(path: String)
    case foreign(path: String)
    case newer(path: String)
    case damaged(path: String, cause: String)
    case unreadable(path: String, cause: String)
    /// A dump is truncated, or its compression is broken.
    case brokenDump(path: String, cause: String)
    case noEditions(paths: [String])
    /// There is another kind of file at the path of the index.
    case occupied(path: String)
    /// The index, or a temporary file of the build, would overwrite one of the dumps.
    case dumpInTheWay(path: String, dump: String)
    case cannotWrite(path: String, cause: String)
    case alreadyBuilding(path: String)
    case cancelled

    public var description: String {
        switch self {
        case .missing(let path): "there is no offline index at \(path); build one with 'scan index build'"
        case .foreign(let path): "\(path) is not a Bookplate offline index; build one with 'scan index build'"
        case .newer(let path):
            "the offline index \(path) was built by a newer version of Bookplate; build it again, or update Bookplate"
        case .damaged(let path, let cause):
            "the offline index \(path) is damaged (\(cause)); build it again with 'scan index build'"
        case .unreadable(let path, let cause): "cannot read \(path): \(cause)"
        case .brokenDump(let path, let cause): "\(path) is truncated or damaged (\(cause)); download it again"
        case .noEditions(let paths):
            "no edition with an ISBN was found in \(paths.joined(separator: ", ")); include Open Library's dump of editions"
        case .occupied(let path):
            "\(path) is not an offline index, so it was not replaced; give another file name for the index"
        case .dumpInTheWay(let path, let dump):
            "building the index \(path) would overwrite the dump \(dump); give another file name for the index"
        case .cannotWrite(let path, let cause): "cannot write \(path): \(cause)"
        case .alreadyBuilding(let path): "another process is building \(path); wait until it has finished"
        case .cancelled: "the build was cancelled; an index that existed before was not changed"
        }
    }
}

extension OfflineIndexError {
    /// Returns the message of an error from the database or the system.
    static func cause(_ error: any Error) -> String {
        guard let error = error as? DatabaseError else { return String(describing: error) }
        return error.message ?? "SQLite code \(error.resultCode)"
    }
}

extension OfflineIndexError: Refusal {
    public var kind: RefusalKind {
        switch self {
        case .missing, .unreadable, .noEditions, .brokenDump: .unreadable
        case .foreign, .damaged: .corrupt
        case .newer: .configuration
        case .cannotWrite, .cancelled: .inputOutput
        case .occupied, .dumpInTheWay: .invalid
        case .alreadyBuilding: .locked
        }
    }

    public var namesFile: Bool { self != .cancelled }

    public var code: String {
        switch self {
        case .missing: "indexMissing"
        case .foreign: "indexForeign"
        case .newer: "indexNewer"
        case .damaged: "indexDamaged"
        case .unreadable: "indexUnreadable"
        case .brokenDump: "indexBrokenDump"
        case .noEditions: "indexNoEditions"
        case .occupied: "indexOccupied"
        case .dumpInTheWay: "indexDumpInTheWay"
        case .cannotWrite: "indexCannotWrite"
        case .alreadyBuilding: "indexAlreadyBuilding"
        case .cancelled: "indexCancelled"
        }
    }
}
