import Bookplate
import FoundationEssentials
import GRDB

extension LibraryFile {
    /// Opens a station's outbox, or creates it. An outbox is a library file in which every change of the queue
    /// waits until it is sent to the hub.
    ///
    /// - Parameter hub: the address of the hub, which is stored when the outbox is created and never changes.
    /// - Throws: ``LibraryError``.
    public static func openOutbox(
        at path: String, hub: String, device: String? = nil, clock: @escaping @Sendable () -> Date = { Date() }
    ) async throws -> LibraryFile {
        let file = try open(at: path, device: device, clock: clock)
        try await file.write { db in
            try db.run("INSERT INTO outbox (one, hub) VALUES (1, ?) ON CONFLICT DO NOTHING", [hub])
        }
        return file
    }
}

extension LibraryFile: Outbox {
    public func confirm(
        _ confirmed: [Confirmed], continuing earlier: ID<Change>?, at now: Date
    ) async throws -> [SaveResult] {
        guard !confirmed.isEmpty else { return [] }
        return try await change(.save, continuing: earlier, at: now) { db, change in
            let results = try confirmed.map { try Self.confirm($0, change, db) }
            let rest = confirmed.count > 1 ? " and \(confirmed.count - 1) more" : ""
            return (results, "confirmed " + quoted(confirmed[0].metadata.title) + rest + " for the hub")
        }
    }

    private static func confirm(_ confirmed: Confirmed, _ change: ID<Change>, _ db: Database) throws -> SaveResult {
        guard let id = confirmed.item, let stored = try StoredItem.one(db, id) else {
            throw LibraryError.noSuchItem(confirmed.item ?? ID(rawValue: confirmed.request))
        }
        let copy = ID<Copy>(rawValue: id.rawValue)
        switch stored.item.state {
        case .confirmed: return .alreadySaved(copy)
        // The item has just been answered at the hub.
        case .skipped: throw LibraryError.notWaiting(id, .skipped)
        case .waiting: break
        }
        let confirmation = StoredConfirmation(
            metadata: confirmed.metadata.storable, preset: confirmed.preset, anotherCopy: confirmed.anotherCopy,
            act: change.rawValue)
        try db.run("UPDATE outboxItem SET confirmed = ? WHERE item = ?", [try encodeJSON(confirmation), stored.row])
        try db.run(
            "UPDATE intakeItem SET state = 'confirmed', leaseHolder = NULL, leaseUntil = NULL WHERE id = ?",
            [stored.row])
        return .saved(copy, change: change)
    }

    public func confirmedBooks(with isbns: [ISBN], undelivered: Bool) async throws -> [ISBN: [Book]] {
        let rows = try await read { db in
            try db.rows(
                """
                SELECT \(StoredItem.columns), confirmed FROM intakeItem JOIN outboxItem ON item = id
                WHERE state = 'confirmed' AND confirmed IS NOT NULL AND (NOT ? OR revision > sent)
                    AND isbn IN (SELECT value FROM json_each(?)) ORDER BY id
                """, [undelivered, jsonList(isbns.map(\.digits))]
            ).map { (try StoredItem(row: $0).item, try decodeJSON(StoredConfirmation.self, $0["confirmed"])) }
        }
        return Dictionary(
            grouping: rows, by: \.0.isbn
        ).mapValues { $0.map { item, confirmation in confirmation.book(of: item) } }
    }

    public func copiesAtHub(with isbns: [ISBN]) async throws -> [ID<QueueItem>: CopyAtHub] {
        let rows = try await read { db in
            try db.rows(
                """
                SELECT uuid, copy, state <> 'confirmed' AND revision > sent AS isUndone
                FROM intakeItem JOIN outboxItem ON item = id
                WHERE copy IS NOT NULL AND isbn IN (SELECT value FROM json_each(?))
                """, [jsonList(isbns.map(\.digits))]
            ).map { row in
                (
                    ID<QueueItem>(rawValue: row["uuid"]),
                    CopyAtHub(id: ID(rawValue: row["copy"]), isUndone: row["isUndone"])
                )
            }
        }
        return Dictionary(rows, uniquingKeysWith: { $1 })
    }

    // MARK: Deliveries

    private static let deliveryColumns = "\(StoredItem.columns), revision, confirmed"

