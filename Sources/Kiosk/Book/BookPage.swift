import Bookplate
import FoundationEssentials
import Hummingbird

/// The page of one book.
struct BookPage: Sendable {
    let parts: KioskParts

    var routes: [Route] { [Route(.get, "/books/:id", for: .guests, page)] }

    /// The number of sessions on a page.
    static let sessionsAtATime = 20
    /// The number of notes that the page shows before a person chooses "Show all". The same number applies to quotes.
    static let annotationsAtFirst = 20

    private func page(_ request: Request, _ context: KioskContext) async throws -> Response {
        let copy = try context.id(of: Copy.self)
        let (library, texts) = (context.library, parts.pages.texts(context))
        guard let whole = try await library.wholeBook(copy) else { throw RequestRefusal.notFound("book") }
        let now = parts.ports.now()
        if context.isGuest { return try await guestPage(whole, context) }
        let offset = try request.number("sessions", in: 0...1_000_000, or: 0)
        let history = BookHistory(
            book: whole.book,
            stats: try await library.stats(of: copy, at: now, in: parts.ports.zone),
            entries: try await entries(of: whole.book, request, library),
            // One more session than the page shows is loaded, so that the page knows about older sessions.
            sessions: try await library.sessions(of: copy, limit: Self.sessionsAtATime + 1, offset: offset),
            offset: offset, totals: try await library.sessionTotals(of: copy), texts: texts, zone: parts.ports.zone)
        let head = BookHead(
            book: whole.book, cover: try await library.keptCover(of: whole.book.edition.id),
            running: try await library.runningSession(), others: whole.others, texts: texts, zone: parts.ports.zone,
            now: now)
        let annotations = BookAnnotations(
            whole: whole, showsAll: request.uri.queryParameters["all"] != nil, readers: context.readers.count,
            texts: texts,
            zone: parts.ports.zone)
        let details = BookDetails(book: whole.book, texts: texts, zone: parts.ports.zone)

        var view = head.view
        view.merge(details.view) { $1 }
        view.merge(history.view) { $1 }
        view.merge(annotations.view) { $1 }
        view["copies"] = try await copies(of: whole.book, texts, library)
        if whole.book.copy.deleted != nil { view.merge(readOnlyView(whole.book)) { $1 } }
        return try await parts.pages.render(
            Pages.Page(
                template: "book", title: texts.shownTitle(of: whole.book), tab: .library, view: view), context)
    }

    /// Renders the page for guests, with the book and its dates but without notes, quotes, sessions and history.
    private func guestPage(_ whole: WholeBook, _ context: KioskContext) async throws -> Response {
        let book = whole.book
        guard book.copy.deleted == nil else { throw RequestRefusal.notFound("book") }
        let (texts, zone) = (parts.pages.texts(context), parts.ports.zone)
        let head = BookHead(
            book: book, cover: try await context.library.keptCover(of: book.edition.id), running: nil,
            others: whole.others, texts: texts, zone: zone, now: parts.ports.now())
        var view = head.view
        view.merge(BookDetails(book: book, texts: texts, zone: zone).view) { $1 }
        view.merge(readOnlyView(book)) { $1 }
        view["copies"] = try await copies(of: book, texts, context.library, forGuest: true)
        return try await parts.pages.render(
            Pages.Page(
                template: "book-guest", style: "book", title: texts.shownTitle(of: book), tab: .library, view: view),
            context)
    }

    /// Returns the rating and the shelf as plain text, for pages on which the book cannot be edited.
    private func readOnlyView(_ book: Book) -> View {
        var view: View = [:]
        if let rating = book.copy.rating { view["rated"] = Copy.stars(rating) }
        if let shelf = book.copy.shelf { view["shelf"] = shelf }
        return view
    }

    /// Returns the latest progress entries of the last eight readings, and of the reading that `?reading=` selects.
    /// `?entries=` is the number of entries to skip in the selected reading, counted from the newest.
    private func entries(
        of book: Book, _ request: Request, _ library: any KioskLibrary
    ) async throws -> [ID<Reading>: ShownEntries] {
        let offset = try request.number("entries", in: 0...1_000_000, or: 0)
        let asked = request.uri.queryParameters["reading"].map { ID<Reading>(rawValue: String($0)) }
        var entries: [ID<Reading>: ShownEntries] = [:]
        for reading in book.copy.readings where reading.id == asked || book.copy.readings.suffix(8).contains(reading) {
            entries[reading.id] = try await ShownEntries(
                of: reading.id, from: reading.id == asked ? offset : nil, in: library)
        }
        return entries
    }

