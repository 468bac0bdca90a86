import Bookplate

/// The text of a query, as the index is asked for it.
struct AskedText {
    /// What must be found; all of it.
    enum Part {
        case word(SearchWord)
        /// What can be part of an ISBN, without hyphens; or words, for a number can stand in a title as well.
        case number(String, words: [SearchWord])
    }

    let parts: [Part]
    /// The whole as a title would be sorted: what finds a title that is just this.
    let title: String
    /// A single word of one or two letters.
    let isBrief: Bool
    /// Whether a part of it can be part of an ISBN.
    let hasNumber: Bool
    /// Whether notes and quotes are looked into.
    let searchesAnnotations: Bool

    /// More words than this narrow nothing down, and more letters are no question.
    private static let (wordLimit, letterLimit) = (16, 512)

    init?(_ query: BookQuery) { self.init(query.text, searchesAnnotations: query.searchesAnnotations) }

    /// - Returns: `nil` when there is no word in it.
    init?(_ text: String, searchesAnnotations: Bool = true) {
        self.searchesAnnotations = searchesAnnotations
        let text = String(text.unicodeScalars.prefix(Self.letterLimit))
        var splitter = WordSplitter()
        let words = splitter.words(of: text, for: .asked, limit: Self.wordLimit)
        guard !words.isEmpty else { return nil }
        title = SearchIndex.joined(words)
        if let isbn = try? ISBN(text) {
            parts = [.number(isbn.digits, words: words)]
        } else if let number = Self.number(text[...]) {
            parts = [.number(number, words: words)]
        } else {
            var parts: [Part] = []
            for chunk in text.split(whereSeparator: \.isWhitespace).prefix(Self.wordLimit) {
                let words = splitter.words(of: String(chunk), for: .asked, limit: Self.wordLimit - parts.count)
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

    /// The digits of a text that can be the beginning of an ISBN (`978-0-14`, `01404`); three or fewer are no part worth looking
    /// for.
    private static func number(_ text: Substring) -> String? {
        guard text.utf8.allSatisfy({ 0x30...0x39 ~= $0 || [0x20, 0x2D, 0x58, 0x78].contains($0) }) else { return nil }
        let digits = searchNumber(String(text))
        return digits.utf8.count > 3 && digits.utf8.first != UInt8(ascii: "x") ? digits : nil
    }
}

extension SearchWord {
    /// Whether the index holds it as a word, however it goes on.
    var isBrief: Bool { isPrefix && !isIdeographic && ends.count <= 2 }
}

/// Queries in the language of FTS5. Words hold letters and digits only, so nothing in them means anything there.
extension AskedText {
    /// How well a book fits is where its words stand: each step looks into more fields than the one before, and takes what no
    /// step before took. Nothing else counts, so that the order does not change with the rest of the library.
    ///
    /// Before these comes the title that is just the text (``title``).
    var steps: [String] {
        let fields: [[SearchField]] = [
            [.title, .number], [.title, .number, .author], [.title, .number, .author, .subtitle, .series],
            [.title, .number, .author, .subtitle, .series, .tag],
        ]
        var wider = fields.map { condition($0) }
        wider.append(everywhere)
        // The title begins with the first word, or the ISBN with the number.
        let first = ([condition(parts[0], [.opening, .number])] + parts.dropFirst().map { condition($0, fields[0]) })
        let narrowest = first.joined(separator: " AND ")
        return [narrowest] + zip([narrowest] + wider, wider).map { "(\($1)) NOT (\($0))" }
    }

    /// All that fits.
    var everywhere: String {
        condition([.title, .number, .author, .subtitle, .series, .tag] + (searchesAnnotations ? [.annotation] : []))
    }

    /// For a text of one or two letters: at the beginning of the title and of the parts of authors' names.
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

    private func condition(_ word: SearchWord, _ fields: [SearchField]) -> String {
        let places = fields.filter { $0 != .number && (!word.isBrief || $0.takesBriefWords) }
        let sign = word.isPrefix && !word.isBrief ? " *" : ""
        return "(" + places.map { "\"\($0.rawValue)\(word.text)\"\(sign)" }.joined(separator: " OR ") + ")"
    }
}
