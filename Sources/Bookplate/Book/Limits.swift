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

/// Why a value that a person entered is refused, other than for its length.
public enum InputRefusal: Error, Hashable, Sendable, CustomStringConvertible {
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
/// figures count of it too (``StatsLimit``).
public enum NumberLimit {
    /// The pages of a book, the page of a quote, and from 0, which is nothing read, the page of a reading.
    public static let pages = 1...1_000_000
    /// Pages a day, and books a year.
    public static let goal = 1...100_000

    /// - Throws: ``InputRefusal/outOfRange(what:range:)``.
    public static func check(_ number: Int?, as what: String, in range: ClosedRange<Int>) throws(InputRefusal) {
        if let number, !range.contains(number) { throw .outOfRange(what: what, range: range) }
    }
}

extension Copy {
    /// Holds what a person said of the copy against the rules: rating and daily goal.
    public func checkEntries() throws(InputRefusal) {
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
    /// - Throws: ``TextRefusal``, ``InputRefusal/noDay(what:text:)``.
    public static func published(_ entered: String) throws -> (text: String, day: CalendarDay?) {
        let text = try entered.checked(as: "date of publication", limit: TextLimit.name)
        let day = CalendarDay(text)
        if day == nil, text.wholeMatch(of: /[0-9]{4}(-[0-9]{1,2}){0,2}/) != nil {
            throw InputRefusal.noDay(what: "date of publication", text: text)
        }
        return (text, day)
    }
}

extension String {
    /// A web address as it is stored: http or https, a host, nothing that could break out of a page or steer a terminal.
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
        // A name before @ only makes another host look like this one.
        guard let first = host.first, first.isLetter || first.isNumber || first == "[", !host.contains("@") else {
            throw refusal
        }
        return text
    }

    /// The parts of `scheme:value`; a scheme is ASCII letters and digits, in lower case afterwards.
    ///
    /// - Returns: no value for `scheme:`, which clears the scheme.
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
