import Bookplate
import Foundation
import GRDB

/// The filters of a query as conditions on the table `listing`. Texts of the query are arguments, never parts of a
/// statement.
struct ListingFilter {
    /// A statement that returns the ids of the present reader's rows for some copies, without duplicates.
    typealias Source = (sql: String, arguments: StatementArguments)

    /// A condition on a row of `listing`.
    struct Clause {
        /// An expression that can stand between AND or OR.
        var sql: String
        var arguments: StatementArguments = []
        /// The statement for the copies that meet the condition, or for more copies; `nil` if the condition is never
        /// narrow. It is used if only few copies meet the condition.
        var source: Source?
        /// True if looking up the copies with ``source`` is faster than checking every copy, because `listing` has no
        /// column for the condition.
        var isOutside = false
    }

    /// The conditions of all filters, joined with AND. A statement also needs one of the conditions that select the
    /// present reader's rows: ``row(of:)`` if it finds rows by their id, or ``ofReader`` if it walks through an index.
    private(set) var condition: String
    private(set) var arguments: StatementArguments
    private var sources: [Source] = []
    /// The statement for the copies that meet a condition for which `listing` has no columns; see
    /// ``Clause/isOutside``.
    private(set) var outside: Source?

    static let ofReader = "listing.reader = reader()"

    /// Returns the condition that finds the present reader's row of a copy.
    static func row(of copy: String) -> String { "listing.id = \(id(of: copy))" }

    static func id(of copy: String) -> String { "(reader() << 40) + \(copy)" }

    /// Returns the beginning of a statement that walks through an index. The statement returns ids, because every index
    /// contains them, so that no row is read.
    fileprivate static func selection(along index: String) -> String {
        "SELECT id FROM listing INDEXED BY listing\(index) WHERE \(ofReader) AND"
    }

    /// The number of matching copies up to which sorting them all is faster than walking through an index and checking
    /// each copy.
    private static let few = 3000
    /// The number of copies up to which a filter is narrow enough, so that no narrower filter is looked for.
    private static let veryFew = 500

    init(_ db: Database, _ query: BookQuery) throws {
        condition = "listing.inTrash = \(query.inTrash ? 1 : 0)"
        arguments = []
        if !query.statuses.isEmpty { require(.status(query.statuses)) }
        if !query.ratings.isEmpty { require(.rating(query.ratings)) }
        if !query.languages.isEmpty { require(.language(query.languages)) }
        if !query.formats.isEmpty { require(.format(query.formats)) }
        if !query.publishers.isEmpty { require(.publisher(query.publishers)) }
        if !query.years.isEmpty { require(.facts("year", query.years)) }
        if !query.pages.isEmpty { require(.facts("pages", query.pages)) }
        if !query.shelves.isEmpty { require(.shelf(try Self.shelfRows(db, query.shelves))) }
        if let isOwned = query.isOwned { require(.isOwned(isOwned)) }
        if let isWish = query.isOnWishlist { require(.isOnWishlist(isWish)) }
        if let isFavourite = query.isFavourite { require(.isFavourite(isFavourite)) }
        if let period = query.added { require(.added(period, query.zone)) }
        if let period = query.started { require(.day(period, of: "started")) }
        if let period = query.finished { require(.day(period, of: "finished")) }
        if !query.tags.isEmpty { require(.tag(try Self.tagRows(db, query.tags))) }
        if !query.series.isEmpty { require(.series(query.series)) }
        if !query.authors.isEmpty { require(.author(try Self.authorRows(db, query.authors))) }
        for reader in query.readBy { require(try .readBy(reader, db)) }
        for reader in query.notReadBy { require(try .readBy(reader, db).negated) }
        if query.readByNobody { require(try .readByNobody(db)) }
        // For those who may not read notes, there are none.
        let knowsMissing = query.searchesAnnotations || query.missing.isDisjoint(with: [.note, .quote])
        if !query.missing.isEmpty, knowsMissing { require(.missing(query.missing)) }
        if let condition = query.condition {
            let compiler = try ConditionCompiler(db, query)
            // Each of several conditions that must all hold may be the narrowest one.
            let parts = if case .all(let parts) = condition { parts } else { [condition] }
            for part in parts { require(try compiler.clause(part)) }
        }
    }

