/// The words by which a person looks for a book without a number: words of its title, and perhaps of its author's name.
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

    /// The words of the title as a request to a catalogue lists them: letters and digits only, at most twelve.
    public var titleWords: [String] { Self.words(of: title) }
    /// The words of the author's name, as in ``titleWords``.
    public var authorWords: [String] { author.map(Self.words) ?? [] }

    private static func words(of text: String) -> [String] {
        text.split { !$0.isLetter && !$0.isNumber }.prefix(12).map(String.init)
    }

    /// The greatest ``distance(to:)`` of an edition whose title has all the words.
    public static let allWords = 2

    /// Returns how well an edition fits, the best being 0: the title is the same, begins with the words that are looked
    /// for, contains all of them, or contains some of them. Case and diacritics are ignored.
    ///
    /// - Returns: `nil` if the author is another one, or if the title has none of the words. Catalogues also return
    ///   such books, because they look into contents and alternative titles.
    public func distance(to metadata: Metadata) -> Int? {
        let authors = Set(metadata.authors.flatMap { Self.folded($0.name) })
        let wanted = author.map(Self.folded) ?? []
        // A record without authors may be the book.
        guard authors.isEmpty || wanted.allSatisfy({ word in authors.contains { $0.hasPrefix(word) } }) else {
            return nil
        }
        let words = Self.folded(title)
        let title = Self.folded(metadata.title ?? "")
        if title == words { return 0 }
        let whole = title + Self.folded(metadata.subtitle ?? "")
        if whole.starts(with: words) { return 1 }
        let found = words.count { word in whole.contains { $0.hasPrefix(word) } }
        if found == words.count { return Self.allWords }
        return found == 0 ? nil : Self.allWords + 1 + words.count - found
    }

    private static func folded(_ text: String) -> [String] { words(of: text.searchFolded) }
}
