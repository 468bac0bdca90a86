import Bookplate
import FoundationEssentials
import GRDB

extension LibraryFile: Intake {
    public func capture(
        _ sightings: [Sighting], preset: Preset, lease: Duration, at now: Date
    ) async throws -> [IntakeItem] {
        guard !sightings.isEmpty else { return [] }
        let station = station
        let instant = Date(milliseconds: now.milliseconds)
        let leaseHolder = lease > .zero ? holder : nil
        let leaseUntil = lease > .zero ? Self.end(of: lease, from: now) : nil
        return try await write { db in
            let presetJSON = try storedJSON(preset)
            return try sightings.map { sighting in
                if let id = sighting.item, let stored = try StoredItem.one(db, id) { return stored.item }
                let item = IntakeItem(
                    id: sighting.item ?? ID(), isbn: sighting.isbn,
                    raw: sighting.raw.storable(TextLimit.name) ?? sighting.isbn.digits,
                    addon: sighting.addon?.storable(TextLimit.name), origin: sighting.origin,
                    image: sighting.image?.storable(4096), station: station, captured: instant, preset: preset)
                try db.run(
                    """
                    INSERT INTO intakeItem
                        (uuid, isbn, raw, addon, origin, image, station, captured, preset, nextLookup,
                        leaseHolder, leaseUntil)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                    [
                        item.id.rawValue, item.isbn.digits, item.raw, item.addon, item.origin.rawValue, item.image,
                        item.station, now.milliseconds, presetJSON, now.milliseconds,
                        leaseHolder, leaseUntil,
                    ])
                if let thumbnail = sighting.thumbnail {
                    try db.run(
                        "INSERT INTO intakeThumbnail (item, jpeg) VALUES (?, ?)",
                        [db.lastInsertedRowID, Data(thumbnail)])
                }
                return item
            }
        }
    }

    public func items(in states: Set<IntakeItem.State>) async throws -> [IntakeItem] {
        try await read { db in
            try db.rows(
                """
                SELECT \(StoredItem.columns) FROM intakeItem
                WHERE state IN (SELECT value FROM json_each(?)) ORDER BY captured, id
                """, [list(states.map(\.rawValue))]
            ).map { try StoredItem(row: $0).item }
        }
    }

    public func count(in states: Set<IntakeItem.State>) async throws -> Int {
        try await read { db in
            try db.value(
                Int.self, "SELECT count(*) FROM intakeItem WHERE state IN (SELECT value FROM json_each(?))",
                [list(states.map(\.rawValue))]) ?? 0
        }
    }

    public func item(_ id: ID<IntakeItem>) async throws -> IntakeItem? {
        try await read { db in try StoredItem.one(db, id)?.item }
    }

    public func edit(
        _ id: ID<IntakeItem>, _ change: @escaping @Sendable (inout Metadata, inout Preset) throws -> Void
    ) async throws {
        try await write { db in
            guard let stored = try StoredItem.one(db, id) else { throw LibraryError.noSuchItem(id) }
            guard stored.item.state == .waiting else { throw LibraryError.notWaiting(id, stored.item.state) }
            let old = stored.item.metadata ?? Metadata()
            var (new, preset) = (old, stored.item.preset)
            try change(&new, &preset)
            new = new.storable
            let changed = new.fields(differingFrom: old)
            for field in Metadata.Field.allCases {
                // A field that a person emptied keeps its source, so that no later lookup fills it again.
                new.sources[field] = changed.contains(field) ? .person : old.sources[field]
            }
            guard new != old || preset != stored.item.preset else { return }
            try db.run(
                "UPDATE intakeItem SET metadata = ?, preset = ? WHERE id = ?",
                [try storedJSON(new), try storedJSON(preset), stored.row])
        }
    }

    public func give(_ preset: Preset, to ids: [ID<IntakeItem>]) async throws {
        guard !ids.isEmpty else { return }
        try await write { db in
            try db.run(
                """
                UPDATE intakeItem SET preset = ?
                WHERE state = 'waiting' AND uuid IN (SELECT value FROM json_each(?))
                """, [try storedJSON(preset), list(ids.map(\.rawValue))])
        }
    }

    public func dismiss(_ ids: [ID<IntakeItem>], at now: Date) async throws -> ID<Change> {
        try await change(.edit, at: now) { db, change in
            try leave(db, ids)
            return (change, "dismissed \(ids.count) in the intake queue")
        }
    }

    public func close(_ ids: [ID<IntakeItem>]) async throws { try await write { db in try leave(db, ids) } }

    public func thumbnail(of id: ID<IntakeItem>) async throws -> [UInt8]? {
        try await read { db in
            let data = try db.value(
                Data.self,
                "SELECT jpeg FROM intakeThumbnail JOIN intakeItem ON intakeItem.id = item WHERE uuid = ?",
                [id.rawValue])
            return data.map { Array($0) }
        }
    }

    public func pictured(in states: Set<IntakeItem.State>) async throws -> Set<ID<IntakeItem>> {
        try await read { db in
            let ids = try db.rows(
                """
                SELECT uuid FROM intakeItem JOIN intakeThumbnail ON item = intakeItem.id
                WHERE state IN (SELECT value FROM json_each(?))
                """, [list(states.map(\.rawValue))])
            return Set(ids.map { ID(rawValue: $0["uuid"]) })
        }
    }
}

/// Items that still wait leave the queue unsaved.
private func leave(_ db: Database, _ ids: [ID<IntakeItem>]) throws {
    try db.run(
        """
        UPDATE intakeItem SET state = 'dismissed', leaseHolder = NULL, leaseUntil = NULL
        WHERE state = 'waiting' AND uuid IN (SELECT value FROM json_each(?))
        """, [list(ids.map(\.rawValue))])
}
