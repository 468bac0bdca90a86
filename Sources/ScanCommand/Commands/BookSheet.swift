import Bookplate
import Foundation
import Library
import Terminal

/// The text that shows everything about one book, in the same order as its web page. Empty fields are left out.
struct BookSheet {
    let book: Book
    let notes: [Note]
    let quotes: [Quote]
    let flags: [ImportFlag]
    var others: [OtherReader] = []
    var zone = TimeZone.current
    var style = Output.shared.style

    /// Prints the book as it is in the library. With JSON, it prints the book's object with three more keys, `notes`,
    /// `quotes` and `flags`, which no other command prints.
    static func show(_ book: Book, from library: some Annotations, json: Bool) async throws {
        let whole = try await library.wholeBook(book.id) ?? WholeBook(book: book)
        if json { return Output.shared.printLine(whole.json) }
        let sheet = BookSheet(
            book: whole.book, notes: whole.notes, quotes: whole.quotes, flags: whole.flags, others: whole.others)
        for line in sheet.lines() { Output.shared.printLine(line) }
    }

    func lines() -> [String] {
        let metadata = book.edition.metadata
        var lines = [style.strong(book.displayTitle.oneLine)]
        if let subtitle = metadata.subtitle { lines.append(subtitle.oneLine) }
        lines.append(book.displayAuthors.oneLine)
        lines.append(badge)
        if !book.copy.tags.isEmpty { lines.append(book.copy.tags.map { "[\($0.oneLine)]" }.joined(separator: " ")) }
        lines += section("Details", table(details))
        lines += section("Readings", readings)
        lines += section("Goals and sharing", table(sharing))
        lines += section("Other readers", others.map { "  \(Self.line(of: $0))" })
        lines += section("Description", metadata.description.map(Self.indented) ?? [])
        lines += section("Notes", notes.flatMap { AnnotationList.lines($0, zone, style) })
        lines += section("Quotes", quotes.flatMap { AnnotationList.lines($0, zone, style) })
        lines += section("Flagged by an import", flags.map { "  \($0.source.oneLine): \($0.what.oneLine)" })
        return lines
    }

    /// Returns a line such as "Anna · Read 2024 · ★ 4".
    private static func line(of other: OtherReader) -> String {
        let status = other.status == .toRead ? nil : other.status.displayName + (other.day.map { " \($0.year)" } ?? "")
        return [
            other.reader.name?.oneLine, status, other.isOnWishlist ? "☆ wishlist" : nil,
            other.rating.map { "★ \($0.formatted())" },
        ].compactMap(\.self).joined(separator: " · ")
    }

    /// The status, the stars and the other marks of the book.
    private var badge: String {
        let copy = book.copy
        let status = "● \(copy.status.displayName)"
        let paint: (String) -> String =
            switch copy.status {
            case .toRead: style.faint
            case .reading: style.new
            case .read: style.owned
            case .onHold, .dnf: style.attention
            }
        let marks = [
            paint(status), copy.rating.map { "\(Copy.stars($0)) \($0.formatted())" },
            copy.isFavourite ? "♥ favourite" : nil, copy.isOnWishlist ? "☆ wishlist" : nil,
            copy.deleted.map { "in the trash since \(CalendarDay($0, in: zone)), \(timeLeft(inTrashSince: $0))" },
        ]
        return marks.compactMap(\.self).joined(separator: "   ")
    }

    private var details: [(String, String?)] {
        let metadata = book.edition.metadata
        let (copy, reading) = (book.copy, book.copy.reading)
        let others = metadata.authors.filter { $0.role != .author }.map { "\($0.name) (\($0.role.rawValue))" }
        let identifiers = metadata.identifiers.sorted { $0.key < $1.key }.flatMap { scheme, values in
            values.map { "\(scheme):\($0)" }
        }
        return [
            ("Contributors", listed(others)), ("Nationality", metadata.authorNationality),
            ("ISBN", book.edition.isbn?.hyphenated ?? book.edition.isbnText.map { "\($0) (not a valid ISBN)" }),
            ("Publisher", metadata.publisher),
            ("Published", metadata.publishedDateText ?? metadata.publishedDate?.description),
            ("Pages", metadata.pageCount.map(String.init)), ("Language", metadata.language),
            ("Original language", metadata.originalLanguage), ("Format", metadata.format?.rawValue),
            (
                "Series",
                [metadata.series, metadata.seriesNumber].compactMap(\.self).joined(separator: " ")
            ),
            ("Shelf", copy.shelf), ("Owned", copy.isOwned ? "yes" : "no"),
            ("Date Added", CalendarDay(copy.added, in: zone).description),
            ("Started", reading?.started?.description), ("Finished", finished?.description),
            ("Days to Read", (finished == nil ? nil : book.copy.reading?.daysToRead).map { counted($0, "day") }),
            ("Progress", progress),
            ("Subjects", listed(metadata.subjects)), ("Preview", metadata.previewLink), ("Web page", metadata.infoLink),
            ("Cover", metadata.coverURL), ("Identifiers", listed(identifiers)),
            ("Source", Set(metadata.sources.values.map(\.displayName)).sorted().joined(separator: ", ")),
            ("Id", book.id.rawValue),
        ]
    }

    private var sharing: [(String, String?)] {
        let copy = book.copy
        return [
            ("Daily goal", copy.dailyGoal.map { "\(counted($0, "page")) per day" }),
            ("Cultural goal", copy.countsForCulturalGoal ? copy.culturalGoalCategory ?? "yes" : nil),
            ("Public", copy.isPublic ? "yes" : nil), ("Recommended by", copy.recommendedBy),
            ("Would recommend", copy.wouldRecommend.map { $0 ? "yes" : "no" }),
        ]
    }

    /// The day on which the book was finished; `nil` unless its status is Read.
    private var finished: CalendarDay? { book.copy.status == .read ? book.copy.reading?.finished : nil }

    private var progress: String? {
        guard let amount = book.copy.reading?.progress?.amount else { return nil }
        return ReadingBar(amount: amount, pageCount: book.edition.metadata.pageCount).textForOutput
    }

    /// A line for each reading, oldest first; cancelled readings are not shown.
    private var readings: [String] {
        book.copy.countedReadings.map { reading in
            let days = [reading.started, reading.finished ?? reading.stopped].map { $0?.description ?? "?" }
            let hasDays = reading.started != nil || reading.finished != nil || reading.stopped != nil
            return "  " + (hasDays ? days.joined(separator: " – ") + "  " : "")
                + book.stateName(of: reading)
        }
    }

    private func listed(_ texts: [String]) -> String? { texts.isEmpty ? nil : texts.joined(separator: ", ") }

    private func section(_ title: String, _ lines: [String]) -> [String] {
        lines.isEmpty ? [] : ["", style.strong(title)] + lines
    }

    private func table(_ rows: [(String, String?)]) -> [String] {
        let filled = rows.filter { $0.1?.isEmpty == false }
        let width = filled.map(\.0.columns).max() ?? 0
        return filled.map { "  \(style.faint($0.0.padded(width)))  \($0.1?.oneLine ?? "")" }
    }

    private static func indented(_ text: String) -> [String] {
        text.printable.split(separator: "\n", omittingEmptySubsequences: false).map { "  \($0)" }
    }
}
