import Bookplate
import FoundationEssentials
import Hummingbird
import Station

/// The page *Find by title*, for books without a number and for numbers that no source knows. It lists editions; one
/// press saves an edition, or gives its record to a captured book.
struct FindPage: Sendable {
    let parts: KioskParts

    var routes: [Route] {
        [
            Route(.get, "/find", for: .household, page), Route(.get, "/api/find", for: .household, find),
            Route(.post, "/api/find/photo", for: .household, body: .photo, readPrint),
            Route(.post, "/api/find/:search/:number", for: .household, save),
            Route(.get, "/api/find/:search/:number/cover", for: .household, cover),
            Route(.post, "/api/station/rows/:id/take", for: .household, take),
        ]
    }

    /// Renders the form and, with `?title=` and `?author=`, the editions. `?row=` names the captured book that is to
    /// get the record of one. Each `?line=` is a printed line of a photo, and `?isbn=` a printed number.
    private func page(_ request: Request, _ context: KioskContext) async throws -> Response {
        let texts = parts.pages.texts(context)
        let (title, author) = (try request.queryValue("title") ?? "", try request.queryValue("author") ?? "")
        var view: View = ["f_title": Self.typed(title), "f_author": Self.typed(author)]
        var row: Station.Row?
        if let id = try request.queryValue("row") {
            row = await parts.ports.station.row(ID(rawValue: String(id.prefix(64))))
        }
        if let row {
            view["row"] = row.id.rawValue
            view["rowText"] = texts("find.forNumber", ["number": row.candidate.item.isbn.hyphenated])
            if title.isEmpty { view["f_title"] = row.candidate.metadata.title?.cleanedLine ?? "" }
        }
        view["readsPhotos"] = parts.ports.readPrint != nil
        let lines = try request.queryPairs().filter { $0.name == "line" }.prefix(Self.mostLines)
        view["lines"] = try lines.map { try lineView(Self.typed($0.value), title: title, request) }
        view["hasLines"] = !lines.isEmpty
        if let isbn = try request.isbn("isbn") {
            view["isbn"] = texts("find.printedISBN", ["isbn": isbn.hyphenated])
            view["isbnDigits"] = isbn.digits
            view["isbnBody"] = JSONValue.object([("text", .string(isbn.digits))]).text
        }
        if let query = TitleQuery(title: title, author: author) {
            let search = try await search(query, context)
            view["editions"] = search.choices.enumerated().map { place, choice in
                self.view(of: choice, number: place + 1, of: search.id, for: row, texts)
            }
            view["outcome"] =
                search.choices.isEmpty
                ? texts("find.\(search.answer.outcome.rawValue)") : texts("find.count", count: search.choices.count)
            let silent = Set(search.answer.failures.compactMap(\.error.source)).map(texts.source).sorted()
            if !silent.isEmpty, !search.choices.isEmpty {
                view["silent"] = texts("find.silent", ["sources": silent.joined(separator: ", ")])
            }
            view["byHand"] = "/add?title=" + PercentEncoding.encoded(query.title)
        } else if !title.isEmpty {
            view["outcome"] = texts("find.notFound")
        }
        return try await parts.pages.render(
            Pages.Page(template: "find", title: texts("find.title"), tab: .scan, view: view), context)
    }

    /// The largest number of printed lines of a photo that are offered.
    private static let mostLines = 8

    /// A printed line of a photo, with the addresses that search for it as the title, and for its author.
    private func lineView(_ line: String, title: String, _ request: Request) throws -> View {
        func address(_ changed: [(name: String, value: String)]) throws -> String {
            let others = try request.queryPairs().filter { pair in !changed.contains { $0.name == pair.name } }
            return "/find?"
                + (changed + others).map { "\($0.name)=\(PercentEncoding.encoded($0.value))" }.joined(separator: "&")
        }
        return [
            "line": line, "asTitle": try address([("title", line)]),
            "asAuthor": try address([("title", title), ("author", line)]),
        ]
    }

    private static func typed(_ text: String) -> String { String(text.cleanedLine.prefix(TitleQuery.limit)) }

    private func view(
        of choice: EditionChoice, number: Int, of search: String, for row: Station.Row?, _ texts: Texts
    ) -> View {
        let metadata = choice.offer.metadata
        let facts: [String?] = [
            metadata.publisher, metadata.publishedDate.map { String($0.year) } ?? metadata.publishedDateText,
            metadata.format.map { texts.label(for: $0) },
            metadata.pageCount.map { texts("find.pages", count: $0) },
            metadata.language.map { texts.section("languages")[$0] ?? $0 },
        ]
        let address = "/api/find/\(search)/\(number)"
        let name = metadata.title?.cleanedLine ?? ""
        var view: View = [
            "number": String(number), "name": name,
            "tint": DrawnCover(title: name, language: metadata.language).colour,
            "subtitle": metadata.subtitle?.cleanedLine ?? "",
            "by": metadata.authorNames.map(\.cleanedLine).joined(separator: ", "),
            "facts": facts.compactMap { $0?.cleanedLine }.joined(separator: " · "),
            "line": [choice.offer.isbn?.hyphenated ?? texts("find.noISBN"), choice.source.map { texts.source($0) }]
                .compactMap(\.self).joined(separator: " · "),
        ]
        if metadata.coverURL != nil, parts.ports.fetchCover != nil { view["cover"] = "\(address)/cover" }
        view["owned"] = choice.owned.map { texts("find.owned", ["title": LibraryHit.short($0.displayTitle)]) }
        view["other"] = choice.others.first.map(texts.otherEdition)
        if let row {
            view["act"] = "POST /api/station/rows/\(row.id.rawValue)/take"
            view["body"] = #"{"search":"\#(search)","number":\#(number)}"#
            view["word"] = texts("find.use")
        } else {
            view["act"] = "POST \(address)"
            view["body"] = #"{"anotherCopy":\#(choice.owned != nil)}"#
            view["word"] = texts(choice.owned == nil ? "common.add" : "find.addCopy")
        }
        return view
    }