    /// Returns the other copies of the edition.
    private func copies(
        of book: Book, _ texts: Texts, _ library: any KioskLibrary, forGuest: Bool = false
    ) async throws -> [View] {
        guard let isbn = book.edition.isbn else { return [] }
        return try await library.books(with: [isbn])[isbn, default: []].filter { other in
            other.id != book.id && !(forGuest && other.copy.deleted != nil)
        }.map { other in
            let details = [
                other.copy.deleted != nil ? texts("book.inTrash") : texts("common.\(other.copy.status.rawValue)"),
                other.copy.shelf, other.copy.isOnWishlist ? texts("common.wishlist") : nil,
                texts("book.addedOn", ["day": texts.day(CalendarDay(other.copy.added, in: parts.ports.zone))]),
            ]
            return ["copyID": other.id.rawValue, "details": details.compactMap(\.self).joined(separator: " · ")]
        }
    }
}

/// The top of a book's page, with the cover, title, status, rating, progress and session.
struct BookHead {
    let book: Book
    let cover: KeptCover?
    /// The session that is running in the library, which may be for another book.
    let running: SessionRecord?
    /// The other readers' status and opinions of the book.
    let others: [OtherReader]
    let texts: Texts
    let zone: TimeZone
    let now: Date

    var view: View {
        let (copy, metadata) = (book.copy, book.edition.metadata)
        var view: View = [
            "id": book.id.rawValue, "heading": texts.shownTitle(of: book), "rawTitle": metadata.title ?? "",
            "authors": authors, "isAuthorless": metadata.authorNames.isEmpty, "people": metadata.peopleLines,
            "peopleHint": texts.peopleHint,
            "statuses": Copy.Status.allCases.map { status -> View in
                [
                    "status": status.rawValue, "label": texts.label(for: status), "isCurrent": status == copy.status,
                    "statusOf": texts.status(status, of: texts.shownTitle(of: book)),
                ]
            },
            "stars": stars, "ratingValue": JSONValue(copy.rating ?? 0).text,
            "ratingText": copy.rating.map { texts("book.starsOf", ["stars": texts.rating($0)]) }
                ?? texts("common.unrated"),
            "marks": marks, "serverNow": now.rfc3339, "pageCount": String(metadata.pageCount ?? 0),
        ]
        view["tint"] = DrawnCover(of: book.edition, titled: texts.shownTitle(of: book)).colour
        if let subtitle = metadata.subtitle { view["subtitle"] = subtitle }
        // A very long title gets smaller type.
        if texts.shownTitle(of: book).count > 90 { view["isLengthy"] = true }
        if copy.rating != nil { view["isRated"] = true }
        view["hasOthers"] = !others.isEmpty
        view["others"] = others.map { other -> View in
            [
                "initial": other.reader.initial, "colour": String(other.reader.colour + 1),
                "line": texts.line(of: other),
            ]
        }
        if let cover {
            view["coverSource"] = "/covers/\(book.edition.id.rawValue)?v=\(cover.version)"
            if cover.isOwn { view["hasOwnCover"] = true }
        }
        if let deleted = copy.deleted {
            view["trash"] =
                [
                    "since": texts("book.trashSince", ["when": texts.instant(deleted, in: zone)]),
                    "left": texts("book.trashLeft", count: Trash.daysLeft(deleted: deleted, now: now)),
                ] as View
        } else {
            view["isThere"] = true
        }
        view.merge(activity) { $1 }
        return view
    }

    private var authors: [View] {
        let names = book.edition.metadata.authorNames
        return names.enumerated().map { index, name in
            [
                "name": name, "href": "/library?author=" + PercentEncoding.encoded(name),
                "comma": index < names.count - 1,
            ]
        }
    }

    /// The five stars of the rating, each with the width of its filled part.
    private var stars: [View] {
        let rating = book.copy.rating ?? 0
        return (1...5).map { star in
            let part = min(1, max(0, rating - Double(star - 1)))
            return [
                "star": String(star), "starLabel": texts("common.stars", count: star),
                "isChosen": rating == Double(star),
                // The star is drawn from 2.5 to 21.5 of 24 units.
                "lit": JSONValue(part > 0 ? 2.5 + part * 19 : 0).text,
            ]
        }
    }