    private mutating func require(_ clause: Clause) {
        condition += " AND \(clause.sql)"
        arguments += clause.arguments
        guard let source = clause.source else { return }
        sources.append(source)
        if clause.isOutside { outside = source }
    }

    static func code(_ status: Copy.Status) -> Int64 { Int64(Copy.Status.allCases.firstIndex(of: status) ?? 0) }

    static func tagRows(_ db: Database, _ names: [String]) throws -> [Int64] {
        try rows(
            db, "SELECT id FROM tag WHERE name IN (SELECT value FROM json_each(?))", names.map(\.cleaned.caseFolded))
    }

    static func shelfRows(_ db: Database, _ names: [String]) throws -> [Int64] {
        try rows(
            db, "SELECT id FROM shelf WHERE name IN (SELECT value FROM json_each(?))", names.map(\.cleaned.caseFolded))
    }

    static func authorRows(_ db: Database, _ names: [String]) throws -> [Int64] {
        try rows(
            db, "SELECT id FROM author WHERE folded IN (SELECT value FROM json_each(?))",
            names.map(\.cleaned.searchFolded))
    }

    private static func rows(_ db: Database, _ sql: String, _ names: [String]) throws -> [Int64] {
        try db.rows(sql, [jsonList(names)]).map { $0[0] }
    }

    /// Returns the statement for the copies that pass the narrowest filter (the one that the fewest copies pass); `nil`
    /// if too many copies pass every filter.
    func fewCopies(_ db: Database) throws -> Source? {
        var fewest: (source: Source, count: Int)?
        for source in sources {
            let count = try db.value(
                Int.self, "SELECT count(*) FROM (\(source.sql) LIMIT \(Self.few + 1))", source.arguments)
            if let count, count < fewest?.count ?? Self.few + 1 { fewest = (source, count) }
            if let fewest, fewest.count <= Self.veryFew { break }
        }
        return fewest?.source
    }
}

extension ListingFilter.Clause {
    /// The clause that holds if this one does not, also if this one is NULL.
    var negated: Self { Self(sql: "((\(sql)) IS NOT TRUE)", arguments: arguments) }

    /// Creates a clause of one column.
    ///
    /// - Parameter index: the end of the name of the index along which the copies that meet the condition are found;
    ///   `nil` if the condition is never narrow. Without statistics, SQLite would choose another index, because all
    ///   begin with the reader.
    private init(_ sql: String, _ arguments: StatementArguments = [], along index: String?) {
        (self.sql, self.arguments) = (sql, arguments)
        source = index.map { ("\(ListingFilter.selection(along: $0)) \(sql)", arguments) }
    }

    static func status(_ statuses: Set<Copy.Status>) -> Self {
        Self("status IN (\(numbers(statuses.map(ListingFilter.code))))", along: "ByStatus")
    }

    static func shelf(_ shelves: [Int64]) -> Self { Self("shelf IN (\(numbers(shelves)))", along: "ByShelf") }

    static func isOwned(_ isOwned: Bool) -> Self { Self("isOwned = \(isOwned ? 1 : 0)", along: nil) }

    static func isOnWishlist(_ isWish: Bool) -> Self {
        Self("isOnWishlist = \(isWish ? 1 : 0)", along: isWish ? "Wishes" : nil)
    }

    static func isFavourite(_ isFavourite: Bool) -> Self {
        Self("isFavourite = \(isFavourite ? 1 : 0)", along: isFavourite ? "Favourites" : nil)
    }

    static func language(_ languages: Set<String>) -> Self {
        // This condition is checked for every row of a walk. One argument for each language is faster than a list that
        // SQLite has to search.
        guard languages.count <= 16 else {
            return Self(
                "language IN (SELECT value FROM json_each(?))", [jsonList(languages.sorted())], along: "ByLanguage")
        }
        let placeholders = String(repeating: ", ?", count: languages.count).dropFirst(2)
        return Self("language IN (\(placeholders))", StatementArguments(languages.sorted()), along: "ByLanguage")
    }

    static func format(_ formats: Set<Metadata.Format>) -> Self {
        facts(
            "format IN (SELECT value FROM json_each(?))", [jsonList(formats.map(\.rawValue).sorted())],
            along: "ByFormat")
    }

    static func publisher(_ publishers: [String]) -> Self {
        facts("publisher IN (SELECT value FROM json_each(?))", [jsonList(publishers)], along: "ByPublisher")
    }