    /// Responds with the line of `scan find --json`, and `search`, which names this search in later requests.
    private func find(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let query = TitleQuery(
            title: try request.queryValue("title") ?? "", author: try request.queryValue("author") ?? "")
        guard let query else {
            throw RequestRefusal(.badQuery, "The query must contain words of the title as title=.")
        }
        let search = try await search(query, context)
        return JSONResponse(
            search.answer.json(query, search.choices).appending([("search", .string(search.id))]))
    }

    private func search(
        _ query: TitleQuery, _ context: KioskContext
    ) async throws -> (id: String, answer: TitleAnswer, choices: [EditionChoice]) {
        guard let titles = parts.ports.station.titles else {
            throw KioskError(.unavailable, "Books cannot be found by their title here.")
        }
        let (answer, choices) = try await titles.find(query, language: context.language.rawValue)
        return (parts.searches.keep(FoundEditions(answer: answer, choices: choices)), answer, choices)
    }

    /// Reads the print in a photo of a title page or a cover. The response has the words that are probably the title,
    /// the other lines with the largest first, and the ISBNs.
    private func readPrint(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        guard let read = parts.ports.readPrint else {
            throw RequestRefusal(
                .noPrint, "Printed words cannot be read here: tesseract is not installed. Type the title.")
        }
        let page = try await parts.readUpload(request, context, with: read)
        guard !page.title.isEmpty || !page.isbns.isEmpty else {
            throw RequestRefusal(
                .noWords, "No words can be read in the photo. Take it closer in even light, or type the title.")
        }
        let lines = page.otherLines.prefix(Self.mostLines).map { JSONValue.string(Self.typed($0)) }
        return JSONResponse([
            "title": .string(Self.typed(page.title)), "lines": .array(lines),
            "isbns": .array(page.isbns.map { .string($0.isbn.digits) }),
        ])
    }

    private struct Save: Decodable {
        var request: String?
        var anotherCopy: Bool?
    }

    /// Saves an edition with the browser's preset. The response is that of `POST /api/books`.
    private func save(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let body = try await request.json(Save.self)
        let offer = try choice(context.parameters.get("search"), context.parameters.get("number").flatMap { Int($0) })
            .offer
        let station = parts.ports.station
        let metadata = await station.titles?.record(of: offer) ?? offer.metadata
        let entered = try Confirmed(
            enteredBy: .form, request: body.request.map { String($0.prefix(64)) } ?? ID<Confirmed>().rawValue,
            isbn: offer.isbn, metadata: metadata, preset: await parts.preset(of: context),
            anotherCopy: body.anotherCopy ?? false)
        let confirmed = try await context.answeringItem(entered)
        let now = parts.ports.now()
        // The book belongs to the station's batch, so its status sets no dates.
        let result = try await station.enter(confirmed) {
            guard let result = try await context.library.add([confirmed], at: now).first else {
                throw RequestRefusal.notFound("book")
            }
            return result
        }
        return try await context.response(to: result)
    }

    private struct Take: Decodable {
        var search: String
        var number: Int
    }

    /// Gives an open row the record of an edition.
    private func take(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let body = try await request.json(Take.self)
        let offer = try choice(body.search, body.number).offer
        let row = try await parts.ports.station.take(offer, for: context.id(of: QueueItem.self))
        return JSONResponse(["row": row.json])
    }

    private func choice(_ search: String?, _ number: Int?) throws -> EditionChoice {
        guard let search, let number, let choices = parts.searches[search]?.choices,
            choices.indices.contains(number - 1)
        else { throw RequestRefusal.notFound("search") }
        return choices[number - 1]
    }

    /// Fetches the cover of an edition, so that browsers ask nobody but this service.
    private func cover(_ request: Request, _ context: KioskContext) async throws -> Response {
        let offer = try choice(context.parameters.get("search"), context.parameters.get("number").flatMap { Int($0) })
            .offer
        return try await parts.offeredCover(at: offer.metadata.coverURL)
    }
}

extension Texts {
    /// The message that the household owns this edition of a work, when another one is in hand.
    func otherEdition(_ book: Book) -> String {
        let facts = LibraryHit.short(book.editionFacts)
        return book.copy.shelf.map { self("find.otherOn", ["edition": facts, "shelf": LibraryHit.short($0)]) }
            ?? self("find.other", ["edition": facts])
    }
}

/// The editions that a search has found.
struct FoundEditions: Sendable {
    let answer: TitleAnswer
    let choices: [EditionChoice]
}
