import Bookplate
import FoundationEssentials
import GRDB

extension LibraryFile: HubQueue {
    public func receive(
        _ deliveries: [HubDelivery], from station: PairedStation, at now: Date
    ) async throws -> [HubReceipt] {
        let keptChanges = try await applyUndos(deliveries, from: station.id, at: now)
        var receipts: [HubReceipt] = []
        for group in deliveries.groupedByAct {
            let importGroup = { @Sendable (db: Database, change: ID<Change>?) in
                let deliveryImport = try DeliveryImport(
                    db: db, station: station, change: change, keptChanges: keptChanges, now: now)
                return try group.map(deliveryImport.importDelivery)
            }
            guard let act = group[0].confirmation?.act else {
                receipts += try await write { db in try importGroup(db, nil) }
                continue
            }
            let earlier = try await change(ofAct: act, from: station.id)
            receipts += try await change(.save, continuing: earlier, at: now) { db, change in
                let receipts = try importGroup(db, change)
                try db.run("UPDATE change SET station = ? WHERE uuid = ?", [station.name, change.rawValue])
                return (receipts, "saved " + (try savedTitles(db, change)))
            }
        }
        return receipts
    }

    /// If the station has undone a confirmation after the hub saved the confirmed books, undoes the change that saved
    /// them, even if the station has since confirmed the books again. Repeating an undo does no harm, so this need not
    /// be in the transaction that records the delivery.
    ///
    /// - Returns: for each change that could not be undone, its id and the reason.
    private func applyUndos(
        _ deliveries: [HubDelivery], from station: ID<PairedStation>, at now: Date
    ) async throws -> [String: String] {
        let changes: [String] = try await read { db in
            try deliveries.compactMap { delivery in
                try db.value(
                    String.self,
                    """
                    SELECT change FROM delivery JOIN station ON station.id = delivery.station
                    WHERE item = ? AND station.uuid = ? AND delivery.state = 'confirmed' AND revision < ?
                        AND change IS NOT NULL AND act IS NOT ?
                    """,
                    [
                        delivery.id.rawValue, station.rawValue, delivery.revision,
                        delivery.state == .confirmed ? delivery.confirmation?.act : nil,
                    ])
            }
        }
        var reasons: [String: String] = [:]
        for change in Set(changes) {
            do {
                _ = try await undo(ID(rawValue: change), at: now)
            } catch UndoRefusal.alreadyUndone {
                // The change was already undone, by an earlier delivery or at the hub.
            } catch let refusal as UndoRefusal {
                reasons[change] = "\(refusal)"
            }
        }
        return reasons
    }

    private func change(ofAct act: String, from station: ID<PairedStation>) async throws -> ID<Change>? {
        try await read { db in
            try db.value(
                String.self,
                """
                SELECT change FROM delivery JOIN station ON station.id = delivery.station
                WHERE station.uuid = ? AND act = ? AND change IS NOT NULL LIMIT 1
                """, [station.rawValue, act]
            ).map(ID.init(rawValue:))
        }
    }

    public func status(
        of items: [ID<QueueItem>], from station: ID<PairedStation>
    ) async throws -> [HubReceipt] {
        try await read { db in
            try items.compactMap { id in
                guard let stored = try StoredDelivery.one(db, id), stored.station == station else { return nil }
                return try stored.receipt(db)
            }
        }
    }

    public func instance() async throws -> HubInstance {
        HubInstance(library: try await identity(), opening: holder)
    }

    public func keepThumbnail(
        _ jpeg: [UInt8], of item: ID<QueueItem>, from station: ID<PairedStation>
    ) async throws -> Bool {
        try await write { db in
            guard try StoredDelivery.one(db, item)?.station == station, let stored = try StoredItem.one(db, item) else {
                return false
            }
            try db.run(
                "INSERT INTO intakeThumbnail (item, jpeg) VALUES (?1, ?2) ON CONFLICT (item) DO UPDATE SET jpeg = ?2",
                [stored.row, Data(jpeg)])
            return true
        }
    }

    public func knownBooks(_ isbns: [ISBN], at now: Date) async throws -> [HubBook] {
        let books = try await books(with: isbns)
        let answers = try await answers(for: isbns, at: now)
        let queued: [ISBN: Metadata] = try await read { db in
            let rows = try db.rows(
                """
                SELECT \(StoredItem.columns) FROM intakeItem
                WHERE outcome = 'found' AND isbn IN (SELECT value FROM json_each(?)) ORDER BY id
                """, [jsonList(isbns.map(\.digits))])
            let items = try rows.map { try StoredItem(row: $0).item }
            return Dictionary(
                items.compactMap { item in item.metadata.map { (item.isbn, $0) } }, uniquingKeysWith: { $1 })
        }
        return isbns.map { isbn in
            let answered: Metadata? =
                if case .found(let metadata, _)? = answers[isbn]?.outcome { metadata } else { nil }
            return HubBook(
                isbn: isbn, copies: (books[isbn] ?? []).map { HubBook.Held($0.copy) },
                metadata: books[isbn]?.first?.edition.metadata ?? queued[isbn] ?? answered)
        }
    }
}

extension [HubDelivery] {
    /// The deliveries in groups, in their original order. A group consists of consecutive deliveries that were all
    /// confirmed in the same act, or none of which was confirmed.
    fileprivate var groupedByAct: [[HubDelivery]] {
        reduce(into: []) { groups, delivery in
            if let last = groups.last?.last, last.confirmation?.act == delivery.confirmation?.act {
                groups[groups.count - 1].append(delivery)
            } else {
                groups.append([delivery])
            }
        }
    }
}
