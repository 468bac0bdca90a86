import Bookplate
import FoundationEssentials
import GRDB

/// A row of the intake queue.
struct StoredItem {
    var row: Int64
    var attempts: Int
    /// The process that looks it up, and until when.
    var lease: (holder: String, until: Int64)?
    var item: IntakeItem

    static let columns = """
        id, uuid, isbn, raw, addon, origin, image, station, captured, preset, metadata, state, outcome, reason, source, \
        attempts, leaseHolder, leaseUntil
        """

    init(row: Row) throws {
        guard let isbn = try StoredBooks.isbn(row) else { throw RowDecodingFault(what: "an intake item has no ISBN") }
        self.row = row["id"]
        attempts = row["attempts"]
        if let holder = row["leaseHolder"] as String? { lease = (holder, row["leaseUntil"]) }
        item = IntakeItem(
            id: ID(rawValue: row["uuid"]), isbn: isbn, raw: row["raw"], addon: row["addon"],
            origin: try row.word("origin"), image: row["image"], station: row["station"],
            captured: Date(milliseconds: row["captured"]), preset: try decoded(Preset.self, row["preset"]),
            state: try row.word("state"), outcome: try row.optionalWord("outcome"), reason: row["reason"],
            source: try row.optionalWord("source"),
            metadata: try (row["metadata"] as String?).map { try decoded(Metadata.self, $0) })
    }

    /// - Returns: `nil` when there is no such item.
    static func one(_ db: Database, _ id: ID<IntakeItem>) throws -> StoredItem? {
        try db.row("SELECT \(columns) FROM intakeItem WHERE uuid = ?", [id.rawValue]).map(StoredItem.init(row:))
    }
}
