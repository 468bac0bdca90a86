import Bookplate
import FoundationEssentials
import Hummingbird

/// The form in which a person adds a book by hand or edits a book.
struct BookFormPage: Sendable {
    let parts: KioskParts

    var routes: [Route] {
        [
            Route(.get, "/add", for: .household, add), Route(.get, "/books/:id/edit", for: .household, edit),
            Route(.post, "/api/books", for: .household, enter),
        ]
    }

    /// Renders the form for a new book. `?isbn=` fills in everything that the library or the queue knows about the
    /// ISBN, and `?title=` fills in the title.
    private func add(_ request: Request, _ context: KioskContext) async throws -> Response {
        let texts = parts.pages.texts(context)
        let pairs = try request.queryPairs()
        let isbn = pairs.last { $0.name == "isbn" }?.value ?? ""
        let known = try await KnownISBN(isbn, in: context.library, texts)
        var edition = Edition(isbn: known.isbn, metadata: known.metadata ?? Metadata())
        edition.isbnText = String(isbn.cleanedLine.prefix(64))
        if edition.metadata.title == nil {
            edition.metadata.title = pairs.last { $0.name == "title" }.map {
                String($0.value.cleanedLine.prefix(TextLimit.title))
            }
        }
        var view = BookFormView(Book(edition: edition, copy: Copy(added: parts.ports.now())), texts).view
        view["isNew"] = true
        view["request"] = ID<Confirmed>().rawValue
        if let refusal = known.refusal { view["numberError"] = texts("form.wrongNumber", ["reason": refusal]) }
        if let owned = known.owned {
            view["owned"] = ["id": owned.id.rawValue, "message": Self.ownedMessage(owned, texts)] as View
        }
        return try await parts.pages.render(
            Pages.Page(template: "form", title: texts("form.add"), tab: .library, view: view), context)
    }

    static func ownedMessage(_ book: Book, _ texts: Texts) -> String {
        texts("form.ownedAlready", ["title": LibraryHit.short(book.displayTitle)])
    }

    private func edit(_ request: Request, _ context: KioskContext) async throws -> Response {
        let texts = parts.pages.texts(context)
        guard let book = try await context.library.book(try context.id(of: Copy.self)) else {
            throw RequestRefusal.notFound("book")
        }
        try book.checkOutsideTrash()
        var view = BookFormView(book, texts).view
        view["id"] = book.id.rawValue
        return try await parts.pages.render(
            Pages.Page(
                template: "form", title: texts("form.edit"), tab: .library,
                parent: Pages.Parent(of: book, texts), view: view), context)
    }

    /// Saves a new book. The response is 201 with the book's JSON and `change`, 409 `owned` if the edition is already
    /// owned and `anotherCopy` is not set, 422 `field.NAME` for an invalid value, or 400 for a wrong type. A second
    /// request with the same id in `request` saves nothing more.
    private func enter(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let now = parts.ports.now()
        let entered = try EnteredBook(try await request.object())
        let confirmed = try await context.answeringItem(entered.confirmed)
        let result: SaveResult
        do {
            result = try await parts.ports.station.enter(confirmed) {
                try await context.library.enter(
                    confirmed, notes: entered.notes(at: now), dates: entered.dates, at: now, entered.facts)
            }
        } catch let refusal as ReadingRefusal {
            throw FieldRefusal(field: "finished", cause: refusal)
        }
        return try await context.response(to: result)
    }
}

extension KioskContext {
    /// Returns the confirmed book together with the id of the oldest queue item with the same ISBN. This item leaves
    /// the queue when the book is saved. Later items may be other copies, so they stay in the queue.
    func answeringItem(_ confirmed: Confirmed) async throws -> Confirmed {
        guard let isbn = confirmed.isbn, !confirmed.preset.isWishlist else { return confirmed }
        let item = try await library.items(in: [.waiting]).first { $0.isbn == isbn }
        return item.map { confirmed.answering($0.id) } ?? confirmed
    }

    /// Returns the response to a request that saves a book: 201 with the book's JSON and `change`.
    ///
    /// - Throws: ``RequestRefusal`` (409 `owned`) if nothing was saved, because the edition is owned already.
    func response(to result: SaveResult) async throws -> JSONResponse {
        switch result {
        case .owned(let book):
            let title = String(book.displayTitle.cleanedLine.prefix(120))
            let location = book.copy.shelf.map { " on the shelf \"\($0.cleanedLine.prefix(80))\"" } ?? ""
            throw RequestRefusal(
                .owned, "You already have \"\(title)\"\(location). To add it again, mark it as another copy.",
                values: ["title": title])
        case .saved(let copy, _), .wishFulfilled(let copy, _), .restored(let copy, _), .alreadySaved(let copy):
            do {
                guard let book = try await library.book(copy) else { throw RequestRefusal.notFound("book") }
                return JSONResponse(book.json.with(change: result.change), status: .created)
            } catch  where result.change != nil {
                // The book is saved, so the response must be a success. The page loads the missing values with its next
                // request.
                logger.warning("cannot read the book that was just saved: \(error)")
                return JSONResponse(
                    ["id": .string(copy.rawValue), "change": JSONValue(result.change?.rawValue)], status: .created)
            }
        }
    }
}

/// Prepares the values of the form for its template.
struct BookFormView {
    let view: View

