import Bookplate
import SystemCalls
import FoundationEssentials
import GRDB
import Glibc
import Synchronization

extension LibraryFile: Covers {
    /// The maximum size of one picture, in bytes.
    public static let coverLimit = 5 << 20
    /// The maximum total size of all fetched pictures, in bytes. If the total exceeds this size, the oldest pictures
    /// are removed.
    public static let coversLimit = 2 << 30

    public func cover(of edition: ID<Edition>) async throws -> [UInt8]? {
        var last: Int64?
        // The path is built only after the id was found in the library. If another picture replaces this one before it
        // is read, the other one is read.
        while let stored = try await storedCover(of: edition), stored != last {
            last = stored
            guard let path = try coverPath(edition, stored: stored) else { continue }
            do {
                return try readFile(path, limit: Self.coverLimit)
            } catch  where error.errno != .noSuchFileOrDirectory {
                throw LibraryError(error)
            } catch {
                continue
            }
        }
        return nil
    }

    /// Returns the time at which the edition's picture was stored, in milliseconds; `nil` if it has no picture.
    private func storedCover(of edition: ID<Edition>) async throws -> Int64? {
        try await read { db in
            try db.value(
                Int64.self,
                """
                SELECT stored FROM cover JOIN edition ON edition.id = cover.edition
                WHERE edition.uuid = ? AND cover.state IN ('fetched', 'person')
                """, [edition.rawValue])
        }
    }

    public func keptCover(of edition: ID<Edition>) async throws -> KeptCover? {
        try await read { db in
            try db.row(
                """
                SELECT state, bytes, stored FROM cover JOIN edition ON edition.id = cover.edition
                WHERE edition.uuid = ? AND cover.state IN ('fetched', 'person')
                """, [edition.rawValue]
            ).map { row in
                KeptCover(
                    isOwn: row["state"] == "person", bytes: row["bytes"], stored: Date(milliseconds: row["stored"]))
            }
        }
    }

    public func keptCovers(among editions: [ID<Edition>]) async throws -> Set<ID<Edition>> {
        try await read { db in
            let rows = try db.rows(
                """
                SELECT uuid FROM edition JOIN cover ON cover.edition = edition.id
                WHERE uuid IN (SELECT value FROM json_each(?)) AND cover.state IN ('fetched', 'person')
                """, [jsonList(editions.map(\.rawValue))])
            return Set(rows.map { ID(rawValue: $0["uuid"]) })
        }
    }

    @discardableResult
    public func keepCover(_ bytes: [UInt8], of edition: ID<Edition>) async throws -> Bool {
        do {
            try await keep(bytes, of: edition, state: "fetched")
        } catch LibraryError.noSuchEdition {
            return false
        }
        try await evictCovers(over: Self.coversLimit)
        return true
    }

    public func keepOwnCover(_ bytes: [UInt8], of edition: ID<Edition>) async throws {
        try await keep(bytes, of: edition, state: "person")
    }

    public func removeOwnCover(of edition: ID<Edition>) async throws -> Bool {
        let isRemoved = try await write { db in
            try db.run(
                """
                DELETE FROM cover WHERE state = 'person' AND edition = (SELECT id FROM edition WHERE uuid = ?)
                """, [edition.rawValue])
            return db.changesCount > 0
        }
        if isRemoved { try await unlinkUnkept([edition]) }
        return isRemoved
    }

    /// Removes those files of these editions that are not their pictures. This runs after the commit, so that a failed
    /// commit does not lose a picture. It runs in a transaction, so that it does not remove a picture that another
    /// process is storing.
    private func unlinkUnkept(_ editions: [ID<Edition>]) async throws {
        guard let folder = folderBeside("covers") else { return }
        let ids = Set(editions.map(\.rawValue))
        do {
            try await write { db in
                let names = try self.coverNames(in: folder).filter { ids.contains(self.edition(ofCover: $0)) }
                for name in try self.unkept(names, db) { unlink("\(folder)/\(name)") }
            }
        } catch let error as LibraryError where error.isTransient {
            // A picture without a row is never shown, and a later sweep removes it.
        }
    }

    public func editionsWithoutCover(limit: Int) async throws -> [MissingCover] {
        let now = clock().milliseconds
        return try await read { db in
            try db.rows(
                """
                SELECT uuid, isbn, coverURL,
                    EXISTS (SELECT 1 FROM json_each(editedFields) WHERE value = 'coverURL') AS isChosen
                FROM edition LEFT JOIN cover ON cover.edition = edition.id
                WHERE (coverURL IS NOT NULL
                        OR isbn >= ?1 AND isbn < ?1 || ':'
                            AND NOT EXISTS (SELECT 1 FROM json_each(editedFields) WHERE value = 'coverURL'))
                    AND (cover.state IS NULL OR cover.state IN ('missing', 'fetched') AND retryAt <= ?2)
                    AND EXISTS (SELECT 1 FROM copy WHERE copy.edition = edition.id AND deleted IS NULL)
                ORDER BY edition.id DESC LIMIT ?3
                """, [MissingCover.germanGroup, now, max(0, limit)]
            ).map { row in
                MissingCover(
                    edition: ID(rawValue: row["uuid"]), isbn: try row.isbn(),
                    url: row["coverURL"], isChosen: row["isChosen"])
            }
        }
    }

