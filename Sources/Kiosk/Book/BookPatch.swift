import Bookplate
import Hummingbird

/// Changes to a book, parsed from the members of a request's JSON. Absent members leave their fields as they are, and
/// null clears a field. Before anything is changed, all values are checked by the same rules as on the command line.
struct BookPatch: Sendable {
    private var changes: [@Sendable (inout Book) throws -> Void] = []

    static let memberNames: Set<String> = [
        "title", "subtitle", "authors", "isbnText", "publisher", "publishedDate", "pageCount", "language",
        "originalLanguage", "authorNationality", "format", "series", "seriesNumber", "description", "subjects",
        "previewLink", "infoLink", "owned", "wishlist", "favourite", "shelf", "tags", "rating", "public",
        "recommendedBy", "wouldRecommend", "dailyGoal", "culturalGoal", "culturalGoalCategory", "status",
    ]

    /// - Parameter others: the names of further members that are allowed.
    /// - Throws: ``RequestRefusal`` (400) for unknown members and wrong types, ``FieldRefusal`` for invalid values.
    init(_ sent: RequestObject, and others: Set<String> = []) throws {
        try sent.checkMembers(Self.memberNames.union(others))
        try parseEdition(sent)
        try parseCopy(sent)
    }

    func callAsFunction(_ book: inout Book) throws {
        for change in changes { try change(&book) }
    }

