import FoundationEssentials

/// A query that a person typed, parsed.
public struct ParsedQuery: Sendable, Equatable {
    /// The words by which books are ranked, as in ``BookQuery/text``. If nothing in the query can be searched for, this
    /// is the query, which then finds nothing.
    public var text = ""
    /// The condition that the books must meet as well; `nil` if there is none.
    public var condition: BookCondition?
    /// The order that the query names; `nil` if it names none.
    public var sort: BookQuery.Sort?
    /// True if the order is the opposite of the usual one of ``sort``.
    public var isReversed = false
    /// The parts that were left out, because they are wrong or not complete yet. Only a lenient parser leaves out
    /// parts.
    public var ignored: [QueryMistake] = []

    public init() {}

    /// True if the query has neither words nor conditions, so that every book matches.
    public var isEmpty: Bool { text.isEmpty && condition == nil }
}

/// A mistake in a query, and its place.
public struct QueryMistake: Error, Equatable, Sendable, CustomStringConvertible {
    /// The reason, as a sentence without its full stop.
    public var reason: String
    /// The whole query.
    public var query: String
    /// The place of the mistake, as offsets of characters in ``query``. It contains at least one character, which may
    /// be the one after the end.
    public var place: Range<Int>

    public var description: String {
        let part = query.dropFirst(place.lowerBound).prefix(min(place.count, 40)).map { $0.isNewline ? " " : $0 }
        return "\(reason), at character \(place.lowerBound + 1) (\"\(String(part).cleanedLine)\")."
    }
}

/// The names of the query language that stand before a colon.
public enum QueryField: String, Sendable, CaseIterable {
    case title, subtitle, author, series, publisher, genre, note, quote
    case tag, shelf, status, language, format, isbn, id
    case pages, year, rating, added, started, finished, read, times
    case has, missing, `is`, readby, filter

    /// - Parameter name: the name or a short form of it; case is ignored.
    public init?(name: String) {
        switch name.lowercased() {
        case "lang": self = .language
        case "subject": self = .genre
        case let name:
            guard let field = QueryField(rawValue: name) else { return nil }
            self = field
        }
    }
}

/// The facts to which queries refer.
public struct QueryContext: Sendable {
    /// The day that `today` and `-30d` count from, in the reader's time zone.
    public var today: CalendarDay
    /// The household's readers, for `readby:`.
    public var readers: [Reader]
    /// The present reader's saved filters, for `filter:`.
    public var filters: [SavedFilter]

    public init(today: CalendarDay, readers: [Reader] = [], filters: [SavedFilter] = []) {
        (self.today, self.readers, self.filters) = (today, readers, filters)
    }
}

/// Parses the query language, whose grammar is in docs/query.md.
public struct QueryParser: Sendable {
    /// The largest number of conditions in a query, with those of its saved filters.
    public static let mostConditions = 100
    /// The largest number of characters in a query.
    public static let longestQuery = 2000
    private static let deepest = 20

    private let context: QueryContext
    private let isLenient: Bool

    /// - Parameter isLenient: true to leave out wrong and unfinished parts instead of refusing the query. This is for
    ///   a query that a person is still typing.
    public init(_ context: QueryContext, isLenient: Bool = false) {
        (self.context, self.isLenient) = (context, isLenient)
    }

    /// - Throws: ``QueryMistake``; never if the parser is lenient.
    public func parse(_ text: String) throws(QueryMistake) -> ParsedQuery {
        let text = isLenient ? String(text.prefix(Self.longestQuery)) : text
        guard text.prefix(Self.longestQuery + 1).count <= Self.longestQuery else {
            let end = Self.longestQuery
            throw QueryMistake(
                reason: "A query has at most \(end) characters", query: String(text.prefix(end)), place: end - 1..<end)
        }
        var scanner = QueryScanner(text, context, isLenient: isLenient)
        return try scanner.parse(deepest: Self.deepest)
    }