    public func recordMissingCover(of edition: ID<Edition>, retryAt: Date?) async throws {
        let now = clock().milliseconds
        try await write { db in
            try db.run(
                """
                INSERT INTO cover (edition, state, bytes, stored, retryAt)
                SELECT id, 'missing', 0, ?, ? FROM edition WHERE uuid = ?
                ON CONFLICT (edition) DO UPDATE SET retryAt = excluded.retryAt WHERE state IN ('missing', 'fetched')
                """, [now, retryAt?.milliseconds, edition.rawValue])
        }
    }

    private func keep(_ bytes: [UInt8], of edition: ID<Edition>, state: String) async throws {
        guard bytes.count <= Self.coverLimit else {
            throw LibraryError.coverTooLarge(bytes: bytes.count, limit: Self.coverLimit)
        }
        guard let folder = folderBeside("covers") else { return }
        guard Self.isFileName(edition) else { throw LibraryError.noSuchEdition(edition) }
        let now = clock().milliseconds
        let written = Mutex<Int64?>(nil)
        do {
            let isReplaced = try await write { db in
                guard let row = try db.value(Int64.self, "SELECT id FROM edition WHERE uuid = ?", [edition.rawValue])
                else { throw LibraryError.noSuchEdition(edition) }
                let present = try db.row("SELECT state, stored FROM cover WHERE edition = ?", [row])
                guard state == "person" || present?["state"] != "person" else { return false }
                if state == "fetched", try self.hasBetterCover(than: bytes, of: edition, row, db) {
                    try db.run("UPDATE cover SET retryAt = NULL WHERE edition = ?", [row])
                    return false
                }
                // The time is part of the file's name, so each picture has its own, and the picture that it replaces
                // stays until this one is committed.
                let stored = max(now, (present?["stored"] ?? 0) + 1)
                // The picture is written inside the transaction, so that no other process can store a photo in between.
                // The picture's row is written last.
                try createFolderBeside(folder)
                try replaceFile(
                    "\(folder)/\(self.coverName(edition, stored: stored))", with: bytes, mode: fileMode(in: folder))
                written.withLock { $0 = stored }
                try db.run(
                    """
                    INSERT INTO cover (edition, state, bytes, stored) VALUES (?, ?, ?, ?)
                    ON CONFLICT (edition) DO UPDATE
                        SET state = excluded.state, bytes = excluded.bytes, stored = excluded.stored, retryAt = NULL
                    """, [row, state, bytes.count, stored])
                return present != nil
            }
            if isReplaced { try await unlinkUnkept([edition]) }
        } catch LibraryError.inputOutput(let path, let code) {
            // SQLite may have written all of a transaction whose sync failed, and then the next opening takes it for
            // committed. Therefore the file stays until a sweep.
            throw LibraryError.inputOutput(path: path, code: code)
        } catch {
            if let stored = written.withLock({ $0 }) { await unlinkUncommitted(edition, stored: stored) }
            throw error
        }
    }

    /// Returns true if the edition has a better fetched picture: another process may have fetched it from another
    /// source. If a person has chosen the address, its picture is better than any other.
    private func hasBetterCover(
        than bytes: [UInt8], of edition: ID<Edition>, _ row: Int64, _ db: Database
    ) throws -> Bool {
        let stored = try db.value(
            Int64.self,
            """
            SELECT stored FROM cover JOIN edition ON edition.id = cover.edition
            WHERE edition.id = ? AND cover.state = 'fetched'
                AND NOT EXISTS (SELECT 1 FROM json_each(editedFields) WHERE value = 'coverURL')
            """, [row])
        guard let stored, let path = try coverPath(edition, stored: stored) else { return false }
        do {
            return CoverPicture(try readFile(path, limit: Self.coverLimit)).isBetter(than: CoverPicture(bytes))
        } catch  where error.errno == .noSuchFileOrDirectory {
            return false
        } catch {
            throw LibraryError(error)
        }
    }

    /// Removes the file of a picture whose transaction has failed, unless the transaction was committed nevertheless.
    private func unlinkUncommitted(_ edition: ID<Edition>, stored: Int64) async {
        do {
            guard try await storedCover(of: edition) != stored, let folder = folderBeside("covers") else { return }
            unlink("\(folder)/\(coverName(edition, stored: stored))")
        } catch {
            // A later sweep removes the file. The caller throws the error of the transaction.
            log("cannot remove a picture that was not stored: \(error)")
        }
    }

