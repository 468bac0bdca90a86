import Bookplate
import Foundation

/// Prints one page of books.
struct BookList {
    let places: PlaceOptions
    let json: Bool

    /// - Returns: how many books fit in all.
    @discardableResult
    func show(_ query: BookQuery) async throws -> Int {
        guard let library = try Wiring(settings: places.settings()).openExistingLibrary() else {
            if !json {
                Output.shared.note("There is no library yet. scan --image or scan --isbn puts the first book in.")
            }
            return 0
        }
        let page = try await library.books(matching: query)
        if json {
            for book in page.books { Output.shared.line(book.json) }
            return page.total
        }
        if page.books.isEmpty {
            Output.shared.note(query.offset > 0 && page.total > 0 ? "There are only \(page.total)." : "No book fits.")
        }
        let width = terminalSize().columns
        for book in page.books { Output.shared.line(Self.line(for: book, width: width)) }
        let shown = query.offset + page.books.count
        if page.total > shown { Output.shared.note("\(shown) of \(page.total); --offset \(shown) shows more.") }
        return page.total
    }

    static func line(for book: Book, width: Int) -> String {
        let marks =
            [
                book.copy.status == .toRead ? nil : book.copy.status.displayName,
                book.copy.isOnWishlist ? "wishlist" : nil,
                book.copy.shelf, book.copy.rating.map { "★ \($0.formatted())" },
            ].compactMap { $0?.oneLine } + book.copy.tags.map { "#\($0.oneLine)" }
        let year = book.edition.metadata.publishedDate.map { " (\($0.year))" } ?? ""
        let number = (book.edition.isbn?.hyphenated ?? "no ISBN").padded(17)
        let text = "\(book.displayTitle.oneLine) · \(book.displayAuthors.oneLine)\(year)"
        let tail = marks.isEmpty ? "" : "  [\(marks.joined(separator: ", "))]"
        let room = max(20, (Output.shared.isTerminal ? max(60, width) : 200) - number.columns - 2 - tail.columns)
        return "\(number)  \(text.fitted(room))\(Output.shared.style.faint(tail))"
    }
}

/// Prints all of one book; what is empty is left out.
struct BookSheet {
    let book: Book

    func show() {
        let metadata = book.edition.metadata
        let style = Output.shared.style
        Output.shared.line(style.strong(book.displayTitle.oneLine))
        if let subtitle = metadata.subtitle { Output.shared.line(subtitle.oneLine) }
        Output.shared.line(book.displayAuthors.oneLine)
        let others = metadata.authors.filter { $0.role != .author }.map { "\($0.name) (\($0.role.rawValue))" }
        let rows: [(String, String?)] = [
            ("With", others.isEmpty ? nil : others.joined(separator: ", ")),
            ("ISBN", book.edition.isbn?.hyphenated ?? book.edition.isbnText),
            ("Publisher", metadata.publisher),
            ("Published", metadata.publishedDateText ?? metadata.publishedDate?.description),
            ("Pages", metadata.pageCount.map(String.init)), ("Language", metadata.language),
            ("Series", metadata.series.map { $0 + (metadata.seriesNumber.map { " \($0)" } ?? "") }),
            ("Status", book.copy.status.displayName), ("Shelf", book.copy.shelf),
            ("Tags", book.copy.tags.isEmpty ? nil : book.copy.tags.joined(separator: ", ")),
            ("Rating", book.copy.rating.map { "\($0.formatted()) of 5" }),
            ("Owned", book.copy.isOwned ? "yes" : "no"), ("Wishlist", book.copy.isOnWishlist ? "yes" : nil),
            ("Favourite", book.copy.isFavourite ? "yes" : nil), ("Added", book.copy.added.utcDay),
            ("Subjects", metadata.subjects.isEmpty ? nil : metadata.subjects.prefix(8).joined(separator: ", ")),
            ("Source", Set(metadata.sources.values.map(\.displayName)).sorted().joined(separator: ", ")),
            ("Id", book.id.rawValue),
        ]
        for (label, value) in rows {
            guard let value, !value.isEmpty else { continue }
            Output.shared.line("  \(style.faint(label.padded(10))) \(value.oneLine)")
        }
        if let description = metadata.description { Output.shared.line("\n" + description.printable) }
    }
}