    private var marks: [View] {
        let copy = book.copy
        let marks: [(name: String, shape: String, isSet: Bool)] = [
            ("favourite", "♥", copy.isFavourite), ("owned", "●", copy.isOwned), ("wishlist", "☆", copy.isOnWishlist),
        ]
        return marks.map { mark in
            [
                "markName": mark.name, "mark": "\(mark.shape) \(texts("book.\(mark.name)"))", "isSet": mark.isSet,
                "body": JSONValue.object([(key: mark.name, value: .bool(!mark.isSet))]).text,
            ]
        }
    }

    /// The progress of a book that is being read, and the running session.
    private var activity: View {
        var view: View = [:]
        let pageCount = book.edition.metadata.pageCount
        let amount = book.copy.reading?.progress?.amount
        let isThere = book.copy.deleted == nil
        if isThere, book.copy.status == .reading || book.copy.status == .onHold {
            let fraction = amount?.fraction(of: pageCount)
            var block: View = [
                "reached": amount.map { texts.progress($0, pageCount: pageCount) } ?? texts("book.noProgress"),
                "currentPage": amount?.page.map(String.init) ?? "", "currentPercent": percent(amount),
                "width": "\(fraction.map { JSONValue(($0 * 1000).rounded() / 10).text } ?? "0")%",
            ]
            if amount?.isBeyond(pageCount) == true, let pageCount {
                block["beyond"] = texts("book.beyond", ["count": texts.grouped(pageCount)])
            }
            view["progress"] = block
        }
        if let running, running.copy == book.id {
            view["session"] =
                [
                    "sessionID": running.session.id.rawValue, "sessionStart": running.session.start.rfc3339,
                    "elapsed": texts.elapsed(running.session.seconds(until: now)),
                    "startPage": String(running.session.startPage),
                    "since": texts(
                        "book.sessionSince",
                        [
                            "page": texts.grouped(running.session.startPage),
                            "time": startTime(running.session.start),
                        ]),
                ] as View
        } else if let running, isThere {
            view["otherSession"] =
                [
                    "otherCopy": running.copy.rawValue,
                    "otherText": texts(
                        "book.otherSession", ["title": LibraryHit.short(running.title ?? running.displayTitle)]),
                ] as View
        } else if isThere {
            view["mayStart"] = true
        }
        return view
    }

    /// Returns the time of day if the session started today, otherwise the date and the time.
    private func startTime(_ start: Date) -> String {
        let text = texts.instant(start, in: zone)
        return CalendarDay(start, in: zone) == CalendarDay(now, in: zone) ? String(text.suffix(5)) : text
    }

    private func percent(_ amount: ProgressEntry.Amount?) -> String {
        amount?.percent.map { JSONValue($0).text } ?? ""
    }
}

extension Texts {
    /// Returns a line such as "Anna · Read 2024 · ★ 4".
    func line(of other: OtherReader) -> String {
        let year = other.day.map { " \($0.year)" } ?? ""
        let status = other.status == .toRead ? nil : label(for: other.status) + year
        return [
            name(of: other.reader), status, other.isOnWishlist ? self("common.wishlist") : nil,
            other.rating.map { "★ \(decimal($0))" },
        ].compactMap(\.self).joined(separator: " · ")
    }
}

extension Metadata {
    /// The contributors in the form in which a person edits them: one per line, followed by a colon and the role,
    /// unless the role is author.
    var peopleLines: String {
        authors.map { $0.role == .author ? $0.name : "\($0.name):\($0.role.rawValue)" }.joined(separator: "\n")
    }
}

extension Texts {
    /// The hint for the contributors' field. Roles are typed in English, so a translation is added, such as "translator
    /// (Übersetzung)".
    var peopleHint: String {
        let roles = Contributor.Role.allCases.map { role in
            label(for: role) == role.rawValue ? role.rawValue : "\(role.rawValue) (\(label(for: role)))"
        }
        return self("book.peopleHint", ["roles": roles.joined(separator: ", ")])
    }

