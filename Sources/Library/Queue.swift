import Bookplate
import FoundationEssentials
import GRDB

extension LibraryFile: CaptureQueue {
    public func enqueue(
        _ detections: [Detection], preset: Preset, lease: Duration, at now: Date
    ) async throws -> [QueueItem] {
        guard !detections.isEmpty else { return [] }
        let device = device
        let instant = Date(milliseconds: now.milliseconds)
        let leaseHolder = lease > .zero ? holder : nil
        let leaseUntil = lease > .zero ? Self.leaseEnd(lease, from: now) : nil
        return try await write { db in
            return try detections.map { detection in
                if let id = detection.item, let stored = try StoredItem.one(db, id) { return stored.item }
                let preset = try (detection.preset ?? preset).withReader(db)
                let item = QueueItem(
                    id: detection.item ?? ID(), isbn: detection.isbn,
                    raw: detection.raw.storable(TextLimit.name) ?? detection.isbn.digits,
                    addon: detection.addon?.storable(TextLimit.name), origin: detection.origin,
                    image: detection.image?.storable(4096), device: detection.device ?? device, captured: instant,
                    preset: preset)
                try db.run(
                    """
                    INSERT INTO intakeItem
                        (uuid, isbn, raw, addon, origin, image, station, captured, preset, nextLookup,
                        leaseHolder, leaseUntil)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                    [
                        item.id.rawValue, item.isbn.digits, item.raw, item.addon, item.origin.rawValue, item.image,
                        item.device, now.milliseconds, try encodeJSON(preset), now.milliseconds,
                        leaseHolder, leaseUntil,
                    ])
                if let thumbnail = detection.thumbnail {
                    try db.run(
                        "INSERT INTO intakeThumbnail (item, jpeg) VALUES (?, ?)",
                        [db.lastInsertedRowID, Data(thumbnail)])
                }
                return item
            }
        }
    }

    public func items(in states: Set<QueueItem.State>) async throws -> [QueueItem] {
        try await read { db in
            try db.rows(
                """
                SELECT \(StoredItem.columns) FROM intakeItem
                WHERE state IN (SELECT value FROM json_each(?)) ORDER BY captured, id
                """, [jsonList(states.map(\.rawValue))]
            ).map { try StoredItem(row: $0).item }
        }
    }

    public func waitingItems(with isbns: [ISBN]) async throws -> [QueueItem] {
        try await read { db in
            try db.rows(
                """
                SELECT \(StoredItem.columns) FROM intakeItem
                WHERE state = 'waiting' AND isbn IN (SELECT value FROM json_each(?)) ORDER BY captured, id
                """, [jsonList(isbns.map(\.digits))]
            ).map { try StoredItem(row: $0).item }
        }
    }

    public func count(in states: Set<QueueItem.State>) async throws -> Int {
        try await read { db in
            try db.value(
                Int.self, "SELECT count(*) FROM intakeItem WHERE state IN (SELECT value FROM json_each(?))",
                [jsonList(states.map(\.rawValue))]) ?? 0
        }
    }

    public func item(_ id: ID<QueueItem>) async throws -> QueueItem? {
        try await read { db in try StoredItem.one(db, id)?.item }
    }

    public func edit(
        _ id: ID<QueueItem>, _ change: @escaping @Sendable (inout Metadata, inout Preset) throws -> Void
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
                // A field that a person has emptied still gets a source, so that no later lookup fills it again.
                new.sources[field] = changed.contains(field) ? .person : old.sources[field]
            }
            guard new != old || preset != stored.item.preset else { return }
            try db.run(
                "UPDATE intakeItem SET metadata = ?, preset = ? WHERE id = ?",
                [try encodeJSON(new), try encodeJSON(preset), stored.row])
        }
    }

    public func setPreset(_ preset: Preset, of ids: [ID<QueueItem>]) async throws {
        guard !ids.isEmpty else { return }
        try await write { db in
            // A preset without a reader leaves each item its own. json_patch() leaves out what is NULL.
            try db.run(
                """
                UPDATE intakeItem SET preset = json_patch(?1, json_object(
                    'reader', coalesce(?2, preset ->> '$.reader'), 'rating', preset ->> '$.rating',
                    'note', preset ->> '$.note'))
                WHERE state = 'waiting' AND uuid IN (SELECT value FROM json_each(?3))
                """, [try encodeJSON(preset), preset.reader, jsonList(ids.map(\.rawValue))])
        }
    }

    public func skip(_ ids: [ID<QueueItem>], at now: Date) async throws -> ID<Change>? {
        try await changed(.edit, at: now) { db, _ in
            try skipWaiting(db, ids)
            return ((), "skipped \(ids.count == 1 ? "1 item" : "\(ids.count) items") in the queue")
        }.change
    }

    public func close(_ ids: [ID<QueueItem>]) async throws { try await write { db in try skipWaiting(db, ids) } }

    public func thumbnail(of id: ID<QueueItem>) async throws -> [UInt8]? {
        try await read { db in
            let data = try db.value(
                Data.self,
                "SELECT jpeg FROM intakeThumbnail JOIN intakeItem ON intakeItem.id = item WHERE uuid = ?",
                [id.rawValue])
            return data.map { Array($0) }
        }
    }

    public func itemsWithThumbnail(in states: Set<QueueItem.State>) async throws -> Set<ID<QueueItem>> {
        try await read { db in
            let ids = try db.rows(
                """
                SELECT uuid FROM intakeItem JOIN intakeThumbnail ON item = intakeItem.id
                WHERE state IN (SELECT value FROM json_each(?))
                """, [jsonList(states.map(\.rawValue))])
            return Set(ids.map { ID(rawValue: $0["uuid"]) })
        }
    }
}

extension Preset {
    /// Returns the preset with the name of the reader of the access, unless it names one already or there is only one
    /// reader.
    fileprivate func withReader(_ db: Database) throws -> Preset {
        guard reader == nil else { return self }
        var preset = self
        preset.reader = try db.value(
            String.self,
            """
            SELECT displayName FROM reader
            WHERE id = reader() AND (SELECT count(*) FROM reader WHERE deleted IS NULL) > 1
            """)
        return preset
    }
}

/// Skips the given items, except those that are no longer waiting.
private func skipWaiting(_ db: Database, _ ids: [ID<QueueItem>]) throws {
    try db.run(
        """
        UPDATE intakeItem SET state = 'dismissed', leaseHolder = NULL, leaseUntil = NULL
        WHERE state = 'waiting' AND uuid IN (SELECT value FROM json_each(?))
        """, [jsonList(ids.map(\.rawValue))])
}

/// A queue item with the other columns of its row.
struct StoredItem {
    var row: Int64
    var attempts: Int
    /// The process that is looking the item up, and the end of its lease in milliseconds since 1970.
    var lease: (holder: String, until: Int64)?
    var item: QueueItem

    static let columns = """
        id, uuid, isbn, raw, addon, origin, image, station, captured, preset, metadata, state, outcome, reason, source, \
        attempts, leaseHolder, leaseUntil
        """

    init(row: Row) throws {
        guard let isbn = try row.isbn() else { throw RowDecodingError(what: "a queue item has no ISBN") }
        self.row = row["id"]
        attempts = row["attempts"]
        if let holder = row["leaseHolder"] as String? { lease = (holder, row["leaseUntil"]) }
        item = QueueItem(
            id: ID(rawValue: row["uuid"]), isbn: isbn, raw: row["raw"], addon: row["addon"],
            origin: try row.word("origin"), image: row["image"], device: row["station"],
            captured: Date(milliseconds: row["captured"]), preset: try decodeJSON(Preset.self, row["preset"]),
            state: try row.word("state"), outcome: try row.optionalWord("outcome"), reason: row["reason"],
            source: try row.optionalWord("source"),
            metadata: try (row["metadata"] as String?).map { try decodeJSON(Metadata.self, $0) })
    }

    /// - Returns: the item with an id; `nil` if there is none.
    static func one(_ db: Database, _ id: ID<QueueItem>) throws -> StoredItem? {
        try db.row("SELECT \(columns) FROM intakeItem WHERE uuid = ?", [id.rawValue]).map(StoredItem.init(row:))
    }
}

extension LibraryFile {
    /// The maximum length, in milliseconds, of a lease, with which one process reserves an item for its lookup. Leases
    /// use the wall clock, because processes share them. A lease or a pause whose remaining time exceeds its maximum
    /// length is treated as over, because the clock must have been set back since it began.
    static let longestLease: Int64 = 3_600_000
    private static let longestPause: Int64 = 7 * 86_400_000

    public func lease(
        _ only: [ID<QueueItem>]?, limit: Int, for lease: Duration, at now: Date
    ) async throws -> [QueueItem] {
        guard limit > 0, only.map({ !$0.isEmpty }) ?? true else { return [] }
        let holder = holder
        let instant = now.milliseconds
        let until = Self.leaseEnd(lease, from: now)
        let choice =
            only == nil
            ? "(nextLookup <= ?2 OR nextLookup > ?2 + \(Self.longestPause))"
            : "uuid IN (SELECT value FROM json_each(?1))"
        // This process may already have a lease on an item that is requested by its id. Then the lease is renewed.
        let isMine = only == nil ? "0" : "leaseHolder = ?4"
        return try await write { db in
            let rows = try db.rows(
                """
                SELECT \(StoredItem.columns) FROM intakeItem
                WHERE state = 'waiting' AND ?1 IS ?1 AND ?4 IS ?4 AND \(choice)
                    AND (leaseUntil IS NULL OR leaseUntil <= ?2 OR leaseUntil > ?2 + \(Self.longestLease) OR \(isMine))
                ORDER BY captured, id LIMIT ?3
                """, [only.map { jsonList($0.map(\.rawValue)) }, instant, limit, holder])
            let items = try rows.map(StoredItem.init(row:))
            try db.run(
                """
                UPDATE intakeItem SET leaseHolder = ?, leaseUntil = ?
                WHERE id IN (SELECT value FROM json_each(?))
                """, [holder, until, jsonList(items.map(\.row))])
            return items.map(\.item)
        }
    }

    public func record(_ answers: [ID<QueueItem>: LookupAnswer], at now: Date) async throws -> [QueueItem] {
        guard !answers.isEmpty else { return [] }
        let holder = holder
        return try await write { db in
            var items: [QueueItem] = []
            for (id, answer) in answers {
                guard var stored = try StoredItem.one(db, id) else { continue }
                if stored.item.state == .waiting, !stored.isLeased(besides: holder, at: now) {
                    let next = stored.apply(answer, at: now)
                    try db.run(
                        """
                        UPDATE intakeItem SET outcome = ?, reason = ?, source = ?, metadata = ?, attempts = ?,
                            nextLookup = ?, leaseHolder = NULL, leaseUntil = NULL
                        WHERE id = ?
                        """,
                        [
                            stored.item.outcome?.rawValue, stored.item.reason, stored.item.source?.rawValue,
                            try stored.item.metadata.map { try encodeJSON($0) }, stored.attempts,
                            next?.milliseconds, stored.row,
                        ])
                }
                items.append(stored.item)
            }
            return items.sorted { ($0.captured, $0.id.rawValue) < ($1.captured, $1.id.rawValue) }
        }
    }

    /// Returns the end of a lease that begins now, in milliseconds since 1970.
    static func leaseEnd(_ lease: Duration, from now: Date) -> Int64 {
        now.milliseconds + min(longestLease, max(1, lease.milliseconds))
    }
}

extension StoredItem {
    /// Returns true if a process other than `holder` is looking the item up.
    func isLeased(besides holder: String, at now: Date) -> Bool {
        guard let lease, lease.holder != holder else { return false }
        let remaining = lease.until - now.milliseconds
        return remaining > 0 && remaining <= LibraryFile.longestLease
    }

    /// The pause before the sources are queried again about an ISBN that none of them has found.
    static let notFoundPause: TimeInterval = 7 * 86_400
    private static let firstPause: TimeInterval = 30
    private static let longestPause: TimeInterval = 3600

    /// Updates the item with the answer of a lookup.
    ///
    /// - Returns: the time of the next lookup; `nil` if none is needed.
    mutating func apply(_ answer: LookupAnswer, at now: Date) -> Date? {
        let wasFound = item.outcome == .found
        switch answer.outcome {
        case .found(let found, let source):
            attempts = 0
            // A sure match is not replaced by a record that may belong to another book.
            if wasFound, found.isWeakMatch, item.metadata?.isWeakMatch == false { return nil }
            item.metadata = merged(found.storable)
            item.outcome = .found
            item.source = source
            item.reason = nil
            return nil
        // A record that was found earlier stays, even if a source is down or no longer has it.
        case _ where wasFound: return nil
        case .notFound:
            let missing = answer.notAsked.map { "; \($0.source.displayName) was not queried: \($0.reason)" }.joined()
            item.outcome = .notFound
            item.reason = answer.outcome.reason.map { $0 + missing }
            attempts = 0
            return now.addingTimeInterval(Self.notFoundPause)
        case .temporary(let failure), .blocked(let failure), .badData(let failure):
            item.outcome = answer.outcome.name
            item.reason = answer.outcome.reason
            let requested = failure.retryAfter.map { min(Self.longestPause, max(1, Double($0.milliseconds) / 1000)) }
            let pause = requested ?? min(Self.longestPause, Self.firstPause * Double(1 << min(10, attempts)))
            attempts += 1
            return now.addingTimeInterval(pause)
        }
    }

    /// Merges a new record with the stored record. Fields that a person has edited stay. Missing fields are filled in
    /// from the stored record. But a weak match (a record that may belong to another book) never fills in fields of a
    /// sure match.
    private func merged(_ found: Metadata) -> Metadata {
        guard let old = item.metadata else { return found }
        var merged = found
        if found.isWeakMatch || !old.isWeakMatch { merged.fillGaps(from: old) }
        for (field, source) in old.sources where source == .person { merged.copy(field, from: old) }
        return merged
    }
}
