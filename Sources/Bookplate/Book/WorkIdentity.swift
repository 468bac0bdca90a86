/// The title and the first author of a book in the form in which books are compared. Records with matching identities
/// are probably records of the same work, but only a person can say if they are.
///
/// Case, diacritics and punctuation do not count, nor does an article at the beginning of the title. Initials may be
/// written together or apart, and an author's surname may come first if a comma follows it.
public struct WorkIdentity: Sendable, Equatable {
    public let key: Key
    /// The words of the subtitle; `nil` if the record has none.
    public let subtitle: String?
    /// The number in the series; `nil` if the record has none.
    public let seriesNumber: String?

    /// The part of an identity in which all records of one work agree.
    public struct Key: Sendable, Hashable {
        /// The words of the title, without the subtitle.
        public let title: String
        /// The words of the first author's name; empty if the record names no author.
        public let author: String
    }

    /// - Returns: `nil` if the title is missing or has no letter and no digit.
    public init?(title: String?, subtitle: String? = nil, seriesNumber: String? = nil, author: String?) {
        self.init(
            foldedTitle: title?.searchFolded, foldedSubtitle: subtitle?.searchFolded, seriesNumber: seriesNumber,
            author: Self.author(author?.searchFolded))
    }

    public init?(_ metadata: Metadata) {
        self.init(
            title: metadata.title, subtitle: metadata.subtitle, seriesNumber: metadata.seriesNumber,
            author: metadata.authorNames.first)
    }

    /// - Parameter author: the author as ``author(_:)`` returns it.
    package init?(foldedTitle: String?, foldedSubtitle: String?, seriesNumber: String?, author: String) {
        guard let title = foldedTitle else { return nil }
        let (main, rest) = Self.parts(of: title)
        let words = Self.withoutArticle(Self.words(of: main))
        guard !words.isEmpty else { return nil }
        key = Key(title: words.joined(separator: " "), author: author)
        let details = [rest, foldedSubtitle.map { $0[...] }].compactMap {
            $0.map { Self.words(of: $0).joined(separator: " ") }
        }
        .filter { !$0.isEmpty }
        subtitle = Set(details).count == 1 ? details[0] : details.isEmpty ? nil : details.joined(separator: " ")
        let number = seriesNumber?.lowercased() ?? ""
        self.seriesNumber = number.isEmpty ? nil : number
    }

    /// Returns true if both may be the same work: their titles and first authors are equal, and so are the subtitles,
    /// if both have one, and the numbers in the series, if both have one.
    public func matches(_ other: WorkIdentity) -> Bool {
        func agree(_ left: String?, _ right: String?) -> Bool { left == nil || right == nil || left == right }
        return key == other.key && agree(subtitle, other.subtitle) && agree(seriesNumber, other.seriesNumber)
    }
}

extension WorkIdentity {
    /// Splits a folded title into the title proper and the rest: a subtitle after a colon, semicolon, dash or slash, or
    /// a remark in brackets.
    package static func parts(of title: String) -> (main: Substring, rest: Substring?) {
        let bytes = title.utf8
        var before = UInt8(ascii: ":")
        for index in bytes.indices {
            let byte = bytes[index]
            defer { before = byte }
            let next = bytes.index(after: index)
            let isAfterSpace = before == UInt8(ascii: " ")
            let isBeforeSpace = next < bytes.endIndex && bytes[next] == UInt8(ascii: " ")
            let isSeparator =
                switch byte {
                case UInt8(ascii: ":"), UInt8(ascii: ";"): isBeforeSpace
                case UInt8(ascii: "("): isAfterSpace
                case UInt8(ascii: "-"), UInt8(ascii: "/"): isAfterSpace && isBeforeSpace
                default: false
                }
            guard isSeparator, title[..<index].contains(where: { $0.isLetter || $0.isNumber }) else { continue }
            return (title[..<index], title[index...])
        }
        return (title[...], nil)
    }

    /// Returns hash values of the beginning of a book's title: that of the first word and, if this is an article, that
    /// of the second one. Matching identities have at least one of them in common. They are computed many times faster
    /// than an identity.
    ///
    /// - Parameter folded: the folded title; a subtitle may follow it.
    package static func beginnings(of folded: String) -> (first: Int, second: Int?) {
        var words = words(of: folded[...], maxCount: 2).makeIterator()
        guard let first = words.next() else { return (0, nil) }
        return (first.hashValue, articles.contains(first) ? words.next()?.hashValue : nil)
    }

    /// Returns a hash value of the letters of a folded author's name, in whatever order they are. Names that
    /// ``author(_:)`` makes equal have the same one.
    package static func letters(ofAuthor folded: String) -> Int {
        folded.unicodeScalars.reduce(0) { isSeparator($1) ? $0 : $0 &+ $1.hashValue }
    }

    /// Returns the words of a folded author's name, with initials written together: "Tolkien, J. R. R." and
    /// "J.R.R. Tolkien" both give "jrr tolkien".
    package static func author(_ folded: String?) -> String {
        guard let folded else { return "" }
        var words = words(of: folded[...])
        let parts = folded.split(separator: ",")
        if parts.count == 2 { words = Self.words(of: parts[1]) + Self.words(of: parts[0]) }
        var joined: [String] = []
        var isAfterInitial = false
        for word in words {
            let isInitial = word.unicodeScalars.count == 1
            if isInitial, isAfterInitial { joined[joined.count - 1] += word } else { joined.append(String(word)) }
            isAfterInitial = isInitial
        }
        return joined.joined(separator: " ")
    }

    /// Articles of the languages in which they are separate words. One-letter words that are more than an article in
    /// another language are left out: "I, Robot" does not begin with an article.
    package static let articles: Set<Substring> = [
        "the", "a", "an", "der", "die", "das", "ein", "eine", "le", "la", "les", "l", "un", "une", "el", "los", "las",
        "una", "il", "lo", "gli", "uno", "de", "het", "een",
    ]

    /// Returns the words without the article at their beginning. A title that is a single word keeps it.
    private static func withoutArticle(_ words: [Substring]) -> ArraySlice<Substring> {
        words.count > 1 && articles.contains(words[0]) ? words.dropFirst() : words[...]
    }

    /// Splits a folded text into its words. Scalars are compared, not characters, for speed: there may be a hundred
    /// thousand titles.
    ///
    /// - Parameter maxCount: the number of words after which the rest of the text is not looked at.
    private static func words(of text: Substring, maxCount: Int = .max) -> [Substring] {
        text.unicodeScalars.split(maxSplits: maxCount, whereSeparator: isSeparator).prefix(maxCount)
            .map { Substring($0) }
    }

    private static func isSeparator(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x30...0x39, 0x61...0x7A: false
        case 0..<0x80: true
        default: !scalar.properties.isAlphabetic && scalar.properties.numericType == nil
        }
    }
}

extension Metadata {
    /// The scheme of the identifiers that Open Library gives to works, in ``identifiers``. Editions with the same
    /// identifier are editions of the same work.
    public static let workScheme = "openlibrary_work"
}