    public func undelivered(limit: Int) async throws -> [HubDelivery] {
        try await read { db in
            try db.rows(
                """
                SELECT \(Self.deliveryColumns) FROM outboxItem JOIN intakeItem ON item = id
                WHERE revision > sent ORDER BY changed LIMIT ?
                """, [limit]
            ).map(HubDelivery.init(row:))
        }
    }

    public func undeliveredCount() async throws -> Int {
        try await read { db in try db.value(Int.self, "SELECT count(*) FROM outboxItem WHERE revision > sent") ?? 0 }
    }

    public func delivered(to library: String?, onlyWaiting: Bool) async throws -> [ID<QueueItem>] {
        try await read { db in
            try db.rows(
                """
                SELECT uuid FROM intakeItem JOIN outboxItem ON item = id
                WHERE revision = sent AND refused < sent AND (NOT ?1 OR state = 'waiting')
                    AND (?2 IS NULL OR library IS NULL OR library = ?2)
                ORDER BY id DESC
                """, [onlyWaiting, library]
            ).map { ID(rawValue: $0["uuid"]) }
        }
    }

    public func deliverAgain(_ items: [ID<QueueItem>]) async throws {
        try await write { db in
            try db.run(
                """
                UPDATE outboxItem SET sent = 0, hasSentThumbnail = 0
                WHERE item IN (SELECT id FROM intakeItem WHERE uuid IN (SELECT value FROM json_each(?)))
                """, [jsonList(items.map(\.rawValue))])
        }
    }

    public func connect(toLibrary library: String) async throws -> HubNews? {
        let isKnown = try await read { db in
            try db.value(
                Int64.self,
                """
                SELECT 1 FROM outbox WHERE library = ?
                    AND NOT EXISTS (SELECT 1 FROM outboxItem WHERE sent > 0 AND library IS NULL)
                """, [library]) != nil
        }
        if isKnown { return nil }
        return try await write { db in
            // Items without a library were delivered by a version that did not record it, to the earliest library.
            let before = try db.value(String.self, "SELECT library FROM outbox")
            try db.run(
                "UPDATE outboxItem SET library = ? WHERE sent > 0 AND library IS NULL", [before ?? library])
            try db.run("UPDATE outbox SET library = ?", [library])
            guard let before, before != library else { return nil }
            let count =
                try db.value(
                    Int.self, "SELECT count(*) FROM outboxItem WHERE sent > 0 AND library <> ?", [library]) ?? 0
            return count == 0 ? nil : .otherLibrary(count: count)
        }
    }

    public func deliverToPresentLibrary() async throws {
        try await write { db in
            try db.run(
                """
                UPDATE outboxItem SET sent = 0, hasSentThumbnail = 0
                WHERE sent > 0 AND library <> (SELECT library FROM outbox)
                """)
        }
    }

    public func nextThumbnail() async throws -> (item: ID<QueueItem>, jpeg: [UInt8])? {
        try await read { db in
            let row = try db.row(
                """
                SELECT uuid, jpeg FROM outboxItem
                    JOIN intakeItem ON intakeItem.id = outboxItem.item
                    JOIN intakeThumbnail ON intakeThumbnail.item = outboxItem.item
                WHERE sent > 0 AND NOT hasSentThumbnail ORDER BY changed LIMIT 1
                """)
            return row.map { (ID(rawValue: $0["uuid"]), Array($0["jpeg"] as Data)) }
        }
    }

    public func markThumbnailDelivered(of item: ID<QueueItem>) async throws {
        try await write { db in
            try db.run(
                "UPDATE outboxItem SET hasSentThumbnail = 1 WHERE item = (SELECT id FROM intakeItem WHERE uuid = ?)",
                [item.rawValue])
        }
    }

    // MARK: Receipts

    public func apply(_ answer: HubAnswer, of deliveries: [HubDelivery]) async throws -> [HubNews] {
        let delivered = Dictionary(deliveries.map { ($0.id, $0.revision) }, uniquingKeysWith: max)
        return try await write { db in
            try answer.receipts.compactMap { try Self.apply($0, from: answer.hub.library, delivered[$0.id], db) }
        }
    }