    /// Joins the arguments of a command to a query. A shell removes the quotes from `author:"le guin"`, so an argument
    /// that is a field with a value of several words is quoted again.
    public static func query(fromArguments arguments: [String]) -> String {
        arguments.map { argument in
            let isNegated = argument.first == "-"
            guard let colon = argument.firstIndex(of: ":"),
                QueryField(name: String(argument[..<colon].dropFirst(isNegated ? 1 : 0))) != nil
            else { return argument }
            let value = argument[argument.index(after: colon)...]
            let words = value.split(whereSeparator: \.isWhitespace)
            let isValue =
                words.count > 1 && value.first?.isWhitespace == false
                && !value.contains(where: { "\"()\\".contains($0) })
                && words.allSatisfy { $0 != "OR" && !$0.hasPrefix("-") && !$0.hasPrefix("+") && !isField($0) }
            return isValue ? "\(argument[...colon])\"\(value)\"" : argument
        }.joined(separator: " ")
    }

    /// Returns the first word of a query that looks like a condition with a misspelt field, such as `auhor:camus`, and
    /// the field that was probably meant. Words in quotation marks are texts.
    public static func misspeltField(in query: String) -> (word: String, field: QueryField)? {
        var isQuoted = false
        for word in query.split(whereSeparator: \.isWhitespace) {
            let wasQuoted = isQuoted
            if !word.filter({ $0 == "\"" }).count.isMultiple(of: 2) { isQuoted.toggle() }
            let name = word.drop { "-(".contains($0) }.prefix { $0 != ":" }
            guard !wasQuoted, name.endIndex < word.endIndex, word.index(after: name.endIndex) < word.endIndex,
                name.count > 1, name.allSatisfy(\.isLetter), QueryField(name: String(name)) == nil,
                let near = String(name).nearest(among: QueryField.allCases.map(\.rawValue), limit: 1).first,
                let field = QueryField(name: near)
            else { continue }
            return (String(word), field)
        }
        return nil
    }

    private static func isField(_ word: Substring) -> Bool {
        word.firstIndex(of: ":").map { QueryField(name: String(word[..<$0])) != nil } ?? false
    }
}

/// Reads a query from its beginning to its end.
private struct QueryScanner {
    private let text: String
    private let characters: [Character]
    private let context: QueryContext
    private let isLenient: Bool
    private var position = 0
    private var conditions = 0
    private var result = ParsedQuery()
    /// The names of the saved filters that are being read, so that none contains itself.
    private var open: [String] = []

    init(_ text: String, _ context: QueryContext, isLenient: Bool) {
        (self.text, self.context, self.isLenient) = (text, context, isLenient)
        characters = Array(text)
    }

    mutating func parse(deepest: Int) throws(QueryMistake) -> ParsedQuery {
        var terms: [BookCondition] = []
        if let found = try alternatives(depth: deepest, isGroup: false) {
            terms = if case .all(let terms) = found { terms } else { [found] }
        }
        // Books are ranked by the words that all of them have.
        var words: [String] = []
        var rest: [BookCondition] = []
        for term in terms {
            switch term {
            case .words(let word): words.append(word)
            case .phrase(let phrase, _):
                words.append(phrase)
                rest.append(term)
            default: rest.append(term)
            }
        }
        result.text = words.joined(separator: " ")
        result.condition = rest.isEmpty ? nil : rest.count == 1 ? rest[0] : .all(rest)
        // A text without words finds nothing, instead of everything.
        if result.isEmpty, result.sort == nil, result.ignored.isEmpty {
            result.text = text
        }
        return result
    }

    // MARK: Structure

    /// Reads `a b OR c d`.
    ///
    /// - Returns: `nil` if there is nothing.
    private mutating func alternatives(depth: Int, isGroup: Bool) throws(QueryMistake) -> BookCondition? {
        var found = [try sequence(depth: depth, isGroup: isGroup)]
        while isAt("OR") {
            let place = position..<position + 2
            position += 2
            let next = try sequence(depth: depth, isGroup: isGroup)
            if next == nil || found[0] == nil {
                try report("A condition is missing beside OR. To search for the word, write \"OR\" in quotes", place)
            }
            found.append(next)
        }
        let present = found.compactMap(\.self)
        return present.isEmpty ? nil : present.count == 1 ? present[0] : .any(present)
    }

