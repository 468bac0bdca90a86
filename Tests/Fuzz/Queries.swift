import Bookplate

private let context = QueryContext(
    today: CalendarDay(number: 20_783), readers: [Reader(id: ID(rawValue: "anna"), name: "Anna", colour: 0)],
    filters: [
        SavedFilter(name: "short", query: "pages:..200 +title"), SavedFilter(name: "loop", query: "tag:a filter:loop"),
        SavedFilter(name: "deep", query: String(repeating: "filter:short -", count: 60)),
    ])

/// Parses a query. A strict parser may refuse it with a place in it; a lenient one, for a person who is still typing,
/// refuses nothing, and agrees with the strict one where that refuses nothing.
func runQueries(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    guard let lenient = try? QueryParser(context, isLenient: true).parse(text) else {
        return require(false, "a lenient parser refused a query")
    }
    check(lenient, of: text)
    do throws(QueryMistake) {
        let strict = try QueryParser(context).parse(text)
        check(strict, of: text)
        require(strict == lenient, "the parsers do not agree")
    } catch {
        check(error)
    }
    // A command gets the query in arguments.
    let arguments = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    _ = try? QueryParser(context).parse(QueryParser.query(fromArguments: arguments))
    _ = CalendarDay(phrase: text, today: context.today)
    _ = try? Period(phrase: text, today: context.today)
}

private func check(_ mistake: QueryMistake) {
    let place = mistake.place
    require(place.lowerBound >= 0 && !place.isEmpty, "a place at \(place)")
    require(place.upperBound <= max(1, mistake.query.count), "a place at \(place) of \(mistake.query.count)")
    require(mistake.description.utf8.count < 4000, "a description of \(mistake.description.utf8.count) bytes")
}

private func check(_ parsed: ParsedQuery, of text: String) {
    for mistake in parsed.ignored { check(mistake) }
    require(parsed.text.utf8.count <= text.utf8.count + 8, "words of \(parsed.text.utf8.count) bytes")
    require(parsed.condition.map(size) ?? 0 <= 4 * QueryParser.mostConditions, "too many conditions")
}

/// The number of conditions.
private func size(_ condition: BookCondition) -> Int {
    switch condition {
    case .all(let parts), .any(let parts): parts.reduce(1) { $0 + size($1) }
    case .not(let part): 1 + size(part)
    default: 1
    }
}

/// Returns an example of every field, and of every way to combine conditions.
func querySeeds() -> [[UInt8]] {
    (QueryField.allCases.map(\.example)
        + [
            "dune messiah", "-tag:sf", "a OR b", "(a OR b) -c", "\"left hand\"", "“le guin”", "+title", "added-",
            "shelf:none", "tag:sci*", "author:\"le guin\" -(tag:a OR tag:b) rating:..3", "filter:short filter:loop",
            "added:\"last week\"", "finished:3 days ago", "filter:deep",
        ]).map { Array($0.utf8) }
}
