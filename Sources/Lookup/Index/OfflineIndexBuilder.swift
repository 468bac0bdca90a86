import Bookplate
import GRDB
import Glibc

/// Builds the offline index from Open Library's dumps: editions, and works and authors for the names, in any order and any number of
/// files, plain or compressed.
///
/// Memory is bounded: rows go to a file beside the target before they are put together. The finished index is synced and renamed into
/// place; whatever ends the build before that leaves an older index as it was. The same dumps give the same bytes.
public enum OfflineIndexBuilder {
    /// How far the build is; told every few thousand rows.
    public struct Progress: Sendable {
        public var rows: Int
        /// Of the dump files as they are on disk.
        public var bytesDone: Int64
        public var bytesTotal: Int64
    }

    /// What came of it.
    public struct Report: Sendable, Equatable {
        public var editions = 0
        public var isbns = 0
        public var authors = 0
        public var rowsRead = 0
        /// Rows that have not five columns.
        public var wrongColumns = 0
        /// Rows whose key, revision or JSON makes no sense.
        public var junk = 0
        /// Lines longer than 1 MiB.
        public var tooLong = 0
        /// Editions left out because they have no title or no ISBN that is one.
        public var withoutISBN = 0
    }

    /// - Parameters:
    ///   - dumpFiles: paths of `.txt` or `.txt.gz` files.
    ///   - path: of the index. What is there already is replaced only when it is an index of ours, or empty.
    /// - Throws: ``OfflineIndexError``; ``OfflineIndexError/cancelled`` when the task that it runs in is cancelled.
    public static func build(
        dumpFiles: [String], to path: String, progress: (Progress) -> Void = { _ in }
    ) throws -> Report {
        let target = try BuildTarget(path, dumpFiles: dumpFiles)
        let lock = try BuildLock(target.unfinished, for: path)
        defer { lock.release() }
        unlink(target.rows)
        defer { unlink(target.rows) }
        var isFinished = false
        defer { if !isFinished { unlink(target.unfinished) } }
        do {
            var report = Report()
            try assemble(dumpFiles, target, &report, progress)
            guard report.editions > 0 else { throw OfflineIndexError.noEditions(paths: dumpFiles) }
            try target.putInPlace()
            isFinished = true
            return report
        } catch let error as DatabaseError {
            throw OfflineIndexError.cannotWrite(path: path, cause: OfflineIndexError.cause(error))
        }
    }

    private static func assemble(
        _ dumpFiles: [String], _ target: BuildTarget, _ report: inout Report, _ progress: (Progress) -> Void
    ) throws {
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            // Nothing here outlives a crash: the file is synced as a whole when it is done.
            try db.execute(sql: "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -32768")
            try db.execute(sql: "PRAGMA temp_store = FILE")
        }
        let database = try DatabaseQueue(path: target.unfinished, configuration: configuration)
        try database.writeWithoutTransaction { db in
            try db.execute(sql: "ATTACH ? AS rows", arguments: [target.rows])
            try db.execute(sql: "PRAGMA rows.journal_mode = OFF; PRAGMA rows.synchronous = OFF")
            try db.execute(sql: IndexSchema.rows)
            var newest = ""
            try db.inTransaction {
                newest = try readRows(dumpFiles, into: db, &report, progress)
                return .commit
            }
            try db.execute(sql: IndexSchema.index)
            try db.inTransaction {
                for step in IndexSchema.assembly {
                    guard !Task.isCancelled else { throw OfflineIndexError.cancelled }
                    try db.execute(sql: step)
                }
                try describe(dumpFiles, newest, &report, in: db)
                return .commit
            }
            try db.execute(sql: "PRAGMA application_id = \(IndexSchema.applicationID)")
            try db.execute(sql: "PRAGMA user_version = \(IndexSchema.version)")
            try db.execute(sql: "DETACH rows")
        }
        try database.close()
    }

    /// - Returns: when the newest record was changed.
    private static func readRows(
        _ dumpFiles: [String], into db: Database, _ report: inout Report, _ progress: (Progress) -> Void
    ) throws -> String {
        var writer = try RowWriter(db)
        let sizes = dumpFiles.map { size(of: $0) }
        var told = Progress(rows: 0, bytesDone: 0, bytesTotal: sizes.reduce(0, +))
        for (index, file) in dumpFiles.enumerated() {
            let before = sizes[..<index].reduce(0, +)
            var lines = try DumpLines(path: file)
            var rows = 0
            try lines.forEach { line, offset in
                rows += 1
                try writer.take(DumpRow(line))
                guard rows.isMultiple(of: 4096) else { return }
                guard !Task.isCancelled else { throw OfflineIndexError.cancelled }
                told.rows += 4096
                told.bytesDone = before + Int64(offset)
                progress(told)
            }
            report.rowsRead += rows
            report.tooLong += lines.tooLong
        }
        told.rows = report.rowsRead
        told.bytesDone = told.bytesTotal
        progress(told)
        (report.wrongColumns, report.junk, report.withoutISBN) = (writer.wrongColumns, writer.junk, writer.withoutISBN)
        return writer.newest
    }

    private static func describe(
        _ dumpFiles: [String], _ newest: String, _ report: inout Report, in db: Database
    ) throws {
        func count(_ table: String) throws -> Int {
            try Int.fetchOne(db, sql: "SELECT count(*) FROM main.\(table)") ?? 0
        }
        report.editions = try count("edition")
        report.isbns = try count("isbn")
        report.authors = try count("author")
        for (position, file) in dumpFiles.enumerated() {
            let name = file.split(separator: "/").last.map(String.init) ?? file
            try db.execute(sql: "INSERT INTO main.dump VALUES (?, ?)", arguments: [position, name])
        }
        try db.execute(
            sql: "INSERT INTO main.about VALUES (?, ?, ?, ?)",
            arguments: [report.editions, report.isbns, report.authors, newest.isEmpty ? nil : newest])
    }

    private static func size(of path: String) -> Int64 {
        var facts = stat()
        return stat(path, &facts) == 0 ? Int64(facts.st_size) : 0
    }
}

