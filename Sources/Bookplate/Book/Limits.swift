/// How long the texts may be that a person enters, in characters as a reader counts them: a family of emoji is one. Imports cut
/// and flag instead.
public enum TextLimit {
    public static let title = 512
    public static let description = 10_000
    /// Notes and quotes.
    public static let note = 5_000
    /// Names of authors, tags, shelves and publishers.
    public static let name = 512
    /// Addresses of covers and book pages.
    public static let link = 2048
    /// Codes of languages (BCP 47, 4.4.1, recommends room for 35).
    public static let language = 35
    /// The number of a book in its series.
    public static let seriesNumber = 32

    /// No character that is meant needs more; the bound keeps a text of megabytes from being counted.
    public static let bytesPerCharacter = 64

    /// Whether a text with this limit is written in lines: descriptions, notes and quotes are, every shorter one stands on one
    /// line.
    public static func hasLines(_ limit: Int) -> Bool { limit >= note }
}

/// Why a text that a person entered is refused.
public enum TextRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    case empty(what: String)
    case tooLong(what: String, limit: Int, count: Int)
    /// So long that nobody counts it.
    case farTooLong(what: String, limit: Int)
    /// It holds U+FFFD, which stands where bytes were no UTF-8.
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
    /// The text as the library stores it: without control characters (every kind of line break becomes a line feed),
    /// bidirectional overrides, piled-up marks or white space at the ends; empty when nothing in it can be seen.
    public var cleaned: String {
        // Plain text, the most of what comes, has nothing to take out.
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
            // Overrides and isolates that could turn the text around them (Unicode TR 36, 2.5.2).
            case 0x202A...0x202E, 0x2066...0x2069, 0xFEFF: continue
            case 0x300...:
                let category = scalar.properties.generalCategory
                marks = category == .nonspacingMark || category == .enclosingMark ? marks + 1 : 0
                // More than any script piles onto one letter (UAX 15, 13: Stream-Safe Text Format).
                if marks > 30 { continue }
            default: marks = 0
            }
            isVisible =
                isVisible || !(scalar.properties.isWhitespace || scalar.properties.isDefaultIgnorableCodePoint)
            scalars.append(scalar)
        }
        return isVisible ? String(scalars).trimmed : ""
    }

    /// ``cleaned``, on one line: a line break or a tab becomes a space.
    public var cleanedLine: String {
        let text = cleaned
        guard text.utf8.contains(where: { $0 == 0x0A || $0 == 0x09 }) else { return text }
        let pieces = text.unicodeScalars.split { $0 == "\n" || $0 == "\t" }.map { String($0).trimmed }
        return pieces.filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// Cleaned as a text with this limit is: ``cleaned`` where it has lines, else ``cleanedLine``.
    public func cleaned(forLimit limit: Int) -> String { TextLimit.hasLines(limit) ? cleaned : cleanedLine }

    /// Cleaned, refused when nothing is left or it is longer than `limit` characters.
    public func checked(as what: String, limit: Int) throws(TextRefusal) -> String {
        guard utf8.count <= limit * TextLimit.bytesPerCharacter else { throw .farTooLong(what: what, limit: limit) }
        guard !unicodeScalars.contains("\u{FFFD}") else { throw .damaged(what: what) }
        let text = cleaned(forLimit: limit)
        guard !text.isEmpty else { throw .empty(what: what) }
        guard text.count <= limit else { throw .tooLong(what: what, limit: limit, count: text.count) }
        return text
    }

    /// Without white space at the ends.
    private var trimmed: String {
        guard first?.isWhitespace == true || last?.isWhitespace == true else { return self }
        guard let start = firstIndex(where: { !$0.isWhitespace }),
            let end = lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(self[start...end])
    }
}
