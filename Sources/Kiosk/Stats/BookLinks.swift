import Bookplate

/// The addresses of the books that statistics count. Each list has exactly as many books as the number that leads to
/// it.
struct BookLinks: Sendable, Equatable {
    /// The condition that all the books meet, in the query language; empty for all books of the library.
    private let base: String

    private init(_ base: String) { self.base = base }

    static let library = BookLinks("")

    /// The books that were read in a period, which ``ReadBooks`` counts.
    static func read(in period: Period) -> BookLinks {
        if period == .all { return BookLinks(QueryField.times.condition("1..")) }
        let (from, to) = (period.from, period.to)
        // A whole year or month is written as one.
        let whole = from.flatMap { from in
            [CalendarDay(year: from.year), CalendarDay(year: from.year, month: from.month)].compactMap(\.self)
                .first { Period($0) == period }
        }
        let days = whole?.description ?? "\(from?.description ?? "")..\(to?.description ?? "")"
        return BookLinks(QueryField.read.condition(from == to ? from?.description ?? days : days))
    }

    /// The books that were read in a year whose month is not known.
    static func read(inUnknownMonthOf year: Int) -> BookLinks {
        let halves = ["01..\(CalendarDay.text(year))-06", "07..\(CalendarDay.text(year))-12"]
        let known = halves.map { "-" + QueryField.read.condition("\(CalendarDay.text(year))-\($0)") }
        return BookLinks(([QueryField.read.condition(CalendarDay.text(year))] + known).joined(separator: " "))
    }

    /// The address of all these books.
    var all: String { address([], nil) }

    /// Returns the address of those that also meet conditions of the query language.
    func books(_ conditions: String...) -> String { address(conditions, nil) }

    func books(_ conditions: [String]) -> String { address(conditions, nil) }

    /// Returns the address of those that also have a value of a filter.
    func books(with name: LibraryAddress.Name, _ value: String) -> String { address([], (name, value)) }

    private func address(_ conditions: [String], _ filter: (name: LibraryAddress.Name, value: String)?) -> String {
        let query = ([base] + conditions).filter { !$0.isEmpty }.joined(separator: " ")
        var pairs: [(name: LibraryAddress.Name, value: String)] = query.isEmpty ? [] : [(.q, query)]
        if let filter { pairs.append(filter) }
        if !base.isEmpty { pairs.append((.sort, BookQuery.Sort.finished.rawValue)) }
        let text = pairs.map { "\($0.name.rawValue)=\(PercentEncoding.encoded($0.value))" }.joined(separator: "&")
        return text.isEmpty ? "/library" : "/library?" + text
    }
}

extension CalendarDay {
    fileprivate static func text(_ year: Int) -> String { CalendarDay(year: year)?.description ?? "" }
}
