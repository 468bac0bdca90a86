import Bookplate

/// A command line up to the cursor, split into words as bash does it. Nothing is expanded.
///
/// bash passes a function for completion the words with their quotes, and split at `:` and `=`. So the line is split
/// here, and each candidate is quoted as the place needs it. fish quotes candidates itself, but passes the last word
/// with its quotes.
struct TypedLine {
    /// The words before the one to complete, without their quotes.
    private(set) var words: [String] = []
    /// The beginning of the word to complete, without its quotes.
    private(set) var word = ""
    /// True if the word has a `$` or a backquote that is not quoted, so that the shell will replace a part of it.
    private(set) var isExpanded = false
    /// True if the word is the file of a redirection.
    private(set) var isRedirection = false
    /// The quotation mark that is open at the end.
    private var quote: Unicode.Scalar?
    /// The part of the word that bash keeps. It replaces only what follows the open quotation mark or, outside of
    /// quotes, the last character of COMP_WORDBREAKS.
    private var kept = ""

    /// - Parameter breaks: the value of COMP_WORDBREAKS.
    init(_ line: String, breaks: String) {
        let scalars = Array(line.unicodeScalars)
        let breaks = Set(breaks.unicodeScalars)
        var isInWord = false
        var outside = ""
        var index = 0
        func next() -> Unicode.Scalar? { index + 1 < scalars.count ? scalars[index + 1] : nil }
        func append(_ scalar: Unicode.Scalar) {
            word.unicodeScalars.append(scalar)
            isInWord = true
        }
        func appendUnquoted(_ scalar: Unicode.Scalar) {
            append(scalar)
            if scalar == "$" || scalar == "`" { isExpanded = true }
        }
        func endWord() {
            if isInWord, !isRedirection { words.append(word) }
            if isInWord { isRedirection = false }
            (word, outside, isInWord, isExpanded) = ("", "", false, false)
        }
        while index < scalars.count {
            let scalar = scalars[index]
            switch (quote, scalar) {
            case ("'"?, "'"), ("\""?, "\""): quote = nil
            case ("'"?, _): append(scalar)
            case ("\""?, "\\"):
                if let escaped = next(), "$`\"\\".unicodeScalars.contains(escaped) { index += 1 }
                append(scalars[index])
            case (.some, _): appendUnquoted(scalar)
            case (nil, "\\"):
                if let escaped = next() {
                    append(escaped)
                    index += 1
                }
            case (nil, "'"), (nil, "\""): (quote, kept, isInWord) = (scalar, word, true)
            case (nil, " "), (nil, "\t"), (nil, "\n"): endWord()
            case (nil, "<"), (nil, ">"):
                // The number of a descriptor is no word.
                if isInWord, word.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) { (word, isInWord) = ("", false) }
                endWord()
                isRedirection = true
            case (nil, _):
                appendUnquoted(scalar)
                if breaks.contains(scalar) { outside = word }
            }
            index += 1
        }
        if quote == nil { kept = outside }
    }

    /// Returns what bash is to put in place of the part of the word that it does not keep.
    ///
    /// - Returns: `nil` if the candidate does not begin with the part that bash keeps, or if bash will replace a part
    ///   of the word, because a name after an open `$(` would become a command.
    func replacement(for candidate: String) -> String? {
        guard !isExpanded else { return nil }
        let count = kept.unicodeScalars.count
        let head = String(candidate.unicodeScalars.prefix(count))
        guard head.caseFolded == kept.caseFolded else { return nil }
        let rest = candidate.unicodeScalars.dropFirst(count)
        return switch quote {
        case "'"?: String(rest).replacing("'", with: #"'\''"#)
        // A backslash before an exclamation mark would stay in double quotes.
        case "\""?:
            rest.map { $0 == "!" ? #""\!""# : "$`\"\\".unicodeScalars.contains($0) ? "\\\($0)" : "\($0)" }.joined()
        default: rest.map { Self.isPlain($0) ? "\($0)" : "\\\($0)" }.joined()
        }
    }

    /// True for a character that means nothing to bash.
    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value >= 0x80 || (0x30...0x39).contains(scalar.value) || (0x41...0x5A).contains(scalar.value)
            || (0x61...0x7A).contains(scalar.value) || "_-+./:=,@%".unicodeScalars.contains(scalar)
    }
}
