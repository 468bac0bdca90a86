import Bookplate
import FoundationEssentials
import GRDB

extension LibraryFile: WishlistLinks {
    public func wishlistLinks() async throws -> [WishlistLink] {
        try await read { db in
            try db.rows("SELECT * FROM wishlistLink WHERE reader = reader() ORDER BY id DESC").map { row in
                WishlistLink(
                    id: ID(rawValue: row["uuid"]), created: Date(milliseconds: row["created"]),
                    used: (row["used"] as Int64?).map(Date.init(milliseconds:)))
            }
        }
    }

    public func makeWishlistLink(at now: Date) async throws -> (link: WishlistLink, token: String) {
        let token = Secret.random(bytes: WishlistLink.tokenLength / 2)
        let link = WishlistLink(id: ID(), created: Date(milliseconds: now.milliseconds))
        try await write { db in
            let count = try db.value(Int.self, "SELECT count(*) FROM wishlistLink WHERE reader = reader()") ?? 0
            guard count < WishlistLink.limit else { throw WishlistLinkRefusal.tooMany }
            try db.run(
                "INSERT INTO wishlistLink (uuid, reader, token, created) VALUES (?, reader(), ?, ?)",
                [link.id.rawValue, Secret.hash(of: token), now.milliseconds])
        }
        return (link, token)
    }

    public func revokeWishlistLink(_ id: ID<WishlistLink>) async throws -> Bool {
        try await write { db in
            try db.run("DELETE FROM wishlistLink WHERE uuid = ? AND reader = reader()", [id.rawValue])
            return db.changesCount > 0
        }
    }

    public func reader(ofWishlistToken token: String, at now: Date) async throws -> ID<Reader>? {
        guard token.utf8.count == WishlistLink.tokenLength else { return nil }
        let hash = Secret.hash(of: token)
        let found = try await read { db in
            try db.row(
                """
                SELECT reader.uuid, used FROM wishlistLink JOIN reader ON reader.id = wishlistLink.reader
                WHERE token = ? AND deleted IS NULL
                """, [hash]
            ).map { (reader: ID<Reader>(rawValue: $0["uuid"]), used: $0["used"] as Int64?) }
        }
        guard let found else { return nil }
        // The last use is recorded at most once per hour, as that of a sign-in is.
        if abs(now.milliseconds - (found.used ?? 0)) >= 3_600_000 {
            try await lastUse.record(log: log) {
                try await write { db in
                    try db.run("UPDATE wishlistLink SET used = ? WHERE token = ?", [now.milliseconds, hash])
                }
            }
        }
        return found.reader
    }

    public func isOnWishlist(_ edition: ID<Edition>) async throws -> Bool {
        try await read { db in
            try db.row(
                """
                SELECT 1 FROM edition JOIN copy ON copy.edition = edition.id
                    JOIN readerCopy own ON own.copy = copy.id AND own.reader = reader()
                WHERE edition.uuid = ? AND copy.deleted IS NULL AND own.isOnWishlist
                """, [edition.rawValue]) != nil
        }
    }
}