    private static func apply(
        _ receipt: HubReceipt, from library: String?, _ delivered: Int?, _ db: Database
    ) throws -> HubNews? {
        guard let stored = try StoredItem.one(db, receipt.id),
            let row = try db.row("SELECT revision, sent, confirmed FROM outboxItem WHERE item = ?", [stored.row])
        else { return nil }
        let (revision, sent): (Int, Int) = (row["revision"], row["sent"])
        if let delivered, delivered > sent {
            try db.run(
                """
                UPDATE outboxItem
                SET sent = min(revision, ?1), refused = iif(?2, ?1, 0), copy = ?3, library = coalesce(?4, library)
                WHERE item = ?5
                """,
                [
                    delivered, receipt.outcome == .refused,
                    receipt.outcome == .saved ? receipt.copy?.rawValue.storable(TextLimit.name) : nil, library,
                    stored.row,
                ])
        }
        if delivered == nil, receipt.revision < sent {
            // The hub was put back to an older state. An answer that was given at the hub itself has no revision of
            // its own in an outbox that an older version wrote, so there the states are compared.
            let isAnsweredAtHub = stored.item.state != .waiting && row["confirmed"] as String? == nil
            if isAnsweredAtHub, receipt.state == stored.item.state { return nil }
            try db.run(
                "UPDATE outboxItem SET sent = ?, hasSentThumbnail = 0 WHERE item = ?",
                [max(0, receipt.revision), stored.row])
            return nil
        }
        // The item was changed here after this delivery, so the next delivery decides.
        guard max(sent, delivered ?? 0) >= revision else { return nil }
        let title = stored.item.metadata?.title.map { ", \($0)" } ?? ""
        let why = receipt.reason?.storable(TextLimit.name) ?? "the hub gave no reason"
        let reason = "\(stored.item.isbn.hyphenated)\(title): \(why)"
        let isNews = delivered != nil
        switch receipt.outcome {
        case .refused: return isNews ? .refused(receipt.id, reason: reason) : nil
        case .owned where receipt.state == .waiting && stored.item.state == .confirmed:
            return isNews ? .owned(receipt.id, reason: reason) : nil
        case .accepted, .saved, .owned, .kept: break
        }
        guard stored.item.state == .waiting || receipt.outcome == .kept, receipt.state != stored.item.state,
            receipt.state != .waiting
        else { return nil }
        // The item was answered at the hub, so it need not be sent.
        try db.run(
            "UPDATE intakeItem SET state = ?, leaseHolder = NULL, leaseUntil = NULL WHERE id = ?",
            [receipt.state.rawValue, stored.row])
        // The update above has incremented the revision, which is taken back, so that it stays the revision that the
        // hub has. The confirmation of a person here counts no longer, unless the hub kept its book.
        try db.run(
            "UPDATE outboxItem SET revision = ?1, sent = ?1, confirmed = iif(?2, confirmed, NULL) WHERE item = ?3",
            [revision, receipt.outcome == .kept, stored.row])
        return receipt.outcome == .kept && isNews
            ? .kept(receipt.id, reason: reason) : .answered(receipt.id, receipt.state, receipt.copy)
    }
}

/// A confirmation in the outbox, in the form in which it is stored as JSON.
private struct StoredConfirmation: Codable {
    var metadata: Metadata
    var preset: Preset
    var anotherCopy: Bool
    var act: String

    /// Returns the book that the hub will create from this confirmation.
    func book(of item: QueueItem) -> Book {
        var copy = Copy(id: ID(rawValue: item.id.rawValue), added: item.captured)
        (copy.shelf, copy.tags, copy.status) = (preset.shelf, preset.tags, preset.status)
        (copy.isOwned, copy.isOnWishlist) = (!preset.isWishlist, preset.isWishlist)
        copy.rating = preset.rating
        return Book(edition: Edition(isbn: item.isbn, isbnText: item.raw, metadata: metadata), copy: copy)
    }
}

extension HubDelivery {
    /// Decodes a row that has the columns of the outbox.
    fileprivate init(row: Row) throws {
        let item = try StoredItem(row: row).item
        let confirmed =
            item.state == .confirmed
            ? try (row["confirmed"] as String?).map { try decodeJSON(StoredConfirmation.self, $0) } : nil
        // If the hub has lost an item that was confirmed at the hub, only the hub knew the confirmed data. The item
        // then waits there again.
        let state = item.state == .confirmed && confirmed == nil ? .waiting : item.state
        self.init(
            id: item.id, revision: row["revision"], isbn13: item.isbn.digits, raw: item.raw, addon: item.addon,
            captured: item.captured.rfc3339, preset: confirmed?.preset ?? item.preset, state: state,
            metadata: confirmed?.metadata ?? item.metadata, isFound: item.outcome == .found,
            confirmation: confirmed.map { Confirmation(act: $0.act, anotherCopy: $0.anotherCopy) })
    }
}