    /// Reads conditions that must all hold, until OR, the end of the group, or the end.
    private mutating func sequence(depth: Int, isGroup: Bool) throws(QueryMistake) -> BookCondition? {
        var found: [BookCondition] = []
        while true {
            skipSpace()
            guard let next = peek(), !(isGroup && next == ")") else { break }
            // At the very beginning, OR is a word.
            if isAt("OR"), !(found.isEmpty && position == 0) { break }
            let start = position
            let term = try term(depth: depth, isGroup: isGroup)
            // Parts without a condition count as well, so that saved filters that contain one another several times
            // stay cheap even if nothing is in the last of them. The words of a pasted text count once.
            let isNextWord = if case (.words?, .words?) = (found.last, term) { true } else { false }
            conditions += isNextWord ? 0 : 1
            guard conditions <= QueryParser.mostConditions else {
                try report("A query has at most \(QueryParser.mostConditions) conditions", start..<position)
                position = characters.count
                break
            }
            guard let term else { continue }
            switch (found.last, term) {
            case (.words(let before), .words(let word)): found[found.count - 1] = .words("\(before) \(word)")
            case (_, .all(let terms)): found += terms
            default: found.append(term)
            }
        }
        return found.isEmpty ? nil : found.count == 1 ? found[0] : .all(found)
    }

    /// Reads one condition.
    ///
    /// - Returns: `nil` if it only sets the order, has no words, or was left out.
    private mutating func term(depth: Int, isGroup: Bool) throws(QueryMistake) -> BookCondition? {
        if readSort(isGroup: isGroup) { return nil }
        let start = position
        if peek() == "-", let next = peek(1), !next.isWhitespace, next != "-", !(isGroup && next == ")") {
            position += 1
            return try atom(from: start, depth: depth, isGroup: isGroup).map { .not($0) }
        }
        return try atom(from: start, depth: depth, isGroup: isGroup)
    }

    private mutating func atom(from start: Int, depth: Int, isGroup: Bool) throws(QueryMistake) -> BookCondition? {
        if let phrase = try readPhrase() {
            return hasWords(phrase.text) ? .phrase(phrase.text, isOpen: phrase.isOpen) : nil
        }
        if peek() == "(", !isEmptyGroup {
            let place = position..<position + 1
            position += 1
            guard depth > 0 else {
                try report("Parentheses are nested too deeply", place)
                position = characters.count
                return nil
            }
            let group = try alternatives(depth: depth - 1, isGroup: true)
            if peek() == ")" {
                position += 1
            } else {
                try report("This parenthesis is not closed. To search for it as text, use quotes", place)
            }
            return group
        }
        let wordStart = position
        if let field = readField() {
            let value: (text: String, isQuoted: Bool)
            if let phrase = try readPhrase() {
                value = (phrase.text, true)
            } else {
                value = (readWord(isGroup: isGroup), false)
            }
            return try condition(field, value.text, isQuoted: value.isQuoted, start..<position)
        }
        let word = readWord(isGroup: isGroup)
        if position == wordStart { position += 1 }
        return hasWords(word) ? .words(word) : nil
    }

    // MARK: Tokens

    private func peek(_ distance: Int = 0) -> Character? {
        position + distance < characters.count ? characters[position + distance] : nil
    }

    private mutating func skipSpace() { while peek()?.isWhitespace == true { position += 1 } }

    /// Returns true if the next word is exactly this one.
    private func isAt(_ word: String) -> Bool {
        guard characters[position...].starts(with: word) else { return false }
        let next = peek(word.count)
        return next == nil || next?.isWhitespace == true || next == "(" || next == ")"
    }

    /// True for `()`, which is a text, such as in the name of a function.
    private var isEmptyGroup: Bool {
        guard let next = characters[(position + 1)...].first(where: { !$0.isWhitespace }) else { return false }
        return next == ")"
    }

    /// Reads `+title`, `title+` or `added-`.
    private mutating func readSort(isGroup: Bool) -> Bool {
        let end = characters[position...].firstIndex { $0.isWhitespace || (isGroup && $0 == ")") } ?? characters.count
        var word = characters[position..<end]
        let isAscending: Bool
        if word.first == "+" {
            isAscending = true
            word = word.dropFirst()
        } else if word.last == "+" || word.last == "-" {
            isAscending = word.last == "+"
            word = word.dropLast()
        } else {
            return false
        }
        guard let sort = BookQuery.Sort(rawValue: String(word).lowercased()) else { return false }
        position = end
        result.sort = sort
        result.isReversed = isAscending != sort.isAscending
        return true
    }

