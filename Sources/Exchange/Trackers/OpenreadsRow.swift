import Bookplate
import FoundationEssentials

/// Reads Openreads' export. Tags are separated by `|||||` and readings by `;`. Each reading is written as
/// `start|finish|milliseconds`.
enum OpenreadsRow: TrackerRow {
    static let format = ExchangeFormat.openreads

    static func matches(_ columns: Set<String>) -> Bool {
        columns.isSuperset(of: ["title", "author", "status"])
            && (columns.contains("olid") || columns.contains("book_format") || columns.contains("readings"))
    }

    static func read(_ row: inout RowDraft) -> String? {
        row.metadata.title = row.text("title", TextLimit.title)
        row.metadata.subtitle = row.text("subtitle", TextLimit.title)
        for name in row["author"].split(separator: ",", maxSplits: 99) { row.addAuthor(String(name)) }
        row.metadata.description = row.cutPlain(row["description"], "description", TextLimit.description)
        row.setISBN([row["isbn"]])
        row.metadata.publisher = row.text("publisher")
        row.setPublished(row["publication_year"])
        row.setPages("pages")
        row.metadata.format = GoodreadsRow.format(row["book_format"])
        if let id = row.text("olid") { row.metadata.identifiers["openlibrary"] = [id] }
        row.setAdded("date_added")
        setRating(&row)
        row.copy.isFavourite = row["favourite"].lowercased() == "true"
        if row["deleted"].lowercased() == "true" {
            let day = row.day(row["date_modified"], "date_modified")
            row.copy.deleted =
                day.map { Date(timeIntervalSince1970: Double($0.span.lowerBound) * 86_400 + 43_200) } ?? row.copy.added
        }
        row.copy.tags = row.names(row["tags"], by: "|||||", "tags")
        row.setReadings(status(&row), readings(&row))
        row.addNote(row["my_review"], "my_review")
        row.addNote(row["notes"], "notes")
        return nil
    }

    private static func status(_ row: inout RowDraft) -> Copy.Status {
        let word = row["status"]
        switch word.lowercased() {
        case "finished", "read": return .read
        case "in_progress": return .reading
        case "planned", "for_later", "": return .toRead
        case "abandoned", "unfinished": return .dnf
        default:
            if let status = Copy.Status(parsing: word) { return status }
            row.addDoubt("\"\(word.excerpt)\" is not a known status; the status was set to \"To Read\"")
            return .toRead
        }
    }

    /// Sets the rating from the number of stars, such as 4.5. Older exports contain ten times this number.
    private static func setRating(_ row: inout RowDraft) {
        let text = row["rating"]
        if let tenths = Double(text), tenths > 5, tenths <= 50 {
            row.setRating(String(tenths / 10))
        } else {
            row.setRating(text)
        }
    }

    private static func readings(_ row: inout RowDraft) -> [RowDraft.Span] {
        row["readings"].split(separator: ";", maxSplits: 999).map { part in
            let values = part.split(separator: "|", omittingEmptySubsequences: false).map {
                $0 == "null" ? "" : String($0)
            }
            var span = RowDraft.Span(
                started: values.first.flatMap { row.day($0, "readings") },
                finished: values.count > 1 ? row.day(values[1], "readings") : nil)
            if values.count > 2, let time = Int64(values[2]), time > 0 { addSession(time, &span, &row) }
            return span
        }
    }

    /// Adds a session for the time that a reading took. Openreads exports only this time, not the sessions. A time of
    /// up to a day becomes one session on the last day of the reading. A longer time cannot be one session, so it is
    /// flagged.
    private static func addSession(_ milliseconds: Int64, _ span: inout RowDraft.Span, _ row: inout RowDraft) {
        let minutes = milliseconds / 60_000
        guard let day = (span.finished ?? span.started)?.number, (1...1440).contains(minutes) else {
            return row.addDoubt("a reading time of \(minutes) minutes could not be stored as a session")
        }
        let noon = Date(timeIntervalSince1970: Double(day) * 86_400 + 43_200)
        span.session = Session(start: noon, end: noon.addingTimeInterval(Double(milliseconds) / 1000))
    }
}
