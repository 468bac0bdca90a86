import Bookplate
import FoundationEssentials
import Hummingbird

/// Lists of books, and books entered by hand.
struct BooksAPI: Sendable {
    let parts: KioskParts

    var routes: [Route] {
        [
            Route(.get, "/api/books", for: .guests, list),
            Route(.get, "/api/books/facets", for: .guests, facets),
            Route(.get, "/api/known", for: .household, known),
            Route(.post, "/api/books", for: .household, enter),
        ]
    }

    /// `{"hits", "total", "exact", "next"}`; asked as ``LibraryAddress`` says.
    private func list(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        var found = try await parts.library.books(matching: try query(request, context))
        if context.isGuest {
            for index in found.hits.indices { found.hits[index].book = found.hits[index].book.forGuests }
        }
        return JSONAnswer(found.json)
    }

    private func facets(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        JSONAnswer(try await parts.library.facets(matching: try query(request, context)).json)
    }

    private func query(_ request: Request, _ context: KioskContext) throws -> BookQuery {
        try LibraryAddress(
            request.uri.query, zone: parts.ports.zone, now: parts.ports.now(), forGuest: context.isGuest
        ).query
    }

    /// What is known here of the ISBN in `?isbn=`: in the library, else in the intake. Nothing is asked of other machines.
    private func known(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let text = try LibraryAddress.pairs(request.uri.query ?? "").last { $0.name == "isbn" }?.value ?? ""
        return JSONAnswer(try await KnownNumber(text, in: parts.library, parts.pages.texts(context)).json)
    }

    /// Saves a book that a person entered: 201 with its JSON and `change`; 409 `owned` when the edition is owned already and
    /// `anotherCopy` was not said; 422 `field.NAME` for what cannot be in one field, 400 for what is of another type. The same `request` again saves nothing more.
    private func enter(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let now = parts.ports.now()
        let entered = try EnteredBook(try await request.json(SentObject.self))
        let confirmed = try await answering(entered.confirmed)
        let result: SaveResult
        do {
            result = try await parts.library.enter(
                confirmed, notes: entered.notes(at: now), dates: entered.dates, at: now, entered.facts)
        } catch let refusal as ReadingRefusal {
            throw FieldRefusal(field: "finished", cause: refusal)
        }
        switch result {
        case .owned(let book):
            let title = String(book.displayTitle.cleanedLine.prefix(120))
            let place = book.copy.shelf.map { " on the shelf \"\($0.cleanedLine.prefix(80))\"" } ?? ""
            throw RequestRefusal(
                status: .conflict, code: "owned",
                message: "You have \"\(title)\" already\(place). Say that it is another copy to add it.",
                values: ["title": title])
        case .saved(let copy, _), .wishFulfilled(let copy, _), .restored(let copy, _), .alreadySaved(let copy):
            do {
                guard let book = try await parts.library.book(copy) else { throw RequestRefusal.notThere("book") }
                return JSONAnswer(book.json.with(change: result.change), status: .created)
            } catch  where result.change != nil {
                // It is saved, and the page is to know: it asks for the rest with its next step.
                parts.logger.warning("saved, and not read again: \(parts.ports.trouble(error).message)")
                return JSONAnswer(
                    ["id": .string(copy.rawValue), "change": JSONValue(result.change?.rawValue)], status: .created)
            }
        }
    }

    /// The form is the answer to one of the items that wait with its ISBN, the oldest; the others are perhaps other copies.
    private func answering(_ confirmed: Confirmed) async throws -> Confirmed {
        guard let isbn = confirmed.isbn, !confirmed.preset.isWishlist else { return confirmed }
        let item = try await parts.library.items(in: [.waiting]).first { $0.isbn == isbn }
        return item.map { confirmed.answering($0.id) } ?? confirmed
    }
}