    /// Reads a field and its colon, if a value follows.
    private mutating func readField() -> QueryField? {
        let name = characters[position...].prefix { $0.isLetter }
        guard name.endIndex < characters.count, characters[name.endIndex] == ":",
            let field = QueryField(name: String(name))
        else { return nil }
        let next = name.endIndex + 1
        // "Quote: Unquote" is a title, but a field at the end may get its value yet.
        guard next < characters.count ? !characters[next].isWhitespace : true else { return nil }
        position = next
        return field
    }

    /// Reads a word up to a space or the end of the group.
    private mutating func readWord(isGroup: Bool) -> String {
        var depth = 0
        let start = position
        while let next = peek(), !next.isWhitespace {
            if next == "(" { depth += 1 }
            if next == ")" {
                if isGroup, depth == 0 { break }
                depth -= 1
            }
            position += 1
        }
        return String(characters[start..<position])
    }

    /// The quotation marks in which phrases are written, each with those that close it. Phones type “curly” ones.
    private static let quotes: [Character: Set<Character>] = [
        "\"": ["\""], "“": ["”", "“", "\""], "„": ["“", "”", "\""], "«": ["»"], "»": ["«"],
    ]

    /// Reads a phrase in quotation marks. In `"`, `\"` stands for a quotation mark.
    private mutating func readPhrase() throws(QueryMistake) -> (text: String, isOpen: Bool)? {
        guard let closing = peek().flatMap({ Self.quotes[$0] }) else { return nil }
        let start = position
        position += 1
        var phrase = ""
        while let next = peek() {
            position += 1
            if closing.contains(next) { return (phrase, false) }
            if next == "\\", let escaped = peek(), escaped == "\\" || closing.contains(escaped) {
                phrase.append(escaped)
                position += 1
            } else {
                phrase.append(next)
            }
        }
        if isLenient { return (phrase, true) }
        try report("This quotation mark is not closed", start..<start + 1)
        return (phrase, true)
    }

    /// Returns true if the text contains something that can be searched for.
    private func hasWords(_ text: String) -> Bool {
        text.unicodeScalars.contains { scalar in
            switch scalar.properties.generalCategory {
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
                .letterNumber, .otherNumber, .otherSymbol, .privateUse:
                true
            default: false
            }
        }
    }

    private mutating func report(_ reason: String, _ place: Range<Int>) throws(QueryMistake) {
        let mistake = QueryMistake(reason: reason, query: text, place: place)
        guard isLenient else { throw mistake }
        result.ignored.append(mistake)
    }

    // MARK: Fields

