import Bookplate

/// Reads Goodreads' `goodreads_library_export.csv`. ISBNs are written as `="1250313198"`, dates as YYYY/MM/DD, and the
/// status is given as an "exclusive shelf".
enum GoodreadsRow: TrackerRow {
    static let format = ExchangeFormat.goodreads

    static func matches(_ columns: Set<String>) -> Bool {
        columns.isSuperset(of: ["title", "exclusive shelf"])
            && (columns.contains("author") || columns.contains("book id"))
    }

    static func read(_ row: inout RowDraft) -> String? {
        readEdition(&row)
        row.setAdded("date added")
        row.setRating(row["my rating"])
        row.copy.isOwned = (Int(row["owned copies"]) ?? 0) > 0

        let exclusive = row["exclusive shelf"]
        let span = RowDraft.Span(finished: row.day(row["date read"], "date read"))
        let count = Int(row["read count"]) ?? 0
        let known = Copy.Status(parsing: exclusive) ?? abandoned(exclusive)
        // A custom exclusive shelf gives no status. The book is then Read if it has a finish date or a read count.
        row.setReadings(known ?? (span.finished != nil || count > 0 ? .read : .toRead), [span], count: count)
        if known == nil, !exclusive.isEmpty { row.copy.tags = row.names(exclusive, by: ",", "exclusive shelf") }
        for name in row.names(row["bookshelves"], by: ",", "bookshelves") {
            guard Copy.Status(parsing: name) == nil, !row.copy.tags.contains(name), name != exclusive else { continue }
            row.copy.tags.append(name)
        }
        row.addNote(row["my review"], "my review")
        row.addNote(row["private notes"], "private notes", isPrivate: true)
        let id = row["book id"].cleaned
        guard !id.isEmpty, id.utf8.count <= 32 else { return nil }
        row.metadata.identifiers["goodreads"] = [id]
        return "goodreads:\(id)"
    }

    /// Reads the edition from Goodreads' columns, which Bookplate's own CSV has too.
    static func readEdition(_ row: inout RowDraft) {
        let whole = row["title"]
        // A very long title is not searched for a series at its end.
        let (title, series, number) = whole.utf8.count <= 4096 ? splitTitle(whole.cleaned) : (whole, nil, nil)
        row.metadata.title = row.cut(title, "title", TextLimit.title)
        row.metadata.series = series
        row.metadata.seriesNumber = number
        row.addAuthor(row["author"])
        for name in row["additional authors"].split(separator: ",", maxSplits: 99) { row.addAuthor(String(name)) }
        row.setISBN([bare(row["isbn13"]), bare(row["isbn"])])
        row.metadata.publisher = row.text("publisher")
        row.metadata.format = format(row["binding"])
        row.setPages("number of pages")
        row.setPublished(row["year published"])
        if row.metadata.publishedDateText == nil { row.setPublished(row["original publication year"]) }
    }

    /// Returns the text inside `="…"`, such as `1250313198` for `="1250313198"`. Any other text stays as it is.
    private static func bare(_ text: String) -> String {
        guard text.hasPrefix("=\""), text.hasSuffix("\""), text.utf8.count >= 3 else { return text }
        return String(text.dropFirst(2).dropLast())
    }

    /// Splits a title such as "Dune (Dune, #1)" into title, series and number. Brackets without a number are part of
    /// the title.
    static func splitTitle(_ text: String) -> (title: String, series: String?, number: String?) {
        guard text.hasSuffix(")"), let open = text.range(of: " (", backwards: true) else { return (text, nil, nil) }
        let inside = text[open.upperBound...].dropLast()
        // In "Discworld, #1; Rincewind, #1", only the first series counts.
        let first = inside.split(separator: ";").first ?? inside
        guard let mark = first.firstIndex(of: "#") else { return (text, nil, nil) }
        var series = first[..<mark]
        while let last = series.last, last == "," || last == " " { series.removeLast() }
        let number = first[first.index(after: mark)...].filter { !$0.isWhitespace }
        guard !series.isEmpty, !number.isEmpty, number.count <= 16 else { return (text, nil, nil) }
        return (String(text[..<open.lowerBound]), String(series), String(number))
    }

    private static func abandoned(_ shelf: String) -> Copy.Status? {
        switch shelf.lowercased() {
        case "abandoned", "gave-up", "gave-up-on", "unfinished", "could-not-finish": .dnf
        case "paused-reading", "pause", "hold": .onHold
        default: nil
        }
    }

    /// Returns the format for the word that a tracker uses for a binding, medium or format; `nil` if the word is
    /// unknown.
    static func format(_ text: String) -> Metadata.Format? {
        switch text {
        case "": return nil
        // The most frequent values are recognised without a search.
        case "Paperback", "Hardcover", "Mass Market Paperback", "paperback", "hardcover": return .physical
        default: break
        }
        let word = text.lowercased()
        if word.contains("audio") { return .audiobook }
        if ["kindle", "ebook", "e-book", "digital", "nook"].contains(where: { word.contains($0) }) { return .digital }
        let paper = ["paper", "hard", "bound", "binding", "book", "cover", "print", "physical", "leather", "broch"]
        return paper.contains { word.contains($0) } ? .physical : nil
    }
}

extension String {
    fileprivate func range(of text: String, backwards: Bool) -> Range<String.Index>? {
        var end = endIndex
        while end > startIndex {
            let begin = index(before: end)
            if self[begin...].hasPrefix(text) { return begin..<index(begin, offsetBy: text.count) }
            end = begin
        }
        return nil
    }
}
