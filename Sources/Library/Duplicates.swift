import Bookplate
import FoundationEssentials
import GRDB

extension LibraryFile {
    public func duplicates(
        for reasons: Set<DuplicateGroup.Reason>, limit: Int
    ) async throws -> Duplicates {
        let groups = try await kept(.duplicates) { try await read { db in try DuplicateQuery(db).finder().groups } }
        return try await read { db in
            let counts = Dictionary(grouping: groups, by: \.reason).mapValues(\.count)
            let chosen = groups.lazy.filter { reasons.contains($0.reason) }.prefix(max(0, limit))
            let books = try StoredBook.fetch(
                db,
                """
                WHERE copy.edition IN (SELECT value FROM json_each(?)) AND copy.deleted IS NULL
                ORDER BY copy.added, copy.id
                """, [jsonList(Set(chosen.flatMap(\.editions)))])
            let places = Dictionary(grouping: books.indices) { books[$0].editionRow }
            return Duplicates(
                groups: chosen.compactMap { group in
                    let found = group.editions.flatMap { places[$0] ?? [] }.sorted().map { books[$0].book }
                    // Another process may have removed books since the groups were found.
                    guard found.count > 1 else { return nil }
                    return DuplicateGroup(
                        reason: group.reason,
                        books: found.filter { $0.edition.isbn != nil } + found.filter { $0.edition.isbn == nil })
                },
                counts: counts)
        }
    }

    public func markDistinct(_ books: [ID<Copy>], at now: Date) async throws -> ID<Change>? {
        try await changed(.edit, at: now) { db, _ in
            let stored = try books.reduce(into: [StoredBook]()) { all, id in
                guard let book = try StoredBook.one(db, id) else { throw LibraryError.noSuchBook(id) }
                try book.book.checkOutsideTrash()
                if !all.contains(where: { $0.copyRow == book.copyRow }) { all.append(book) }
            }
            // Nothing is said about the copies of one edition if it is compared with other editions.
            let areOfOneEdition = Set(stored.map(\.editionRow)).count < 2
            for (place, one) in stored.enumerated() {
                for other in stored.dropFirst(place + 1) where areOfOneEdition || one.editionRow != other.editionRow {
                    try db.run(
                        "INSERT INTO distinctCopy (copy, other) VALUES (min(?1, ?2), max(?1, ?2)) ON CONFLICT DO NOTHING",
                        [one.copyRow, other.copyRow])
                }
            }
            return ((), "marked \(quoted(stored.map(\.book.displayTitle))) as not the same")
        }.change
    }

    /// The maximum number of books that ``editions(like:excluding:)`` returns.
    private static let likeLimit = 20

    public func editions(like metadata: Metadata, excluding isbn: ISBN?) async throws -> [Book] {
        try await read { db in
            let works = metadata.identifiers[Metadata.workScheme] ?? []
            var editions = Set(
                try db.rows(
                    "SELECT edition FROM identifier WHERE scheme = ? AND value IN (SELECT value FROM json_each(?))",
                    [Metadata.workScheme, jsonList(works)]
                ).map { $0[0] as Int64 })
            if let identity = WorkIdentity(metadata), let title = metadata.title {
                editions.formUnion(try DuplicateQuery(db).editions(like: identity, title: title))
            }
            return try StoredBook.fetch(
                db,
                """
                WHERE copy.edition IN (SELECT value FROM json_each(?1)) AND copy.deleted IS NULL
                    AND (?2 IS NULL OR edition.isbn IS NOT ?2)
                ORDER BY copy.isOwned DESC, copy.added, copy.id LIMIT \(Self.likeLimit)
                """, [jsonList(editions), isbn?.digits]
            ).map(\.book)
        }
    }
}

/// Reads what the rules about duplicates need to know, without loading whole books.
struct DuplicateQuery {
    private let db: Database

    init(_ db: Database) { self.db = db }

    /// Returns a finder with all editions outside the trash that may be in a group.
    func finder() throws -> DuplicateFinder<Int64> {
        let candidates = jsonList(try self.candidates().sorted())
        let isCandidate = "edition IN (SELECT value FROM json_each(?))"
        var copies: [Int64: Int] = [:]
        try db.forEachRow(
            "SELECT edition, count(*) FROM copy WHERE deleted IS NULL AND \(isCandidate) GROUP BY edition", [candidates]
        ) { copies[$0[0]] = $0[1] }
        // Copies of which each is known to be another one count as one.
        try db.forEachRow(
            """
            SELECT one.edition, count(*) \(Self.distinct) AND one.edition = two.edition
                AND one.deleted IS NULL AND two.deleted IS NULL
            GROUP BY one.edition
            """
        ) { row in
            let (edition, pairs): (Int64, Int) = (row[0], row[1])
            if let count = copies[edition], count * (count - 1) / 2 == pairs { copies[edition] = 1 }
        }
        var authors: [Int64: String] = [:]
        try db.forEachRow(
            """
            SELECT edition, folded FROM editionAuthor JOIN author ON author.id = editionAuthor.author
            WHERE role = 'author' AND \(isCandidate) ORDER BY edition, position
            """, [candidates]
        ) { if authors[$0[0]] == nil { authors[$0[0]] = WorkIdentity.author($0[1]) } }
        var works: [Int64: [String]] = [:]
        try db.forEachRow(
            "SELECT edition, value FROM identifier WHERE scheme = ? AND \(isCandidate)",
            [Metadata.workScheme, candidates]
        ) { works[$0[0], default: []].append($0[1]) }
        var finder = DuplicateFinder<Int64>()
        try db.forEachRow(
            """
            SELECT id, isbn IS NOT NULL, title, subtitle, seriesNumber, folded, language, substr(publishedDate, 1, 4)
            FROM edition WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id
            """, [candidates]
        ) { row in
            let edition: Int64 = row[0]
            guard let count = copies[edition] else { return }
            let (title, subtitle) = Self.folded(title: row[2], subtitle: row[3], whole: row[5])
            let identity = WorkIdentity(
                foldedTitle: title, foldedSubtitle: subtitle, seriesNumber: row[4], author: authors[edition] ?? "")
            finder.add(
                edition, hasISBN: row[1], copies: count, identity, works: works[edition] ?? [], language: row[6],
                year: row[7])
        }
        try db.forEachRow(
            "SELECT DISTINCT one.edition, two.edition \(Self.distinct) AND one.edition <> two.edition"
        ) { finder.markDistinct($0[0], $0[1]) }
        return finder
    }

