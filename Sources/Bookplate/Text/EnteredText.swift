/// The length limits of texts that a person enters, in characters as a reader counts them: a family emoji is one
/// character. Imports do not refuse longer texts, but truncate and flag them.
public enum TextLimit {
    public static let title = 512
    public static let description = 10_000
    /// The limit for notes and quotes.
    public static let note = 5_000
    /// The limit for names of authors, tags, shelves and publishers.
    public static let name = 512
    /// The limit for addresses of covers and book pages.
    public static let link = 2048
    /// The limit for language codes (BCP 47, 4.4.1, recommends room for 35 characters).
    public static let language = 35
    /// The limit for the number of a book in its series.
    public static let seriesNumber = 32

    /// The maximum number of bytes that a legitimate character needs. Because of this limit, a text of several
    /// megabytes can be refused without counting its characters.
    public static let bytesPerCharacter = 64

    /// Returns true if a text with this limit may have several lines, as descriptions, notes and quotes may. Texts with
    /// a lower limit are single lines.
    public static func hasLines(_ limit: Int) -> Bool { limit >= note }
}

/// The reason why a text that a person entered is refused.
public enum TextRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    case empty(what: String)
    case tooLong(what: String, limit: Int, count: Int)
    /// A text so far beyond the limit that its characters were not counted.
    case farTooLong(what: String, limit: Int)
    /// The text contains U+FFFD, which stands for bytes that were not UTF-8.
    case damaged(what: String)

    public var description: String {
        switch self {
        case .empty(let what): "the \(what) is empty"
        case .tooLong(let what, let limit, let count): "the \(what) has \(count) characters; the limit is \(limit)"
        case .farTooLong(let what, let limit): "the \(what) is far longer than its limit of \(limit) characters"
        case .damaged(let what): "the \(what) is not valid UTF-8; enter it again in a UTF-8 terminal"
        }
    }
}

extension String {
    /// The text as the library stores it: without control characters, bidirectional overrides, excess combining marks
    /// or white space at the ends, and with every kind of line break as a line feed. It is empty if nothing in the text
    /// is visible.
    public var cleaned: String {
        if isPlainLine { return self }
        // In the common case, the text is plain ASCII and has nothing to remove.
        if utf8.allSatisfy({ (0x20..<0x7F).contains($0) || $0 == 0x0A }) { return trimmed }
        var scalars = String.UnicodeScalarView()
        var marks = 0
        var follows: Unicode.Scalar?
        var isVisible = false
        for scalar in unicodeScalars {
            defer { follows = scalar }
            switch scalar.value {
            case 0x0A where follows == "\r": continue
            case 0x0A...0x0D, 0x85, 0x2028, 0x2029:
                scalars.append("\n")
                continue
            case 0x09: break
            case 0..<0x20, 0x7F..<0xA0: continue
            // Overrides and isolates are dropped, because they could reorder the text around them (Unicode TR 36,
            // 2.5.2).
            case 0x202A...0x202E, 0x2066...0x2069, 0xFEFF: continue
            case 0x300...:
                let category = scalar.properties.generalCategory
                marks = category == .nonspacingMark || category == .enclosingMark ? marks + 1 : 0
                // No script puts so many marks on one letter, so further marks are dropped (UAX 15, 13: Stream-Safe
                // Text Format).
                if marks > 30 { continue }
            default: marks = 0
            }
            isVisible =
                isVisible || !(scalar.properties.isWhitespace || scalar.properties.isDefaultIgnorableCodePoint)
            scalars.append(scalar)
        }
        return isVisible ? String(scalars).trimmed : ""
    }

    /// True if the text is certainly the same when it is cleaned: one line of printable ASCII and Latin letters with
    /// diacritics, with no space at its ends. Most texts are, and this is found out much faster than by cleaning.
    package var isPlainLine: Bool {
        let answer = utf8.withContiguousStorageIfAvailable { bytes in
            guard let first = bytes.first, let last = bytes.last else { return true }
            guard first != 0x20, last != 0x20 else { return false }
            // The first byte of U+00C0 to U+02BF is from 0xC3 to 0xCA; the bytes that follow are from 0x80 to 0xBF.
            return bytes.allSatisfy {
                ($0 >= 0x20 && $0 < 0x7F) || ($0 >= 0x80 && $0 < 0xC0) || ($0 >= 0xC3 && $0 <= 0xCA)
            }
        }
        return answer ?? false
    }

    /// The text of ``cleaned`` on one line, such as a name or a title: line breaks and tabs become spaces, and
    /// characters that cannot be seen are dropped.
    public var cleanedLine: String {
        if isPlainLine { return self }
        let text = withoutInvisibles.cleaned
        guard text.utf8.contains(where: { $0 == 0x0A || $0 == 0x09 }) else { return text }
        let pieces = text.unicodeScalars.split { $0 == "\n" || $0 == "\t" }.map { String($0).trimmed }
        return pieces.filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// Returns ``cleaned`` if a text with this limit may have several lines, else ``cleanedLine``.
    public func cleaned(forLimit limit: Int) -> String { TextLimit.hasLines(limit) ? cleaned : cleanedLine }

    /// Returns the cleaned text, or throws if it is empty, damaged or longer than `limit` characters.
    public func checked(as what: String, limit: Int) throws(TextRefusal) -> String {
        guard utf8.count <= limit * TextLimit.bytesPerCharacter else { throw .farTooLong(what: what, limit: limit) }
        guard !unicodeScalars.contains("\u{FFFD}") else { throw .damaged(what: what) }
        let text = cleaned(forLimit: limit)
        guard !text.isEmpty else { throw .empty(what: what) }
        guard text.count <= limit else { throw .tooLong(what: what, limit: limit, count: text.count) }
        return text
    }

    /// The text without white space at the ends.
    private var trimmed: String {
        guard first?.isWhitespace == true || last?.isWhitespace == true else { return self }
        guard let start = firstIndex(where: { !$0.isWhitespace }),
            let end = lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(self[start...end])
    }
}
