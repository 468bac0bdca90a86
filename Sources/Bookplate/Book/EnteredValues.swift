/// The reason why a value that a person entered is refused. Texts that are empty, damaged or too long are refused with
/// ``TextRefusal`` instead.
public enum InputRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The number is outside the allowed range.
    case outOfRange(what: String, range: ClosedRange<Int>)
    /// The number is not a rating. Ratings are from 0.25 to 5 in quarter stars.
    case badRating(Double)
    /// The text is not a web address.
    case noLink(what: String, text: String)
    /// The text does not have the form `scheme:value`.
    case noIdentifier(text: String)
    /// The text looks like a date, but there is no such day.
    case noDay(what: String, text: String)

    public var description: String {
        switch self {
        case .outOfRange(let what, let range):
            "the \(what) must be a number from \(range.lowerBound) to \(range.upperBound)"
        case .badRating(let rating): "a rating must be from 0.25 to 5 stars in steps of 0.25, not \(rating)"
        case .noLink(let what, let text):
            "the \(what) \"\(text.cleanedLine.prefix(80))\" is not a web address such as https://example.org/page"
        case .noIdentifier(let text):
            "\"\(text.cleanedLine.prefix(80))\" is not an identifier such as goodreads:44767458"
        case .noDay(let what, let text):
            "\"\(text.cleanedLine.prefix(80))\" is not a date; enter the \(what) as 1969, 1969-03 or 1969-03-17"
        }
    }
}

/// The ranges of numbers that a person may enter or a file may contain. Metadata sources (`Lookup`) and statistics
/// (``StatsLimit``) have narrower limits.
public enum NumberLimit {
    /// The range for the page count of a book and for the page number of a quote. The page number of a reading can also
    /// be 0, which means that nothing was read.
    public static let pages = 1...1_000_000
    /// The range for a goal, in pages per day or in books per year.
    public static let goal = 1...100_000

    /// - Throws: ``InputRefusal/outOfRange(what:range:)`` if the number is outside the range.
    public static func check(_ number: Int?, as what: String, in range: ClosedRange<Int>) throws(InputRefusal) {
        if let number, !range.contains(number) { throw .outOfRange(what: what, range: range) }
    }
}

extension String {
    /// Returns the text as a web address in stored form. The address must begin with http or https, have a host, and
    /// contain no characters that could break out of HTML or control a terminal.
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
        // A user name before @ only serves to disguise the host.
        guard let first = host.first, first.isLetter || first.isNumber || first == "[", !host.contains("@") else {
            throw refusal
        }
        return text
    }

    /// Splits an identifier `scheme:value`. A scheme has ASCII letters and digits, and is returned in lower case.
    ///
    /// - Returns: the scheme and the value. The value is `nil` for the text `scheme:`, which clears the scheme.
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
