/// The article at the beginning of a title, which lists ignore: "The Dispossessed" is under D.
///
/// Only an article of the book's language counts, so an English "Die Hard" is under D and a German "Die Verwandlung"
/// under V. Without a language, the English, German and French articles count that are no other word in one of these
/// languages; "die" is one.
public struct SortTitle: Sendable, Equatable {
    /// The article as it is written; `nil` if the title has none.
    public let article: Substring?
    /// The title without the article.
    public let rest: Substring

    /// - Parameter language: the code of the language, as in ``Metadata/language``.
    public init(_ title: String, language: String?) {
        let start = title.firstIndex { $0.isLetter || $0.isNumber } ?? title.endIndex
        let end = title[start...].firstIndex { !$0.isLetter } ?? title.endIndex
        let word = title[start..<end]
        // No article has more letters.
        guard word.utf8.count <= 5, end < title.endIndex else { (article, rest) = (nil, title[...]); return }
        let isElided = title[end] == "'" || title[end] == "’"
        let articles = Self.articles(of: language)
        let following = title[title.index(after: end)...].drop { !$0.isLetter && !$0.isNumber }
        guard isElided || title[end].isWhitespace, !following.isEmpty,
            articles.contains(word.lowercased() + (isElided ? "'" : "")),
            !(word == "A" && Self.isLetter(before: following))
        else { (article, rest) = (nil, title[...]); return }
        (article, rest) = (word, following)
    }

    /// Returns true if an "A" before these words is the letter: "A is for Alibi", "A to Z".
    private static func isLetter(before words: Substring) -> Bool {
        ["is", "to", "for", "and", "was"].contains(words.prefix { $0.isLetter }.lowercased())
    }

    private static func articles(of language: String?) -> Set<String> {
        guard let language = language?.lowercased(), !language.isEmpty else { return unknown }
        return byLanguage[String(language.prefix { $0 != "-" && $0 != "_" })] ?? []
    }

    private static let unknown: Set = [
        "the", "a", "an", "der", "das", "ein", "eine", "le", "la", "les", "l'", "un", "une",
    ]

    /// The articles by the code of the language. Languages without articles at the beginning are left out.
    private static let byLanguage: [String: Set<String>] = [
        "en": ["the", "a", "an"], "de": ["der", "die", "das", "ein", "eine"],
        "fr": ["le", "la", "les", "l'", "un", "une"],
        "es": ["el", "la", "lo", "los", "las", "un", "una", "unos", "unas"],
        "it": ["il", "lo", "la", "i", "gli", "le", "l'", "un", "uno", "una", "un'"],
        "pt": ["o", "a", "os", "as", "um", "uma"], "ca": ["el", "la", "els", "les", "l'", "un", "una"],
        "nl": ["de", "het", "een"], "af": ["die"], "sv": ["en", "ett", "den", "det", "de"],
        "da": ["en", "et", "den", "det", "de"], "no": ["en", "ei", "et", "den", "det", "de"],
        "nb": ["en", "ei", "et", "den", "det", "de"], "nn": ["ein", "ei", "eit", "den", "det", "dei"],
        "hu": ["a", "az", "egy"],
    ]

    /// All articles of all languages, with their case and diacritics folded and without apostrophes.
    package static let allArticles: Set<String> = Set(
        byLanguage.values.joined().map { $0.filter { $0 != "'" }.searchFolded })
}
