import Bookplate
import FoundationEssentials
import Hummingbird

/// The page that compares a book with the record of each source. One press takes a value.
struct SourcesPage: Sendable {
    let parts: KioskParts

    var routes: [Route] {
        [
            Route(.get, "/books/:id/sources", for: .household, page),
            Route(.post, "/api/books/:id/take", for: .household, take),
            Route(.get, "/api/sources/:comparison/:source/cover", for: .household, cover),
        ]
    }

    private func page(_ request: Request, _ context: KioskContext) async throws -> Response {
        let texts = parts.pages.texts(context)
        let book = try await book(context)
        let edition = book.edition
        guard let search = parts.ports.records, edition.isbn != nil || edition.titleQuery != nil else {
            throw RequestRefusal.notFound("comparison")
        }
        // What a person has taken is shown at once; the sources are asked again only on a new visit.
        let known = try request.queryValue("of").flatMap { id in
            parts.comparisons[id].flatMap { $0.isAbout(edition) ? (id, $0.records) : nil }
        }
        let (id, records): (String, [SourceRecord])
        if let known {
            (id, records) = known
        } else {
            records = await search.records(of: edition, language: context.language.rawValue)
            id = parts.comparisons.keep(Comparison(edition: edition.id, isbn: edition.isbn, records: records))
        }
        let fields = FieldComparison.all(book.edition.metadata, with: records).map { comparison -> View in
            [
                "label": texts("book.field_\(comparison.field.rawValue)").capitalisedFirst,
                "isCover": comparison.field == .coverURL,
                "values": comparison.values.map { view(of: $0, in: comparison.field, id, texts) },
            ]
        }
        let silent = records.filter { $0.metadata == nil }.map { record -> View in
            let state =
                record.hasFailed
                ? "silent" : record.answer == .notFound ? "missing" : record.isWeak ? "weak" : "notAsked"
            return ["name": texts.source(record.source), "state": texts("sources.\(state)")]
        }
        let content: View = [
            "book": book.id.rawValue, "name": book.displayTitle.cleanedLine, "comparison": id, "fields": fields,
            "silent": silent, "hasNone": fields.isEmpty, "isByTitle": edition.isbn == nil,
        ]
        return try await parts.pages.render(
            Pages.Page(
                template: "sources", title: texts("sources.title"), tab: .library,
                parent: Pages.Parent(of: book, texts), view: content), context)
    }

    private func view(
        of value: FieldComparison.Value, in field: Metadata.Field, _ comparison: String, _ texts: Texts
    ) -> View {
        var view: View = [
            "text": shown(value.text, in: field, texts), "isCurrent": value.isCurrent,
            "from": value.sources.isEmpty
                ? texts("sources.own") : value.sources.map { texts.source($0) }.joined(separator: ", "),
        ]
        guard let source = value.sources.first else { return view }
        view["body"] =
            JSONValue.object([
                ("comparison", .string(comparison)), ("field", .string(field.rawValue)),
                ("source", .string(source.rawValue)),
            ]).text
        if field == .coverURL, parts.ports.fetchCover != nil {
            view["cover"] = "/api/sources/\(comparison)/\(source.rawValue)/cover"
        }
        return view
    }

    private func shown(_ text: String, in field: Metadata.Field, _ texts: Texts) -> String {
        switch field {
        case .language, .originalLanguage: texts.language(code: text)
        case .format: Metadata.Format(rawValue: text).map { texts.label(for: $0) } ?? text
        case .description: String(text.cleanedLine.prefix(300))
        default: text.cleanedLine
        }
    }

    /// Takes the value that a source has for one field.
    private func take(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let copy = try context.id(of: Copy.self)
        let sent = try await request.object()
        try sent.checkMembers(["comparison", "field", "source"])
        let edition = try await book(context).edition
        let record = try record(
            of: sent.text("comparison").value, from: sent.text("source").value.flatMap(SourceName.init), edition)
        guard let field = try sent.text("field").value.flatMap(Metadata.Field.init),
            FieldComparison.fields.contains(field), record.text(of: field) != nil
        else { throw RequestRefusal.notFound("value") }
        return try await context.perform(on: copy) {
            let (book, change) = try await context.library.take([field: record], for: copy, at: parts.ports.now())
            return JSONResponse(book.json.with(change: change))
        }
    }

    private func cover(_ request: Request, _ context: KioskContext) async throws -> Response {
        let record = try record(
            of: context.parameters.get("comparison"), from: context.parameters.get("source").flatMap(SourceName.init))
        return try await parts.offeredCover(at: record.coverURL)
    }

    /// - Parameter edition: the edition that the comparison must be about; `nil` if it does not matter.
    private func record(
        of comparison: String?, from source: SourceName?, _ edition: Edition? = nil
    ) throws -> Metadata {
        guard let comparison, let source, let found = parts.comparisons[comparison],
            edition.map(found.isAbout) ?? true,
            let record = found.records.first(where: { $0.source == source })?.metadata
        else { throw RequestRefusal.notFound("comparison") }
        return record
    }

    private func book(_ context: KioskContext) async throws -> Book {
        guard let book = try await context.library.book(context.id(of: Copy.self)) else {
            throw RequestRefusal.notFound("book")
        }
        try book.checkOutsideTrash()
        return book
    }
}

/// The records of sources about one book.
struct Comparison: Sendable {
    let edition: ID<Edition>
    /// The number that the sources were asked for; `nil` if they were searched for the title.
    let isbn: ISBN?
    let records: [SourceRecord]

    /// Returns false also if the edition has got another number since.
    func isAbout(_ other: Edition) -> Bool { edition == other.id && isbn == other.isbn }
}
