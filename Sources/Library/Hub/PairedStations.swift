import Bookplate
import FoundationEssentials
import GRDB

extension LibraryFile: PairedStations {
    /// The maximum number of paired stations. It is more than a household needs, but small enough that a stolen access
    /// code cannot be used to fill the disk. Revoked stations are kept up to the same number.
    private static let limit = 200

    public func pair(
        _ id: ID<PairedStation>, named name: String, at now: Date
    ) async throws -> (station: PairedStation, token: String) {
        let name = try name.checked(as: "name of the station", limit: PairedStation.longestName)
        guard id.rawValue.isUUID else { throw StationRefusal.badID }
        let token = StationToken()
        let station = try await write { db in
            try Self.deleteOldRevoked(db)
            let count =
                try db.value(
                    Int.self, "SELECT count(*) FROM station WHERE uuid <> ? AND revoked IS NULL", [id.rawValue]) ?? 0
            guard count < Self.limit else { throw StationRefusal.tooMany(limit: Self.limit) }
            let free = try Self.freeName(db, name, for: id)
            try db.run(
                """
                INSERT INTO station (uuid, name, selector, hash, created) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (uuid) DO UPDATE SET name = excluded.name, selector = excluded.selector,
                    hash = excluded.hash, created = excluded.created, lastUsed = NULL, revoked = NULL
                """, [id.rawValue, free, token.selector, token.hash, now.milliseconds])
            return PairedStation(id: id, name: free, created: Date(milliseconds: now.milliseconds))
        }
        return (station, token.text)
    }

    /// If there are more revoked stations than the limit, deletes those that were revoked longest ago. Stations that
    /// have delivered something are kept.
    private static func deleteOldRevoked(_ db: Database) throws {
        try db.run(
            """
            DELETE FROM station WHERE revoked IS NOT NULL AND id NOT IN (SELECT station FROM delivery)
                AND id NOT IN (
                    SELECT id FROM station WHERE revoked IS NOT NULL ORDER BY revoked DESC, id DESC LIMIT ?)
            """, [limit])
    }

    /// Returns a unique name, such as "Pi", "Pi 2" or "Pi 3", because two devices can have the same host name.
    private static func freeName(_ db: Database, _ name: String, for id: ID<PairedStation>) throws -> String {
        let others = Set(
            try db.rows("SELECT name FROM station WHERE uuid <> ?", [id.rawValue]).map { $0["name"] as String })
        return others.contains(name)
            ? (2...).lazy.map { "\(name) \($0)" }.first { !others.contains($0) } ?? name : name
    }

    public func pairedStation(withToken text: String, at now: Date) async throws -> PairedStation? {
        guard let token = StationToken(text) else { return nil }
        let found: PairedStation? = try await read { db in
            guard
                let row = try db.row(
                    "SELECT \(PairedStation.columns), hash FROM station WHERE selector = ? AND revoked IS NULL",
                    [token.selector]),
                token.has(hash: row["hash"])
            else { return nil }
            return PairedStation(row: row)
        }
        guard let station = found else { return nil }
        // The last use is recorded at most once per minute, because a write for every request would wear out a memory
        // card.
        if abs(now.timeIntervalSince(station.lastUsed ?? .distantPast)) >= 60 {
            try await lastUse.record(log: log) {
                try await write { db in
                    try db.run(
                        "UPDATE station SET lastUsed = ? WHERE uuid = ?", [now.milliseconds, station.id.rawValue])
                }
            }
        }
        return station
    }

    public func pairedStations() async throws -> [PairedStation] {
        try await read { db in
            try db.rows("SELECT \(PairedStation.columns) FROM station ORDER BY created DESC, id DESC")
                .map(PairedStation.init(row:))
        }
    }

    public func revoke(_ id: ID<PairedStation>, at now: Date) async throws -> PairedStation {
        try await write { db in
            try db.run(
                "UPDATE station SET revoked = coalesce(revoked, ?) WHERE uuid = ?", [now.milliseconds, id.rawValue])
            guard
                let row = try db.row("SELECT \(PairedStation.columns) FROM station WHERE uuid = ?", [id.rawValue])
            else { throw StationRefusal.none }
            return PairedStation(row: row)
        }
    }
}

extension PairedStation {
    fileprivate static let columns = "uuid, name, created, lastUsed, revoked"

    fileprivate init(row: Row) {
        self.init(
            id: ID(rawValue: row["uuid"]), name: row["name"], created: Date(milliseconds: row["created"]),
            lastUsed: (row["lastUsed"] as Int64?).map(Date.init(milliseconds:)),
            revoked: (row["revoked"] as Int64?).map(Date.init(milliseconds:)))
    }
}

extension String {
    /// True if the text is a UUID in lower case, which is how an ``ID`` writes it.
    var isUUID: Bool { UUID(uuidString: self)?.uuidString.lowercased() == self }
}

/// A station's token. It consists of a selector, which finds the station's row, and a secret of 256 random bits. Only
/// the hash of the secret is stored.
struct StationToken {
    let selector: String
    let secret: String

    /// Makes a new token from the kernel's random numbers.
    init() {
        selector = Secret.random(bytes: 12)
        secret = Secret.random(bytes: 32)
    }

    /// - Returns: `nil` if the text is not a token.
    init?(_ text: String) {
        let parts = text.split(separator: ".", maxSplits: 2, omittingEmptySubsequences: false)
        guard text.utf8.count == 89, parts.count == 2, parts[0].utf8.count == 24 else { return nil }
        (selector, secret) = (String(parts[0]), String(parts[1]))
    }

    var text: String { "\(selector).\(secret)" }

    /// The hash of the secret.
    var hash: String { Array(Secret.hash(of: secret)).hexadecimal }

    /// Returns true if a stored hash belongs to this token. The time that this takes does not depend on the hash.
    func has(hash stored: String) -> Bool { Secret.areEqual(hash, stored) }
}
