import Bookplate
import GRDB

/// The parsed text of a query.
struct QueryText {
    enum Part {
        case word(SearchWord)
        /// A text that can be part of an ISBN, without hyphens. It comes with its words, because a title can also
        /// contain a number.
        case number(String, words: [SearchWord])
    }

    /// The parts of the text. A book matches only if it contains all of them.
    let parts: [Part]
    /// The sort key of the whole search text. It is used to find books whose title is equal to the search text.
    let title: String
    /// True if the text is a single word of one or two letters.
    let isBrief: Bool
    /// True if at least one part of the text can be part of an ISBN.
    let hasNumber: Bool
    /// True if notes and quotes are searched too.
    let searchesAnnotations: Bool
    /// The reader whose private notes and quotes are searched too; `nil` for none.
    private let privateReader: Int64?

    /// The maximum numbers of words and letters that a search uses. More words would not narrow the search further.
    private static let (wordLimit, letterLimit) = (16, 512)

    /// - Returns: `nil` if the text has no words.
    init?(_ query: BookQuery, _ db: Database) throws {
        // Without private texts, as in most libraries, the query stays as short as it is.
        let hasPrivate = """
            SELECT reader() WHERE seesPrivate() AND (
                EXISTS (SELECT 1 FROM note WHERE isPrivate = 1 AND reader = reader())
                OR EXISTS (SELECT 1 FROM quote WHERE isPrivate = 1 AND reader = reader()))
            """
        self.init(
            query.text, searchesAnnotations: query.searchesAnnotations,
            privateReader: query.text.isEmpty || !query.searchesAnnotations
                ? nil : try db.value(Int64.self, hasPrivate))
    }

    /// - Returns: `nil` if the text has no words.
    init?(_ text: String, searchesAnnotations: Bool = true, privateReader: Int64? = nil) {
        self.searchesAnnotations = searchesAnnotations
        self.privateReader = privateReader
        let text = String(text.unicodeScalars.prefix(Self.letterLimit))
        var splitter = WordSplitter()
        let words = splitter.words(of: text, for: .query, limit: Self.wordLimit)
        guard !words.isEmpty else { return nil }
        title = SearchIndex.joined(words)
        if let isbn = try? ISBN(text) {
            parts = [.number(isbn.digits, words: words)]
        } else if let number = Self.number(text[...]) {
            parts = [.number(number, words: words)]
        } else {
            var parts: [Part] = []
            for chunk in text.split(whereSeparator: \.isWhitespace).prefix(Self.wordLimit) {
                let words = splitter.words(of: String(chunk), for: .query, limit: Self.wordLimit - parts.count)
                if let number = Self.number(chunk) {
                    parts.append(.number(number, words: words))
                } else {
                    parts += words.map(Part.word)
                }
            }
            self.parts = parts
        }
        hasNumber = parts.contains { if case .number = $0 { true } else { false } }
        if parts.count == 1, case .word(let word) = parts[0] { isBrief = word.isBrief } else { isBrief = false }
    }

    /// If the text can be the beginning of an ISBN (`978-0-14`, `01404`) and has more than three digits, returns its
    /// digits; otherwise `nil`.
    private static func number(_ text: Substring) -> String? {
        guard text.utf8.allSatisfy({ 0x30...0x39 ~= $0 || [0x20, 0x2D, 0x58, 0x78].contains($0) }) else { return nil }
        let digits = searchNumber(String(text))
        return digits.utf8.count > 3 && digits.utf8.first != UInt8(ascii: "x") ? digits : nil
    }
}

extension SearchWord {
    /// True if the word has only one or two letters, and may be the beginning of longer words. The index contains such
    /// beginnings as separate words.
    var isBrief: Bool { isPrefix && !isIdeographic && ends.count <= 2 }
}

/// Queries in the syntax of FTS5. Words consist only of letters and digits, so they contain no special characters of
/// this syntax.
extension QueryText {
    /// The queries that rank books, best first. Each query searches more fields than the query before it, and excludes
    /// the books that earlier queries find. The rank of a book depends only on the fields that contain the words, not
    /// on the rest of the library.
    ///
    /// Books whose title is equal to the text (``title``) come before the results of all these queries.
    var steps: [String] {
        let fields: [[SearchField]] = [
            [.title, .number], [.title, .number, .author], [.title, .number, .author, .subtitle, .series],
            [.title, .number, .author, .subtitle, .series, .tag],
        ]
        var wider = fields.map { condition($0) }
        wider.append(everywhere)
        // The first query finds books whose title begins with the first word, or whose ISBN begins with the number.
        let first = ([condition(parts[0], [.opening, .number])] + parts.dropFirst().map { condition($0, fields[0]) })
        let narrowest = first.joined(separator: " AND ")
        return [narrowest] + zip([narrowest] + wider, wider).map { "(\($1)) NOT (\($0))" }
    }

    /// The query for all books that match.
    var everywhere: String {
        condition(
            [.title, .number, .author, .subtitle, .series, .tag] + (searchesAnnotations ? [.annotation] : [])
                + (privateReader == nil ? [] : [.privateAnnotation]))
    }

    /// The query for a text of one or two letters. It searches only the beginnings of titles and of the parts of
    /// authors' names.
    var brief: String { condition([.opening, .author]) }

    private func condition(_ fields: [SearchField]) -> String {
        parts.map { condition($0, fields) }.joined(separator: " AND ")
    }

    private func condition(_ part: Part, _ fields: [SearchField]) -> String {
        switch part {
        case .word(let word): return condition(word, fields)
        case .number(let number, let words):
            let asNumber = "\"\(SearchField.number.rawValue)\(number)\" *"
            guard !words.isEmpty else { return asNumber }
            return "(\(asNumber) OR (" + words.map { condition($0, fields) }.joined(separator: " AND ") + "))"
        }
    }

    private func prefix(of field: SearchField) -> String {
        if field == .privateAnnotation, let privateReader { return SearchDocument.prefix(ofReader: privateReader) }
        return String(field.rawValue)
    }

    private func condition(_ word: SearchWord, _ fields: [SearchField]) -> String {
        let searched = fields.filter { $0 != .number && (!word.isBrief || $0.hasBriefWords) }
        let sign = word.isPrefix && !word.isBrief ? " *" : ""
        return "(" + searched.map { "\"\(prefix(of: $0))\(word.text)\"\(sign)" }.joined(separator: " OR ") + ")"
    }
}
