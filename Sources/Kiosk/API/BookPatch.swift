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
