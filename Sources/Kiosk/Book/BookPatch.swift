import Bookplate
import Hummingbird

/// What a person says of a book: the members of its JSON that were sent. What was not sent stays, null clears. Checked as the
/// commands check it, before anything is changed.
struct BookPatch: Sendable {
    private var changes: [@Sendable (inout Book) -> Void] = []

    static let names: Set<String> = [
        "title", "subtitle", "authors", "isbnText", "publisher", "publishedDate", "pageCount", "language",
        "originalLanguage", "authorNationality", "format", "series", "seriesNumber", "description", "subjects",
        "previewLink", "infoLink", "owned", "wishlist", "favourite", "shelf", "tags", "rating", "public",
        "recommendedBy", "wouldRecommend", "dailyGoal", "culturalGoal", "culturalGoalCategory", "status",
    ]

    /// - Parameter others: what may be in it besides.
    /// - Throws: ``RequestRefusal`` (400) for what is of another type or unknown, ``FieldRefusal`` for what cannot be.
    init(_ sent: SentObject, and others: Set<String> = []) throws {
        try sent.only(Self.names.union(others))
        try takeEdition(sent)
        try takePeople(sent)
        try takeCopy(sent)
    }

    func callAsFunction(_ book: inout Book) {
        for change in changes { change(&book) }
    }

    private mutating func takeEdition(_ sent: SentObject) throws {
        switch try sent.text("title") {
        case .keep: break
        case .clear: throw FieldRefusal(field: "title", cause: TextRefusal.empty(what: "title"))
        case .set(let title):
            let title = try FieldRefusal.at("title") { try title.checked(as: "title", limit: TextLimit.title) }
            changes.append { $0.edition.metadata.title = title }
        }
        let number = try Self.mapped(sent, "isbnText") { try EnteredNumber($0) }
        if number != .keep {
            changes.append { ($0.edition.isbn, $0.edition.isbnText) = (number.value?.isbn, number.value?.text) }
        }
        try text(sent, "subtitle", \.subtitle, "subtitle", TextLimit.title)
        try text(sent, "publisher", \.publisher, "publisher", TextLimit.name)
        try text(sent, "language", \.language, "language", TextLimit.language)
        try text(sent, "originalLanguage", \.originalLanguage, "original language", TextLimit.language)
        try text(sent, "authorNationality", \.authorNationality, "author's nationality", TextLimit.name)
        try text(sent, "series", \.series, "series", TextLimit.name)
        try text(sent, "seriesNumber", \.seriesNumber, "number in the series", TextLimit.seriesNumber)
        try text(sent, "description", \.description, "description", TextLimit.description)
        for (name, what, path) in [
            ("previewLink", "preview link", \Metadata.previewLink), ("infoLink", "info link", \Metadata.infoLink),
        ] as [(String, String, WritableKeyPath<Metadata, String?> & Sendable)] {
            set(try Self.mapped(sent, name) { try $0.checkedLink(as: what) }, path)
        }
        let published = try Self.mapped(sent, "publishedDate") { Published(try Metadata.published($0)) }
        if published != .keep {
            changes.append { book in
                book.edition.metadata.publishedDateText = published.value?.text
                book.edition.metadata.publishedDate = published.value?.day
            }
        }
        let pages = try sent.integer("pageCount")
        try FieldRefusal.at("pageCount") {
            try NumberLimit.check(pages.value, as: "page count", in: NumberLimit.pages)
        }
        set(pages, \.pageCount)
        set(try sent.word("format", Metadata.Format.self), \.format)
        let subjects = try Self.names(sent, "subjects", "subject")
        if subjects != .keep { changes.append { $0.edition.metadata.subjects = subjects.value ?? [] } }
    }

    private struct Published: Sendable, Equatable {
        let text: String
        let day: CalendarDay?

        init(_ published: (text: String, day: CalendarDay?)) { (text, day) = published }
    }

