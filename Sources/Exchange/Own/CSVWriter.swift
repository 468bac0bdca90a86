import Bookplate

/// Writes Bookplate's CSV. The first columns are those of Goodreads, and the remaining columns are Bookplate's own.
/// Columns of Goodreads for which Bookplate has no data are empty. There is one row per copy. The trash, progress
/// entries and sessions are exported only as JSON. Of several readers, only the one who exports is in the file.
///
/// Cells are quoted by RFC 4180, and lines end in CRLF. A cell that a spreadsheet would run as a formula gets a leading
/// apostrophe (``guarded(_:)``). Only ISBNs are written as a formula, `="…"`, because Goodreads writes and reads them
/// in this form.
public struct CSVWriter: Sendable {
    static let columns = [
        "Book Id", "Title", "Author", "Author l-f", "Additional Authors", "ISBN", "ISBN13", "My Rating",
        "Average Rating",
        "Publisher", "Binding", "Number of Pages", "Year Published", "Original Publication Year", "Date Read",
        "Date Added", "Bookshelves", "Bookshelves with positions", "Exclusive Shelf", "My Review", "Spoiler",
        "Private Notes", "Read Count", "Owned Copies",
        // Bookplate's own columns.
        "Bookplate Id", "Edition Id", "Subtitle", "Contributors", "ISBN Text", "Published", "Published Text",
        "Language",
        "Original Language", "Author Nationality", "Format", "Series", "Series Number", "Description", "Subjects",
        "Cover URL", "Preview Link", "Info Link", "Identifiers", "Status", "Rating", "Added", "Owned", "Wishlist",
        "Favourite", "Shelf", "Tags", "Readings", "Notes", "Quotes", "Public", "Recommended By", "Would Recommend",
        "Daily Goal", "Cultural Goal", "Cultural Goal Category",
    ]

    /// The sort names that a person has entered, by author.
    private var sortNames: [String: String] = [:]

    public init() {}

    /// The header line.
    public var header: String { Self.columns.map(Self.quoted).joined(separator: ",") + "\r\n" }

    /// Returns one line of a table, with all cells guarded and quoted.
    public static func line(_ cells: [String]) -> String {
        cells.map { quoted(guarded($0)) }.joined(separator: ",") + "\r\n"
    }

    /// Returns the rows of a book, without copies in the trash. The text is empty for any other record. The sort names
    /// of authors come before the books.
    public mutating func rows(of record: LibraryRecord) -> String {
        if case .author(let name, let sortName) = record { sortNames[name] = sortName }
        guard case .book(let book) = record else { return "" }
        return book.copies.filter { $0.copy.deleted == nil }.map { row(book.edition, $0) }.joined()
    }

    private func row(_ edition: Edition, _ record: CopyRecord) -> String {
        (goodreads(edition, record) + own(edition, record)).joined(separator: ",") + "\r\n"
    }

    private func goodreads(_ edition: Edition, _ record: CopyRecord) -> [String] {
        let (data, copy) = (edition.metadata, record.copy)
        let authors = data.authorNames
        let others = data.authors.dropFirst(data.authors.first?.role == .author ? 1 : 0).map(\.name)
        let finished = record.readings.map(\.reading).filter { $0.state == .finished }
        let lastRead = finished.compactMap(\.finished).filter { $0.day != nil }.max()
        func slashed(_ day: CalendarDay?) -> String {
            day?.description.replacing(UInt8(ascii: "-"), with: "/") ?? ""
        }
        func isbn(_ digits: String?) -> String { Self.quoted("=\"\(digits ?? "")\"") }
        let notes = record.notes.filter { $0.kind == .note }
        let review = notes.first { !$0.isPrivate }?.text ?? ""
        let privateNote = notes.first { $0.isPrivate }?.text ?? ""
        return [
            cell(data.identifiers["goodreads"]?.first), cell(data.title), cell(authors.first),
            cell(authors.first.map { sortNames[$0] ?? SortName.derived(from: $0) }),
            cell(others.joined(separator: ", ")), isbn(edition.isbn?.isbn10), isbn(edition.isbn?.digits),
            cell(String(wholeStars(copy.rating))), "", cell(data.publisher), cell(binding(data.format)),
            cell(data.pageCount.map(String.init)), cell(data.publishedDate.map { String($0.year) }), "",
            cell(slashed(lastRead)), cell(copy.added.utcDay.replacing(UInt8(ascii: "-"), with: "/")),
            cell(copy.tags.map { $0.replacing(UInt8(ascii: ","), with: " ") }.joined(separator: ", ")),
            "", cell(shelf(copy.status)),
            cell(review), "", cell(privateNote), cell(String(finished.count)), cell(copy.isOwned ? "1" : "0"),
        ]
    }