    /// Removes the oldest fetched pictures until the others are within the limit. The removed pictures are not fetched
    /// again automatically.
    ///
    /// - Parameter limit: the maximum total size of the fetched pictures, in bytes.
    func evictCovers(over limit: Int) async throws {
        let isTooMuch = try await read { db in
            try db.value(Int.self, "SELECT coalesce(sum(bytes), 0) FROM cover WHERE state = 'fetched'") ?? 0 > limit
        }
        guard isTooMuch else { return }
        let evicted = try await write { db in
            let rows = try db.rows(
                """
                WITH kept AS (
                    SELECT edition, sum(bytes) OVER (ORDER BY stored DESC, edition DESC) AS running
                    FROM cover WHERE state = 'fetched')
                SELECT edition.id, uuid FROM kept JOIN edition ON edition.id = kept.edition WHERE running > ?
                """, [limit])
            for row in rows {
                try db.run("UPDATE cover SET state = 'evicted', bytes = 0 WHERE edition = ?", [row["id"] as Int64])
            }
            return rows.map { ID<Edition>(rawValue: $0["uuid"]) }
        }
        try await unlinkUnkept(evicted)
    }

    /// Removes the files of pictures that have no row in the database. An error is only logged, because the change that
    /// left the files behind has already been stored. The next sweep tries again to remove them.
    func sweepCoversOrLog() async {
        do { try await sweepCovers() } catch { log("cannot remove the pictures of deleted books: \(error)") }
    }

    /// Removes the files of pictures that have no row in the database. Files from the last hour stay, because a picture
    /// is written before its row.
    func sweepCovers() async throws {
        guard let folder = folderBeside("covers") else { return }
        let limit = Int(clock().timeIntervalSince1970) - 3600
        // The names are read first: a picture that is stored later has a file that is too new to be removed.
        let names = try coverNames(in: folder)
        let unkept = try await read { db in try self.unkept(names, db) }
        var failure: LibraryError?
        for name in unkept {
            let path = folder + "/" + name
            guard let facts = try fileFacts(path), facts.st_mode & S_IFMT == S_IFREG,
                facts.st_mtim.tv_sec < limit
            else { continue }
            if unlink(path) != 0, errno != ENOENT { failure = LibraryError(errno: errno, path: path) }
        }
        if let failure { throw failure }
    }

    // Pictures are files in a folder beside the library, named after their edition and the time at which they were
    // stored. Version 0.1 named them after their edition alone.

    private func coverName(_ edition: ID<Edition>, stored: Int64) -> String { "\(edition.rawValue)-\(stored)" }

    /// Returns the id with which the name of a file begins. It is a UUID.
    private func edition(ofCover name: String) -> String { String(name.prefix(36)) }

    /// Returns true if an id can be the beginning of a file's name. In a library that somebody else has prepared, an id
    /// could be a path to a file outside the folder of covers.
    private static func isFileName(_ edition: ID<Edition>) -> Bool {
        let name = edition.rawValue.utf8
        return name.first != UInt8(ascii: ".") && !name.isEmpty && !name.contains { $0 == UInt8(ascii: "/") || $0 == 0 }
    }

    /// Returns the path of an edition's picture; `nil` if it has no file, or if its id cannot be the name of one.
    private func coverPath(_ edition: ID<Edition>, stored: Int64) throws -> String? {
        guard let folder = folderBeside("covers"), Self.isFileName(edition) else { return nil }
        // A list of all files would take long in a large library, so it is made only if it is needed.
        for name in ownNames(edition, stored: stored) where try fileFacts("\(folder)/\(name)") != nil {
            return "\(folder)/\(name)"
        }
        let newest = try coverNames(in: folder).filter { self.edition(ofCover: $0) == edition.rawValue }.max()
        return newest.map { "\(folder)/\($0)" }
    }

    /// Returns the names that an edition's picture can have, according to the database: the name with the time and,
    /// without such a file, the name of version 0.1.
    private func ownNames(_ edition: ID<Edition>, stored: Int64) -> [String] {
        [coverName(edition, stored: stored), edition.rawValue]
    }

    /// Returns those of an edition's files that may be its picture. After the restore of a backup there may be none of
    /// its ``ownNames(_:stored:)``; then the picture is the newest file, and none is removed.
    private func pictures(among names: Set<String>, of edition: ID<Edition>, stored: Int64) -> Set<String> {
        ownNames(edition, stored: stored).first(where: names.contains).map { [$0] } ?? names
    }

