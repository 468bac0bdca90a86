import Bookplate
import GRDB

/// The suffix of a change's summary if every book of the change was confirmed in advance, with `--yes`. Titles are in
/// quotation marks, so a title cannot be mistaken for this suffix.
let inAdvanceSuffix = " with --yes"

/// Returns the summary of a change to books, with the first title and the number of further books. If the change
/// already has a summary with the same verb, the first title in it stays, and the new titles are added to the number of
/// further books.
///
/// - Parameter verb: the beginning of the summary, such as `edited`.
func summary(_ verb: String, _ titles: [String], of change: ID<Change>, _ db: Database) throws -> String {
    let earlier = try db.value(String.self, "SELECT summary FROM change WHERE uuid = ?", [change.rawValue]) ?? ""
    guard earlier.hasPrefix(verb) else { return verb + quoted(titles) }
    guard !titles.isEmpty else { return earlier }
    let more = earlier.firstMatch(of: /\ and ([0-9]+) more$/)
    let first = more.map { earlier[..<$0.range.lowerBound] } ?? earlier[...]
    return "\(first) and \((more.flatMap { Int($0.1) } ?? 0) + titles.count) more"
}

/// Returns the title of the first book that a change has saved, and the number of further books.
func savedTitles(_ db: Database, _ change: ID<Change>) throws -> String {
    let rows = "FROM changeRow JOIN change ON change.id = changeRow.change WHERE uuid = ? AND tableName = 'copy'"
    let count = try db.value(Int.self, "SELECT count(DISTINCT key) \(rows)", [change.rawValue]) ?? 0
    let key = try db.value(String.self, "SELECT key \(rows) ORDER BY changeRow.id LIMIT 1", [change.rawValue])
    let first = try db.value(
        String.self,
        """
        SELECT coalesce(title, isbn) FROM copy JOIN edition ON edition.id = copy.edition
        WHERE copy.id = json_extract(?, '$[0]')
        """, [key])
    return quoted(first) + (count > 1 ? " and \(count - 1) more" : "")
}

/// Returns a name or title in quotation marks; of a long one only the beginning, with an ellipsis.
func quoted(_ name: String?) -> String {
    guard let cut = name?.storable(80) else { return "\"Untitled\"" }
    return cut == name?.storable(81) ? "\"\(cut)\"" : "\"\(cut)…\""
}

/// Returns the first title in quotation marks, and the number of further titles.
func quoted(_ titles: [String]) -> String {
    guard let first = titles.first else { return "no book" }
    return titles.count > 1 ? "\(quoted(first)) and \(titles.count - 1) more" : quoted(first)
}

/// Returns a number of books in words: "no book", "1 book" or "12 books".
func bookCount(_ count: Int) -> String {
    switch count {
    case 0: "no book"
    case 1: "1 book"
    default: "\(count) books"
    }
}

extension ProgressEntry.Amount {
    /// The text for the amount in a change's summary.
    var summary: String {
        switch self {
        case .page(let page): "page \(page)"
        case .percent(let percent): "\(JSONValue.number(percent).text)%"
        }
    }
}
