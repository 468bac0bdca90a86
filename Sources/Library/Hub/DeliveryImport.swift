import Bookplate
import FoundationEssentials
import GRDB

/// Imports the deliveries of a station, inside one transaction.
struct DeliveryImport {
    let db: Database
    let station: PairedStation
    private let stationRow: Int64
    /// The first reader, who gets what is delivered without a reader of this library, as by an older station.
    private let firstReader: Int64?
    /// The change in which all books are saved; `nil` if no delivery is confirmed.
    let change: ID<Change>?
    /// For each change that the station has undone but that could not be undone here: its id and the reason.
    let keptChanges: [String: String]
    let now: Date

    init(db: Database, station: PairedStation, change: ID<Change>?, keptChanges: [String: String], now: Date) throws {
        guard let row = try db.value(Int64.self, "SELECT id FROM station WHERE uuid = ?", [station.id.rawValue]) else {
            throw StationRefusal.none
        }
        (self.db, self.station, stationRow) = (db, station, row)
        firstReader = try db.value(Int64.self, "SELECT min(id) FROM reader WHERE deleted IS NULL")
        (self.change, self.keptChanges, self.now) = (change, keptChanges, now)
    }

    func importDelivery(_ delivery: HubDelivery) throws -> HubReceipt {
        let stored = try StoredDelivery.one(db, delivery.id)
        if let stored {
            guard stored.station == station.id else {
                return refused(delivery, "another station has already sent an item with this id")
            }
            // The same delivery has come again, or a newer delivery has already arrived.
            if delivery.revision <= stored.revision { return try stored.receipt(db) }
        }
        guard delivery.id.rawValue.isUUID else { return refused(delivery, "the item's id is not a UUID") }
        guard delivery.revision > 0 else { return refused(delivery, "the item's revision is not a positive number") }
        guard let isbn = delivery.isbn else { return refused(delivery, "the item's number is not an ISBN") }
        if let item = try StoredItem.one(db, delivery.id) {
            guard stored != nil else { return refused(delivery, "the hub already has an item with this id") }
            try update(item, from: delivery)
        } else if stored != nil {
            // The item was answered so long ago that it is no longer in the queue.
            return refused(
                delivery, "the item was confirmed or skipped at the hub long ago, and is no longer kept there")
        } else {
            try insert(delivery, isbn)
        }
        var result = StoredDelivery(delivery, of: station.id, change: stored?.change, copy: stored?.copy)
        try applyState(of: delivery, isbn, after: stored, &result)
        try result.store(db, station: stationRow)
        return try result.receipt(db)
    }

    /// Returns a refusal of a delivery. The refusal is not stored, so if the delivery comes again, it is refused again.
    private func refused(_ delivery: HubDelivery, _ reason: String) -> HubReceipt {
        HubReceipt(
            id: delivery.id, revision: delivery.revision, state: delivery.state, outcome: .refused, reason: reason)
    }

    /// Returns the time of the capture by the station's clock if it is plausible; otherwise, the present time. The
    /// clock of a device without a battery starts in 1970, and an item from the future would stay last in the queue.
    private func captureTime(of delivery: HubDelivery) -> Date {
        guard let captured = Date(rfc3339: delivery.captured), captured <= now, captured >= Self.earliest else {
            return now
        }
        return captured
    }

    /// The earliest plausible time of a capture: 2020-01-01, before the first version of this program.
    private static let earliest = Date(timeIntervalSince1970: 1_577_836_800)

