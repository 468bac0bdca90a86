import Bookplate
import FoundationEssentials
import Hummingbird

/// The page on which a person tidies the library: books that are in it twice, and data that records lack.
struct TidyPage: Sendable {
    let parts: KioskParts

    var routes: [Route] { [Route(.get, "/library/tidy", for: .household, page)] }

    /// The maximum number of groups on the page. Those that a person merges make room for the next ones.
    private static let maxGroups = 40

    private func page(_ request: Request, _ context: KioskContext) async throws -> Response {
        let texts = parts.pages.texts(context)
        let reasons = try Set<DuplicateGroup.Reason>(of: request)
        let duplicates = try await context.library.duplicates(for: reasons, limit: Self.maxGroups)
        let books = duplicates.groups.flatMap(\.books)
        let covers = try await context.library.keptCovers(among: books.map(\.edition.id))
        let missing = try await missing(context.library, texts)
        var view: View = [
            "sections": DuplicateGroup.Reason.allCases.compactMap { reason -> View? in
                let groups = duplicates.groups.filter { $0.reason == reason }
                guard !groups.isEmpty else { return nil }
                return [
                    "heading": texts("tidy.\(reason.rawValue)"), "explanation": texts("tidy.\(reason.rawValue)Hint"),
                    "groups": groups.map { shown($0, covers, texts) },
                ]
            },
            // The script names the fields that a merge fills in.
            "fieldNames": Metadata.Field.allCases.map { field -> View in
                ["key": field.rawValue.lowercased(), "name": texts("book.field_\(field.rawValue)")]
            },
            "missing": missing, "hasMissing": !missing.isEmpty, "isTidy": duplicates.groups.isEmpty,
        ]
        let total = reasons.reduce(0) { $0 + (duplicates.counts[$1] ?? 0) }
        if total > duplicates.groups.count { view["more"] = texts("tidy.more", count: total - duplicates.groups.count) }
        if !reasons.contains(.editions), let count = duplicates.counts[.editions], count > 0 {
            view["works"] = texts("tidy.works", count: count)
        }
        return try await parts.pages.render(
            Pages.Page(template: "tidy", title: texts("tidy.title"), tab: .library, view: view), context)
    }

    private func shown(_ group: DuplicateGroup, _ covers: Set<ID<Edition>>, _ texts: Texts) -> View {
        let title = group.books.first.map { texts.shownTitle(of: $0) } ?? ""
        return [
            "id": group.books.first?.id.rawValue ?? "", "title": title,
            "label": texts("tidy.mergeNamed", ["title": LibraryHit.short(title)]),
            "distinctLabel": texts("tidy.notTheSameNamed", ["title": LibraryHit.short(title)]),
            "hasChoice": group.books.count > 2,
            "books": group.books.enumerated().map { place, book -> View in
                let title = texts.shownTitle(of: book)
                var view = DrawnCover(of: book.edition, titled: title).view
                view.merge([
                    "id": book.id.rawValue, "name": LibraryHit.short(title),
                    "author": LibraryHit.short(book.edition.metadata.authorNames.joined(separator: ", ")),
                    "facts": facts(of: book, texts), "isKept": place == 0,
                ]) { $1 }
                if covers.contains(book.edition.id) { view["cover"] = "/covers/\(book.edition.id.rawValue)" }
                return view
            },
        ]
    }

    /// Returns what tells two records of a book apart, on one line.
    private func facts(of book: Book, _ texts: Texts) -> String {
        let (copy, metadata) = (book.copy, book.edition.metadata)
        let added = texts.day(CalendarDay(copy.added, in: parts.ports.zone))
        let facts = [
            metadata.publishedDate.map { texts.day($0) }, metadata.publisher, book.edition.isbn?.hyphenated,
            metadata.language.map { texts.language(code: $0) }, metadata.format.map { texts.label(for: $0) },
            texts.label(for: copy.status), copy.rating.map { texts.stars($0) }, copy.shelf,
            copy.isOnWishlist ? texts("common.wishlist") : nil, texts("book.addedOn", ["day": added]),
        ]
        return facts.compactMap(\.self).map(LibraryHit.short).joined(separator: " · ")
    }

