import Bookplate
import Foundation
import Library

/// `12 days left`: how long a book can still be taken out of the trash.
func timeLeft(inTrashSince deleted: Date, now: Date = Date()) -> String {
    "\(counted(Trash.daysLeft(deleted: deleted, now: now), "day")) left"
}

/// Prints a list of books.
struct BookList {
    let places: PlaceOptions
    let json: Bool

    /// JSON is printed in pieces of this many.
    private static let piece = 500

    /// - Returns: how many books fit in all.
    @discardableResult
    func show(_ options: ListOptions, text: String = "", inTrash: Bool = false) async throws -> Int {
        var query = try options.query(text: text)
        query.inTrash = inTrash
        guard let library = try Wiring(settings: places.settings()).openExistingLibrary() else {
            if !json {
                Output.shared.note("There is no library yet. \(Wiring.firstBook)")
            }
            return 0
        }
        do {
            if options.counts {
                let facets = try await library.facets(matching: query)
                if json { Output.shared.line(facets.json) } else { FacetSheet(facets: facets).show() }
                return try await library.books(matching: query).total
            }
            return json ? try await list(library, query, limit: options.limit) : try await page(library, query)
        } catch let refusal as SearchRefusal {
            throw Complaint(.usage, "--after: " + refusal.description)
        }
    }

    /// All there is, or `limit` books, one object a line.
    private func list(_ library: LibraryFile, _ query: BookQuery, limit: Int?) async throws -> Int {
        var query = query
        var left = limit ?? .max
        var count = 0
        repeat {
            query.limit = min(left, Self.piece)
            let page = try await library.books(matching: query)
            for hit in page.hits { Output.shared.line(hit.json) }
            count += page.hits.count
            left -= page.hits.count
            query.after = page.next
        } while query.after != nil && left > 0
        // On standard error: every line of the output is a book.
        if let next = query.after { Output.shared.note("--after \(next) shows more.") }
        return count
    }

    private func page(_ library: LibraryFile, _ query: BookQuery) async throws -> Int {
        let page = try await library.books(matching: query)
        if page.hits.isEmpty {
            Output.shared.note(query.after == nil ? try await EmptyList(library, query).text() : "That was all.")
            return page.total
        }
        let width = terminalSize().columns
        for hit in page.hits {
            Output.shared.line(Self.line(for: hit.book, width: width))
            if let match = hit.match { Output.shared.line(Self.reason(match)) }
        }
        if let next = page.next {
            let total = page.isTotalExact ? "\(page.total)" : "more than \(page.total)"
            Output.shared.note("\(page.hits.count) of \(total); --after \(next) shows more.")
        }
        return page.total
    }

    /// Why it was found: `Matched in notes: “…the ⟦spice⟧ must…”`; on a terminal with colours the match is strong instead.
    static func reason(_ match: BookHit.Match) -> String {
        let style = Output.shared.style
        let excerpt = match.snippet.parts.map { part in
            let text = part.text.printable
            return part.isMatch ? (style.isOn ? style.strong(text) : "⟦\(text)⟧") : style.faint(text)
        }
        return "                   " + style.faint("Matched in \(match.field.displayName): “") + excerpt.joined()
            + style.faint("”")
    }

    static func line(for book: Book, width: Int) -> String {
        let marks =
            [
                book.copy.status == .toRead ? nil : book.copy.status.displayName,
                book.copy.isOnWishlist ? "wishlist" : nil,
                book.copy.deleted.map { timeLeft(inTrashSince: $0) }, book.copy.shelf,
                book.copy.rating.map { "★ \($0.formatted())" },
            ].compactMap { $0?.oneLine } + book.copy.tags.map { "#\($0.oneLine)" }
        let year = book.edition.metadata.publishedDate.map { " (\($0.year))" } ?? ""
        let number = (book.edition.isbn?.hyphenated ?? "no ISBN").padded(17)
        let text = "\(book.displayTitle.oneLine) · \(book.displayAuthors.oneLine)\(year)"
        let tail = marks.isEmpty ? "" : "  [\(marks.joined(separator: ", "))]"
        let room = max(20, (Output.shared.isTerminal ? max(60, width) : 200) - number.columns - 2 - tail.columns)
        return "\(number)  \(text.fitted(room))\(Output.shared.style.faint(tail))"
    }
}
