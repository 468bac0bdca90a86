import Bookplate
import FoundationEssentials

/// Reads Bookplate's own CSV, which has Goodreads' columns for other programs, and columns of its own. If both have a
/// value, the value in Bookplate's own column counts.
enum OwnRow: TrackerRow {
    static let format = ExchangeFormat.csv

    static func matches(_ columns: Set<String>) -> Bool { columns.isSuperset(of: ["title", "bookplate id"]) }

    static func read(_ row: inout RowDraft) -> String? {
        row.isGuarded = true
        GoodreadsRow.readEdition(&row)
        // In this format, brackets at the end of a title always belong to the title.
        row.metadata.title = row.text("title", TextLimit.title)
        row.metadata.subtitle = row.text("subtitle", TextLimit.title)
        if row.columns["contributors"] != nil {
            row.metadata.authors = row.list("contributors", of: ContributorLine.self) { try $0.checked() }
        }
        if let text = row.text("isbn text") { row.isbnText = text }
        if row.columns["published text"] != nil {
            row.metadata.publishedDate = row.day(row["published"], "published")
            row.metadata.publishedDateText = row.text("published text")
        }
        row.metadata.language = row.text("language")
        row.metadata.originalLanguage = row.text("original language")
        row.metadata.authorNationality = row.text("author nationality")
        if let format = Metadata.Format(rawValue: row["format"]) { row.metadata.format = format }
        row.metadata.series = row.text("series")
        row.metadata.seriesNumber = row.text("series number")
        row.metadata.description = row.text("description", TextLimit.description)
        row.metadata.subjects = row.list("subjects", of: String.self) { $0 }
        row.metadata.coverURL = row.text("cover url", TextLimit.link)
        row.metadata.previewLink = row.text("preview link", TextLimit.link)
        row.metadata.infoLink = row.text("info link", TextLimit.link)
        row.metadata.identifiers = row.object("identifiers")
        readCopy(&row)
        let id = row["bookplate id"].lowercased()
        guard UUID(uuidString: id) != nil else { return nil }
        row.id = ID(rawValue: id)
        let edition = row["edition id"].lowercased()
        if UUID(uuidString: edition) != nil { row.edition = ID(rawValue: edition) }
        return "bookplate:\(id)"
    }

    private static func readCopy(_ row: inout RowDraft) {
        if let added = Date(rfc3339: row["added"]) {
            row.copy.added = added
            row.hasAdded = true
        } else {
            row.setAdded("date added")
        }
        row.setRating(row["rating"])
        row.copy.isOwned = flag(row["owned"]) ?? true
        row.copy.isOnWishlist = flag(row["wishlist"]) ?? false
        row.copy.isFavourite = flag(row["favourite"]) ?? false
        row.copy.isPublic = flag(row["public"]) ?? false
        row.copy.wouldRecommend = flag(row["would recommend"])
        row.copy.countsForCulturalGoal = flag(row["cultural goal"]) ?? false
        row.copy.culturalGoalCategory = row.text("cultural goal category")
        row.copy.shelf = row.text("shelf")
        row.copy.recommendedBy = row.text("recommended by")
        row.copy.dailyGoal = Int(row["daily goal"]).flatMap { NumberLimit.goal.contains($0) ? $0 : nil }
        row.copy.tags = row.list("tags", of: String.self) { $0 }
        row.copy.status = Copy.Status(parsing: row["status"]) ?? Copy.Status(parsing: row["exclusive shelf"]) ?? .toRead
        row.readings = row.list("readings", of: ReadingLine.self) { try $0.checked() }
        if row.readings.isEmpty { row.setReadings(row.copy.status, []) }
        row.notes = row.list("notes", of: NoteLine.self) { try $0.checked() }
        row.quotes = row.list("quotes", of: QuoteLine.self) { try $0.checked() }
    }

    private static func flag(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "yes", "true", "1": true
        case "no", "false", "0": false
        default: nil
        }
    }
}

extension RowDraft {
    /// Decodes a cell that contains a JSON array. A cell that cannot be read is left out and flagged.
    mutating func list<Line: Decodable, Value>(
        _ column: String, of line: Line.Type, _ checked: (Line) throws -> Value
    ) -> [Value] {
        let text = self[column]
        guard !text.isEmpty else { return [] }
        do {
            return try JSONDecoder().decode([Line].self, from: Data(text.utf8)).map(checked)
        } catch {
            addDoubt(
                "\(column): \((error as? LineError)?.description ?? "the list is not valid"); this column was left out"
            )
            return []
        }
    }

    /// Decodes a cell that contains a JSON object whose values are lists of texts. A cell that cannot be read is left
    /// out and flagged.
    mutating func object(_ column: String) -> [String: [String]] {
        let text = self[column]
        guard !text.isEmpty else { return [:] }
        do {
            return try JSONDecoder().decode([String: [String]].self, from: Data(text.utf8))
        } catch {
            addDoubt("\(column): the list is not valid; this column was left out")
            return [:]
        }
    }
}
