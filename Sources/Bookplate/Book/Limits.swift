/// How long the texts may be that a person enters, in characters. Imports cut and flag instead.
public enum TextLimit {
    public static let title = 512
    public static let description = 10_000
    public static let note = 5_000
    /// Names of authors, tags, shelves and publishers.
    public static let name = 512
}

/// Why a text that a person entered is refused.
public enum TextRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    case empty(what: String)
    case tooLong(what: String, limit: Int, count: Int)

    public var description: String {
        switch self {
        case .empty(let what): "the \(what) is empty"
        case .tooLong(let what, let limit, let count): "the \(what) has \(count) characters; the limit is \(limit)"
        }
    }
}

extension String {
    /// The text as the library stores it: without control characters (a line break stays a line break), bidirectional
    /// overrides or white space at the ends.
    public var cleaned: String {
        let scalars = unicodeScalars.filter { scalar in
            switch scalar.value {
            case 0x0A: true
            case 0x09: true
            case 0..<0x20, 0x7F..<0xA0: false
            // Overrides and isolates that could turn the text around them (Unicode TR 36, 2.5.2).
            case 0x202A...0x202E, 0x2066...0x2069, 0xFEFF: false
            default: true
            }
        }
        let text = String(String.UnicodeScalarView(scalars))
        guard text.first?.isWhitespace == true || text.last?.isWhitespace == true else { return text }
        let trimmed = text.drop(while: \.isWhitespace)
        return String(
            trimmed.prefix(
                trimmed.lastIndex { !$0.isWhitespace }.map { trimmed.distance(from: trimmed.startIndex, to: $0) + 1 }
                    ?? 0))
    }

    /// ``cleaned``, refused when nothing is left or it is longer than `limit` characters.
    public func checked(as what: String, limit: Int) throws(TextRefusal) -> String {
        // Counting characters of a 10 MB text is slow, and four bytes a character is the most there can be of what is meant here.
        guard utf8.count <= limit * 16 else { throw .tooLong(what: what, limit: limit, count: utf8.count) }
        let text = cleaned
        guard !text.isEmpty else { throw .empty(what: what) }
        guard text.count <= limit else { throw .tooLong(what: what, limit: limit, count: text.count) }
        return text
    }
}