    /// - Parameter column: `year` or `pages`.
    static func facts(_ column: String, _ ranges: [ClosedRange<Int>]) -> Self {
        let conditions = ranges.map { "\(column) BETWEEN \($0.lowerBound) AND \($0.upperBound)" }
        return facts(
            conditions.joined(separator: " OR "), along: "By\(column.prefix(1).uppercased())\(column.dropFirst())")
    }

    /// Creates a clause of columns of `copyFacts`.
    ///
    /// - Parameter index: the end of the name of the index of `copyFacts` along which the copies are found.
    private static func facts(
        _ condition: String, _ arguments: StatementArguments = [], along index: String
    ) -> Self {
        Self(
            sql: "EXISTS (SELECT 1 FROM copyFacts WHERE copyFacts.copy = listing.copy AND (\(condition)))",
            arguments: arguments,
            source: (
                """
                SELECT \(ListingFilter.id(of: "copy")) AS id FROM copyFacts INDEXED BY copyFacts\(index)
                WHERE \(condition)
                """, arguments
            ))
    }

    static func rating(_ bands: Set<RatingBand>) -> Self {
        // The column has quarter stars.
        let ranges = bands.compactMap { band -> ClosedRange<Int>? in
            if case .stars(let stars) = band { stars * 4...stars * 4 + 3 } else { nil }
        }
        let found = rating(ranges.sorted { $0.lowerBound < $1.lowerBound })
        return bands.contains(.unrated) ? Self(sql: "(rating IS NULL OR \(found.sql))") : found
    }

    /// - Parameter ranges: ranges of quarter stars.
    static func rating(_ ranges: [ClosedRange<Int>]) -> Self {
        guard !ranges.isEmpty else { return Self(sql: "0") }
        let conditions = ranges.map { "rating BETWEEN \($0.lowerBound) AND \($0.upperBound)" }
        let sources = ["0", "1"].flatMap { trash in
            conditions.map { "\(ListingFilter.selection(along: "ByRating")) inTrash = \(trash) AND \($0)" }
        }
        return Self(
            sql: "(\(conditions.joined(separator: " OR ")))", source: (sources.joined(separator: " UNION ALL "), []))
    }

    static func added(_ period: Period, _ zone: TimeZone) -> Self {
        let start = period.from?.beginning(in: zone).milliseconds ?? .min
        // The last possible day has no next day.
        let next = period.to.flatMap { last in
            last.number.map { CalendarDay(number: $0 + 1) }.flatMap { $0 > last ? $0 : nil }
        }
        let end = next?.beginning(in: zone).milliseconds ?? .max
        let sql = "added >= ? AND added < ?"
        return Self(
            sql: sql, arguments: [start, end],
            source: (
                """
                \(ListingFilter.selection(along: "ByAddedDay")) inTrash IN (0, 1) AND addedDay >= ? AND addedDay <= ?
                    AND \(sql)
                """, [utcDay(start), utcDay(end), start, end]
            ))
    }

    /// - Parameter column: `started` or `finished`.
    static func day(_ period: Period, of column: String) -> Self {
        var parts = ["\(column) IS NOT NULL"]
        var values: StatementArguments = []
        if let last = period.to {
            // A shorter text sorts first, so 2024-03 comes before each day of that month.
            parts.append("\(column) <= ?")
            values += [last.description]
        }
        if let first = period.from {
            // A "~" sorts after every digit and hyphen, so 2024-03 with a "~" comes after each day of that month. The
            // condition on the year alone can use the index.
            parts.append("\(column) >= ? AND \(column) || '~' >= ?")
            values += [String(first.description.prefix(4)), first.description]
        }
        let sql = parts.joined(separator: " AND ")
        let index = "By\(column.prefix(1).uppercased())\(column.dropFirst())"
        return Self(
            sql: sql, arguments: values,
            source: ("\(ListingFilter.selection(along: index)) inTrash IN (0, 1) AND \(sql)", values))
    }

