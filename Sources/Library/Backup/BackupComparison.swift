import Bookplate
import FoundationEssentials
import GRDB

/// A row that has different values in the library and in a backup, although no change since the backup explains this.
/// One of the two files is damaged: SQLite's own checks do not notice if a disk changes a letter or a digit.
public struct UnexplainedDifference: Sendable, Equatable, CustomStringConvertible {
    /// The path of the backup.
    public var backup: String
    public var table: String
    /// The values of the row's key, as a JSON array.
    public var key: String
    public var column: String
    /// The value in the library, as SQL writes it, and at most 80 characters of it.
    public var value: String
    /// The value in the backup, in the same form.
    public var valueInBackup: String

    public var description: String {
        "\(table) \(key), \(column): \(value) in the library, \(valueInBackup) in the backup \(backup)"
    }
}

extension LibraryFile {
    /// The maximum number of differences that are reported for each backup.
    private static let differenceLimit = 20

    /// Compares the books and everything that belongs to them with each of the library's backups that the change
    /// history still reaches. Rows are compared that are in both files, and that no change has touched since the backup
    /// was made. Other connections can read and write meanwhile.
    ///
    /// - Returns: the differences, each with the newest backup that shows it; empty if there are none or there is no
    ///   backup to compare with.
    /// - Throws: ``LibraryError`` if the library cannot be read, or if a backup is damaged.
    public func compareWithBackups() async throws -> [UnexplainedDifference] {
        guard let path else { return [] }
        let identity = try await identity()
        var differences: [UnexplainedDifference] = []
        for backup in try Self.backups(in: Self.ownBackupFolder(of: path)) where backup.library == identity {
            let found = try await compare(with: backup.path) ?? []
            differences += found.filter { found in
                !differences.contains { ($0.table, $0.key, $0.column) == (found.table, found.key, found.column) }
            }
        }
        return differences
    }

    /// - Returns: the differences; `nil` if the two files cannot be compared, because their schemas differ or the
    ///   change history does not reach back to the backup.
    private func compare(with backup: String) async throws -> [UnexplainedDifference]? {
        guard let path else { return nil }
        do {
            // A read-only connection attaches other files read-only, too.
            let files = try DatabaseQueue(path: path, configuration: Self.configuration(readonly: true))
            // The connection cannot write, so nothing is lost if closing fails.
            defer { try? files.close() }
            return try await files.writeWithoutTransaction { db in
                try db.execute(sql: "ATTACH ? AS old", arguments: [backup])
                var differences: [UnexplainedDifference]?
                // In a transaction, all statements see one state of the library.
                try db.inTransaction(.deferred) {
                    differences = try BackupComparison(db: db, backup: backup).differences(limit: Self.differenceLimit)
                    return .rollback
                }
                return differences
            }
        } catch {
            // SQLite does not say which of the two files it could not read.
            if case LibraryError.inputOutput = LibraryError.translated(error, path: path) {
                throw LibraryError.translated(error, path: path)
            }
            throw LibraryError.translated(error, path: backup, file: backup)
        }
    }
}

/// The comparison of a library, `main`, with one of its backups, which is attached to the connection as `old`.
private struct BackupComparison {
    let db: Database
    let backup: String

    /// - Returns: `nil` if the files cannot be compared.
    func differences(limit: Int) throws -> [UnexplainedDifference]? {
        guard try isComparable() else { return nil }
        try collectExplained()
        var differences: [UnexplainedDifference] = []
        let settings = ["setting", "readerSetting", "savedFilter"]
        for table in trackedTables where table.columns == nil && !settings.contains(table.name) {
            differences += try self.differences(in: table.name, limit: limit - differences.count)
            if differences.count >= limit { break }
        }
        return differences
    }

    /// The logs of both files have to reach back to a common change. Then everything that has happened since is in one
    /// of them, because changes are removed from the log in their order.
    private func isComparable() throws -> Bool {
        let versions = try ["main", "old"].map { try Int.fetchOne(db, sql: "PRAGMA \($0).user_version") }
        guard versions[0] == versions[1] else { return false }
        let common = try db.row("SELECT 1 FROM main.change JOIN old.change AS earlier USING (id, uuid) LIMIT 1")
        let isUnchanged = try db.row("SELECT 1 FROM main.change UNION SELECT 1 FROM old.change") == nil
        return common != nil || isUnchanged
    }

    /// Collects the rows that changes explain: those with an entry in only one of the two logs, and those whose change
    /// has been undone in only one of the files, because a purge may have removed the record of the undo.
    private func collectExplained() throws {
        let columns = "id, change, tableName, key, before, after"
        try db.execute(
            sql: """
                CREATE TEMP TABLE explained (tableName TEXT, key TEXT, PRIMARY KEY (tableName, key)) WITHOUT ROWID;
                INSERT OR IGNORE INTO explained SELECT tableName, key FROM (
                    SELECT \(columns) FROM main.changeRow EXCEPT SELECT \(columns) FROM old.changeRow);
                INSERT OR IGNORE INTO explained SELECT tableName, key FROM (
                    SELECT \(columns) FROM old.changeRow EXCEPT SELECT \(columns) FROM main.changeRow);
                INSERT OR IGNORE INTO explained
                SELECT tableName, key FROM main.changeRow WHERE change IN (
                    SELECT id FROM main.change JOIN old.change AS earlier USING (id)
                    WHERE main.change.undone IS NOT earlier.undone);
                """)
    }

    private func differences(in table: String, limit: Int) throws -> [UnexplainedDifference] {
        let keys = try db.primaryKey(table).columns
        let columns = try db.columns(in: table).map(\.name).filter { !keys.contains($0) }
        guard !columns.isEmpty else { return [] }
        let key = "json_array(" + keys.map { "new.\"\($0)\"" }.joined(separator: ", ") + ")"
        let isSame = keys.map { "new.\"\($0)\" = earlier.\"\($0)\"" }.joined(separator: " AND ")
        let differs = columns.map { "new.\"\($0)\" IS NOT earlier.\"\($0)\"" }.joined(separator: " OR ")
        func shown(_ file: String, _ column: String) -> String { "substr(quote(\(file).\"\(column)\"), 1, 80)" }
        let values = columns.flatMap { column in
            ["new.\"\(column)\" IS NOT earlier.\"\(column)\"", shown("new", column), shown("earlier", column)]
        }
        let rows = try db.rows(
            """
            SELECT \(key) AS key, \(values.joined(separator: ", "))
            FROM main."\(table)" AS new JOIN old."\(table)" AS earlier ON \(isSame)
            WHERE (\(differs)) AND NOT EXISTS (
                SELECT 1 FROM explained WHERE tableName = ? AND explained.key = \(key))
            LIMIT ?
            """, [table, limit])
        return rows.flatMap { row in
            columns.enumerated().compactMap { index, column in
                guard row[index * 3 + 1] as Bool else { return nil }
                return UnexplainedDifference(
                    backup: backup, table: table, key: row["key"], column: column, value: row[index * 3 + 2],
                    valueInBackup: row[index * 3 + 3])
            }
        }
    }
}
