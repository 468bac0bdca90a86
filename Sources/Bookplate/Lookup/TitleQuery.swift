/// What a person knows about a book without a number: words of its title, and perhaps of its author's name.
public struct TitleQuery: Sendable, Hashable {
    /// The words of the title, in any order.
    public let title: String
    /// The words of an author's name; `nil` if the author is not known.
    public let author: String?

    /// The maximum length of each text, in characters. Catalogues refuse longer requests.
    public static let limit = 200

    /// - Returns: `nil` if the title contains no letter and no digit.
    public init?(title: String, author: String? = nil) {
        func words(_ text: String) -> String? {
            let text = String(text.cleaned.prefix(Self.limit))
            return text.contains { $0.isLetter || $0.isNumber } ? text : nil
        }
        guard let title = words(title) else { return nil }
        self.title = title
        self.author = author.flatMap(words)
    }
}

/// An edition that a source offers for a ``TitleQuery``.
public struct EditionOffer: Sendable, Equatable {
    /// The ISBN; `nil` if the edition has none, as most books before 1970.
    public var isbn: ISBN?
    public var metadata: Metadata

    public init(isbn: ISBN?, metadata: Metadata) {
        self.isbn = isbn
        self.metadata = metadata
    }
}