    /// Returns a label such as "Status of Dune: To Read".
    func status(_ status: Copy.Status, of title: String) -> String {
        self("book.statusOf", ["title": LibraryHit.short(title), "status": label(for: status)])
    }
}

/// The details of a book, each of which can be edited in place.
struct BookDetails {
    let book: Book
    let texts: Texts
    let zone: TimeZone

    var view: View {
        let metadata = book.edition.metadata
        let filled = fields.filter { $0["value"] != nil }
        // Contributors are added in the authors' field, so they are not listed as missing.
        let empty = fields.filter { $0["value"] == nil && $0["name"] as? String != "authors" }
        var view: View = [
            "fields": filled, "missing": empty, "facts": facts, "dates": dates,
            "toggles": [
                toggle("public", book.copy.isPublic), toggle("culturalGoal", book.copy.countsForCulturalGoal),
            ],
            "would": [
                would(true, "yes"), would(false, "no"), would(nil, "unsaid"),
            ],
            "tags": tags, "sharing": sharing,
        ]
        if let description = metadata.description {
            view["description"] = description
            view["isLong"] = description.utf8.count > 600
        }
        if let origin { view["origin"] = origin }
        if book.edition.isbn != nil || book.edition.titleQuery != nil, book.copy.deleted == nil {
            view["sourcesAddress"] = "/books/\(book.id.rawValue)/sources"
        }
        return view
    }

    private var fields: [View] {
        let (edition, metadata) = (book.edition, book.edition.metadata)
        let format = Metadata.Format.allCases.map { [$0.rawValue, texts.label(for: $0)] }
        let formats = JSONValue.array(([["", texts("common.noFormat")]] + format).map { JSONValue($0) }).text
        return [
            field("isbnText", edition.isbn?.hyphenated ?? edition.isbnText, raw: edition.isbnText, .isbn),
            field("publisher", metadata.publisher, .publisher),
            field(
                "publishedDate", metadata.publishedDate.map { texts.day($0) } ?? metadata.publishedDateText,
                raw: metadata.publishedDateText ?? metadata.publishedDate?.description, .publishedDate),
            field(
                "pageCount", metadata.pageCount.map(texts.grouped), raw: metadata.pageCount.map(String.init),
                .pageCount,
                kind: "number"),
            language("language", metadata.language, .language),
            language("originalLanguage", metadata.originalLanguage, .originalLanguage),
            field(
                "format", metadata.format.map { texts.label(for: $0) }, raw: metadata.format?.rawValue,
                .format, kind: "select", options: formats),
            series, field("seriesNumber", metadata.seriesNumber, .series),
            field("subjects", listed(metadata.subjects), raw: lines(metadata.subjects), .subjects, kind: "lines"),
            field("authors", listed(others), raw: people, .authors, kind: "people"),
            field("authorNationality", metadata.authorNationality, .authorNationality),
            link("previewLink", metadata.previewLink, .previewLink), link("infoLink", metadata.infoLink, .infoLink),
        ]
    }

    /// The name of the series, with a link to the page of the series.
    private var series: View {
        var view = field("series", book.edition.metadata.series, .series)
        view["page"] = book.edition.metadata.series.map(SeriesPage.address)
        return view
    }

    /// The fields of the copy, which are its shelf, goals and recommendations.
    private var sharing: [View] {
        let copy = book.copy
        return [
            field("shelf", copy.shelf, nil, kind: "shelf"),
            field(
                "dailyGoal", copy.dailyGoal.map { texts("book.pagesADay", count: $0) },
                raw: copy.dailyGoal.map(String.init), nil, kind: "number"),
            field("recommendedBy", copy.recommendedBy, nil),
            field("culturalGoalCategory", copy.culturalGoalCategory, nil),
        ].map { field in
            var field = field
            if field["value"] == nil {
                field["value"] = "—"
                field["spoken"] = "\(field["label"] ?? ""): \(texts("common.empty"))"
            }
            return field
        }
    }

