import Bookplate
import FoundationEssentials
import GRDB

/// Turns the conditions of a query into SQL. Texts of the query are arguments, never parts of a statement.
struct ConditionCompiler {
    typealias Clause = ListingFilter.Clause

    private let db: Database
    private let zone: TimeZone
    private let searchesAnnotations: Bool
    private let privateReader: Int64?

    init(_ db: Database, _ query: BookQuery) throws {
        self.db = db
        (zone, searchesAnnotations) = (query.zone, query.searchesAnnotations)
        privateReader = searchesAnnotations ? try QueryText.privateReader(db) : nil
    }

    func clause(_ condition: BookCondition) throws -> Clause {
        switch condition {
        case .all(let parts): return Self.all(try parts.map(clause))
        case .any(let parts): return Self.any(try parts.map(clause))
        case .not(let part): return try clause(part).negated
        case .words(let text): return words(queryText(text))
        case .phrase(let text, let isOpen): return phrase(text, isOpen: isOpen)
        case .text(let field, let text, let isPhrase): return try self.text(field, text, isPhrase: isPhrase)
        case .tag(let name, let isBeginning): return .tag(try rows("tag", "folded", name, isBeginning))
        case .shelf(let name, let isBeginning):
            // The names of shelves are only case-folded.
            return .shelf(try rows("shelf", "name", name, isBeginning))
        case .status(let status): return .status([status])
        case .language(let code): return .language([code])
        case .format(let format):
            return Clause(sql: Clause.edition("format = ?"), arguments: [format.rawValue])
        case .rating(let range): return .rating([range])
        case .pages(let range):
            return edition(
                "pageCount BETWEEN ? AND ?", [range.lowerBound, range.upperBound], along: "editionByPageCount")
        case .year(let range):
            // The date begins with the year.
            return edition(
                "publishedDate >= ? AND publishedDate < ?",
                [Self.year(range.lowerBound), range.upperBound < 9999 ? Self.year(range.upperBound + 1) : "~"],
                along: "editionByDate")
        case .added(let period): return .added(period, zone)
        case .started(let period): return .day(period, of: "started")
        case .finished(let period): return .day(period, of: "finished")
        case .read(let period): return .read(in: period)
        case .times(let range): return .read(times: range)
        case .lacks(let field):
            // For those who may not read notes, there are none.
            if !searchesAnnotations, field == .note || field == .quote { return Clause(sql: "1") }
            return .missing([field])
        case .isOwned: return .isOwned(true)
        case .isOnWishlist: return .isOnWishlist(true)
        case .isFavourite: return .isFavourite(true)
        case .isbn(let digits):
            return matching("\"\(SearchField.number.rawValue)\(digits)\" *")
        case .id(let end):
            return Clause(
                sql: """
                    EXISTS (SELECT 1 FROM copy WHERE copy.id = listing.copy AND substr(uuid, -length(?)) = ?)
                    """, arguments: [end, end])
        case .readBy(let reader): return try .readBy(reader, db)
        case .readByNobody: return try .readByNobody(db)
        }
    }

    private static func all(_ clauses: [Clause]) -> Clause {
        guard !clauses.isEmpty else { return Clause(sql: "1") }
        return Clause(
            sql: "(" + clauses.map { "(\($0.sql))" }.joined(separator: " AND ") + ")",
            arguments: clauses.reduce(into: []) { $0 += $1.arguments },
            source: clauses.first { $0.source != nil }?.source)
    }

    private static func any(_ clauses: [Clause]) -> Clause {
        guard !clauses.isEmpty else { return Clause(sql: "0") }
        let sources = clauses.compactMap(\.source)
        return Clause(
            sql: "(" + clauses.map { "(\($0.sql))" }.joined(separator: " OR ") + ")",
            arguments: clauses.reduce(into: []) { $0 += $1.arguments },
            source: sources.count < clauses.count
                ? nil
                : (
                    sources.map { "SELECT id FROM (\($0.sql))" }.joined(separator: " UNION "),
                    sources.reduce(into: []) { $0 += $1.arguments }
                ))
    }

    private static func year(_ year: Int) -> String {
        let digits = String(min(max(year, 0), 9999))
        return String(repeating: "0", count: 4 - digits.count) + digits
    }

    /// - Parameter index: an index of `edition`.
    private func edition(_ condition: String, _ values: StatementArguments, along index: String) -> Clause {
        Clause(
            sql: Clause.edition(condition), arguments: values,
            source: (
                """
                SELECT \(ListingFilter.id(of: "copy.id")) AS id
                FROM edition INDEXED BY \(index) CROSS JOIN copy ON copy.edition = edition.id WHERE \(condition)
                """, values
            ))
    }

    private func rows(_ table: String, _ column: String, _ name: String, _ isBeginning: Bool) throws -> [Int64] {
        let folded = column == "folded" ? name.searchFolded : name.caseFolded
        let found =
            isBeginning
            ? try db.rows(
                "SELECT id FROM \(table) WHERE \(column) >= ? AND \(column) < ?", [folded, folded + "\u{10FFFF}"])
            : try db.rows("SELECT id FROM \(table) WHERE \(column) = ?", [folded])
        return found.map { $0[0] }
    }

    // MARK: Texts

    private func queryText(_ text: String) -> QueryText? {
        QueryText(text, searchesAnnotations: searchesAnnotations, privateReader: privateReader)
    }

