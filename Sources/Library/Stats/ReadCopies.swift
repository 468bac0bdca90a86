import Bookplate
import GRDB

/// The copies that were read to the end, with what ``ReadBooks`` counts. A library can have very many, so all their
/// dates, names and ratings are in a few arrays.
struct ReadCopies: Sendable, Equatable {
    /// The facts of a copy that are counted, apart from its contributors and tags.
    struct Facts: Sendable, Equatable {
        /// The page count; 0 if unknown.
        var pages: Int32
        /// The year of publication; 0 if unknown.
        var year: Int16
        var format: Metadata.Format?
        var language: String?
        /// The rating in quarter stars; 0 without one.
        var rating: UInt8
    }

    fileprivate struct One: Sendable, Equatable {
        /// The row id.
        let copy: Int64
        let facts: Facts
        /// The places of the copy's values in the arrays.
        var finishes = 0..<Int32(0)
        var ratings = 0..<Int32(0)
        var names = 0..<Int32(0)
        var tags = 0..<Int32(0)
    }

    /// A copy with its values.
    struct Whole {
        fileprivate let one: One
        let finishes: ArraySlice<StatsBlock.DateNumber?>
        let ratings: ArraySlice<UInt8>
        let names: ArraySlice<Name>
        let tags: ArraySlice<Int64>
    }

    func forEach(_ body: (Whole) -> Void) {
        for one in copies {
            body(
                Whole(
                    one: one, finishes: finishes[one.finishes], ratings: ratings[one.ratings], names: names[one.names],
                    tags: tags[one.tags]))
        }
    }

    /// A contributor of a copy.
    struct Name: Sendable, Hashable {
        /// The row id.
        let author: Int64
        let isAuthor: Bool
    }

    private var copies: [One] = []
    /// The date of each finished reading; `nil` if unknown.
    private var finishes: [StatsBlock.DateNumber?] = []
    private var ratings: [UInt8] = []
    private var names: [Name] = []
    private var tags: [Int64] = []

    init() {}

    /// Creates the copies of a range of row ids that the present reader has read.
    ///
    /// - Parameters:
    ///   - facts: the facts of all copies outside the trash, by their row ids.
    ///   - finishes: the dates of the finished readings of these copies, by the row ids of the copies.
    init(
        _ db: Database, copies range: ClosedRange<Int64>, _ facts: [Int64: Facts],
        finishes: [Int64: [StatsBlock.DateNumber?]]
    ) throws {
        guard !finishes.isEmpty else { return }
        let bounds: StatementArguments = [range.lowerBound, range.upperBound]
        var names: [Int64: [Name]] = [:]
        try db.forEachRow(
            """
            SELECT copy.id, author, role = 'author' FROM copy
                CROSS JOIN editionAuthor ON editionAuthor.edition = copy.edition
            WHERE copy.id BETWEEN ? AND ? ORDER BY copy.id, position
            """, bounds
        ) { row in
            if finishes[row[0]] != nil { names[row[0], default: []].append(Name(author: row[1], isAuthor: row[2])) }
        }
        var tags: [Int64: [Int64]] = [:]
        try db.forEachRow("SELECT copy, tag FROM copyTag WHERE copy BETWEEN ? AND ?", bounds) { row in
            if finishes[row[0]] != nil { tags[row[0], default: []].append(row[1]) }
        }
        for (copy, dates) in finishes.sorted(by: { $0.key < $1.key }) {
            guard let facts = facts[copy] else { continue }
            add(
                One(copy: copy, facts: facts), dates, facts.rating > 0 ? [facts.rating] : [], names[copy] ?? [],
                tags[copy] ?? [])
        }
    }

    /// Creates the copies that any reader has read, each with the readings and ratings of all readers.
    init(merging readers: [ReadCopies]) {
        var places: [Int64: [(reader: Int, place: Int)]] = [:]
        for (number, reader) in readers.enumerated() {
            for (place, one) in reader.copies.enumerated() { places[one.copy, default: []].append((number, place)) }
        }
        for (_, found) in places.sorted(by: { $0.key < $1.key }) {
            let first = readers[found[0].reader]
            let one = first.copies[found[0].place]
            func all<Value>(_ path: KeyPath<ReadCopies, [Value]>, _ range: KeyPath<One, Range<Int32>>) -> [Value] {
                found.flatMap { readers[$0.reader][keyPath: path][readers[$0.reader].copies[$0.place][keyPath: range]] }
            }
            add(
                one, all(\.finishes, \.finishes), all(\.ratings, \.ratings), Array(first.names[one.names]),
                Array(first.tags[one.tags]))
        }
    }

    private mutating func add(
        _ one: One, _ finishes: [StatsBlock.DateNumber?], _ ratings: [UInt8], _ names: [Name], _ tags: [Int64]
    ) {
        var one = one
        one.finishes = self.finishes.append(all: finishes)
        one.ratings = self.ratings.append(all: ratings)
        one.names = self.names.append(all: names)
        one.tags = self.tags.append(all: tags)
        copies.append(one)
    }
}

extension Array {
    fileprivate subscript(range: Range<Int32>) -> ArraySlice<Element> {
        self[Int(range.lowerBound)..<Int(range.upperBound)]
    }

    /// - Returns: the places of the elements.
    fileprivate mutating func append(all elements: [Element]) -> Range<Int32> {
        let first = Int32(count)
        append(contentsOf: elements)
        return first..<Int32(count)
    }
}

/// Counts the books that were read.
struct ReadBooksCounter {
    let blocks: [ReadCopies]
    let period: Period
    /// The year whose months are counted.
    let year: Int

