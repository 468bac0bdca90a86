import Bookplate

/// Goodreads' `goodreads_library_export.csv`: ISBNs as `="1250313198"`, dates as YYYY/MM/DD, the status as the exclusive shelf.
enum GoodreadsRow: TrackerRow {
    static let format = ExchangeFormat.goodreads

    static func isIts(_ columns: Set<String>) -> Bool {
        columns.isSuperset(of: ["title", "exclusive shelf"])
            && (columns.contains("author") || columns.contains("book id"))
    }

    static func read(_ row: inout RowDraft) -> String? {
        readEdition(&row)
        row.takeAdded("date added")
        row.takeRating(row["my rating"])
        row.copy.isOwned = (Int(row["owned copies"]) ?? 0) > 0

        let exclusive = row["exclusive shelf"]
        let span = RowDraft.Span(finished: row.day(row["date read"], "date read"))
        let count = Int(row["read count"]) ?? 0
        let known = Copy.Status(parsing: exclusive) ?? abandoned(exclusive)
        // A shelf of a person's own that excludes the others says nothing of reading; a day or a count does.
        row.takeReadings(known ?? (span.finished != nil || count > 0 ? .read : .toRead), [span], count: count)
        if known == nil, !exclusive.isEmpty { row.copy.tags = row.names(exclusive, by: ",", "exclusive shelf") }
        for name in row.names(row["bookshelves"], by: ",", "bookshelves") {
            guard Copy.Status(parsing: name) == nil, !row.copy.tags.contains(name), name != exclusive else { continue }
            row.copy.tags.append(name)
        }
        row.note(row["my review"], "my review")
        row.note(row["private notes"], "private notes")
        let id = row["book id"].cleaned
        guard !id.isEmpty, id.utf8.count <= 32 else { return nil }
        row.metadata.identifiers["goodreads"] = [id]
        return "goodreads:\(id)"
    }

    /// What Goodreads' columns say of the edition; our own CSV has them too.
    static func readEdition(_ row: inout RowDraft) {
        let whole = row["title"]
        // What is longer has no series at its end that anybody would look for.
        let (title, series, number) = whole.utf8.count <= 4096 ? parted(whole.cleaned) : (whole, nil, nil)
        row.metadata.title = row.cut(title, "title", TextLimit.title)
        row.metadata.series = series
        row.metadata.seriesNumber = number
        row.addAuthor(row["author"])
        for name in row["additional authors"].split(separator: ",", maxSplits: 99) { row.addAuthor(String(name)) }
        row.takeISBN([bare(row["isbn13"]), bare(row["isbn"])])
        row.metadata.publisher = row.text("publisher")
        row.metadata.format = format(row["binding"])
        row.takePages("number of pages")
        row.takePublished(row["year published"])
        if row.metadata.publishedDateText == nil { row.takePublished(row["original publication year"]) }
    }

    /// `="1250313198"` → `1250313198`; `=""` → nothing.
    private static func bare(_ text: String) -> String {
        guard text.hasPrefix("=\""), text.hasSuffix("\""), text.utf8.count >= 3 else { return text }
        return String(text.dropFirst(2).dropLast())
    }

    /// "Dune (Dune, #1)" → the title, the series and its number. Without a number it is no series.
    static func parted(_ text: String) -> (title: String, series: String?, number: String?) {
        guard text.hasSuffix(")"), let open = text.range(of: " (", backwards: true) else { return (text, nil, nil) }
        let inside = text[open.upperBound...].dropLast()
        // Of "Discworld, #1; Rincewind, #1" the first.
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

    /// Bindings, media and formats as all trackers write them.
    static func format(_ text: String) -> Metadata.Format? {
        switch text {
        case "": return nil
        // The most of what comes, before any searching.
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
