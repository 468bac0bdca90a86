import Bookplate
import Hummingbird

/// What a person says of a book: the members of its JSON that were sent. What was not sent stays, null clears. Checked as the
/// commands check it, before anything is changed.
struct BookPatch: Sendable {
    private var changes: [@Sendable (inout Book) throws -> Void] = []

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
        try editEdition(sent)
        try editCopy(sent)
    }

    func callAsFunction(_ book: inout Book) throws {
        for change in changes { try change(&book) }
    }

    /// Checks each member by itself, so that a refusal names it.
    private mutating func editEdition(_ sent: SentObject) throws {
        let number = try Self.mapped(sent, "isbnText") { try EnteredNumber($0) }
        if number != .keep {
            changes.append { ($0.edition.isbn, $0.edition.isbnText) = (number.value?.isbn, number.value?.text) }
        }
        for (name, path) in [
            ("title", \.title), ("subtitle", \.subtitle), ("publisher", \.publisher), ("language", \.language),
            ("originalLanguage", \.originalLanguage), ("authorNationality", \.authorNationality), ("series", \.series),
            ("seriesNumber", \.seriesNumber), ("description", \.description), ("previewLink", \.previewLink),
            ("infoLink", \.infoLink), ("publishedDate", \.publishedDate),
        ] as [(String, WritableKeyPath<MetadataEdit, String?>)] {
            let text = try sent.text(name)
            try edit(name) { $0[keyPath: path] = text.value(clearedBy: "") }
        }
        let (pages, subjects) = (try sent.integer("pageCount"), try sent.texts("subjects"))
        try edit("pageCount") { $0.pageCount = pages.edited }
        try edit("subjects") { $0.subjects = subjects.value(clearedBy: []) }
        let format = try sent.format("format")
        try edit("format") { $0.format = format.edited }
        if let people = try sent.objects("authors") {
            let contributors = try people.compactMap { try $0.contributor() }
            try edit("authors") { $0.contributors = contributors }
        }
    }

    /// Adds the edit of one field of the metadata.
    private mutating func edit(_ name: String, _ set: (inout MetadataEdit) -> Void) throws {
        var edit = MetadataEdit()
        set(&edit)
        guard !edit.isEmpty else { return }
        try FieldRefusal.at(name) { try edit.check() }
        changes.append { [edit] in try edit.apply(to: &$0.edition.metadata) }
    }

    private mutating func editCopy(_ sent: SentObject) throws {
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

extension SentObject {
    /// The format of a book, in any case; an empty text clears it.
    fileprivate func format(_ name: String) throws -> Edit<Metadata.Format> {
        switch try text(name) {
        case .keep: return .keep
        case .clear, .set(""): return .clear
        case .set(let text):
            guard let format = Metadata.Format.named(text) else {
                let formats = Metadata.Format.allCases.map(\.rawValue).joined(separator: ", ")
                throw Self.refusal(name, "one of \(formats)")
            }
            return .set(format)
        }
    }

    /// A person in a list of authors; `nil` for a line of the form that was left empty.
    fileprivate func contributor() throws -> Contributor? {
        try only(["name", "role"])
        let name = try text("name").required(as: "name")
        let role = try word("role", Contributor.Role.self).value ?? .author
        return name.cleanedLine.isEmpty ? nil : Contributor(name: name, role: role)
    }
}
