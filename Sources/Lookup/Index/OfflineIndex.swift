import Bookplate
import FoundationEssentials
import GRDB
import Glibc

/// A catalogue on this machine's disk, which is built from Open Library's dumps. This metadata source needs no network.
///
/// An ISBN is answered by reading one block (``EditionBlock``), which takes at most six pages of 4 KiB even if nothing
/// is cached. The file is only read. A new build replaces the file by renaming, and is used when the index is next
/// opened.
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
            guard version == IndexSchema.version else { throw OfflineIndexError.older(path: path) }
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
            let found = try await database.read { db in
                var (reader, found) = (try BlockReader(db), [ISBN: Metadata]())
                for isbn in isbns.sorted() { found[isbn] = try reader.edition(IndexKey.key(of: isbn))?.metadata }
                return found
            }
            return isbns.answered { found[$0].map(SourceAnswer.found) ?? .notFound }
        } catch {
            let failure = damage(error)
            return isbns.answered { _ in .badData(failure) }
        }
    }

    /// Finds editions by words of their titles and their authors' names. All words must occur; the last word of each
    /// text may be the beginning of one.
    ///
    /// - Returns: at most `limit` editions, or `nil` if the index was built without words. Editions with exactly this
    ///   title come first, and then shorter titles before longer ones; of equal ones, the more complete record comes
    ///   first.
    public func find(_ query: TitleQuery, limit: Int) async throws(SourceError) -> [EditionOffer]? {
        do {
            return try await database.read { db in try TitleWordSearch(query, db)?.offers(limit: limit) }
        } catch {
            throw damage(error)
        }
    }

    private func damage(_ error: any Error) -> SourceError {
        let reason = OfflineIndexError.damaged(path: path, cause: OfflineIndexError.cause(error)).description
        return SourceError(source: name, reason: reason)
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
        func codes(_ column: String) -> [String] {
            (about[column] as String? ?? "").split(separator: ",").map(String.init)
        }
        let options = try OfflineIndexOptions(
            languages: codes("languages"), countries: codes("countries"), isNumbersOnly: about["isNumbersOnly"] ?? false
        )
        let bytes = pages * pageSize
        // A page of a table's tree refers to about 370 leaves.
        let blockPages: Int64 = about["blockPages"] ?? 0
        let numberBytes = min(bytes, (blockPages + blockPages / 370 + 5) * pageSize)
        return Info(
            editions: about["editions"] ?? 0, isbns: about["isbns"] ?? 0, authors: about["authors"] ?? 0,
            builtFrom: try String.fetchAll(db, sql: "SELECT name FROM dump ORDER BY position"),
            newest: about["newest"], bytes: bytes, options: options,
            numberBytes: options.isNumbersOnly ? bytes : numberBytes, kinds: DumpKinds(rawValue: about["kinds"] ?? 0))
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
        /// The options with which the index was built.
        public var options: OfflineIndexOptions
        /// The part of ``bytes`` with which ISBNs are answered. The rest is the words for finding titles.
        public var numberBytes: Int64
        /// The kinds of records that the dumps had.
        var kinds: DumpKinds
    }
}

/// Reads blocks of an index, and keeps the last one, because neighbouring keys are often asked for together.
struct BlockReader {
    private let statement: Statement
    private var last: (bytes: [UInt8], first: Int64)?

    init(_ db: Database) throws {
        statement = try db.cachedStatement(sql: IndexSchema.query)
    }

    /// - Returns: `nil` if no edition has the key.
    /// - Throws: ``DamagedBytes`` or an error of the database if this is not certain.
    mutating func edition(_ key: Int64) throws -> EditionBlock.Edition? {
        if let last, last.first <= key, let content = try content(last, key) { return content.edition(key) }
        guard let row = try Row.fetchOne(statement, arguments: [key]), let bytes: Data = row["rows"] else {
            throw DamagedBytes()
        }
        let block = (bytes: [UInt8](bytes), first: row["first"] as Int64)
        last = block
        guard let content = try content(block, key) else { throw DamagedBytes() }
        return content.edition(key)
    }

    /// - Returns: `nil` if the block does not answer for the key.
    private func content(_ block: (bytes: [UInt8], first: Int64), _ key: Int64) throws -> EditionBlock.Content? {
        let content = try EditionBlock.decode(block.bytes, first: block.first, only: key)
        return content.range.contains(key) ? content : nil
    }
}

/// Finds the editions for a query by title.
private struct TitleWordSearch {
    /// The number of editions of which the records are read. Reading one takes a fraction of a millisecond, or a read
    /// from a slow disk.
    private static let exactLimit = 100
    private static let candidateLimit = 200
    /// The length from which the last word may be the beginning of a word. Too many words begin with fewer letters.
    private static let beginningLength = 4

    private let title: [String]
    private let author: [String]
    private let db: Database

    /// - Returns: `nil` if the index has no words.
    init?(_ query: TitleQuery, _ db: Database) throws {
        guard try db.tableExists("words") else { return nil }
        title = TitleWords.words(of: query.title)
        author = query.author.map(TitleWords.words) ?? []
        self.db = db
    }