    private typealias Counts<Key: Hashable> = [Key: Int]

    func count(_ db: Database) throws -> ReadBooks {
        var books = ReadBooks()
        var (authors, tags): (Counts<Int64>, Counts<Int64>) = ([:], [:])
        var languages: Counts<String?> = [:]
        var ratings: Counts<Int> = [:]
        for block in blocks {
            block.forEach { copy in
                let pages = Int(copy.one.facts.pages)
                addDates(copy.finishes, pages, &books)
                guard copy.finishes.contains(where: isInPeriod) else { return }
                books.all.add(pages: pages)
                if pages == 0 {
                    books.lengthUnknown += 1
                } else if let length = ReadBooks.lengths.firstIndex(where: { $0.upperBound >= pages }) {
                    books.byLength[length] += 1
                }
                let year = Int(copy.one.facts.year)
                if year == 0 { books.yearUnknown += 1 } else { books.byDecade[year / 10 * 10, default: 0] += 1 }
                books.byFormat[copy.one.facts.format, default: 0] += 1
                books.byTimes[min(copy.finishes.count, ReadBooks.mostTimes) - 1] += 1
                languages[copy.one.facts.language, default: 0] += 1
                for rating in copy.ratings { ratings[Int(rating), default: 0] += 1 }
                for tag in copy.tags { tags[tag, default: 0] += 1 }
                for name in copy.names where name.isAuthor { authors[name.author, default: 0] += 1 }
            }
        }
        books.ratings = Ratings(ratings)
        books.languages = LanguageCount.ordered(languages)
        books.tags = try named(tags, "SELECT id, displayName FROM tag", db)
        books.authors = try self.authors(authors, db)
        books.authorCount = authors.count
        return books
    }

    private func isInPeriod(_ date: StatsBlock.DateNumber?) -> Bool {
        guard let date else { return period == .all }
        // Most dates are of other years, which is seen without a calendar.
        if let from = period.from, date.year < from.year { return false }
        if let to = period.to, date.year > to.year { return false }
        return date.date.map(period.contains) ?? false
    }

    private func addDates(
        _ finishes: ArraySlice<StatsBlock.DateNumber?>, _ pages: Int, _ books: inout ReadBooks
    ) {
        for (place, date) in zip(finishes.indices, finishes) {
            guard let date else { continue }
            let earlier = finishes[..<place]
            if !earlier.contains(where: { $0?.year == date.year }) {
                books.years[date.year, default: ReadBooks.Count()].add(pages: pages)
            }
            guard date.year == year, !earlier.contains(where: { $0?.year == year && $0?.month == date.month }) else {
                continue
            }
            if date.month == 0 {
                books.monthUnknown.add(pages: pages)
            } else {
                books.months[date.month - 1].add(pages: pages)
            }
        }
    }

    /// Returns the authors of the most books. Names that differ only in case and diacritics are one author, because a
    /// list of books does not distinguish them either.
    private func authors(_ counts: Counts<Int64>, _ db: Database) throws -> [NameCount] {
        let candidates = Self.largest(counts, 2 * ReadBooks.mostNames)
        let rows = try db.rows(
            """
            SELECT author.id, author.name, other.id FROM author JOIN author other ON other.folded = author.folded
            WHERE author.id IN (SELECT value FROM json_each(?)) ORDER BY author.id
            """, [jsonList(candidates)])
        var same: [Int64: Set<Int64>] = [:]
        var names: [Int64: String] = [:]
        for row in rows {
            same[row[0], default: []].insert(row[2])
            names[row[0]] = row[1]
        }
        var found: [Set<Int64>: Int64] = [:]
        for author in candidates {
            if let others = same[author], found[others] == nil { found[others] = author }
        }
        var place: [Int64: Int64] = [:]
        for (others, author) in found { for other in others { place[other] = author } }
        var totals: Counts<Int64> = [:]
        for block in blocks {
            block.forEach { copy in
                let own = Set(copy.names.compactMap { place[$0.author] })
                guard !own.isEmpty, copy.finishes.contains(where: isInPeriod) else { return }
                for author in own { totals[author, default: 0] += 1 }
            }
        }
        return Self.ordered(
            totals.compactMap { author, count in names[author].map { NameCount(name: $0, count: count) } })
    }

    private func named(_ counts: Counts<Int64>, _ selection: String, _ db: Database) throws -> [NameCount] {
        let rows = try db.rows(
            "\(selection) WHERE id IN (SELECT value FROM json_each(?))",
            [jsonList(Self.largest(counts, ReadBooks.mostNames))])
        return Self.ordered(rows.map { NameCount(name: $0[1], count: counts[$0[0] as Int64] ?? 0) })
    }

    private static func ordered(_ counts: [NameCount]) -> [NameCount] {
        Array(counts.sorted { ($1.count, $0.name) < ($0.count, $1.name) }.prefix(ReadBooks.mostNames))
    }

    /// Returns the keys with the largest counts; of equal counts, those with the lowest row ids.
    private static func largest(_ counts: Counts<Int64>, _ limit: Int) -> [Int64] {
        counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(limit).map(\.key)
    }
}

extension LanguageCount {
    /// Returns the languages, most copies first; languages with equal numbers by code.
    static func ordered(_ counts: [String?: Int]) -> [LanguageCount] {
        counts.map { LanguageCount(language: $0.key, copies: $0.value) }
            .sorted { ($1.copies, $0.language ?? "~") < ($0.copies, $1.language ?? "~") }
    }
}
