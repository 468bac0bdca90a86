import Bookplate
import FoundationEssentials
import GRDB

extension LibraryFile {
    /// Times are the wall clock's, because processes share them. A lease or a pause that lies further ahead than any can be
    /// is from before the clock was set back, and counts as over.
    static let longestLease: Int64 = 3_600_000
    private static let longestPause: Int64 = 7 * 86_400_000

    public func lease(
        _ only: [ID<IntakeItem>]?, limit: Int, for lease: Duration, at now: Date
    ) async throws -> [IntakeItem] {
        guard limit > 0, only.map({ !$0.isEmpty }) ?? true else { return [] }
        let holder = holder
        let instant = now.milliseconds
        let until = Self.end(of: lease, from: now)
        let choice =
            only == nil
            ? "(nextLookup <= ?2 OR nextLookup > ?2 + \(Self.longestPause))"
            : "uuid IN (SELECT value FROM json_each(?1))"
        // An item asked for by name may be this process's own already; its lease begins anew.
        let isMine = only == nil ? "0" : "leaseHolder = ?4"
        return try await write { db in
            let rows = try db.rows(
                """
                SELECT \(StoredItem.columns) FROM intakeItem
                WHERE state = 'waiting' AND ?1 IS ?1 AND ?4 IS ?4 AND \(choice)
                    AND (leaseUntil IS NULL OR leaseUntil <= ?2 OR leaseUntil > ?2 + \(Self.longestLease) OR \(isMine))
                ORDER BY captured, id LIMIT ?3
                """, [only.map { list($0.map(\.rawValue)) }, instant, limit, holder])
            let items = try rows.map(StoredItem.init(row:))
            try db.run(
                """
                UPDATE intakeItem SET leaseHolder = ?, leaseUntil = ?
                WHERE id IN (SELECT value FROM json_each(?))
                """, [holder, until, list(items.map(\.row))])
            return items.map(\.item)
        }
    }

    public func record(_ answers: [ID<IntakeItem>: LookupAnswer], at now: Date) async throws -> [IntakeItem] {
        guard !answers.isEmpty else { return [] }
        let holder = holder
        return try await write { db in
            var items: [IntakeItem] = []
            for (id, answer) in answers {
                guard var stored = try StoredItem.one(db, id) else { continue }
                if stored.item.state == .waiting, !stored.isLeased(besides: holder, at: now) {
                    let next = stored.learn(answer, at: now)
                    try db.run(
                        """
                        UPDATE intakeItem SET outcome = ?, reason = ?, source = ?, metadata = ?, attempts = ?,
                            nextLookup = ?, leaseHolder = NULL, leaseUntil = NULL
                        WHERE id = ?
                        """,
                        [
                            stored.item.outcome?.rawValue, stored.item.reason, stored.item.source?.rawValue,
                            try stored.item.metadata.map { try storedJSON($0) }, stored.attempts,
                            next?.milliseconds, stored.row,
                        ])
                }
                items.append(stored.item)
            }
            return items.sorted { ($0.captured, $0.id.rawValue) < ($1.captured, $1.id.rawValue) }
        }
    }

    /// When a lease that begins now ends.
    static func end(of lease: Duration, from now: Date) -> Int64 {
        now.milliseconds + min(longestLease, max(1, lease.milliseconds))
    }
}

extension StoredItem {
    /// Whether another process than `holder` is looking it up.
    func isLeased(besides holder: String, at now: Date) -> Bool {
        guard let lease, lease.holder != holder else { return false }
        let remaining = lease.until - now.milliseconds
        return remaining > 0 && remaining <= LibraryFile.longestLease
    }

    /// How long *not found* holds before the sources are asked again.
    static let notFoundPause: TimeInterval = 7 * 86_400
    private static let firstPause: TimeInterval = 30
    private static let longestPause: TimeInterval = 3600

    /// Takes in what a lookup came to.
    ///
    /// - Returns: when to ask again; `nil` when there is no need to.
    mutating func learn(_ answer: LookupAnswer, at now: Date) -> Date? {
        let wasFound = item.outcome == .found
        switch answer.outcome {
        case .found(let found, let source):
            attempts = 0
            // What is known for sure is worth more than a record that may be another book's.
            if wasFound, found.isWeakMatch, item.metadata?.isWeakMatch == false { return nil }
            item.metadata = merged(found.storable)
            item.outcome = .found
            item.source = source
            item.reason = nil
            return nil
        // An outage, or a record that a source has lost, takes nothing back.
        case _ where wasFound: return nil
        case .notFound(let asked):
            let names = asked.map(\.displayName).joined(separator: ", ")
            let missing = answer.notAsked.map { "; \($0.source.displayName) was not asked: \($0.reason)" }.joined()
            item.outcome = .notFound
            item.reason = "no record at \(names.isEmpty ? "any source" : names)\(missing)"
            attempts = 0
            return now.addingTimeInterval(Self.notFoundPause)
        case .temporary(let failure), .blocked(let failure), .badData(let failure):
            item.outcome = answer.outcome.name
            item.reason = failure.description
            let told = failure.retryAfter.map { min(Self.longestPause, max(1, Double($0.milliseconds) / 1000)) }
            let pause = told ?? min(Self.longestPause, Self.firstPause * Double(1 << min(10, attempts)))
            attempts += 1
            return now.addingTimeInterval(pause)
        }
    }

    /// The new record, with what a person edited as it was, and what only an earlier lookup knew in its gaps: nothing from a
    /// record that may be another book's beside one that is sure.
    private func merged(_ found: Metadata) -> Metadata {
        guard let old = item.metadata else { return found }
        var merged = found
        if found.isWeakMatch || !old.isWeakMatch { merged.fillGaps(from: old) }
        for (field, source) in old.sources where source == .person { merged.take(field, from: old) }
        return merged
    }
}

extension Duration {
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds.multipliedReportingOverflow(by: 1000).overflow
            ? (seconds < 0 ? .min : .max) : seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }
}