    private mutating func takePeople(_ sent: SentObject) throws {
        guard let people = try sent.objects("authors") else { return }
        let authors = try people.compactMap { person -> Contributor? in
            try person.only(["name", "role"])
            let sentName = try person.text("name").required(as: "name")
            // A line of the form that was left empty.
            if sentName.cleanedLine.isEmpty { return nil }
            let name = try FieldRefusal.at("authors") { try sentName.checked(as: "author", limit: TextLimit.name) }
            return Contributor(name: name, role: try person.word("role", Contributor.Role.self).value ?? .author)
        }
        changes.append { $0.edition.metadata.authors = authors }
    }

    private mutating func takeCopy(_ sent: SentObject) throws {
        if let status = try sent.word("status", Copy.Status.self).value { changes.append { $0.copy.status = status } }
        if let owned = try sent.bool("owned").value { changes.append { $0.copy.isOwned = owned } }
        if let wishlist = try sent.bool("wishlist").value { changes.append { $0.copy.isOnWishlist = wishlist } }
        if let favourite = try sent.bool("favourite").value { changes.append { $0.copy.isFavourite = favourite } }
        if let isPublic = try sent.bool("public").value { changes.append { $0.copy.isPublic = isPublic } }
        let shelf = try Self.mapped(sent, "shelf") { try $0.checked(as: "shelf", limit: TextLimit.name) }
        let recommender = try Self.mapped(sent, "recommendedBy") {
            try $0.checked(as: "name of who recommended it", limit: TextLimit.name)
        }
        let (would, rating, goal) = (
            try sent.bool("wouldRecommend"), try sent.number("rating"), try sent.integer("dailyGoal")
        )
        if let rating = rating.value, !Copy.isRating(rating) {
            throw FieldRefusal(field: "rating", cause: InputRefusal.badRating(rating))
        }
        try FieldRefusal.at("dailyGoal") { try NumberLimit.check(goal.value, as: "daily goal", in: NumberLimit.goal) }
        changes.append { book in
            book.copy.shelf = shelf.applied(to: book.copy.shelf)
            book.copy.recommendedBy = recommender.applied(to: book.copy.recommendedBy)
            book.copy.wouldRecommend = would.applied(to: book.copy.wouldRecommend)
            book.copy.rating = rating.applied(to: book.copy.rating)
            book.copy.dailyGoal = goal.applied(to: book.copy.dailyGoal)
        }
        let tags = try Self.names(sent, "tags", "tag")
        if tags != .keep { changes.append { $0.copy.tags = tags.value ?? [] } }
        let category = try Self.mapped(sent, "culturalGoalCategory") {
            try $0.checked(as: "cultural goal", limit: TextLimit.name)
        }
        // Who names a category means it to count, and what counts for none has none.
        let counts = try sent.bool("culturalGoal").value ?? (category.value == nil ? nil : true)
        changes.append { book in
            book.copy.culturalGoalCategory = category.applied(to: book.copy.culturalGoalCategory)
            book.copy.countsForCulturalGoal = counts ?? book.copy.countsForCulturalGoal
            if counts == false { book.copy.culturalGoalCategory = nil }
        }
    }

    private mutating func text(
        _ sent: SentObject, _ name: String, _ path: WritableKeyPath<Metadata, String?> & Sendable, _ what: String,
        _ limit: Int
    ) throws {
        set(try Self.mapped(sent, name) { try $0.checked(as: what, limit: limit) }, path)
    }

    private mutating func set<Value>(_ edit: Edit<Value>, _ path: WritableKeyPath<Metadata, Value?> & Sendable) {
        guard edit != .keep else { return }
        changes.append { $0.edition.metadata[keyPath: path] = edit.value }
    }

    private static func names(_ sent: SentObject, _ name: String, _ what: String) throws -> Edit<[String]> {
        switch try sent.texts(name) {
        case .keep: return .keep
        case .clear: return .clear
        case .set(let names):
            return .set(
                try FieldRefusal.at(name) { try names.map { try $0.checked(as: what, limit: TextLimit.name) } })
        }
    }