    /// Creates the condition that a finished reading is certain to lie in a period, as ``Period/contains(_:)`` says.
    static func read(in period: Period) -> Self {
        var parts = ["finished IS NOT NULL"]
        var values: StatementArguments = []
        if let first = period.from {
            // The first of the days that a month or a year can mean is compared. The condition on the text alone can
            // use the index, because 2024 sorts before 2024-03.
            parts.append("finished >= ? AND finished || substr('-01-01', length(finished) - 3) >= ?")
            values += [String(first.description.prefix(4)), first.description]
        }
        if let last = period.to {
            // For a month, the last day is compared as if every month had 31.
            let isLastOfMonth =
                CalendarDay(year: last.year, month: last.month).map { $0.span.upperBound } == last.number
            let end = isLastOfMonth ? last.description.prefix(8) + "31" : last.description[...]
            parts.append("finished <= ? AND finished || substr('-12-31', length(finished) - 3) <= ?")
            values += [String(end), String(end)]
        }
        let dates = parts.joined(separator: " AND ")
        return Self(
            sql: isFinished("AND \(dates)"), arguments: values,
            source: (
                """
                SELECT DISTINCT \(ListingFilter.id(of: "copy")) AS id FROM reading INDEXED BY readingByFinished
                WHERE \(dates) AND state = 'finished' AND reader = reader()
                """, values
            ), isOutside: true)
    }

    /// Creates the condition on the number of finished readings.
    static func read(times: ClosedRange<Int>) -> Self {
        if times == 0...0 { return Self(sql: "NOT \(isFinished())") }
        if times == 1...Int.max { return Self(sql: isFinished()) }
        return Self(
            sql: """
                (SELECT count(*) FROM reading
                WHERE reading.copy = listing.copy AND reading.reader = listing.reader AND state = 'finished')
                    BETWEEN \(times.lowerBound) AND \(times.upperBound)
                """)
    }

    private static func isFinished(_ condition: String = "") -> String {
        """
        EXISTS (SELECT 1 FROM reading
            WHERE reading.copy = listing.copy AND reading.reader = listing.reader AND state = 'finished' \(condition))
        """
    }

    static func tag(_ tags: [Int64]) -> Self {
        let isDistinct = tags.count > 1 ? "DISTINCT " : ""
        return Self(
            sql: "EXISTS (SELECT 1 FROM copyTag WHERE copyTag.copy = listing.copy AND tag IN (\(numbers(tags))))",
            source: (
                """
                SELECT \(isDistinct)\(ListingFilter.id(of: "copy")) AS id FROM copyTag WHERE tag IN (\(numbers(tags)))
                """, []
            ), isOutside: true)
    }

    static func series(_ names: [String]) -> Self {
        facts(
            "series IS NOT NULL AND series COLLATE NOCASE IN (SELECT value FROM json_each(?))",
            [jsonList(names.map(\.cleaned))], along: "BySeriesName")
    }

    static func author(_ authors: [Int64]) -> Self {
        let copies = """
            SELECT copy.id AS copy FROM editionAuthor JOIN copy ON copy.edition = editionAuthor.edition
            WHERE author IN (\(numbers(authors)))
            """
        // A book can have the same author twice, in two roles.
        return Self(
            sql: "EXISTS (\(copies) AND copy.id = listing.copy)",
            source: ("SELECT DISTINCT \(ListingFilter.id(of: "copy")) AS id FROM (\(copies))", []), isOutside: true)
    }

    /// Creates the condition that a reader has read the book. A reader in the trash has read nothing.
    static func readBy(_ reader: ID<Reader>, _ db: Database) throws -> Self {
        let row = try db.value(
            Int64.self, "SELECT id FROM reader WHERE uuid = ? AND deleted IS NULL", [reader.rawValue])
        // No reader has this row.
        let isReader = "readerCopy.reader = \(row ?? -1)"
        return Self(
            sql: isRead(by: isReader),
            source: (
                """
                SELECT \(ListingFilter.id(of: "copy")) AS id FROM readerCopy INDEXED BY readerCopyByStatus
                WHERE \(isReader) AND status = 'read'
                """, []
            ))
    }

    static func readByNobody(_ db: Database) throws -> Self {
        let all = try db.rows("SELECT id FROM reader WHERE deleted IS NULL").map { $0[0] as Int64 }
        // The rows of a copy are together. The plus sign keeps SQLite from searching for each reader instead.
        return Self(sql: "NOT " + isRead(by: "+readerCopy.reader IN (\(numbers(all)))"))
    }