    /// Parses the members of the edition. Each member is checked separately, so that a refusal can name the member.
    private mutating func parseEdition(_ sent: RequestObject) throws {
        let number = try Self.converted(sent, "isbnText") { try EnteredNumber($0) }
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

    /// Adds a change of one metadata field to this patch, after checking the new value.
    private mutating func edit(_ name: String, _ set: (inout MetadataEdit) -> Void) throws {
        var edit = MetadataEdit()
        set(&edit)
        guard !edit.isEmpty else { return }
        try FieldRefusal.at(name) { try edit.check() }
        changes.append { [edit] in try edit.apply(to: &$0.edition.metadata) }
    }

    private mutating func parseCopy(_ sent: RequestObject) throws {
        if let status = try sent.choice("status", Copy.Status.self).value { changes.append { $0.copy.status = status } }
        if let owned = try sent.bool("owned").value { changes.append { $0.copy.isOwned = owned } }
        if let wishlist = try sent.bool("wishlist").value { changes.append { $0.copy.isOnWishlist = wishlist } }
        if let favourite = try sent.bool("favourite").value { changes.append { $0.copy.isFavourite = favourite } }
        if let isPublic = try sent.bool("public").value { changes.append { $0.copy.isPublic = isPublic } }
        let shelf = try Self.converted(sent, "shelf") { try $0.checked(as: "shelf", limit: TextLimit.name) }
        let recommender = try Self.converted(sent, "recommendedBy") {
            try $0.checked(as: "name of the person who recommended it", limit: TextLimit.name)
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
        let category = try Self.converted(sent, "culturalGoalCategory") {
            try $0.checked(as: "cultural goal", limit: TextLimit.name)
        }
        // A book with a category counts for the cultural goal. A book that does not count has no category.
        let counts = try sent.bool("culturalGoal").value ?? (category.value == nil ? nil : true)
        changes.append { book in
            book.copy.culturalGoalCategory = category.applied(to: book.copy.culturalGoalCategory)
            book.copy.countsForCulturalGoal = counts ?? book.copy.countsForCulturalGoal
            if counts == false { book.copy.culturalGoalCategory = nil }
        }
    }

    private static func names(_ sent: RequestObject, _ name: String, _ what: String) throws -> Edit<[String]> {
        switch try sent.texts(name) {
        case .keep: return .keep
        case .clear: return .clear
        case .set(let names):
            return .set(
                try FieldRefusal.at(name) { try names.map { try $0.checked(as: what, limit: TextLimit.name) } })
        }
    }

    /// Converts the text of a member with `check`. As on the command line, an empty text clears the field.
    private static func converted<Result>(
        _ sent: RequestObject, _ name: String, _ check: (String) throws -> Result
    ) throws -> Edit<Result> {
        switch try sent.text(name) {
        case .keep: .keep
        case .clear: .clear
        case .set(let text): text.isEmpty ? .clear : .set(try FieldRefusal.at(name) { try check(text) })
        }
    }
}

extension RequestObject {
    /// Returns the format of a book, ignoring case. An empty text clears the format.
    fileprivate func format(_ name: String) throws -> Edit<Metadata.Format> {
        switch try text(name) {
        case .keep: return .keep
        case .clear, .set(""): return .clear
        case .set(let text):
            guard let format = Metadata.Format.named(text) else {
                let formats = Metadata.Format.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
                throw Self.refusal(name, "one of these: \(formats)")
            }
            return .set(format)
        }
    }

    /// Parses one contributor of a book; `nil` if the name is empty, as for an empty line of the form.
    fileprivate func contributor() throws -> Contributor? {
        try checkMembers(["name", "role"])
        let name = try text("name").required(as: "name")
        let role = try choice("role", Contributor.Role.self).value ?? .author
        return name.cleanedLine.isEmpty ? nil : Contributor(name: name, role: role)
    }
}

/// The values that a page showed when the user began to edit, from the request's member `"was"`. If somebody else has
/// changed one of these values in the meantime, the request is refused, so that nobody replaces a value without having
/// seen it. This is like If-Match (RFC 9110, 13.1.1), but for single values.
struct EditPrecondition: Sendable {
    /// The name of the request's member that contains the expected values.
    static let memberName = "was"

    private let expected: [String: JSONValue]
    private let sent: RequestObject

    /// Parses the expected values. If the request has none, any current value is accepted.
    init(_ sent: RequestObject) throws {
        self.sent = sent
        expected = try sent.object(Self.memberName)?.members ?? [:]
    }

    /// Checks that the current values are still those that the page showed.
    ///
    /// - Parameter now: a function that returns the current value of a member, or several values if pages show it in
    ///   several forms.
    /// - Throws: ``RequestRefusal`` (409, "changed.NAME") if a current value is neither the expected value nor the new
    ///   one.
    func check(_ now: (String) -> [JSONValue]) throws {
        for (name, value) in expected.sorted(by: { $0.key < $1.key }) where sent.members[name] != nil {
            let current = now(name).map(\.comparable)
            let accepted = [value, sent.members[name]].compactMap { $0?.comparable }
            guard let shown = current.first, !current.contains(where: accepted.contains) else { continue }
            throw RequestRefusal(
                .changed,
                "Somebody else has changed this value in the meantime. The current value is: \(shown.summary). "
                    + "Save again to replace it.",
                member: name, values: ["is": shown.summary], key: "changed", now: now(name).first)
        }
    }

    /// Merges the names that two users have added and removed at the same time.
    ///
    /// - Parameters:
    ///   - now: the current names.
    ///   - wanted: the names as this user has entered them.
    func merged(_ name: String, into now: [String], wanted: [String]) -> [String] {
        guard case .array(let values) = expected[name] else { return wanted }
        let before = values.compactMap { if case .string(let text) = $0 { text } else { nil } }
        guard before != now else { return wanted }
        return now.filter { !before.contains($0) || wanted.contains($0) }
            + wanted.filter { !before.contains($0) && !now.contains($0) }
    }
}

extension Book {
    /// Returns the value of a member, in each form in which pages show it for editing.
    func shownValues(_ name: String) -> [JSONValue] {
        guard BookPatch.memberNames.contains(name), case .object(let members) = json else { return [] }
        let alias = ["isbnText": "hyphenated", "publishedDate": "publishedDateText"][name]
        return [name, alias].compactMap { name in members.first { $0.key == name }?.value }
    }
}

extension JSONValue {
    /// The value in a form that can be compared. HTML forms change line endings and surrounding white space, and send
    /// empty texts instead of null.
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

    /// A short form of the value for a message.
    fileprivate var summary: String {
        let text =
            switch self {
            case .null: "–"
            case .string(let text): text
            case .array(let values): values.map(\.summary).joined(separator: ", ")
            case .object(let members): members.first { $0.key == "name" }?.value.summary ?? self.text
            default: self.text
            }
        let line = text.cleanedLine
        return line.count > 80 ? line.prefix(79) + "…" : line
    }
}