    func offers(limit: Int) throws -> [EditionOffer] {
        guard limit > 0, !title.isEmpty else { return [] }
        let whole = TitleWords.whole(title.joined(separator: " ").utf8 + [0x20])
        let needed = (title + author).filter { !TitleWords.isCommon(Array($0.utf8)) }
        var keys = try keys(
            ["\"\(whole)\""] + author.filter { needed.contains($0) }.map { "\"\($0)\"" }, Self.exactLimit)
        if !needed.isEmpty {
            keys += try self.keys(needed.map { "\"\($0)\"" }, Self.candidateLimit)
            // The beginnings of words are looked up only if whole words do not find enough.
            let beginnings = [title.last, author.last].compactMap(\.self).filter {
                needed.contains($0) && $0.count >= Self.beginningLength
            }
            if keys.count < limit, !beginnings.isEmpty {
                let terms = needed.map { beginnings.contains($0) ? "\"\($0)\"*" : "\"\($0)\"" }
                keys += try self.keys(terms, Self.candidateLimit)
            }
        }
        return try ranked(keys, limit)
    }

    private func keys(_ terms: [String], _ limit: Int) throws -> [Int64] {
        // Without an order, the rows come by key and only the first ones are searched for.
        try Int64.fetchAll(
            db.cachedStatement(sql: "SELECT rowid FROM words WHERE words MATCH ? LIMIT ?"),
            arguments: [terms.joined(separator: " AND "), limit])
    }

    /// Reads the records, leaves out those in which words are missing, and orders the others.
    private func ranked(_ keys: [Int64], _ limit: Int) throws -> [EditionOffer] {
        typealias Match = (rank: (Int, Int, Int, Int64), id: Int64, offer: EditionOffer)
        var (matches, reader): ([Match], BlockReader) = ([], try BlockReader(db))
        for key in Set(keys).sorted() {
            guard let edition = try reader.edition(key) else { throw DamagedBytes() }
            let metadata = edition.metadata
            let words = TitleWords.words(of: metadata.title ?? "")
            let all = words + TitleWords.words(of: metadata.subtitle ?? "")
            let names = metadata.authors.flatMap { TitleWords.words(of: $0.name) }
            guard Self.contains(all, title) || (author.isEmpty && Self.contains(all + names, title)),
                Self.contains(names, author)
            else { continue }
            let isExact = words == title || all == title
            let rank = (isExact ? 0 : 1, isExact ? 0 : words.count, -metadata.filledFields.count, key)
            matches.append((rank, edition.id, EditionOffer(isbn: IndexKey.isbn(of: key), metadata: metadata)))
        }
        matches.sort { $0.rank < $1.rank }
        // An edition with several ISBNs is found under each of them.
        var seen: Set<Int64> = []
        return Array(matches.filter { seen.insert($0.id).inserted }.prefix(limit).map(\.offer))
    }

    /// Returns true if all words occur, the last of them perhaps as the beginning of a word.
    private static func contains(_ all: [String], _ words: [String]) -> Bool {
        guard let last = words.last else { return true }
        return words.dropLast().allSatisfy(all.contains) && all.contains { $0.hasPrefix(last) }
    }
}

/// The tables of the offline index.
enum IndexSchema {
    /// The letters "BpIx", which distinguish the file from other SQLite databases.
    static let applicationID: Int32 = 0x4270_4978
    static let version: Int32 = 2

    /// The table block has the editions, packed by ranges of keys; see ``EditionBlock`` and ``IndexKey``. In the table
    /// words, a row's id is the key of an edition, whose words FTS5 keeps without their positions and without the text.
    static func index(hasWords: Bool) -> String {
        let tables = """
            CREATE TABLE block (first INTEGER PRIMARY KEY, rows BLOB NOT NULL);
            CREATE TABLE dump (position INTEGER PRIMARY KEY, name TEXT NOT NULL);
            CREATE TABLE about (
                editions INTEGER NOT NULL, isbns INTEGER NOT NULL, authors INTEGER NOT NULL, newest TEXT,
                kinds INTEGER NOT NULL, languages TEXT NOT NULL, countries TEXT NOT NULL, isNumbersOnly INTEGER NOT NULL,
                groups INTEGER NOT NULL, blocks INTEGER NOT NULL, blockPages INTEGER NOT NULL
            );
            """
        // Words are folded before they are stored, so the tokenizer only splits them. Segments are merged late, because
        // merging is most of the work of building.
        return hasWords
            ? tables + """
                CREATE VIRTUAL TABLE words USING fts5(
                    text, content = '', detail = none, columnsize = 0, tokenize = 'ascii'
                );
                INSERT INTO words(words, rank) VALUES ('pgsz', 4050), ('hashsize', 16777216), ('automerge', 8);
                """ : tables
    }

    /// The SQL query for the block that answers for a key.
    static let query = "SELECT first, rows FROM block WHERE first <= ? ORDER BY first DESC LIMIT 1"
}