/// One build at a time: an flock on the unfinished file, which is emptied when the lock is had. A build that was killed leaves the file
/// but not the lock.
struct BuildLock {
    private let descriptor: Int32

    init(_ unfinished: String, for path: String) throws(OfflineIndexError) {
        descriptor = open(unfinished, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o644)
        guard descriptor >= 0 else { throw .cannotWrite(path: path, cause: OfflineIndexError.systemCause) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw .alreadyBuilding(path: path)
        }
        guard ftruncate(descriptor, 0) == 0 else {
            let cause = OfflineIndexError.systemCause
            close(descriptor)
            throw .cannotWrite(path: path, cause: cause)
        }
    }

    func release() { close(descriptor) }
}

/// Where an index is built: beside its place, and moved there when it is whole.
struct BuildTarget {
    let path: String
    /// The index while it grows.
    var unfinished: String { path + ".building" }
    /// The rows before they are put together.
    var rows: String { path + ".rows" }

    /// Refuses a place that holds anything but an index of ours, and one that a build would take a dump away from.
    ///
    /// An empty file may be replaced, and so may an index that is damaged or of another version: its first bytes tell it.
    init(_ path: String, dumpFiles: [String]) throws(OfflineIndexError) {
        self.path = path
        for place in [path, unfinished, rows] {
            guard let there = Self.facts(of: place) else { continue }
            for dump in dumpFiles {
                guard let facts = Self.facts(of: dump) else { continue }
                guard facts.st_dev != there.st_dev || facts.st_ino != there.st_ino else {
                    throw .dumpInTheWay(path: path, dump: dump)
                }
            }
        }
        guard let there = Self.facts(of: path) else { return }
        guard there.st_mode & S_IFMT == S_IFREG else { throw .occupied(path: path) }
        guard there.st_size > 0 else { return }
        guard try Self.isIndex(path) else { throw .occupied(path: path) }
    }

    /// - Returns: `nil` when there is nothing; what cannot be looked at is met when it is opened.
    private static func facts(of path: String) -> stat? {
        var facts = stat()
        return stat(path, &facts) == 0 ? facts : nil
    }

