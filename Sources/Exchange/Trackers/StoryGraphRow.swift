import Bookplate

/// Reads StoryGraph's export. It has no page counts and no ids. If a book was read several times, the dates of all
/// readings are in one list.
enum StoryGraphRow: TrackerRow {
    static let format = ExchangeFormat.storyGraph

    static func matches(_ columns: Set<String>) -> Bool {
        columns.isSuperset(of: ["title", "read status", "star rating"])
    }

    static func read(_ row: inout RowDraft) -> String? {
        row.metadata.title = row.text("title", TextLimit.title)
        for name in row["authors"].split(separator: ",", maxSplits: 99) { row.addAuthor(String(name)) }
        for name in row["contributors"].split(separator: ",", maxSplits: 99) { addContributor(String(name), &row) }
        setNumber(row["isbn/uid"], &row)
        row.metadata.format = GoodreadsRow.format(row["format"])
        row.setAdded("date added")
        row.setRating(row["star rating"])
        row.copy.isOwned = row["owned?"].lowercased() == "yes"

        var spans: [RowDraft.Span] = []
        for part in row["dates read"].split(separator: ",", maxSplits: 999) {
            let days = part.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            // A single date is the finish date.
            let started = days.count == 2 ? row.day(days[0], "dates read") : nil
            spans.append(RowDraft.Span(started: started, finished: row.day(days.last ?? "", "dates read")))
        }
        if spans.isEmpty {
            spans = [RowDraft.Span(finished: row.day(row["last date read"], "last date read"))]
        }
        let status = row["read status"]
        let parsed = Copy.Status(parsing: status)
        if parsed == nil, !status.isEmpty {
            row.addDoubt("\"\(status.excerpt)\" is not a known status; the status was set to \"To Read\"")
        }
        row.setReadings(parsed ?? .toRead, spans, count: Int(row["read count"]) ?? 0)
        row.copy.tags = row.names(row["tags"], by: ",", "tags")
        row.addNote(row["review"], "review")
        return nil
    }

    /// Adds a contributor from a text such as "Jane Roe (Translator)".
    private static func addContributor(_ text: String, _ row: inout RowDraft) {
        guard let open = text.lastIndex(of: "("), text.last == ")" else { return row.addAuthor(text, .other) }
        let role = text[text.index(after: open)...].dropLast().lowercased()
        row.addAuthor(String(text[..<open]), Contributor.Role(parsing: role))
    }

    /// Sets the ISBN. About half of the numbers in StoryGraph's exports are not ISBNs but Amazon's own, such as
    /// "B0851JCZYV". Amazon's numbers are stored as identifiers and are not flagged.
    private static func setNumber(_ text: String, _ row: inout RowDraft) {
        let number = text.cleaned
        if number.utf8.count == 10, number.first == "B",
            number.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) })
        {
            row.metadata.identifiers["amazon"] = [number]
        } else {
            row.setISBN([text])
        }
    }
}

extension Contributor.Role {
    /// Parses the name of a role in a tracker's export. An unknown name gives `other`.
    init(parsing text: String) {
        switch text.lowercased() {
        case "", "author": self = .author
        case "translator", "translation": self = .translator
        case "editor": self = .editor
        case "illustrator", "artist", "illustrations": self = .illustrator
        case "narrator", "reader": self = .narrator
        default: self = .other
        }
    }
}