    init(_ book: Book, _ texts: Texts) {
        let (metadata, copy, edition) = (book.edition.metadata, book.copy, book.edition)
        func choices<Word: RawRepresentable<String> & CaseIterable & Equatable>(
            _ chosen: Word?, _ label: (Word) -> String
        ) -> [View] {
            Word.allCases.map {
                ["code": $0.rawValue, "label": label($0).capitalisedFirst, "isChosen": $0 == chosen]
            }
        }
        var view: View = [
            "f_title": metadata.title ?? "", "f_subtitle": metadata.subtitle ?? "",
            "f_isbnText": edition.isbnText ?? edition.isbn?.hyphenated ?? "",
            "f_publisher": metadata.publisher ?? "",
            "f_publishedDate": metadata.publishedDate?.description ?? metadata.publishedDateText ?? "",
            "f_pageCount": metadata.pageCount.map(String.init) ?? "", "f_language": metadata.language ?? "",
            "f_originalLanguage": metadata.originalLanguage ?? "",
            "f_authorNationality": metadata.authorNationality ?? "", "f_series": metadata.series ?? "",
            "f_seriesNumber": metadata.seriesNumber ?? "", "f_description": metadata.description ?? "",
            "f_previewLink": metadata.previewLink ?? "", "f_infoLink": metadata.infoLink ?? "",
            "f_shelf": copy.shelf ?? "", "f_rating": copy.rating.map { JSONValue.number($0).text } ?? "",
            "f_recommendedBy": copy.recommendedBy ?? "", "f_dailyGoal": copy.dailyGoal.map(String.init) ?? "",
            "f_culturalGoalCategory": copy.culturalGoalCategory ?? "",
        ]
        view["authors"] = (metadata.authors.isEmpty ? [Contributor(name: "")] : metadata.authors).map {
            person -> View in
            ["person": person.name, "roles": choices(person.role, texts.label(for:))]
        }
        view["newRoles"] = choices(Contributor.Role.author, texts.label(for:))
        view["subjects"] = metadata.subjects.map { ["text": $0] as View }
        view["tags"] = copy.tags.map { ["text": $0] as View }
        view["formats"] = choices(metadata.format) { texts.label(for: $0) }
        view["statuses"] = choices(copy.status, texts.label(for:))
        view["status"] = copy.status.rawValue
        view["f_started"] = copy.reading?.started?.description ?? ""
        view["f_finished"] = copy.reading?.finished?.description ?? ""
        view["f_stopped"] = copy.reading?.stopped?.description ?? ""
        view["stars"] = (1...5).map { star -> View in
            ["star": String(star), "label": texts("common.stars", count: star)]
        }
        view["isOwned"] = copy.isOwned
        view["isWishlist"] = copy.isOnWishlist
        view["isFavourite"] = copy.isFavourite
        view["isPublic"] = copy.isPublic
        view["isCulturalGoal"] = copy.countsForCulturalGoal
        view["recommendYes"] = copy.wouldRecommend == true
        view["recommendNo"] = copy.wouldRecommend == false
        view["languages"] = texts.section("languages").sorted { $0.value < $1.value }
            .map { ["code": $0.key, "label": $0.value] as View }
        self.view = view
    }
}

/// A new book from the form, with the values of a ``BookPatch`` and the values that only a new book has.
struct EnteredBook: Sendable {
    let confirmed: Confirmed
    /// The dates for the reading that is created if the book's status requires one.
    let dates: DateEdit
    private let note: String?
    private let patch: BookPatch

    private static let names: Set = ["request", "anotherCopy", "started", "finished", "stopped", "note"]

    /// - Throws: ``RequestRefusal`` (400) for unknown members and wrong types, ``FieldRefusal`` for invalid values.
    init(_ object: RequestObject) throws {
        // If the book fulfils a wish, the form's empty fields must not clear values of the wish.
        let sent = object.withoutNulls
        let patch = try BookPatch(sent, and: Self.names)
        self.patch = patch
        dates = DateEdit(
            started: try sent.day("started"), finished: try sent.day("finished"), stopped: try sent.day("stopped"))
        note = try sent.text("note").value.flatMap { $0.cleaned(forLimit: TextLimit.note).isEmpty ? nil : $0 }
            .map { note in try FieldRefusal.at("note") { try note.checked(as: "note", limit: TextLimit.note) } }
        var book = Book(edition: Edition(isbn: nil, metadata: Metadata()), copy: Copy(added: .distantPast))
        try patch(&book)
        book.edition.metadata.attribute(to: .person)
        let isWish = try sent.bool("wishlist").value ?? false
        let isOwned = try sent.bool("owned").value ?? false
        let preset = Preset(
            shelf: book.copy.shelf, tags: book.copy.tags, status: book.copy.status, isWishlist: isWish && !isOwned)
        let (edition, request) = (book.edition, try sent.request())
        let anotherCopy = try sent.bool("anotherCopy").value ?? false
        confirmed = try FieldRefusal.at("title") {
            try Confirmed(
                enteredBy: .form, request: request, isbn: edition.isbn, isbnText: edition.isbnText,
                metadata: edition.metadata, preset: preset, anotherCopy: anotherCopy)
        }
    }

    /// Sets the properties of the copy other than status, shelf and tags.
    var facts: @Sendable (inout Copy) throws -> Void {
        { [patch] copy in
            var book = Book(edition: Edition(isbn: nil, metadata: Metadata()), copy: copy)
            try patch(&book)
            copy = book.copy
        }
    }

    func notes(at now: Date) -> [Note] { note.map { [Note(text: $0, created: now)] } ?? [] }
}