extension SearchResults {
    /// One page of a search for programs.
    var json: JSONValue {
        [
            "hits": .array(hits.map(\.json)), "total": .integer(total), "exact": .bool(isTotalExact),
            "next": JSONValue(next),
        ]
    }
}

/// A number as a person typed it, and what library and intake know of it.
struct KnownNumber: Sendable {
    let isbn: ISBN?
    /// Why it is no ISBN; `nil` when it is one, or nothing was typed.
    let refusal: String?
    private(set) var metadata: Metadata?
    /// A copy on the shelf.
    private(set) var owned: Book?
    /// Its title, where it is in the trash and nowhere else: saved it comes back.
    private(set) var trashed: String?

    /// What of a book's JSON is its edition's.
    private static let editionKeys: Set = [
        "title", "subtitle", "authors", "publisher", "publishedDate", "publishedDateText", "pageCount", "language",
        "originalLanguage", "authorNationality", "format", "series", "seriesNumber", "description", "subjects",
        "previewLink", "infoLink",
    ]

    init(_ text: String, in library: any KioskLibrary, _ texts: Texts) async throws {
        let text = String(text.prefix(64))
        do throws(ISBNRefusal) {
            (isbn, refusal) = (try ISBN(text), nil)
        } catch {
            (isbn, refusal) = (nil, text.cleanedLine.isEmpty ? nil : texts.words(for: error))
        }
        guard let isbn else { return }
        let books = try await library.books(with: [isbn])[isbn] ?? []
        owned = books.first { $0.copy.isOwned && $0.copy.deleted == nil }
        metadata = books.first?.edition.metadata
        if books.allSatisfy({ $0.copy.deleted != nil }) { trashed = books.last?.displayTitle }
        if metadata == nil {
            metadata = try await library.items(in: [.waiting]).last { $0.isbn == isbn && $0.metadata != nil }?.metadata
        }
    }

    var json: JSONValue {
        let metadata = metadata.map { metadata in
            // The keys of a book's JSON.
            let book = Book(edition: Edition(isbn: isbn, metadata: metadata), copy: Copy(added: .distantPast))
            guard case .object(let members) = book.json else { return JSONValue.null }
            return .object(members.filter { Self.editionKeys.contains($0.key) })
        }
        return [
            "isbn13": JSONValue(isbn?.digits), "hyphenated": JSONValue(isbn?.hyphenated),
            "refusal": JSONValue(refusal), "metadata": metadata ?? .null,
            "owned": owned.map { ["id": .string($0.id.rawValue), "title": .string($0.displayTitle)] } ?? .null,
            "trashed": JSONValue(trashed),
        ]
    }
}

/// Completes names as they are typed.
struct SuggestionsAPI: Sendable {
    let parts: KioskParts

    var routes: [Route] { [Route(.get, "/api/suggestions", for: .guests, suggestions)] }

    /// `?kind=author|tag|shelf&beginning=&limit=`: `{"suggestions": [{"name", "count"}]}`, the most used first; 8 unless told, 50 at
    /// the most.
    private func suggestions(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let kinds: [String: NameKind] = ["author": .author, "tag": .tag, "shelf": .shelf]
        var (kind, beginning, limit): (NameKind?, String, Int?) = (nil, "", 8)
        for (name, value) in try LibraryAddress.pairs(request.uri.query ?? "") {
            switch name {
            case "kind": kind = kinds[value]
            case "beginning": beginning = value
            case "limit": limit = Int(value).flatMap { (1...50).contains($0) ? $0 : nil }
            default: kind = nil
            }
        }
        guard let kind, let limit else {
            throw RequestRefusal(
                status: .badRequest, code: "badQuery",
                message: "Ask with kind=author, tag or shelf, beginning= and limit=1 to 50.")
        }
        let found = try await parts.library.suggestions(for: kind, beginning: beginning, limit: limit)
        return JSONAnswer([
            "suggestions": .array(found.map { ["name": .string($0.name), "count": .integer($0.count)] })
        ])
    }
}
