import Bookplate
import SystemCalls
import FoundationEssentials
import GRDB
import Glibc

extension LibraryFile: Covers {
    /// The maximum size of one picture, in bytes.
    public static let coverLimit = 5 << 20
    /// The maximum total size of all fetched pictures, in bytes. If the total exceeds this size, the oldest pictures
    /// are removed.
    public static let coversLimit = 2 << 30

    public func cover(of edition: ID<Edition>) async throws -> [UInt8]? {
        let isKept = try await read { db in
            try db.row(
                """
                SELECT 1 FROM cover JOIN edition ON edition.id = cover.edition
                WHERE edition.uuid = ? AND cover.state IN ('fetched', 'person')
                """, [edition.rawValue]) != nil
        }
        // The path is built only after the id was found in the library.
        guard isKept, let path = coverPath(edition), try fileFacts(path) != nil else { return nil }
        do { return try readFile(path, limit: Self.coverLimit) } catch { throw LibraryError(error) }
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

    /// Removes the pictures of editions that no longer have a cover in the database. This runs after the commit, so
    /// that a failed commit does not lose a picture. It runs in a transaction, so that it does not remove a picture
    /// that another process has stored in the meantime.
    private func unlinkUnkept(_ editions: [ID<Edition>]) async throws {
        do {
            try await write { db in
                for edition in editions {
                    let isKept = try db.row(
                        """
                        SELECT 1 FROM cover JOIN edition ON edition.id = cover.edition
                        WHERE edition.uuid = ? AND cover.state IN ('fetched', 'person')
                        """, [edition.rawValue])
                    if isKept == nil, let path = self.coverPath(edition) { unlink(path) }
                }
            }
        } catch let error as LibraryError where error.isTransient {
            // A picture without a row is never shown, and a later sweep removes it.
        }
    }

    public func editionsWithoutCover(limit: Int) async throws -> [(edition: ID<Edition>, url: String)] {
        let now = clock().milliseconds
        return try await read { db in
            try db.rows(
                """
                SELECT uuid, coverURL FROM edition LEFT JOIN cover ON cover.edition = edition.id
                WHERE coverURL IS NOT NULL AND (cover.state IS NULL OR cover.state = 'missing' AND retryAt <= ?)
                    AND EXISTS (SELECT 1 FROM copy WHERE copy.edition = edition.id AND deleted IS NULL)
                ORDER BY edition.id DESC LIMIT ?
                """, [now, max(0, limit)]
            ).map { (edition: ID(rawValue: $0["uuid"]), url: $0["coverURL"]) }
        }
    }

    public func recordMissingCover(of edition: ID<Edition>, retryAt: Date?) async throws {
        let now = clock().milliseconds
        try await write { db in
            try db.run(
                """
                INSERT INTO cover (edition, state, bytes, stored, retryAt)
                SELECT id, 'missing', 0, ?, ? FROM edition WHERE uuid = ?
                ON CONFLICT (edition) DO UPDATE SET retryAt = excluded.retryAt WHERE state = 'missing'
                """, [now, retryAt?.milliseconds, edition.rawValue])
        }
    }

    private func keep(_ bytes: [UInt8], of edition: ID<Edition>, state: String) async throws {
        guard bytes.count <= Self.coverLimit else {
            throw LibraryError.coverTooLarge(bytes: bytes.count, limit: Self.coverLimit)
        }
        guard self.path != nil else { return }
        guard let path = coverPath(edition) else { throw LibraryError.noSuchEdition(edition) }
        let now = clock().milliseconds
        try await write { db in
            guard let row = try db.value(Int64.self, "SELECT id FROM edition WHERE uuid = ?", [edition.rawValue]) else {
                throw LibraryError.noSuchEdition(edition)
            }
            let present = try db.value(String.self, "SELECT state FROM cover WHERE edition = ?", [row])
            guard state == "person" || present != "person" else { return }
            // The picture is written inside the transaction, so that no other process can store a photo in between. The
            // picture's row is written last.
            try createFolderBeside(folder(of: path))
            try replaceFile(path, with: bytes, mode: fileMode(in: folder(of: path)))
            try db.run(
                """
                INSERT INTO cover (edition, state, bytes, stored) VALUES (?, ?, ?, ?)
                ON CONFLICT (edition) DO UPDATE
                    SET state = excluded.state, bytes = excluded.bytes, stored = excluded.stored, retryAt = NULL
                """, [row, state, bytes.count, now])
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
        let known = try await read { db in
            Set(
                try db.rows(
                    """
                    SELECT uuid FROM edition JOIN cover ON cover.edition = edition.id
                    WHERE state IN ('fetched', 'person')
                    """
                ).map { $0["uuid"] as String })
        }
        let limit = Int(clock().timeIntervalSince1970) - 3600
        let names: [[UInt8]]
        do throws(FileError) { names = try storedNames(in: folder) } catch {
            // The library has no pictures yet.
            if error.errno == .noSuchFileOrDirectory { return }
            throw LibraryError(error)
        }
        var failure: LibraryError?
        for name in names.map({ String(decoding: $0, as: UTF8.self) }) {
            let path = folder + "/" + name
            guard !known.contains(name), let facts = try fileFacts(path), facts.st_mode & S_IFMT == S_IFREG,
                facts.st_mtim.tv_sec < limit
            else { continue }
            if unlink(path) != 0, errno != ENOENT { failure = LibraryError(errno: errno, path: path) }
        }
        if let failure { throw failure }
    }

    /// Returns the path of a cover; `nil` for a library in memory, or if the id is no file name. A library that
    /// somebody else has prepared must not reach files outside the folder of covers.
    private func coverPath(_ edition: ID<Edition>) -> String? {
        let name = edition.rawValue
        guard !name.isEmpty, !name.hasPrefix("."), !name.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == 0 })
        else { return nil }
        return folderBeside("covers").map { "\($0)/\(name)" }
    }
}
