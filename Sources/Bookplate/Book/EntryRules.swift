/// Why a value that a person entered is refused, other than for its length.
public enum EntryRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// Outside of what it can be.
    case outOfRange(what: String, range: ClosedRange<Int>)
    /// Ratings are quarter stars from 0.25 to 5.
    case badRating(Double)
    /// No web address.
    case noLink(what: String, text: String)
    /// Not of the form `scheme:value`.
    case noIdentifier(text: String)
    /// Written as a day, but there is none.
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

/// What numbers can be that a person enters or a file brings in. What a source says of a book is held to less (`Lookup`), and what
/// figures count of it too (``FigureLimit``).
public enum NumberLimit {
    /// The pages of a book, the page of a quote, and from 0, which is nothing read, the page of a reading.
    public static let pages = 1...1_000_000
    /// Pages a day, and books a year.
    public static let goal = 1...100_000

    /// - Throws: ``EntryRefusal/outOfRange(what:range:)``.
    public static func check(_ number: Int?, as what: String, in range: ClosedRange<Int>) throws(EntryRefusal) {
        if let number, !range.contains(number) { throw .outOfRange(what: what, range: range) }
    }
}

extension Copy {
    /// Holds what a person said of the copy against the rules: rating and daily goal.
    public func checkEntries() throws(EntryRefusal) {
        if let rating, !Self.isRating(rating) { throw .badRating(rating) }
        try NumberLimit.check(dailyGoal, as: "daily goal", in: NumberLimit.goal)
    }

    /// Whether it is 0.25 to 5 in quarters.
    public static func isRating(_ rating: Double) -> Bool {
        (0.25...5).contains(rating) && (rating * 4).rounded() == rating * 4
    }

    /// A rating as it is drawn, five wide: `★★★★½`, `★★★☆☆`.
    public static func stars(_ rating: Double) -> String {
        let quarters = Int((min(5, max(0, rating.isNaN ? 0 : rating)) * 4).rounded())
        let (whole, rest) = (quarters / 4, ["", "¼", "½", "¾"][quarters % 4])
        return String(repeating: "★", count: whole) + rest
            + String(repeating: "☆", count: 5 - whole - (rest.isEmpty ? 0 : 1))
    }
}

extension Metadata {
    /// A date of publication as a person writes it. As it is printed it may be anything, but what is written as a day must be one.
    ///
    /// - Returns: the text, and the day as far as it gives one away.
    /// - Throws: ``TextRefusal``, ``EntryRefusal/noDay(what:text:)``.
    public static func published(_ entered: String) throws -> (text: String, day: CalendarDay?) {
        let text = try entered.checked(as: "date of publication", limit: TextLimit.name)
        let day = CalendarDay(text)
        if day == nil, text.wholeMatch(of: /[0-9]{4}(-[0-9]{1,2}){0,2}/) != nil {
            throw EntryRefusal.noDay(what: "date of publication", text: text)
        }
        return (text, day)
    }
}

extension String {
    /// A web address as it is stored: http or https, a host, nothing that could break out of a page or steer a terminal.
    ///
    /// - Throws: ``EntryRefusal/noLink(what:text:)``.
    public func checkedLink(as what: String) throws(EntryRefusal) -> String {
        let refusal = EntryRefusal.noLink(what: what, text: String(prefix(200)))
        guard utf8.count <= TextLimit.link else { throw refusal }
        let text = cleanedLine
        let forbidden: Set<Unicode.Scalar> = ["\"", "'", "<", ">", "\\", "^", "`", "{", "|", "}", "\u{FFFD}"]
        guard let scheme = ["https://", "http://"].first(where: { text.lowercased().hasPrefix($0) }),
            !text.unicodeScalars.contains(where: { $0.properties.isWhitespace || forbidden.contains($0) })
        else { throw refusal }
        let host = text.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        // A name before @ only makes another host look like this one.
        guard let first = host.first, first.isLetter || first.isNumber || first == "[", !host.contains("@") else {
            throw refusal
        }
        return text
    }

    /// The parts of `scheme:value`; a scheme is ASCII letters and digits, in lower case afterwards.
    ///
    /// - Returns: no value for `scheme:`, which clears the scheme.
    /// - Throws: ``EntryRefusal/noIdentifier(text:)``.
    public func identifier() throws(EntryRefusal) -> (scheme: String, value: String?) {
        let text = utf8.count <= TextLimit.link ? cleanedLine : ""
        let refusal = EntryRefusal.noIdentifier(text: String(prefix(200)))
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
