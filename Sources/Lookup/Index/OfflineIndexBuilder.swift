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
