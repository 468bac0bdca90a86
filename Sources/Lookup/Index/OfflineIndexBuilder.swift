import Bookplate
import SystemCalls
import GRDB
import Glibc
import SystemPackage

/// Builds the offline index from Open Library's dump of editions. The dumps of works and authors add the names of the
/// authors. Any number of files can be given in any order, plain or compressed.
///
/// The build needs little memory, because rows are staged in a file beside the index before they are assembled. The
/// finished index is synced and renamed into place. If the build does not finish, an existing index stays unchanged.
/// The same dumps always give the same bytes.
public enum OfflineIndexBuilder {
    /// The progress of the build, reported every few thousand rows.
    public struct Progress: Sendable {
        public var rows: Int
        /// The number of bytes read from the plain or compressed dump files on disk.
        public var bytesDone: Int64
        public var bytesTotal: Int64
    }

    /// The result of a build.
    public struct Report: Sendable, Equatable {
        public var editions = 0
        public var isbns = 0
        public var authors = 0
        public var rowsRead = 0
        /// The number of rows that do not have five columns.
        public var wrongColumns = 0
        /// The number of rows whose key, revision or JSON cannot be parsed.
        public var junk = 0
        /// The number of lines longer than 1 MiB.
        public var tooLong = 0
        /// The number of editions that were left out because they have no title or no valid ISBN.
        public var withoutISBN = 0
    }

    /// Builds the index.
    ///
    /// - Parameters:
    ///   - dumpFiles: the paths of `.txt` or `.txt.gz` files.
    ///   - path: the path of the index. An existing file is replaced only if it is empty or an index of Bookplate.
    /// - Throws: ``OfflineIndexError``; ``OfflineIndexError/cancelled`` if the current task is cancelled.
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
            try target.commit()
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
            // Nothing here needs to survive a crash, because the file is synced as a whole when it is complete.
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

    /// Reads the dumps into the staging tables.
    ///
    /// - Returns: the time of the latest change to any record.
    private static func readRows(
        _ dumpFiles: [String], into db: Database, _ report: inout Report, _ progress: (Progress) -> Void
    ) throws -> String {
        var writer = try RowWriter(db)
        let sizes = dumpFiles.map { size(of: $0) }
        var current = Progress(rows: 0, bytesDone: 0, bytesTotal: sizes.reduce(0, +))
        for (index, file) in dumpFiles.enumerated() {
            let before = sizes[..<index].reduce(0, +)
            var lines = try DumpLines(path: file)
            var rows = 0
            try lines.forEach { line, offset in
                rows += 1
                try writer.write(DumpRow(line))
                guard rows.isMultiple(of: 4096) else { return }
                guard !Task.isCancelled else { throw OfflineIndexError.cancelled }
                current.rows += 4096
                current.bytesDone = before + Int64(offset)
                progress(current)
            }
            report.rowsRead += rows
            report.tooLong += lines.tooLong
        }
        current.rows = report.rowsRead
        current.bytesDone = current.bytesTotal
        progress(current)
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
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }
}

/// Ensures that only one build runs at a time, with a lock (flock) on the unfinished file. The file is emptied once the
/// lock is held, because a build that was killed leaves its file behind, but not its lock.
struct BuildLock {
    private let file: FileDescriptor

    init(_ unfinished: String, for path: String) throws(OfflineIndexError) {
        do {
            file = try FileDescriptor.open(
                unfinished, .readWrite, options: [.create, .closeOnExec, .noFollow],
                permissions: FilePermissions(rawValue: 0o644))
        } catch {
            throw .cannotWrite(path: path, cause: OfflineIndexError.cause(error))
        }
        guard flock(file.rawValue, LOCK_EX | LOCK_NB) == 0 else {
            release()
            throw .alreadyBuilding(path: path)
        }
        do {
            try file.resize(to: 0)
        } catch {
            release()
            throw .cannotWrite(path: path, cause: OfflineIndexError.cause(error))
        }
    }

    /// Closes the file. This releases the lock, even if closing reports an error.
    func release() { try? file.close() }
}

/// The files of a build. The index is built in a file beside its final path, and this file is renamed when it is
/// complete.
struct BuildTarget {
    let path: String
    /// The path of the unfinished index.
    var unfinished: String { path + ".building" }
    /// The path of the file with the staged rows.
    var rows: String { path + ".rows" }

    /// Refuses the path if the file there is not an index of Bookplate, or if the build would overwrite a dump.
    ///
    /// An empty file may be replaced. An index is recognised by its first bytes, so it may be replaced even if it is
    /// damaged or of another version.
    init(_ path: String, dumpFiles: [String]) throws(OfflineIndexError) {
        self.path = path
        for file in [path, unfinished, rows] {
            guard let existing = Self.status(of: file) else { continue }
            for dump in dumpFiles {
                guard let status = Self.status(of: dump) else { continue }
                guard status.st_dev != existing.st_dev || status.st_ino != existing.st_ino else {
                    throw .dumpInTheWay(path: path, dump: dump)
                }
            }
        }
        guard let existing = Self.status(of: path) else { return }
        guard existing.st_mode & S_IFMT == S_IFREG else { throw .occupied(path: path) }
        guard existing.st_size > 0 else { return }
        guard try Self.isIndex(path) else { throw .occupied(path: path) }
    }

    /// - Returns: `nil` if there is no file or it cannot be examined; any such error is reported when the file is
    ///   opened.
    private static func status(of path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }

    /// Returns true if the file has the header of an SQLite database with Bookplate's application ID. Source:
    /// sqlite.org/fileformat2.html, "The Database Header".
    private static func isIndex(_ path: String) throws(OfflineIndexError) -> Bool {
        var header = [UInt8](repeating: 0, count: 72)
        let count: Int
        do {
            let file = try FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .nonBlocking])
            count = try file.closeAfter { try header.withUnsafeMutableBytes { try file.read(into: $0) } }
        } catch {
            throw .unreadable(path: path, cause: OfflineIndexError.cause(error))
        }
        let applicationID = header[68..<72].reduce(Int32(0)) { $0 << 8 | Int32($1) }
        return count == header.count && header.starts(with: "SQLite format 3\0".utf8)
            && applicationID == IndexSchema.applicationID
    }

    /// Moves the finished index into place.
    func commit() throws(OfflineIndexError) {
        do throws(FileError) { try commitFile(unfinished, to: path) } catch {
            throw .cannotWrite(path: path, cause: "\(error.errno)")
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

    mutating func write(_ row: DumpRow) throws {
        switch row {
        case .junk(.columns): wrongColumns += 1
        case .junk(.content): junk += 1
        case .other: break
        case .edition(let id, let version, let record):
            newest = max(newest, version.modified)
            try write(edition: id, version, record)
        case .work(let id, let version, let authors):
            newest = max(newest, version.modified)
            try work.execute(arguments: [id, version.revision, Self.json(authors)])
        case .author(let id, let version, let name):
            newest = max(newest, version.modified)
            try author.execute(arguments: [id, version.revision, name])
        }
    }

    private mutating func write(edition id: Int64, _ version: DumpRow.Version, _ record: JSONValue) throws {
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

    /// Returns the valid ISBNs that a record lists, each once and as a number.
    private static func isbns(_ record: JSONValue) -> [Int64] {
        var numbers: [Int64] = []
        for text in OpenLibraryEdition.numbers(record) {
            let isbn: ISBN
            do throws(ISBNRefusal) { isbn = try ISBN(text) } catch {
                // In "0140449264 (pbk.)", an annotation follows the number.
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