    /// - Returns: `nil` if the part was left out.
    private mutating func condition(
        _ field: QueryField, _ value: String, isQuoted: Bool, _ place: Range<Int>
    ) throws(QueryMistake) -> BookCondition? {
        let value = value.cleanedLine
        if value.isEmpty {
            try report("\(field.rawValue): needs a value, such as \(field.example)", place)
            return nil
        }
        if !isQuoted, value.lowercased() == "none", let missing = field.missing { return .lacks(missing) }
        switch field {
        case .title, .subtitle, .author, .series, .publisher, .genre, .note, .quote:
            // Left out in silence, the condition would let every book match.
            if let text = BookText(rawValue: field.rawValue), hasWords(value) {
                return .text(text, value, isPhrase: isQuoted)
            }
            try report("\"\(value.prefix(40))\" has no letters or digits to search for", place)
            return nil
        case .tag: return Self.name(value, isQuoted) { .tag($0, isBeginning: $1) }
        case .shelf: return Self.name(value, isQuoted) { .shelf($0, isBeginning: $1) }
        case .status:
            if let status = Copy.Status(parsing: value) { return .status(status) }
            return try refuse(field, value, "a status", Copy.Status.allCases.map(\.rawValue), place)
        case .language: return .language(value.lowercased())
        case .format:
            if let format = Metadata.Format.named(value) { return .format(format) }
            return try refuse(field, value, "a format", Metadata.Format.allCases.map(\.rawValue), place)
        case .isbn:
            let digits = value.lowercased().filter { $0 != "-" && $0 != " " }
            if !digits.isEmpty, digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 || $0 == UInt8(ascii: "x") }) {
                return .isbn(digits)
            }
            return try refuse(field, value, "the beginning of an ISBN", ["978014"], place)
        case .id:
            let id = value.lowercased()
            if id.utf8.count <= 64, id.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "-" }) { return .id(id) }
            return try refuse(field, value, "the end of an id", ["3f9a1c"], place)
        case .pages:
            if let range = NumberRange.parse(value, digits: 6) { return .pages(range) }
            return try refuse(field, value, "a number of pages or a range", ["200", "..200", "200..400"], place)
        case .year:
            if let range = NumberRange.parse(value, digits: 4) { return .year(range) }
            return try refuse(field, value, "a year or a range of years", ["1969", "1960..", "1960..1969"], place)
        case .rating:
            if value.lowercased() == "unrated" { return .lacks(.rating) }
            if let range = Self.ratings(value) { return .rating(range) }
            return try refuse(field, value, "a rating or a range of ratings", ["4", "4.5..", "none"], place)
        case .added, .started, .finished, .read:
            guard let period = try period(field, value, place) else { return nil }
            return switch field {
            case .added: .added(period)
            case .started: .started(period)
            case .finished: .finished(period)
            default: .read(period)
            }
        case .times:
            if let range = NumberRange.parse(value, digits: 3) { return .times(range) }
            return try refuse(field, value, "a number of readings or a range", ["0", "1", "2.."], place)
        case .has, .missing:
            guard let part = MissingField(rawValue: value.lowercased()) else {
                return try refuse(field, value, "a field", MissingField.allCases.map(\.rawValue), place)
            }
            return field == .has ? .not(.lacks(part)) : .lacks(part)
        case .is:
            switch value.lowercased() {
            case "owned": return .isOwned
            case "wishlist": return .isOnWishlist
            case "favourite", "favorite": return .isFavourite
            default: return try refuse(field, value, "a kind of book", ["owned", "wishlist", "favourite"], place)
            }
        case .readby:
            if let reader = context.readers.first(where: { $0.isNamed(value) }) { return .readBy(reader.id) }
            if value.lowercased() == "nobody" { return .readByNobody }
            let names = context.readers.compactMap { $0.name?.cleanedLine }
            return try refuse(field, value, "a reader", names + ["nobody"], place)
        case .filter: return try saved(value, place)
        }
    }

    private mutating func refuse(
        _ field: QueryField, _ value: String, _ what: String, _ allowed: [String], _ place: Range<Int>
    ) throws(QueryMistake) -> BookCondition? {
        let list = allowed.map(field.condition).joined(separator: ", ")
        try report("\"\(value.prefix(40))\" is not \(what). Write \(list)", place)
        return nil
    }

    private static func name(
        _ value: String, _ isQuoted: Bool, _ condition: (String, _ isBeginning: Bool) -> BookCondition
    ) -> BookCondition {
        isQuoted || !value.hasSuffix("*") ? condition(value, false) : condition(String(value.dropLast()), true)
    }

    /// Parses a rating or a range of ratings. A whole number of stars without a range includes the quarters above it,
    /// as ``RatingBand`` does.
    ///
    /// - Returns: quarter stars.
    private static func ratings(_ text: String) -> ClosedRange<Int>? {
        func quarters(_ text: Substring, _ missing: Int) -> Int? {
            if text.isEmpty { return missing }
            guard text.utf8.count <= 4, let stars = Double(text), (0...5).contains(stars) else { return nil }
            let quarters = (stars * 4).rounded()
            return quarters == stars * 4 ? Int(quarters) : nil
        }
        guard let dots = text.firstRange(of: "..") else {
            guard let low = quarters(text[...], 0) else { return nil }
            return Int(text) == nil ? low...low : low...low + 3
        }
        guard text != "..", let low = quarters(text[..<dots.lowerBound], 0),
            let high = quarters(text[dots.upperBound...], 20), low <= high
        else { return nil }
        return low...high
    }

    private mutating func period(
        _ field: QueryField, _ value: String, _ place: Range<Int>
    ) throws(QueryMistake) -> Period? {
        do throws(Period.PhraseFlaw) {
            return try Period(phrase: value, today: context.today)
        } catch {
            switch error {
            case .empty: try report("\(field.rawValue): needs a day, such as \(field.example)", place)
            case .notADay(let text):
                try report(
                    "\"\(text.prefix(40))\" is not a day. Write \(field.rawValue):2024, \(field.rawValue):2024-03.., \(field.rawValue):-30d.. or \(field.rawValue):\"last week\"",
                    place)
            case .reversed(let from, let to):
                try report("The period ends on \(to), before it begins on \(from)", place)
            }
            return nil
        }
    }

    /// Reads a saved filter in place of its name.
    private mutating func saved(_ name: String, _ place: Range<Int>) throws(QueryMistake) -> BookCondition? {
        guard let filter = context.filters.first(where: { $0.isNamed(name) }) else {
            let names = context.filters.map { QueryField.filter.condition($0.name) }.joined(separator: ", ")
            try report(
                "There is no saved filter \"\(name.prefix(40))\""
                    + (names.isEmpty ? ". To save one, run 'scan filter add'" : ". There are \(names)"), place)
            return nil
        }
        guard !open.contains(filter.id.rawValue), open.count < 8 else {
            try report("The saved filter \"\(filter.name)\" contains itself", place)
            return nil
        }
        // Readers and filters that the query names may have gone since it was saved.
        var inner = QueryScanner(filter.query, context, isLenient: true)
        (inner.open, inner.conditions) = (open + [filter.id.rawValue], conditions)
        let found = try inner.alternatives(depth: 20, isGroup: false)
        conditions = inner.conditions
        if let mistake = inner.result.ignored.first {
            try report("In the saved filter \"\(filter.name)\": \(mistake.reason)", place)
        }
        // The order of a saved filter counts only if the query itself has none.
        if result.sort == nil { (result.sort, result.isReversed) = (inner.result.sort, inner.result.isReversed) }
        return found
    }
}

