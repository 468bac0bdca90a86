import Bookplate

/// A field that a search can name: `tag:sf`, `-status:read`, `shelf:"Living room"`.
struct QueryField {
    /// The values that are completed after the colon.
    enum Values {
        /// Any text or number.
        case free
        case list([String])
        case library(CompletedValue)
    }

    var name: String
    var explanation: String
    var values = Values.free

    init(_ name: String, _ explanation: String, _ values: Values = .free) {
        (self.name, self.explanation, self.values) = (name, explanation, values)
    }

    static let all = [
        QueryField("title", "words of the title"),
        QueryField("author", "a contributor", .library(.author)),
        QueryField("tag", "a tag", .library(.tag)),
        QueryField("shelf", "a shelf", .library(.shelf)),
        QueryField("status", "the reading status", .list(Copy.Status.allCases.map(\.rawValue))),
        QueryField("series", "words of the series"),
        QueryField("publisher", "words of the publisher"),
        QueryField("language", "a language", .library(.language)),
        QueryField("lang", "a language", .library(.language)),
        QueryField("format", "the format", .list(["physical", "digital", "audiobook"])),
        QueryField("genre", "a genre"),
        QueryField("rating", "stars", .list(RatingBand.all.map(\.text))),
        QueryField("pages", "the number of pages"),
        QueryField("year", "the year of publication"),
        QueryField("added", "the days on which it was added", .library(.day)),
        QueryField("started", "the days on which it was started", .library(.day)),
        QueryField("finished", "the days on which it was finished", .library(.day)),
        QueryField("missing", "a field that it lacks", .list(MissingField.allCases.map(\.rawValue))),
        QueryField("has", "something that it has", .list(MissingField.allCases.map(\.rawValue))),
        QueryField("is", "a mark", .list(["owned", "wishlist", "favourite", "public"])),
        QueryField("isbn", "an ISBN or its beginning"),
        QueryField("id", "an id or its end"),
        QueryField("note", "words of a note"),
        QueryField("quote", "words of a quote"),
        QueryField("readby", "a reader who has read it", .library(.reader)),
        QueryField("filter", "a saved filter"),
    ]

    /// Returns a value as it is written after the colon. The shell quotes the spaces in it, so that field and value
    /// stay one argument; quotation marks within the argument are kept up if the typed text has begun them.
    static func written(_ value: String, after typed: Substring) -> String {
        typed.hasPrefix("\"") ? "\"\(value)\"" : value
    }
}