    /// - Parameter text: the words; `nil` if there are none, as in ``BookQuery/text``, which then finds nothing.
    private func words(_ text: QueryText?) -> Clause {
        guard let all = text?.all else { return Clause(sql: "0") }
        var clause = matching(all.match)
        clause.sql += " AND \(all.condition)"
        clause.arguments += all.arguments
        return clause
    }

    /// - Parameter match: a query in the syntax of FTS5.
    private func matching(_ match: String) -> Clause {
        Clause(
            sql: "listing.copy IN (SELECT rowid FROM searchText WHERE searchText MATCH ?)", arguments: [match],
            source: (
                "SELECT \(ListingFilter.id(of: "rowid")) AS id FROM searchText WHERE searchText MATCH ?", [match]
            ), isOutside: true)
    }

    /// Creates the clause for a phrase in any text. The index finds the books that contain its words somewhere, and the
    /// texts of these books are compared.
    private func phrase(_ text: String, isOpen: Bool) -> Clause {
        guard !QueryText.isNumber(text),
            let query = QueryText(phrase: text, isOpen: isOpen, searchesAnnotations, privateReader)
        else { return words(queryText(text)) }
        let found = matching(query.all.match)
        let pattern = TextPattern(text, isOpen ? .openPhrase : .phrase)
        let (has, values) = (pattern.condition, pattern.arguments)
        var places = [
            Clause.edition("\(has("title")) OR \(has("subtitle")) OR \(has("series"))"), Self.author(has("name")),
            """
            EXISTS (SELECT 1 FROM copyTag JOIN tag ON tag.id = copyTag.tag
                WHERE copyTag.copy = listing.copy AND \(has("displayName")))
            """,
        ]
        var arguments = found.arguments + values + values + values + values + values
        if searchesAnnotations {
            places += [Self.annotation("note", has("text")), Self.annotation("quote", has("text"))]
            arguments += values + values
        }
        return Clause(
            sql: "(\(found.sql) AND (\(places.joined(separator: " OR "))))", arguments: arguments, source: found.source,
            isOutside: true)
    }

    private func text(_ field: BookText, _ text: String, isPhrase: Bool) throws -> Clause {
        let pattern = TextPattern(text, isPhrase ? .phrase : .words)
        let (has, values) = (pattern.condition, pattern.arguments)
        /// Creates the clause for a field whose words are in the index.
        func indexed(_ fields: [SearchField], _ place: String) -> Clause {
            let query =
                isPhrase
                ? QueryText(phrase: text, isOpen: false, searchesAnnotations, privateReader) : queryText(text)
            guard let query else { return Clause(sql: "0") }
            let found = matching(query.match(in: fields))
            return Clause(
                sql: "(\(found.sql) AND \(place))", arguments: found.arguments + values, source: found.source,
                isOutside: true)
        }
        switch field {
        case .title: return indexed([.title], Clause.edition(has("title")))
        case .subtitle: return indexed([.subtitle], Clause.edition(has("subtitle")))
        case .series: return indexed([.series], Clause.edition(has("series")))
        case .author: return indexed([.author], Self.author(has("name")))
        case .note, .quote:
            guard searchesAnnotations else { return Clause(sql: "0") }
            let fields: [SearchField] = [.annotation] + (privateReader == nil ? [] : [.privateAnnotation])
            return indexed(fields, Self.annotation(field == .note ? "note" : "quote", has("text")))
        case .publisher:
            // There are far fewer publishers than editions.
            let names = try db.rows(
                """
                SELECT publisher FROM (SELECT DISTINCT publisher FROM edition WHERE publisher IS NOT NULL)
                WHERE \(has("publisher"))
                """, values
            ).map { $0[0] as String }
            return Self.copies(
                """
                SELECT copy.id FROM edition INDEXED BY editionByPublisher CROSS JOIN copy ON copy.edition = edition.id
                WHERE publisher IN (SELECT value FROM json_each(?))
                """, [jsonList(names)])
        case .genre:
            let rows = try db.rows("SELECT id FROM subject WHERE \(has("name"))", values).map { $0[0] as Int64 }
            return Self.copies(
                """
                SELECT DISTINCT copy.id FROM editionSubject JOIN copy ON copy.edition = editionSubject.edition
                WHERE subject IN (SELECT value FROM json_each(?))
                """, [jsonList(rows)])
        }
    }

    /// - Parameter selection: a statement that returns the row ids of the copies, each once.
    private static func copies(_ selection: String, _ values: StatementArguments) -> Clause {
        Clause(
            sql: "listing.copy IN (\(selection))", arguments: values,
            source: ("SELECT \(ListingFilter.id(of: "id")) AS id FROM (\(selection))", values), isOutside: true)
    }

    private static func author(_ condition: String) -> String {
        """
        EXISTS (SELECT 1 FROM copy JOIN editionAuthor ON editionAuthor.edition = copy.edition
            JOIN author ON author.id = editionAuthor.author WHERE copy.id = listing.copy AND \(condition))
        """
    }

    private static func annotation(_ table: String, _ condition: String) -> String {
        let isVisible = table == "note" ? Note.isVisible : Quote.isVisible
        return "EXISTS (SELECT 1 FROM \(table) WHERE \(table).copy = listing.copy AND \(isVisible) AND \(condition))"
    }
}