    /// The details that cannot be edited.
    private var facts: [View] {
        let metadata = book.edition.metadata
        var facts: [(String, String)] = []
        if let isbn10 = book.edition.isbn?.isbn10 { facts.append(("ISBN-10", isbn10)) }
        if book.edition.isbn == nil, book.edition.isbnText != nil {
            facts.append((texts("book.isbnText"), texts("book.noValidISBN")))
        }
        facts.append((texts("book.added"), texts.day(CalendarDay(book.copy.added, in: zone))))
        if let days = book.copy.reading?.daysToRead, book.copy.status == .read {
            facts.append((texts("book.daysToRead"), texts("book.days", count: days)))
        }
        for (scheme, values) in metadata.identifiers.sorted(by: { $0.key < $1.key }) {
            facts.append((texts.identifier(scheme), values.joined(separator: ", ")))
        }
        return facts.map { ["fact": $0.0, "is": $0.1] }
    }

    /// The dates of the current reading that match the book's status.
    private var dates: [View] {
        guard let reading = book.copy.reading else { return [] }
        let id = book.id
        switch book.copy.status {
        case .toRead: return []
        case .reading, .onHold: return [texts.date(.started, of: reading, copy: id)]
        case .read: return [texts.date(.started, of: reading, copy: id), texts.date(.finished, of: reading, copy: id)]
        case .dnf: return [texts.date(.started, of: reading, copy: id), texts.date(.stopped, of: reading, copy: id)]
        }
    }

    private var tags: [View] {
        book.copy.tags.map { tag in
            [
                "tag": tag, "href": "/library?tag=" + PercentEncoding.encoded(tag),
                "untag": texts("book.untag", ["tag": tag]),
                "tagBody": JSONValue.object([(key: "name", value: .string(tag))]).text,
            ]
        }
    }

    /// The sentences that list the sources of the details and the fields that a person has edited; `nil` if both lists
    /// are empty.
    private var origin: String? {
        let metadata = book.edition.metadata
        let sources = Set(metadata.sources.values).subtracting([.person]).map { texts.source($0) }.sorted()
        let edited = book.edition.editedFields.map { texts("book.field_\($0.rawValue)") }.sorted()
        let sentences = [
            sources.isEmpty ? nil : texts("book.from", ["sources": sources.joined(separator: ", ")]),
            edited.isEmpty ? nil : texts("book.kept", ["fields": edited.joined(separator: ", ")]),
        ].compactMap(\.self)
        return sentences.isEmpty ? nil : sentences.joined(separator: " ")
    }

    private var others: [String] {
        book.edition.metadata.authors.filter { $0.role != .author }
            .map { "\($0.name) (\(texts.label(for: $0.role)))" }
    }

    private var people: String { book.edition.metadata.peopleLines }

    private func field(
        _ name: String, _ value: String?, raw: String? = nil, _ source: Metadata.Field?, kind: String? = nil,
        options: String? = nil
    ) -> View {
        var view: View = ["name": name, "label": texts("book.\(name)"), "raw": raw ?? value ?? ""]
        if let kind { view["kind"] = kind }
        if kind == "people" { view["hint"] = texts.peopleHint }
        if kind == "lines" { view["hint"] = texts("book.linesHint") }
        if let value {
            view["value"] = value
            view["spoken"] = "\(texts("book.\(name)")): \(value)"
        }
        if let options { view["options"] = options }
        // Fields that a person has edited are listed together in ``origin``.
        if let source, let origin = book.edition.metadata.sources[source], origin != .person {
            view["from"] = texts.source(origin)
        }
        return view
    }

    private func language(_ name: String, _ code: String?, _ source: Metadata.Field) -> View {
        var view = field(name, code.map(texts.language(code:)), raw: code, source)
        view["hint"] = texts("book.languageHint")
        return view
    }

    private func link(_ name: String, _ value: String?, _ source: Metadata.Field) -> View {
        var view = field(name, value, source)
        // Sources are untrusted: only a valid web address becomes a link.
        if let value, let href = try? value.checkedLink(as: name) { view["href"] = href }
        return view
    }

    private func toggle(_ name: String, _ isSet: Bool) -> View {
        [
            "markName": name, "mark": texts("book.\(name)"), "isSet": isSet,
            "body": JSONValue.object([(key: name, value: .bool(!isSet))]).text,
        ]
    }

    private func would(_ value: Bool?, _ name: String) -> View {
        [
            "markName": "would-" + name, "mark": texts("book.would_\(name)"),
            "isSet": book.copy.wouldRecommend == value,
            "body": JSONValue.object([(key: "wouldRecommend", value: JSONValue(value))]).text,
        ]
    }