    /// What was said as it is stored. A text with nothing in it clears, as on the command line.
    private static func mapped<Result>(
        _ sent: SentObject, _ name: String, _ check: (String) throws -> Result
    ) throws -> Edit<Result> {
        switch try sent.text(name) {
        case .keep: .keep
        case .clear: .clear
        case .set(let text): text.isEmpty ? .clear : .set(try FieldRefusal.at(name) { try check(text) })
        }
    }
}

/// What a page showed where a person began to write: member `"was"` beside what is sent. Who writes over what another has said meanwhile
/// is told so first, because nobody means to replace what nobody has seen. As If-Match (RFC 9110, section 13.1.1), for one value.
struct SeenValues: Sendable {
    /// The name of the member.
    static let name = "was"

    private let seen: [String: JSONValue]
    private let sent: SentObject

    /// Nothing was seen where there is no such member: who does not say what was there means whatever is there.
    init(_ sent: SentObject) throws {
        self.sent = sent
        seen = try sent.object(Self.name)?.members ?? [:]
    }

    /// - Parameter now: what there is, by the member's name; several where pages show it in several ways.
    /// - Throws: ``RequestRefusal`` (409, "changed.NAME") for a value that is neither what was seen nor what is said now.
    func check(_ now: (String) -> [JSONValue]) throws {
        for (name, value) in seen.sorted(by: { $0.key < $1.key }) where sent.members[name] != nil {
            let current = now(name).map(\.comparable)
            let known = [value, sent.members[name]].compactMap { $0?.comparable }
            guard let shown = current.first, !current.contains(where: known.contains) else { continue }
            throw RequestRefusal(
                status: .conflict, code: "changed.\(name)",
                message:
                    "Somebody else has changed this meanwhile. It is now: \(shown.told). Save again to replace it.",
                values: ["is": shown.told], key: "changed", now: now(name).first)
        }
    }

    /// What names become of which both this and another person have added and taken away: each has its way.
    ///
    /// - Parameters:
    ///   - now: what there is.
    ///   - said: what there is to be.
    func merged(_ name: String, into now: [String], said: [String]) -> [String] {
        guard case .array(let values) = seen[name] else { return said }
        let before = values.compactMap { if case .string(let text) = $0 { text } else { nil } }
        guard before != now else { return said }
        return now.filter { !before.contains($0) || said.contains($0) }
            + said.filter { !before.contains($0) && !now.contains($0) }
    }
}

extension Book {
    /// A member of its JSON as pages offer it to be changed.
    func shown(_ name: String) -> [JSONValue] {
        guard BookPatch.names.contains(name), case .object(let members) = json else { return [] }
        let alias = ["isbnText": "hyphenated", "publishedDate": "publishedDateText"][name]
        return [name, alias].compactMap { name in members.first { $0.key == name }?.value }
    }
}

extension JSONValue {
    /// Without what a form adds or leaves out: lines end in one way, nothing is around a text, and an empty one is none.
    fileprivate var comparable: JSONValue {
        switch self {
        case .string(let text):
            let cleaned = text.cleaned
            return cleaned.isEmpty ? .null : .string(cleaned)
        case .array(let values): return .array(values.map(\.comparable))
        case .object(let members):
            return .object(members.sorted { $0.key < $1.key }.map { (key: $0.key, value: $0.value.comparable) })
        default: return self
        }
    }

    /// For a person, shortened.
    fileprivate var told: String {
        let words =
            switch self {
            case .null: "–"
            case .string(let text): text
            case .array(let values): values.map(\.told).joined(separator: ", ")
            case .object(let members): members.first { $0.key == "name" }?.value.told ?? text
            default: text
            }
        let line = words.cleanedLine
        return line.count > 80 ? line.prefix(79) + "…" : line
    }
}
