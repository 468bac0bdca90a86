/// The reason why a value that a person entered is refused, other than its length.
public enum InputRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// Outside the allowed range.
    case outOfRange(what: String, range: ClosedRange<Int>)
    /// Ratings are quarter stars from 0.25 to 5.
    case badRating(Double)
    /// Not a web address.
    case noLink(what: String, text: String)
    /// Not of the form `scheme:value`.
    case noIdentifier(text: String)
    /// Looks like a date, but there is no such day.
    case noDay(what: String, text: String)

    public var description: String {
        switch self {
        case .outOfRange(let what, let range):
            "the \(what) is a number from \(range.lowerBound) to \(range.upperBound)"
        case .badRating(let rating): "a rating is 0.25 to 5 in quarter stars, not \(rating)"
        case .noLink(let what, let text):
            "the \(what) \"\(text.cleanedLine.prefix(80))\" is no web address; it looks like https://example.org/page"
        case .noIdentifier(let text):
            "\"\(text.cleanedLine.prefix(80))\" is no identifier; it looks like goodreads:44767458"
        case .noDay(let what, let text):
            "there is no day \(text.cleanedLine.prefix(80)); a \(what) looks like 1969, 1969-03 or 1969-03-17"
        }
    }
}

/// The range of numbers that a person enters or a file contains. Metadata sources are held to narrower limits
/// (`Lookup`), and so are statistics (``StatsLimit``).
public enum NumberLimit {
    /// The pages of a book and the page of a quote. The page of a reading starts at 0, for nothing read.
    public static let pages = 1...1_000_000
    /// Pages a day, or books a year.
    public static let goal = 1...100_000

    /// - Throws: ``InputRefusal/outOfRange(what:range:)``.
    public static func check(_ number: Int?, as what: String, in range: ClosedRange<Int>) throws(InputRefusal) {
        if let number, !range.contains(number) { throw .outOfRange(what: what, range: range) }
    }
}

extension String {
    /// Returns the text as a web address in stored form: http or https, a host, and no characters that could break out
    /// of HTML or control a terminal.
    ///
    /// - Throws: ``InputRefusal/noLink(what:text:)``.
    public func checkedLink(as what: String) throws(InputRefusal) -> String {
        let refusal = InputRefusal.noLink(what: what, text: String(prefix(200)))
        guard utf8.count <= TextLimit.link else { throw refusal }
        let text = cleanedLine
        let forbidden: Set<Unicode.Scalar> = ["\"", "'", "<", ">", "\\", "^", "`", "{", "|", "}", "\u{FFFD}"]
        guard let scheme = ["https://", "http://"].first(where: { text.lowercased().hasPrefix($0) }),
            !text.unicodeScalars.contains(where: { $0.properties.isWhitespace || forbidden.contains($0) })
        else { throw refusal }
        let host = text.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        // A user name before @ serves only to make another host look like this one.
        guard let first = host.first, first.isLetter || first.isNumber || first == "[", !host.contains("@") else {
            throw refusal
        }
        return text
    }

    /// Splits `scheme:value`; a scheme has ASCII letters and digits and is returned in lower case.
    ///
    /// - Returns: `nil` as the value for `scheme:`, which clears the scheme.
    /// - Throws: ``InputRefusal/noIdentifier(text:)``.
    public func identifier() throws(InputRefusal) -> (scheme: String, value: String?) {
        let text = utf8.count <= TextLimit.link ? cleanedLine : ""
        let refusal = InputRefusal.noIdentifier(text: String(prefix(200)))
        guard let colon = text.firstIndex(of: ":"), !text.unicodeScalars.contains("\u{FFFD}") else { throw refusal }
        let scheme = text[..<colon].lowercased()
        guard !scheme.isEmpty, scheme.utf8.count <= 32,
            scheme.utf8.allSatisfy({ (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) })
        else { throw refusal }
        let value = String(text[text.index(after: colon)...]).cleanedLine
        guard value.count <= TextLimit.name else { throw refusal }
        return (scheme, value.isEmpty ? nil : value)
    }
}