    private func listed(_ values: [String]) -> String? { values.isEmpty ? nil : values.joined(separator: ", ") }
    private func lines(_ values: [String]) -> String? { values.isEmpty ? nil : values.joined(separator: "\n") }
}

/// The dates that a reading can have.
enum ReadingDate: String {
    case started, finished, stopped
}

extension Texts {
    /// Returns the template values of a button that opens the calendar for one date of a reading. The calendar offers
    /// only days on which the reading would not end before it begins.
    func date(_ which: ReadingDate, of reading: Reading, copy: ID<Copy>) -> View {
        let end = reading.finished ?? reading.stopped
        let (day, least, most): (CalendarDay?, CalendarDay?, CalendarDay?) =
            switch which {
            case .started: (reading.started, nil, end.map { CalendarDay(number: $0.span.upperBound) })
            case .finished: (reading.finished, reading.started.map { CalendarDay(number: $0.span.lowerBound) }, nil)
            case .stopped: (reading.stopped, reading.started.map { CalendarDay(number: $0.span.lowerBound) }, nil)
            }
        var view: View = [
            "which": which.rawValue, "whichLabel": self("book.\(which.rawValue)"),
            "dateValue": day?.description ?? "", "shownDay": day.map { self.day($0) } ?? self("book.noDay"),
            "path": "/api/books/\(copy.rawValue)/readings/\(reading.id.rawValue)/dates",
        ]
        view["least"] = least?.description
        view["most"] = most?.description
        return view
    }
}

/// The notes, discussion notes and quotes of a book, and the values that imports have flagged.
struct BookAnnotations {
    let whole: WholeBook
    /// True to show all notes and quotes, false to show only the latest.
    let showsAll: Bool
    /// The number of readers. Notes say whose they are, and can be private, only if there are several.
    let readers: Int
    let texts: Texts
    let zone: TimeZone

    var view: View {
        let (notes, talks) = (whole.notes.filter { $0.kind == .note }, whole.notes.filter { $0.kind == .discussion })
        var view: View = [
            // The newest note first.
            "notes": cut(notes.reversed()).map(note), "talks": cut(talks.reversed()).map(note),
            "quotes": cut(whole.quotes).map(quote),
            "flags": whole.flags.map {
                ["flagSource": texts.identifier($0.source), "flagWhat": $0.what, "flagRaw": $0.raw] as View
            },
            "isFlagged": !whole.flags.isEmpty,
            "notesCount": notes.isEmpty ? "" : String(notes.count),
            "talksCount": talks.isEmpty ? "" : String(talks.count),
            "quotesCount": whole.quotes.isEmpty ? "" : String(whole.quotes.count),
        ]
        if readers > 1 {
            view["severalReaders"] = true
        }
        let most = max(notes.count, talks.count, whole.quotes.count)
        if !showsAll, most > BookPage.annotationsAtFirst {
            view["showAll"] = texts("book.showAll", count: whole.notes.count + whole.quotes.count)
        }
        return view
    }

    private func cut<Content>(_ contents: [Content]) -> ArraySlice<Content> {
        showsAll ? contents[...] : contents.prefix(BookPage.annotationsAtFirst)
    }

    private func note(_ note: Note) -> View {
        let view: View = [
            "noteID": note.id.rawValue, "text": note.text, "created": texts.instant(note.created, in: zone),
        ]
        return view.merging(ownership(of: note.reader, note.isPrivate)) { $1 }
    }

    /// Returns the values that say whose a note or quote is, and whether only its reader sees it.
    private func ownership(of reader: ReaderName?, _ isPrivate: Bool) -> View {
        guard readers > 1 else { return [:] }
        if let reader { return ["isOthers": true, "byline": reader.name.cleanedLine] }
        return ["privacy": ["pressed": isPrivate ? "true" : "false", "other": isPrivate ? "false" : "true"] as View]
    }

    private func quote(_ quote: Quote) -> View {
        let view: View = [
            "quoteID": quote.id.rawValue, "text": quote.text, "quotePage": quote.page.map(String.init) ?? "",
            "shownPage": quote.page.map { texts("book.page", ["page": texts.grouped($0)]) } ?? texts("book.noPage"),
        ]
        return view.merging(ownership(of: quote.reader, quote.isPrivate)) { $1 }
    }
}
