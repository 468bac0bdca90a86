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
    /// The words of the whole search text.
    let title: String
    /// The sort keys of titles that are equal to the search text.
    let titleKeys: [String]
    /// True if the text is a single word of one or two letters.
    let isBrief: Bool
    /// True if at least one part of the text can be part of an ISBN.
    let hasNumber: Bool
    /// True if notes and quotes are searched too.
    let searchesAnnotations: Bool
    /// The reader whose private notes and quotes are searched too; `nil` for none.
    private let privateReader: Int64?

    /// The maximum numbers of words and letters that a search uses. More words would not narrow the search further.
    static let (wordLimit, letterLimit) = (16, 512)

    /// - Returns: `nil` if the text has no words.
    init?(_ query: BookQuery, _ db: Database) throws {
        let reader = query.text.isEmpty || !query.searchesAnnotations ? nil : try Self.privateReader(db)
        self.init(query.text, searchesAnnotations: query.searchesAnnotations, privateReader: reader)
    }

    /// Returns the present reader if private notes or quotes can be searched for; `nil` without private texts, as in
    /// most libraries, so that the search stays short.
    static func privateReader(_ db: Database) throws -> Int64? {
        try db.value(
            Int64.self,
            """
            SELECT reader() WHERE seesPrivate() AND (
                EXISTS (SELECT 1 FROM note WHERE isPrivate = 1 AND reader = reader())
                OR EXISTS (SELECT 1 FROM quote WHERE isPrivate = 1 AND reader = reader()))
            """)
    }

    /// Creates the search for the whole words of a phrase, in any order.
    ///
    /// - Parameter isOpen: true if the last word may be the beginning of a longer word.
    /// - Returns: `nil` if the phrase has no words.
    init?(phrase: String, isOpen: Bool, _ searchesAnnotations: Bool = true, _ privateReader: Int64? = nil) {
        var splitter = WordSplitter()
        var words = splitter.words(of: phrase, for: .query, limit: Self.wordLimit)
        guard !words.isEmpty else { return nil }
        (title, titleKeys) = (SearchIndex.joined(words), SearchIndex.titleKeys(of: words))
        for index in words.indices where !isOpen || index < words.count - 1 { words[index].isPrefix = false }
        parts = words.map(Part.word)
        (self.searchesAnnotations, self.privateReader) = (searchesAnnotations, privateReader)
        (hasNumber, isBrief) = (false, false)
    }

    /// - Returns: `nil` if the text has no words.
    init?(_ text: String, searchesAnnotations: Bool = true, privateReader: Int64? = nil) {
        self.searchesAnnotations = searchesAnnotations
        self.privateReader = privateReader
        let text = String(text.unicodeScalars.prefix(Self.letterLimit))
        var splitter = WordSplitter()
        let words = splitter.words(of: text, for: .query, limit: Self.wordLimit)
        guard !words.isEmpty else { return nil }
        (title, titleKeys) = (SearchIndex.joined(words), SearchIndex.titleKeys(of: words))
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

    /// True if the whole text can be part of an ISBN.
    static func isNumber(_ text: String) -> Bool { (try? ISBN(text)) != nil || number(text[...]) != nil }

    /// If the text can be the beginning of an ISBN (`978-0-14`, `01404`) and has more than three digits, returns its
    /// digits; otherwise `nil`.
    private static func number(_ text: Substring) -> String? {
        guard text.utf8.allSatisfy({ 0x30...0x39 ~= $0 || [0x20, 0x2D, 0x58, 0x78].contains($0) }) else { return nil }
        let digits = searchNumber(String(text))
        return digits.utf8.count > 3 && digits.utf8.first != UInt8(ascii: "x") ? digits : nil
    }
}

extension QueryText {
    /// The ``titleKeys`` as two arguments of a statement.
    var titleArguments: StatementArguments { [titleKeys[0], titleKeys[titleKeys.count - 1]] }
}

extension SearchWord {
    /// True if the word has only one or two letters, and may be the beginning of longer words. The index contains such
    /// beginnings as separate words.
    var isBrief: Bool { isPrefix && !isIdeographic && ends.count <= 2 }
}