    /// Returns those of the files that are no edition's picture, and that no undo or redo would make one again.
    private func unkept(_ names: Set<String>, _ db: Database) throws -> Set<String> {
        let files = Dictionary(grouping: names, by: edition(ofCover:))
        let removed = try db.rows(
            """
            SELECT json_extract(before, '$.uuid') AS uuid FROM changeRow
            WHERE tableName = 'edition' AND after IS NULL
                AND change IN (SELECT id FROM change WHERE undoes IS NOT NULL OR undone IS NULL)
            """)
        let logged = try db.rows(
            """
            SELECT uuid, json_extract(coalesce(after, before), '$.stored') AS stored
            FROM changeRow JOIN edition ON edition.id = json_extract(key, '$[0]') WHERE tableName = 'cover'
            """)
        var names = removed.reduce(into: names) { names, row in names.subtract(files[row["uuid"]] ?? []) }
        for row in logged { names.remove(coverName(ID(rawValue: row["uuid"]), stored: row["stored"])) }
        let rows = try db.rows(
            """
            SELECT uuid, stored FROM edition JOIN cover ON cover.edition = edition.id
            WHERE state IN ('fetched', 'person') AND uuid IN (SELECT value FROM json_each(?))
            """, [jsonList(files.keys.sorted())])
        return rows.reduce(into: names) { unkept, row in
            let edition = ID<Edition>(rawValue: row["uuid"])
            unkept.subtract(pictures(among: Set(files[edition.rawValue] ?? []), of: edition, stored: row["stored"]))
        }
    }

    /// - Returns: the names of the stored pictures; empty if the library has no pictures yet.
    private func coverNames(in folder: String) throws -> Set<String> {
        do throws(FileError) {
            return Set(try storedNames(in: folder).map { String(decoding: $0, as: UTF8.self) })
        } catch {
            if error.errno == .noSuchFileOrDirectory { return [] }
            throw LibraryError(error)
        }
    }
}

/// The picture of an edition that a merge removes. Covers are not logged in changes, so its row is added to the log.
/// Then an undo can bring it back.
struct LoggedCover {
    fileprivate let state: String
    fileprivate let stored: Int64

    /// True for a person's own photo.
    var isOwn: Bool { state == "person" }

    /// Adds the edition's cover to the log as removed.
    ///
    /// - Returns: `nil` if the edition has no picture.
    init?(removing edition: Int64, _ db: Database) throws {
        try Self.log("NULL AS after, \(Self.image) AS before", edition, db)
        let row = try db.row(
            "SELECT state, stored FROM cover WHERE edition = ? AND state IN ('fetched', 'person')", [edition])
        guard let row else { return nil }
        (state, stored) = (row["state"], row["stored"])
    }

    private static let image = rowImage(["edition", "state", "bytes", "stored", "retryAt"])

    /// Adds the edition's cover to the log as new.
    fileprivate static func logNew(_ edition: Int64, _ db: Database) throws {
        try log("\(image) AS after, NULL AS before", edition, db)
    }

    private static func log(_ images: String, _ edition: Int64, _ db: Database) throws {
        try db.run(
            """
            INSERT INTO changeRow (change, tableName, key, after, before)
            SELECT change, 'cover', json_array(edition), \(images) FROM cover, openChange WHERE edition = ?
            """, [edition])
    }
}

extension LibraryFile {
    /// Gives an edition the picture of an edition that was merged into it. A person's own photo replaces a fetched
    /// picture, but nothing else replaces a picture.
    ///
    /// - Returns: false if the edition keeps its own picture.
    func take(
        _ cover: LoggedCover, of other: ID<Edition>, for kept: (row: Int64, id: ID<Edition>), _ db: Database
    ) throws -> Bool {
        let present = try db.row("SELECT state, stored FROM cover WHERE edition = ?", [kept.row])
        switch present?["state"] as String? {
        case "person": return false
        case "fetched" where !cover.isOwn: return false
        default: break
        }
        guard let folder = folderBeside("covers"), let path = try coverPath(other, stored: cover.stored),
            Self.isFileName(kept.id)
        else { return false }
        let bytes: [UInt8]
        do { bytes = try readFile(path, limit: Self.coverLimit) } catch { throw LibraryError(error) }
        let stored = max(clock().milliseconds, (present?["stored"] ?? 0) + 1)
        // As with every picture, the file comes first. If the transaction fails, a sweep removes the file.
        try replaceFile(
            "\(folder)/\(coverName(kept.id, stored: stored))", with: bytes, mode: fileMode(in: folder))
        try db.run(
            "INSERT OR REPLACE INTO cover (edition, state, bytes, stored) VALUES (?, ?, ?, ?)",
            [kept.row, cover.state, bytes.count, stored])
        try LoggedCover.logNew(kept.row, db)
        return true
    }
}