    /// Returns each field that some books lack, with their number and the list of these books.
    private func missing(_ library: any KioskLibrary, _ texts: Texts) async throws -> [View] {
        let counts = try await library.facets(matching: BookQuery()).missing
        return MissingField.counted.compactMap { field in
            guard let count = counts[field], count > 0 else { return nil }
            return [
                "label": texts("library.missing_\(field.rawValue)"), "address": "/library?missing=\(field.rawValue)",
                "count": texts.grouped(count),
            ]
        }
    }
}

/// Lists books that are in the library twice, and merges them or marks them as not the same.
struct DuplicatesAPI: Sendable {
    let parts: KioskParts

    var routes: [Route] {
        [
            Route(.get, "/api/books/duplicates", for: .household, list),
            Route(.post, "/api/books/merge", for: .household, merge),
            Route(.post, "/api/books/distinct", for: .household, markDistinct),
        ]
    }

    /// Responds with `{"groups", "counts"}`. `?editions=1` adds the works of which there are several editions, and
    /// `limit` is 50 by default.
    private func list(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let found = try await context.library.duplicates(
            for: Set(of: request), limit: request.number("limit", in: 1...500, or: 50))
        return JSONResponse([
            "groups": .array(found.groups.map(\.json)),
            "counts": .object(
                DuplicateGroup.Reason.allCases.map { ($0.rawValue, .integer(found.counts[$0] ?? 0)) }),
        ])
    }

    private struct Merge: Decodable {
        let keep: String
        let others: [String]
        let joinsEditions, keepsCopies, dryRun: Bool?
    }

    /// The maximum number of books in one request.
    private static let maxBooks = 50

    /// Merges books into the one that is kept, or, with `dryRun`, responds with what a merge would do.
    private func merge(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let body = try await request.json(Merge.self)
        guard (1...Self.maxBooks).contains(body.others.count) else {
            throw RequestRefusal(.badBooks, "The request must contain the ids of 1 to \(Self.maxBooks) other books.")
        }
        let kept = ID<Copy>(rawValue: body.keep), others = body.others.map { ID<Copy>(rawValue: $0) }
        let options = MergeOptions(
            joinsEditions: body.joinsEditions ?? false, keepsCopies: body.keepsCopies ?? false)
        let act = body.dryRun == true ? context.library.previewMerge : context.library.merge
        return try await context.perform(on: kept) {
            JSONResponse(try await act(others, kept, options, parts.ports.now()).json)
        }
    }

    private struct Distinct: Decodable { let books: [String] }

    /// Marks books as not the same.
    private func markDistinct(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let books = try await request.json(Distinct.self).books
        guard (2...Self.maxBooks).contains(Set(books).count) else {
            throw RequestRefusal(.badBooks, "The request must contain the ids of 2 to \(Self.maxBooks) books.")
        }
        for book in books where try await context.library.book(ID(rawValue: book)) == nil {
            throw RequestRefusal.notFound("book")
        }
        let change = try await context.library.markDistinct(
            books.map { ID<Copy>(rawValue: $0) }, at: parts.ports.now())
        return JSONResponse(["change": JSONValue(change?.rawValue)])
    }
}

extension Set<DuplicateGroup.Reason> {
    /// Creates the reasons that a request asks for: with `?editions=1`, also works of which there are several editions.
    fileprivate init(of request: Request) throws {
        self =
            try request.queryValue("editions") == "1" ? [.enteredTwice, .copies, .editions] : [.enteredTwice, .copies]
    }
}

extension MergeResult {
    fileprivate var json: JSONValue {
        [
            "book": book.json, "merged": .array(merged.map { .string($0.id.rawValue) }),
            "filled": .array(filled.map { .string($0.rawValue) }),
            "lost": .array(lost.map { ["field": .string($0.field), "value": .string($0.value)] }),
            "followers": .integer(followers), "change": JSONValue(change?.rawValue),
        ]
    }
}
