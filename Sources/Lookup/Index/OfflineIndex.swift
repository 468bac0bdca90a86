import Bookplate
import GRDB

/// A catalogue on this machine's own disk, built from Open Library's dumps: a metadata source that needs no network.
///
/// The file is only read; a newer one is renamed into its place and taken up at the next opening.
public struct OfflineIndex: MetadataSource {
    private let database: DatabaseQueue
    private let path: String

    public var name: SourceName { .offlineIndex }
    /// So many ISBNs are one query.
    public var batchSize: Int { 500 }

    /// - Throws: ``OfflineIndexError`` when there is no file, or it is none of ours.
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
            let failure = SourceFailure(source: name, reason: reason)
            return isbns.answered { _ in .badData(failure) }
        }
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
                let role = (row["creditRole"] as String?).flatMap(Contributor.Role.init) ?? .author
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

    /// What is in the index.
    ///
    /// - Throws: ``OfflineIndexError/damaged(path:cause:)``.
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
            throw DatabaseError(message: "it says nothing about itself")
        }
        return Info(
            editions: about["editions"], isbns: about["isbns"], authors: about["authors"],
            builtFrom: try String.fetchAll(db, sql: "SELECT name FROM dump ORDER BY position"),
            newest: about["newest"], bytes: pages * pageSize)
    }

    /// What `scan index info` shows.
    public struct Info: Sendable, Equatable {
        public var editions: Int
        public var isbns: Int
        public var authors: Int
        /// The dump files' names without their folders.
        public var builtFrom: [String]
        /// When the newest record was last changed, as the dump writes it.
        public var newest: String?
        public var bytes: Int64
    }
}