extension BookQuery.Sort {
    /// True if the usual order begins with the smallest value.
    public var isAscending: Bool {
        switch self {
        case .title, .author: true
        case .added, .started, .finished, .rating: false
        }
    }
}

extension QueryField {
    /// Returns the condition with a value as a person types it: a value of several words, or with quotation marks or
    /// parentheses, is put in quotation marks.
    public func condition(_ value: String) -> String {
        guard value.contains(where: { $0.isWhitespace || "\"“”„«»()".contains($0) }) else {
            return "\(rawValue):\(value)"
        }
        return exactCondition(value)
    }

    /// Returns the condition with a value in quotation marks, in which neither `*` nor `none` has a special meaning.
    public func exactCondition(_ value: String) -> String {
        "\(rawValue):\"\(value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }

    /// A condition with the field.
    public var example: String {
        let value =
            switch self {
            case .title: "dune"
            case .subtitle: "novel"
            case .author: "camus"
            case .series: "earthsea"
            case .publisher: "penguin"
            case .genre: "fiction"
            case .note: "borrowed"
            case .quote: "fear"
            case .tag: "sf"
            case .shelf: "Living room"
            case .status: "reading"
            case .language: "de"
            case .format: "audiobook"
            case .isbn: "978014"
            case .id: "3f9a1c"
            case .pages: "..200"
            case .year: "1960.."
            case .rating: "4.."
            case .added: "-30d.."
            case .started: "2024"
            case .finished: "last month"
            case .read: "last year"
            case .times: "2.."
            case .has: "isbn"
            case .missing: "cover"
            case .is: "favourite"
            case .readby: "nobody"
            case .filter: "to lend"
            }
        return condition(value)
    }

    /// The field that a book lacks if the value is `none`.
    fileprivate var missing: MissingField? {
        switch self {
        case .id, .added, .read, .times, .has, .missing, .is, .readby, .filter, .status: nil
        case .title: .title
        case .subtitle: .subtitle
        case .author: .author
        case .series: .series
        case .publisher: .publisher
        case .genre: .genre
        case .note: .note
        case .quote: .quote
        case .tag: .tag
        case .shelf: .shelf
        case .language: .language
        case .format: .format
        case .isbn: .isbn
        case .pages: .pages
        case .year: .year
        case .rating: .rating
        case .started: .started
        case .finished: .finished
        }
    }
}