/// Queries in the syntax of FTS5. Words consist only of letters and digits, so they contain no special characters of
/// this syntax.
extension QueryText {
    /// A query for some of the books that match.
    struct Step {
        var match: String
        /// A condition on `listing` that the books must meet as well.
        var condition = "1"
        var arguments: StatementArguments = []

        fileprivate init(_ match: String) { self.match = match }
    }

    /// The queries that rank books, best first. Each query finds only books that no query before it finds. The rank of
    /// a book depends only on the fields that contain the words, not on the rest of the library.
    ///
    /// Books whose title is equal to the text (``titleKeys``) come before the results of all these queries.
    var steps: [Step] {
        if isBrief { return briefSteps }
        let fields: [[SearchField]] = [
            [.title, .number], [.title, .number, .author], [.title, .number, .author, .subtitle, .series],
            [.title, .number, .author, .subtitle, .series, .tag],
        ]
        var wider = fields.map { condition($0) }
        wider.append(condition(everywhere))
        // The first query finds books whose title begins with the first word, or whose ISBN begins with the number.
        let first = ([condition(parts[0], [.opening, .number])] + parts.dropFirst().map { condition($0, fields[0]) })
        let narrowest = first.joined(separator: " AND ")
        return [Step(narrowest)] + zip([narrowest] + wider, wider).map { Step("(\($1)) NOT (\($0))") }
    }

    /// The query for all books that match.
    var all: Step {
        guard isBrief else { return Step(condition(everywhere)) }
        var step = Step("\(condition([.title])) OR \(condition(briefFields))")
        (step.condition, step.arguments) = (
            "(\(isInTitle) OR listing.copy IN (SELECT rowid FROM searchText WHERE searchText MATCH ?))",
            [" \(title) ", condition(briefFields)]
        )
        return step
    }

    /// Returns the query for the books that have the words in some fields.
    func match(in fields: [SearchField]) -> String {
        let words = parts.flatMap { part in
            switch part {
            case .word(let word): [word]
            case .number(_, let words): words
            }
        }
        return words.map { condition($0, fields) }.joined(separator: " AND ")
    }

    private var everywhere: [SearchField] {
        [.title, .number, .author, .subtitle, .series, .tag] + annotations
    }

    private var annotations: [SearchField] {
        (searchesAnnotations ? [.annotation] : []) + (privateReader == nil ? [] : [.privateAnnotation])
    }

    // MARK: Texts of one or two letters

    /// The fields in which a text of one or two letters is searched, apart from the words of the title. The index of
    /// the title contains the beginnings of its words as well, so whole words are found by ``isInTitle``.
    private var briefFields: [SearchField] { [.opening, .author, .tag] + annotations }

    private var isInTitle: String { "instr(' ' || coalesce(listing.title, '') || ' ', ?) > 0" }

    /// Whole words of the title; tags; beginnings of titles and of the parts of authors' names; notes and quotes.
    private var briefSteps: [Step] {
        var wholeWords = Step(condition([.title]))
        (wholeWords.condition, wholeWords.arguments) = (isInTitle, [" \(title) "])
        let (tags, names) = (condition([.tag]), condition([.opening, .author]))
        let others: [String] =
            [tags, "(\(names)) NOT (\(tags))"]
            + (annotations.isEmpty ? [] : ["(\(condition(annotations))) NOT (\(tags) OR \(names))"])
        let otherSteps = others.map { match in
            var step = Step(match)
            (step.condition, step.arguments) = ("NOT (\(isInTitle))", [" \(title) "])
            return step
        }
        return [wholeWords] + otherSteps
    }

    // MARK: Conditions

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

    /// Returns the query for a word in any of the fields. A word of one or two letters is found as it is: in some
    /// fields, the index contains such beginnings as words (``SearchField/hasBriefWords``); in the others, only whole
    /// words match.
    private func condition(_ word: SearchWord, _ fields: [SearchField]) -> String {
        let sign = word.isPrefix && !word.isBrief ? " *" : ""
        let searched = fields.filter { $0 != .number }
        return "(" + searched.map { "\"\(prefix(of: $0))\(word.text)\"\(sign)" }.joined(separator: " OR ") + ")"
    }
}
