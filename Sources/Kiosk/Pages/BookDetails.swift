import Bookplate
import FoundationEssentials

/// What is known of a book, field by field; each is edited in place.
struct BookDetails {
    let book: Book
    let texts: Texts
    let zone: TimeZone

    var view: View {
        let metadata = book.edition.metadata
        let filled = fields.filter { $0["value"] != nil }
        // Contributors are added where the authors are.
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
        return view
    }

    private var fields: [View] {
        let (edition, metadata) = (book.edition, book.edition.metadata)
        let format = Metadata.Format.allCases.map { [$0.rawValue, texts.word(for: $0)] }
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
                "format", metadata.format.map { texts.word(for: $0) }, raw: metadata.format?.rawValue,
                .format, kind: "select", options: formats),
            field("series", metadata.series, .series), field("seriesNumber", metadata.seriesNumber, .series),
            field("subjects", listed(metadata.subjects), raw: lines(metadata.subjects), .subjects, kind: "lines"),
            field("authors", listed(others), raw: people, .authors, kind: "people"),
            field("authorNationality", metadata.authorNationality, .authorNationality),
            link("previewLink", metadata.previewLink, .previewLink), link("infoLink", metadata.infoLink, .infoLink),
        ]
    }

    /// What the copy adds: goals and sharing.
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

    /// What cannot be edited.
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

    /// The days of the reading that the book shows; only those that its status gives sense.
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

    /// Where the fields came from, and which of them a person has the last word on.
    private var origin: String? {
        let metadata = book.edition.metadata
        let sources = Set(metadata.sources.values).subtracting([.person]).map { texts.source($0) }.sorted()
        let edited = book.edition.editedFields.map { texts("book.field_\($0.rawValue)") }.sorted()
        let words = [
            sources.isEmpty ? nil : texts("book.from", ["sources": sources.joined(separator: ", ")]),
            edited.isEmpty ? nil : texts("book.kept", ["fields": edited.joined(separator: ", ")]),
        ].compactMap(\.self)
        return words.isEmpty ? nil : words.joined(separator: " ")
    }

    private var others: [String] {
        book.edition.metadata.authors.filter { $0.role != .author }
            .map { "\($0.name) (\(texts.word(for: $0.role)))" }
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
        // What a person said is told below all of them.
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
        // Whatever a source said once: only what is an address of the web becomes a link.
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

/// A day of a reading.
enum ReadingDate: String {
    case started, finished, stopped
}

extension Texts {
    /// A day of a reading as a button that opens the calendar. It offers no day that the domain refuses: nothing ends before it
    /// began.
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