    /// Whether the header names SQLite and our application. Source: sqlite.org/fileformat2.html, "The Database Header".
    private static func isIndex(_ path: String) throws(OfflineIndexError) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .unreadable(path: path, cause: OfflineIndexError.systemCause) }
        defer { close(descriptor) }
        var header = [UInt8](repeating: 0, count: 72)
        let count = read(descriptor, &header, header.count)
        guard count >= 0 else { throw .unreadable(path: path, cause: OfflineIndexError.systemCause) }
        let applicationID = header[68..<72].reduce(Int32(0)) { $0 << 8 | Int32($1) }
        return count == header.count && header.starts(with: "SQLite format 3\0".utf8)
            && applicationID == IndexSchema.applicationID
    }

    /// fsync, rename, fsync of the folder: after a power cut the old index is there, or the new one whole.
    func putInPlace() throws(OfflineIndexError) {
        try sync(unfinished, O_RDONLY)
        guard rename(unfinished, path) == 0 else {
            throw .cannotWrite(path: path, cause: OfflineIndexError.systemCause)
        }
        let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        try sync(folder, O_RDONLY | O_DIRECTORY)
    }

    private func sync(_ file: String, _ flags: Int32) throws(OfflineIndexError) {
        let descriptor = open(file, flags | O_CLOEXEC)
        defer { if descriptor >= 0 { close(descriptor) } }
        guard descriptor >= 0, fsync(descriptor) == 0 else {
            throw .cannotWrite(path: path, cause: OfflineIndexError.systemCause)
        }
    }
}

/// Writes the rows of the dumps to the staging tables.
struct RowWriter {
    private(set) var newest = ""
    private(set) var wrongColumns = 0
    private(set) var junk = 0
    private(set) var withoutISBN = 0

    private let edition: Statement
    private let work: Statement
    private let author: Statement

    init(_ db: Database) throws {
        edition = try db.makeStatement(sql: IndexSchema.upsert("edition", IndexSchema.editionColumns))
        work = try db.makeStatement(sql: IndexSchema.upsert("work", ["id", "revision", "authors"]))
        author = try db.makeStatement(sql: IndexSchema.upsert("author", ["id", "revision", "name"]))
    }

    mutating func take(_ row: DumpRow) throws {
        switch row {
        case .junk(.columns): wrongColumns += 1
        case .junk(.content): junk += 1
        case .other: break
        case .edition(let id, let version, let record):
            newest = max(newest, version.modified)
            try take(edition: id, version, record)
        case .work(let id, let version, let authors):
            newest = max(newest, version.modified)
            try work.execute(arguments: [id, version.revision, Self.json(authors)])
        case .author(let id, let version, let name):
            newest = max(newest, version.modified)
            try author.execute(arguments: [id, version.revision, name])
        }
    }

    private mutating func take(edition id: Int64, _ version: DumpRow.Version, _ record: JSONValue) throws {
        let metadata = OpenLibraryEdition.metadata(record)
        let isbns = Self.isbns(record)
        guard let title = metadata.title, !isbns.isEmpty else {
            withoutISBN += 1
            return
        }
        let work = record["works"]?.items.first?["key"]?.string.flatMap {
            OpenLibraryEdition.number(in: $0, "/works/OL", "W")
        }
        let contributors = metadata.authors.filter { $0.role != .author }.map {
            JSONValue.object([("name", .string($0.name)), ("role", .string($0.role.rawValue))])
        }
        try edition.execute(arguments: [
            id, version.revision, version.modified, Self.json(isbns), work, Self.json(DumpRow.authorNumbers(record)),
            JSONValue.array(contributors).text, title, metadata.subtitle, metadata.publisher,
            metadata.publishedDateText,
            metadata.pageCount, metadata.language, metadata.originalLanguage, metadata.format?.rawValue,
            metadata.series,
            metadata.seriesNumber, metadata.coverURL,
        ])
    }

    /// The sound ISBNs among what the record lists, as numbers, each once.
    private static func isbns(_ record: JSONValue) -> [Int64] {
        var numbers: [Int64] = []
        for text in OpenLibraryEdition.numbers(record) {
            let isbn: ISBN
            do throws(ISBNRefusal) { isbn = try ISBN(text) } catch {
                // "0140449264 (pbk.)": what follows the number is an annotation.
                let number = text.prefix { $0.isHexDigit || "-‐ xX".contains($0) }
                do throws(ISBNRefusal) { isbn = try ISBN(String(number)) } catch { continue }
            }
            if let number = Int64(isbn.digits), !numbers.contains(number) { numbers.append(number) }
        }
        return numbers
    }

    private static func json(_ numbers: [Int64]) -> String {
        "[" + numbers.map(String.init).joined(separator: ",") + "]"
    }
}