    private func insert(_ delivery: HubDelivery, _ isbn: ISBN) throws {
        let isFound = delivery.isFound && delivery.metadata != nil
        try db.run(
            """
            INSERT INTO intakeItem
                (uuid, isbn, raw, addon, origin, station, captured, preset, metadata, outcome, source, nextLookup)
            VALUES (?, ?, ?, ?, 'hub', ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                delivery.id.rawValue, isbn.digits, delivery.raw.storable(TextLimit.name) ?? isbn.digits,
                delivery.addon?.storable(TextLimit.name), station.name,
                captureTime(of: delivery).milliseconds, try encodeJSON(delivery.preset.storable),
                try delivery.metadata.map { try encodeJSON($0.storable) }, isFound ? "found" : nil,
                isFound ? (delivery.metadata?.sources[.title] ?? .library).rawValue : nil,
                isFound ? nil : now.milliseconds,
            ])
    }

    /// Updates a waiting item with the station's preset, and with the fields that a person has filled in at the
    /// station. The hub's own metadata stays.
    private func update(_ stored: StoredItem, from delivery: HubDelivery) throws {
        guard stored.item.state == .waiting else { return }
        var metadata = stored.item.metadata
        if let delivered = delivery.metadata?.storable {
            var merged = metadata ?? delivered
            for (field, source) in delivered.sources where source == .person { merged.copy(field, from: delivered) }
            if !delivered.isWeakMatch { merged.fillGaps(from: delivered) }
            metadata = merged
        }
        let isNewlyFound = stored.item.outcome != .found && delivery.isFound && delivery.metadata != nil
        try db.run(
            """
            UPDATE intakeItem SET preset = ?1, metadata = ?2,
                outcome = iif(?3, 'found', outcome), reason = iif(?3, NULL, reason), source = iif(?3, ?4, source),
                nextLookup = iif(?3, NULL, nextLookup)
            WHERE id = ?5
            """,
            [
                try encodeJSON(delivery.preset.storable), try metadata.map { try encodeJSON($0) }, isNewlyFound,
                (delivery.metadata?.sources[.title] ?? .library).rawValue, stored.row,
            ])
    }

    /// Gives the item the state that it has at the station, unless this contradicts an act at the hub.
    private func applyState(
        of delivery: HubDelivery, _ isbn: ISBN, after stored: StoredDelivery?, _ result: inout StoredDelivery
    ) throws {
        let state = try StoredItem.one(db, delivery.id)?.item.state
        switch delivery.state {
        case .confirmed: try save(delivery, isbn, &result)
        case .waiting, .skipped:
            if state == .confirmed {
                // The save was undone at the station, but the book is still in the library.
                result.outcome = .kept
                result.reason = stored?.change.flatMap { keptChanges[$0] } ?? "the item was confirmed at the hub"
            } else if delivery.state == .skipped || stored?.state == .skipped {
                try set(delivery.state, of: delivery.id)
            }
            if result.outcome != .kept { (result.change, result.copy) = (nil, nil) }
        }
    }

    private func save(_ delivery: HubDelivery, _ isbn: ISBN, _ result: inout StoredDelivery) throws {
        guard let change, let confirmation = delivery.confirmation else {
            (result.outcome, result.reason) = (
                .refused, "the station marked the item as confirmed, but did not send the confirmed data"
            )
            return
        }
        let confirmed: Confirmed
        do throws(TextRefusal) {
            confirmed = try Confirmed(
                enteredBy: .hubReplay, request: delivery.id.rawValue, isbn: isbn, isbnText: delivery.raw,
                metadata: delivery.metadata ?? Metadata(), preset: delivery.preset.storable,
                anotherCopy: confirmation.anotherCopy)
        } catch {
            (result.outcome, result.reason) = (.refused, "\(error)")
            return
        }
        switch try BookSaver(db: db, change: change, now: now, otherwise: firstReader).save(confirmed) {
        case .saved(let copy, _), .wishFulfilled(let copy, _), .restored(let copy, _):
            (result.outcome, result.copy, result.change) = (.saved, copy, change.rawValue)
            try set(.confirmed, of: delivery.id)
        case .alreadySaved(let copy):
            (result.outcome, result.copy) = (.saved, copy)
            try set(.confirmed, of: delivery.id)
        case .owned(let book):
            // Two stations have captured the book, so a person at the hub decides whether this is another copy.
            (result.outcome, result.copy) = (.owned, book.id)
            result.reason = "the hub already has this book: \(book.displayTitle)"
            try set(.waiting, of: delivery.id)
        }
    }

    private func set(_ state: QueueItem.State, of id: ID<QueueItem>) throws {
        try db.run(
            "UPDATE intakeItem SET state = ?, leaseHolder = NULL, leaseUntil = NULL WHERE uuid = ? AND state <> ?",
            [state.rawValue, id.rawValue, state.rawValue])
    }
}

extension HubDelivery {
    fileprivate var isbn: ISBN? { do { return try ISBN(ean13: isbn13) } catch { return nil } }
}

extension Preset {
    /// The preset in the form in which it is stored, with cleaned names and at most 100 tags.
    fileprivate var storable: Preset {
        Preset(
            shelf: shelf?.storable(TextLimit.name), tags: tags.prefix(100).compactMap { $0.storable(TextLimit.name) },
            status: status, isWishlist: isWishlist, reader: reader?.storable(TextLimit.name),
            rating: rating.flatMap { Copy.isRating($0) ? $0 : nil }, note: note?.storable(TextLimit.note))
    }
}

/// The latest delivery of a queue item, as a row of the table delivery.
struct StoredDelivery {
    let id: ID<QueueItem>
    let station: ID<PairedStation>
    let revision: Int
    let state: QueueItem.State
    let act: String?
    var change: String?
    var outcome = HubReceipt.Outcome.accepted
    var copy: ID<Copy>?
    var reason: String?

    init(_ delivery: HubDelivery, of station: ID<PairedStation>, change: String?, copy: ID<Copy>?) {
        (id, self.station, revision) = (delivery.id, station, delivery.revision)
        (state, act) = (delivery.state, delivery.confirmation?.act)
        (self.change, self.copy) = (change, copy)
    }

    /// - Returns: the latest delivery of an item; `nil` if no station has delivered the item.
    static func one(_ db: Database, _ id: ID<QueueItem>) throws -> StoredDelivery? {
        try db.row(
            "SELECT delivery.*, station.uuid FROM delivery JOIN station ON station.id = delivery.station WHERE item = ?",
            [id.rawValue]
        ).map(StoredDelivery.init(row:))
    }

    private init(row: Row) throws {
        (id, station, revision) = (ID(rawValue: row["item"]), ID(rawValue: row["uuid"]), row["revision"])
        (state, outcome) = (try row.word("state"), try row.word("outcome"))
        (act, change, reason) = (row["act"], row["change"], row["reason"])
        copy = (row["copy"] as String?).map(ID.init(rawValue:))
    }

    func store(_ db: Database, station: Int64) throws {
        try db.run(
            """
            INSERT OR REPLACE INTO delivery
                (item, station, revision, state, act, change, outcome, copy, reason)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                id.rawValue, station, revision, state.rawValue, act, change, outcome.rawValue, copy?.rawValue, reason,
            ])
    }

    /// Returns a receipt with the item's present state. An item that is no longer in the queue counts as skipped.
    func receipt(_ db: Database) throws -> HubReceipt {
        let now = try StoredItem.one(db, id)?.item.state ?? .skipped
        return HubReceipt(id: id, revision: revision, state: now, outcome: outcome, copy: copy, reason: reason)
    }
}
