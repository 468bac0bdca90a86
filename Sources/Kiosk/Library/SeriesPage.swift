import Bookplate
import FoundationEssentials
import Hummingbird

/// The page of a series: its books in order, and the numbers that are missing in between.
struct SeriesPage: Sendable {
    let parts: KioskParts

    /// The maximum number of books on the page. All are in the list of the Library page.
    private static let maxBooks = 500

    var routes: [Route] { [Route(.get, "/series", for: .guests, page)] }

    static func address(_ name: String) -> String { "/series?name=\(PercentEncoding.encoded(name))" }

    private func page(_ request: Request, _ context: KioskContext) async throws -> Response {
        let (texts, now) = (parts.pages.texts(context), parts.ports.now())
        let name = (try request.queryValue("name") ?? "").cleanedLine
        var query = BookQuery()
        (query.series, query.limit) = ([name], Self.maxBooks)
        let found = try await context.library.books(matching: query)
        guard !name.isEmpty, !found.hits.isEmpty else { throw RequestRefusal.notFound("series") }
        let series = Series(name: name, books: found.books)
        let covers = try await context.library.keptCovers(among: series.books.map(\.edition.id))
        let read = series.books.count { $0.copy.status == .read }
        let title = LibraryHit.short(series.name)
        var view: View = [
            "name": title, "volumes": texts("common.books", count: series.books.count),
            "read": texts("library.seriesRead", count: read),
            "list": "/library?series=\(PercentEncoding.encoded(name))",
            "authors": authors(series), "rows": rows(series, covers, texts, now),
        ]
        let missing = series.gaps.map { Self.text($0) }.joined(separator: ", ")
        if !missing.isEmpty { view["missing"] = texts("library.seriesMissing", ["numbers": LibraryHit.short(missing)]) }
        return try await parts.pages.render(
            Pages.Page(template: "series", title: title, tab: .library, view: view), context)
    }

    /// Returns the authors with links to their books, those of most volumes first.
    private func authors(_ series: Series) -> [View] {
        var counts: [String: Int] = [:]
        for name in series.books.flatMap(\.edition.metadata.authorNames) { counts[name, default: 0] += 1 }
        let names = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(8).map(\.key)
        return names.enumerated().map { index, name in
            [
                "name": LibraryHit.short(name), "href": "/library?author=\(PercentEncoding.encoded(name))",
                "comma": index < names.count - 1,
            ]
        }
    }

    /// Returns a row for each book, and one for each gap before the book that follows it.
    private func rows(_ series: Series, _ covers: Set<ID<Edition>>, _ texts: Texts, _ now: Date) -> [View] {
        var gaps = series.gaps[...]
        return series.books.flatMap { book -> [View] in
            let metadata = book.edition.metadata
            var rows: [View] = []
            if let number = SeriesNumber(metadata.seriesNumber) {
                while let gap = gaps.first, Double(gap.upperBound) < number.first {
                    rows.append(["gap": texts("library.seriesGap", count: gap.count, ["number": Self.text(gap)])])
                    gaps.removeFirst()
                }
            }
            var row: View = [
                "hit": LibraryHit(
                    hit: BookHit(book: book), texts: texts, now: now, hasCover: covers.contains(book.edition.id)),
                "number": LibraryHit.short(metadata.seriesNumber ?? ""),
            ]
            if let year = metadata.publishedDate?.year { row["year"] = String(year) }
            if !book.copy.isOwned { row["notOwned"] = texts("library.notOwned") }
            rows.append(row)
            return rows
        }
    }

    private static func text(_ gap: ClosedRange<Int>) -> String {
        gap.count == 1 ? String(gap.lowerBound) : "\(gap.lowerBound)–\(gap.upperBound)"
    }
}