    private func own(_ edition: Edition, _ record: CopyRecord) -> [String] {
        let (data, copy) = (edition.metadata, record.copy)
        func flag(_ value: Bool) -> String { value ? "yes" : "no" }
        func list(_ values: [JSONValue]) -> String { values.isEmpty ? "" : Self.quoted(JSONValue.array(values).text) }
        return [
            cell(copy.id.rawValue), cell(edition.id.rawValue), cell(data.subtitle), list(data.authors.map(\.json)),
            cell(edition.isbnText),
            cell(data.publishedDate?.description), cell(data.publishedDateText), cell(data.language),
            cell(data.originalLanguage), cell(data.authorNationality), cell(data.format?.rawValue), cell(data.series),
            cell(data.seriesNumber), cell(data.description), list(data.subjects.map(JSONValue.string)),
            cell(data.coverURL), cell(data.previewLink), cell(data.infoLink),
            data.identifiers.isEmpty ? "" : Self.quoted(data.identifiersJSON.text), cell(copy.status.rawValue),
            cell(copy.rating.map { JSONValue.number($0).text }), cell(copy.added.rfc3339),
            cell(flag(copy.isOwned)),
            cell(flag(copy.isOnWishlist)), cell(flag(copy.isFavourite)), cell(copy.shelf),
            list(copy.tags.map(JSONValue.string)), list(record.readings.map(\.daysJSON)),
            list(record.notes.map { $0.json(withID: false) }), list(record.quotes.map { $0.json(withID: false) }),
            cell(flag(copy.isPublic)), cell(copy.recommendedBy), cell(copy.wouldRecommend.map(flag)),
            cell(copy.dailyGoal.map(String.init)), cell(flag(copy.countsForCulturalGoal)),
            cell(copy.culturalGoalCategory),
        ]
    }

    /// Returns the rating rounded to whole stars, because Goodreads has no others. 0 means no rating, so a rated copy
    /// gets at least one star.
    private func wholeStars(_ rating: Double?) -> Int { rating.map { max(1, Int($0.rounded())) } ?? 0 }

    private func binding(_ format: Metadata.Format?) -> String? {
        switch format {
        case .physical: "Paperback"
        case .digital: "Kindle Edition"
        case .audiobook: "Audiobook"
        case nil: nil
        }
    }

    private func shelf(_ status: Copy.Status) -> String {
        switch status {
        case .toRead: "to-read"
        case .reading: "currently-reading"
        case .read: "read"
        case .onHold: "on-hold"
        case .dnf: "did-not-finish"
        }
    }

    private func cell(_ text: String?) -> String { text.map { Self.quoted(Self.guarded($0)) } ?? "" }

    /// Quotes a cell if RFC 4180, 2.6 and 2.7, requires it.
    static func quoted(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 == 0x22 || $0 == 0x2C || $0 == 0x0A || $0 == 0x0D }) else { return text }
        return "\"" + text.replacing(UInt8(ascii: "\""), with: "\"\"") + "\""
    }

    /// Returns the text with a leading apostrophe if a spreadsheet would run it as a formula, that is, if it starts
    /// with `=`, `+`, `-`, `@`, tab or carriage return. A text with apostrophes before one of these characters gets
    /// another apostrophe, so that ``unguarded(_:)`` restores the text exactly.
    ///
    /// Source: OWASP, CSV Injection.
    static func guarded(_ text: String) -> String { isGuardable(text) ? "'" + text : text }

    /// Returns the text without the apostrophe that ``guarded(_:)`` added.
    static func unguarded(_ text: String) -> String {
        text.utf8.first == UInt8(ascii: "'") && isGuardable(text) ? String(text.dropFirst()) : text
    }

    private static func isGuardable(_ text: String) -> Bool {
        guard let first = text.utf8.first(where: { $0 != UInt8(ascii: "'") }) else { return false }
        return "=+-@\t\r".utf8.contains(first)
    }
}

extension String {
    /// Replaces an ASCII character. An export does this in very many cells, for which the standard library's
    /// `replacing(_:with:)`, a search for any sequence, would take most of the time.
    fileprivate func replacing(_ sign: UInt8, with replacement: String) -> String {
        guard utf8.contains(sign) else { return self }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(utf8.count + 8)
        for byte in utf8 { if byte == sign { bytes += replacement.utf8 } else { bytes.append(byte) } }
        return String(decoding: bytes, as: UTF8.self)
    }
}
