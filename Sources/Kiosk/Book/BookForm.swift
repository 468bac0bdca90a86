import Bookplate
import FoundationEssentials
import Hummingbird

/// One form to add a book by hand and to edit one.
struct BookFormPage: Sendable {
    let parts: KioskParts

    var routes: [Route] {
        [
            Route(.get, "/add", for: .household, add), Route(.get, "/books/:id/edit", for: .household, edit),
        ]
    }

    /// `?isbn=` fills in what is known of it here, `?title=` the title.
    private func add(_ request: Request, _ context: KioskContext) async throws -> Response {
        let texts = parts.pages.texts(context)
        let pairs = try LibraryAddress.pairs(request.uri.query ?? "")
        let isbn = pairs.last { $0.name == "isbn" }?.value ?? ""
        let known = try await KnownNumber(isbn, in: parts.library, texts)
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
        if let refusal = known.refusal { view["numberTrouble"] = texts("form.wrongNumber", ["reason": refusal]) }
        if let owned = known.owned {
            view["owned"] = ["id": owned.id.rawValue, "words": Self.ownedWords(owned, texts)] as View
        }
        return try await parts.pages.answer(
            Pages.Page(template: "form", title: texts("form.add"), tab: .library, view: view), context)
    }

    static func ownedWords(_ book: Book, _ texts: Texts) -> String {
        texts("form.ownedAlready", ["title": LibraryHit.short(book.displayTitle)])
    }

    private func edit(_ request: Request, _ context: KioskContext) async throws -> Response {
        let texts = parts.pages.texts(context)
        guard let book = try await parts.library.book(try context.id(of: Copy.self)) else {
            throw RequestRefusal.notThere("book")
        }
        try book.checkOutsideTrash()
        var view = BookFormView(book, texts).view
        view["id"] = book.id.rawValue
        return try await parts.pages.answer(
            Pages.Page(template: "form", title: texts("form.edit"), tab: .library, view: view), context)
    }
}

/// The form's fields with what the book has in them.
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
            ["person": person.name, "roles": choices(person.role, texts.word(for:))]
        }
        view["newRoles"] = choices(Contributor.Role.author, texts.word(for:))
        view["subjects"] = metadata.subjects.map { ["text": $0] as View }
        view["tags"] = copy.tags.map { ["text": $0] as View }
        view["formats"] = choices(metadata.format) { texts.word(for: $0) }
        view["statuses"] = choices(copy.status, texts.word(for:))
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

/// A book as the form sends it: what a ``BookPatch`` would say of one that is not there yet, and what belongs to its beginning.
struct EnteredBook: Sendable {
    let confirmed: Confirmed
    /// Of the reading that the status makes.
    let dates: DateEdit
    private let note: String?
    private let patch: BookPatch

    private static let names: Set = ["request", "anotherCopy", "started", "finished", "stopped", "note"]

    /// - Throws: ``RequestRefusal`` (400) for what is of another type or unknown, ``FieldRefusal`` for what cannot be.
    init(_ object: SentObject) throws {
        // A wish that it fulfils keeps what is said of it already: what the form leaves empty clears nothing.
        let sent = object.withoutNulls
        let patch = try BookPatch(sent, and: Self.names)
        self.patch = patch
        dates = DateEdit(
            started: try sent.day("started"), finished: try sent.day("finished"), stopped: try sent.day("stopped"))
        note = try sent.text("note").value.flatMap { $0.cleaned(forLimit: TextLimit.note).isEmpty ? nil : $0 }
            .map { note in try FieldRefusal.at("note") { try note.checked(as: "note", limit: TextLimit.note) } }
        var book = Book(edition: Edition(isbn: nil, metadata: Metadata()), copy: Copy(added: .distantPast))
        patch(&book)
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

    /// What is known of the copy besides status, shelf and tags.
    var facts: @Sendable (inout Copy) -> Void {
        { [patch] copy in
            var book = Book(edition: Edition(isbn: nil, metadata: Metadata()), copy: copy)
            patch(&book)
            copy = book.copy
        }
    }

    func notes(at now: Date) -> [Note] { note.map { [Note(text: $0, created: now)] } ?? [] }
}
