import Bookplate
import GRDB
import Synchronization

/// Words, or a phrase, to find in one text. In SQL, it is the function `hasWords(text, words, kind)`.
struct TextPattern {
    enum Kind: Int {
        /// Each word is the beginning of a word of the text.
        case words
        /// The words are whole words of the text, in this order and next to each other.
        case phrase
        /// A phrase whose last word may be the beginning of a longer word.
        case openPhrase
    }

    private let words: String
    private let kind: Kind

    init(_ text: String, _ kind: Kind) {
        var splitter = WordSplitter()
        words = splitter.words(of: text, for: .query, limit: QueryText.wordLimit).map(\.text).joined(separator: " ")
        self.kind = kind
    }

    /// Returns the condition that a column has a text with this pattern.
    func condition(_ column: String) -> String { "hasWords(\(column), ?, ?)" }

    var arguments: StatementArguments { [words, kind.rawValue] }

    /// Defines `hasWords` for a new connection.
    static func prepare(_ db: Database) {
        // Its cache of folded letters is worth keeping.
        let splitter = Mutex(WordSplitter())
        db.add(
            function: DatabaseFunction("hasWords", argumentCount: 3, pure: true) { values in
                guard let text = String.fromDatabaseValue(values[0]), let words = String.fromDatabaseValue(values[1]),
                    let kind = Int.fromDatabaseValue(values[2]).flatMap(Kind.init)
                else { return false }
                if let isFound = isFound(words, inPlain: text, kind) { return isFound }
                return splitter.withLock { isFound(words.split(separator: " "), in: text, kind, &$0) }
            })
    }

    private static func isFound(
        _ wanted: [Substring], in text: String, _ kind: Kind, _ splitter: inout WordSplitter
    ) -> Bool {
        guard kind != .words else {
            // A search for words finds "letranger" in "L'Étranger", as the index does.
            let words = splitter.words(of: text, for: .index)
            return wanted.allSatisfy { word in words.contains { $0.text.utf8.starts(with: word.utf8) } }
        }
        let words = splitter.words(of: text, for: .query)
        guard let last = wanted.last, words.count >= wanted.count else { return wanted.isEmpty }
        return (0...words.count - wanted.count).contains { start in
            let end = words[start + wanted.count - 1].text
            return zip(wanted.dropLast(), words[start...]).allSatisfy { $0 == $1.text }
                && (kind == .openPhrase ? end.utf8.starts(with: last.utf8) : end == last)
        }
    }

    /// Finds the words in an ASCII text without splitting it, which is many times faster.
    ///
    /// - Parameter wanted: the words, separated by spaces.
    /// - Returns: `nil` if the text must be split, because it is not ASCII, or because a word that was not found may be
    ///   one that an apostrophe, a hyphen or a full stop divides.
    private static func isFound(_ wanted: String, inPlain text: String, _ kind: Kind) -> Bool? {
        var words: [UInt8] = [0x20]
        words.reserveCapacity(text.utf8.count + 2)
        var hasConnector = false
        var length = 0
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x61...0x7A, 0x41...0x5A:
                length += 1
                // A longer word is cut when it is split.
                if length > WordSplitter.longestWord { return nil }
                words.append(byte < 0x41 ? byte : byte | 0x20)
            case 0x80...: return nil
            default:
                length = 0
                if byte == 0x27 || byte == 0x2D || byte == 0x2E { hasConnector = true }
                if words[words.count - 1] != 0x20 { words.append(0x20) }
            }
        }
        words.append(0x20)
        switch kind {
        case .words:
            let isFound = wanted.split(separator: " ").allSatisfy { contains(words, " \($0)") }
            return isFound || !hasConnector ? isFound : nil
        case .phrase: return contains(words, " \(wanted) ")
        case .openPhrase: return contains(words, " \(wanted)")
        }
    }

    /// - Parameter wanted: a text that begins with a space, so that few places have to be compared.
    private static func contains(_ words: [UInt8], _ wanted: String) -> Bool {
        let wanted = Array(wanted.utf8)
        return words.indices.contains { place in
            words[place] == 0x20 && words[place...].starts(with: wanted)
        }
    }
}