    private static func isRead(by readers: String) -> String {
        """
        EXISTS (SELECT 1 FROM readerCopy WHERE readerCopy.copy = listing.copy AND \(readers)
            AND readerCopy.status = 'read')
        """
    }

    /// Creates the condition that a book lacks at least one of the fields. `listing` and `copyFacts` have columns for
    /// most of them; for the others, the edition of each copy is looked up.
    static func missing(_ fields: Set<MissingField>) -> Self {
        let lacks = fields.sorted { $0.rawValue < $1.rawValue }.map(Lack.init)
        let conditions = lacks.compactMap { if case .listing(let sql) = $0 { sql } else { nil } }
        let facts = lacks.compactMap { if case .facts(let sql, _) = $0 { sql } else { nil } }
        let ofEdition = lacks.compactMap { if case .edition(let sql) = $0 { sql } else { nil } }
        let joined = { (parts: [String]) in parts.joined(separator: " OR ") }
        let sql = joined(
            conditions
                + (facts.isEmpty
                    ? []
                    : ["EXISTS (SELECT 1 FROM copyFacts WHERE copyFacts.copy = listing.copy AND (\(joined(facts))))"])
                + (ofEdition.isEmpty ? [] : [edition(joined(ofEdition))]))
        return Self(
            sql: "(\(sql))", source: fields.count == 1 ? fields.first.flatMap { source(lacking: $0, sql) } : nil)
    }

    /// Returns the condition that the edition of a copy meets a condition.
    static func edition(_ condition: String) -> String {
        """
        EXISTS (SELECT 1 FROM copy JOIN edition ON edition.id = copy.edition
            WHERE copy.id = listing.copy AND (\(condition)))
        """
    }

    private static func source(lacking field: MissingField, _ sql: String) -> ListingFilter.Source? {
        switch (field, Lack(field)) {
        case (_, .facts(let condition, let index)): facts(condition, along: index).source
        case (.author, _), (.title, _):
            (
                """
                \(ListingFilter.selection(along: field == .author ? "ByAuthor" : "ByTitle"))
                    inTrash IN (0, 1) AND \(sql)
                """, []
            )
        default: nil
        }
    }

    /// The condition that a book lacks a field.
    private enum Lack {
        /// A condition on `listing`.
        case listing(String)
        /// A condition on `copyFacts`, with the end of the name of its index.
        case facts(String, index: String)
        case edition(String)

        init(_ field: MissingField) {
            switch field {
            case .author: self = .listing("listing.author IS NULL")
            case .title: self = .listing("listing.title IS NULL")
            case .language: self = .listing("listing.language IS NULL")
            case .shelf: self = .listing("listing.shelf IS NULL")
            case .tag: self = .listing("listing.tags = ''")
            case .rating: self = .listing("listing.rating IS NULL")
            case .started: self = .listing("listing.started IS NULL")
            case .finished: self = .listing("listing.finished IS NULL")
            case .note:
                self = .listing("NOT EXISTS (SELECT 1 FROM note WHERE note.copy = listing.copy AND \(Note.isVisible))")
            case .quote:
                self = .listing(
                    "NOT EXISTS (SELECT 1 FROM quote WHERE quote.copy = listing.copy AND \(Quote.isVisible))")
            case .isbn: self = .facts("hasISBN = 0", index: "WithoutISBN")
            case .cover: self = .facts("hasCover = 0", index: "WithoutCover")
            case .pages: self = .facts("pages IS NULL", index: "ByPages")
            case .publisher: self = .facts("publisher IS NULL", index: "ByPublisher")
            case .year: self = .facts("year IS NULL", index: "ByYear")
            case .format: self = .facts("format IS NULL", index: "ByFormat")
            case .series: self = .facts("series IS NULL", index: "BySeries")
            case .description: self = .edition("description IS NULL")
            case .subtitle: self = .edition("subtitle IS NULL")
            case .genre:
                self = .edition("NOT EXISTS (SELECT 1 FROM editionSubject WHERE editionSubject.edition = edition.id)")
            }
        }
    }
}

/// Returns numbers for use in `IN (…)`. An empty list is replaced by an id that no row has, because SQLite would check
/// an empty list for every row.
func numbers(_ numbers: [Int64]) -> String {
    numbers.isEmpty ? "-1" : numbers.sorted().map(String.init).joined(separator: ", ")
}