    /// Returns the editions that may be in a group, which are few: those with several copies, those that share a work's
    /// identifier, and those of an author with titles that begin alike.
    private func candidates() throws -> Set<Int64> {
        var candidates = Set(
            try db.rows(
                """
                SELECT edition FROM copy WHERE deleted IS NULL GROUP BY edition HAVING count(*) > 1
                UNION
                SELECT edition FROM identifier WHERE scheme = ?1 AND value IN (
                    SELECT value FROM identifier WHERE scheme = ?1 GROUP BY value HAVING count(*) > 1)
                """, [Metadata.workScheme]
            ).map { $0[0] as Int64 })
        var letters: [Int64: Int] = [:]
        try db.forEachRow("SELECT id, folded FROM author") { letters[$0[0]] = WorkIdentity.letters(ofAuthor: $0[1]) }
        var authors: [Int64: Int] = [:]
        try db.forEachRow("SELECT edition, author FROM editionAuthor WHERE role = 'author' ORDER BY edition, position")
        { if authors[$0[0]] == nil { authors[$0[0]] = letters[$0[1]] } }
        var editions: [Int: Int64] = [:]
        try db.forEachRow("SELECT id, folded FROM edition") { row in
            let edition: Int64 = row[0]
            let (first, second) = WorkIdentity.beginnings(of: row[1])
            for word in [first, second].compactMap(\.self) {
                var hasher = Hasher()
                hasher.combine(word)
                hasher.combine(authors[edition])
                guard let other = editions.updateValue(edition, forKey: hasher.finalize()) else { continue }
                candidates.formUnion([other, edition])
            }
        }
        return candidates
    }

    /// The clauses for the copies, `one` and `two`, of the pairs that are not the same.
    private static let distinct = """
        FROM distinctCopy JOIN copy AS one ON one.id = distinctCopy.copy JOIN copy AS two ON two.id = other WHERE true
        """

    /// Returns the folded title and subtitle. As far as possible, they are parts of the column `folded`, which has
    /// both, because folding a text that is not ASCII takes longer than reading the row.
    private static func folded(
        title: String?, subtitle: String?, whole: String
    ) -> (title: String?, subtitle: String?) {
        guard let title else { return (nil, nil) }
        guard let subtitle else { return (whole, nil) }
        let folded = title.searchFolded
        let rest = whole.utf8.dropFirst(folded.utf8.count + 1)
        return (folded, whole.utf8.starts(with: folded.utf8) ? String(Substring(rest)) : subtitle.searchFolded)
    }

    /// The maximum number of titles that are compared for one beginning. Titles that are equal to it come first.
    private static let longestRange = 500

    /// Returns the editions outside the trash that match an identity. The index of titles finds those that begin with
    /// the same words, with any article; then all rules are applied to these few.
    func editions(like identity: WorkIdentity, title: String) throws -> [Int64] {
        var splitter = WordSplitter()
        let main = String(WorkIdentity.parts(of: title.searchFolded).main)
        var words = splitter.words(of: main, for: .query)
        if words.count > 1, WorkIdentity.articles.contains(words[0].text[...]) { words.removeFirst() }
        guard !words.isEmpty else { return [] }
        let articles = [""] + WorkIdentity.articles.sorted().map { $0 + " " }
        var copies: [Int64] = []
        for article in articles {
            let beginning = article + SearchIndex.joined(words)
            // A space sorts before every other character of a word list, and "!" is the next one.
            copies += try db.rows(
                """
                SELECT copy FROM listing WHERE reader = reader() AND inTrash = 0 AND title = ?1
                UNION ALL
                SELECT copy FROM (
                    SELECT copy FROM listing WHERE reader = reader() AND inTrash = 0 AND title >= ?1 || ' ' AND title < ?1 || '!'
                    LIMIT \(Self.longestRange))
                """, [beginning]
            ).map { $0[0] }
        }
        var found: [Int64] = []
        try db.forEachRow(
            """
            SELECT edition.id, title, subtitle, seriesNumber, (
                SELECT folded FROM editionAuthor JOIN author ON author.id = editionAuthor.author
                WHERE edition = edition.id AND role = 'author' ORDER BY position LIMIT 1)
            FROM copy JOIN edition ON edition.id = copy.edition WHERE copy.id IN (SELECT value FROM json_each(?))
            """, [jsonList(copies)]
        ) { row in
            let author = WorkIdentity.author(row[4])
            guard author == identity.key.author else { return }
            let other = WorkIdentity(
                foldedTitle: (row[1] as String?)?.searchFolded, foldedSubtitle: (row[2] as String?)?.searchFolded,
                seriesNumber: row[3], author: author)
            if other?.matches(identity) == true { found.append(row[0]) }
        }
        return found
    }
}
