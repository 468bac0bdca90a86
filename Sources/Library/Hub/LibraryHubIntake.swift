import Bookplate
import FoundationEssentials
import GRDB

extension LibraryFile: HubIntake {
    public func receive(
        _ deliveries: [HubDelivery], from station: PairedStation, at now: Date
    ) async throws -> [HubReceipt] {
        let kept = try await undoWhatIsUndone(deliveries, from: station.id, at: now)
        var receipts: [HubReceipt] = []
        for run in deliveries.runs {
            let taking = { @Sendable (db: Database, change: ID<Change>?) in
                let desk = try DeliveryImport(db: db, station: station, change: change, kept: kept, now: now)
                return try run.map(desk.take)
            }
            guard let act = run[0].confirmation?.act else {
                receipts += try await write { db in try taking(db, nil) }
                continue
            }
            let earlier = try await change(ofAct: act, from: station.id)
            receipts += try await change(.save, continuing: earlier, at: now) { db, change in
                let receipts = try taking(db, change)
                try db.run("UPDATE change SET station = ? WHERE uuid = ?", [station.name, change.rawValue])
                return (receipts, "saved " + (try savedTitles(db, change)))
            }
        }
        return receipts
    }

    /// Undoes here what the station has undone since it was saved, also where it was confirmed anew after that. Undoing is the same
    /// done twice as once, so that it needs no part in the transaction that notes the delivery.
    ///
    /// - Returns: why changes could not be taken back, by change.
    private func undoWhatIsUndone(
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
        var kept: [String: String] = [:]
        for change in Set(changes) {
            do {
                _ = try await undo(ID(rawValue: change), at: now)
            } catch UndoRefusal.alreadyUndone {
                // By an earlier delivery, or at the hub: as wanted.
            } catch let refusal as UndoRefusal {
                kept[change] = "\(refusal)"
            }
        }
        return kept
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
        of items: [ID<IntakeItem>], from station: ID<PairedStation>
    ) async throws -> [HubReceipt] {
        try await read { db in
            try items.compactMap { id in
                guard let stored = try StoredDelivery.one(db, id), stored.station == station else { return nil }
                return try stored.receipt(db)
            }
        }
    }

    public func keepThumbnail(
        _ jpeg: [UInt8], of item: ID<IntakeItem>, from station: ID<PairedStation>
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
                """, [list(isbns.map(\.digits))])
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
    /// Cut so that each piece is what one change saves, or saves nothing; in their order.
    fileprivate var runs: [[HubDelivery]] {
        reduce(into: []) { runs, delivery in
            if let last = runs.last?.last, last.confirmation?.act == delivery.confirmation?.act {
                runs[runs.count - 1].append(delivery)
            } else {
                runs.append([delivery])
            }
        }
    }
}
