import Bookplate
import GRDB

extension LibraryFile {
    /// Rebuilds the search index from the books. Nothing is lost when the index is rebuilt. For 100,000 books, it takes
    /// some seconds.
    public func rebuildSearchIndex() async throws {
        try await write { db in
            try db.execute(sql: "INSERT INTO searchStale (copy) SELECT id FROM copy WHERE true ON CONFLICT DO NOTHING")
            try SearchIndex.rebuild(db)
        }
    }
}

/// Updates the tables `listing` and `searchText`, which are the search index, from the books.
struct SearchIndex {
    private static let batch = 500
    private let db: Database
    /// The readers, each of whom has a row of `listing` for every copy.
    private let readers: [Int64]
    private let ignoresArticles: Bool
    private let sortsByFamilyName: Bool
    private var splitter = WordSplitter()

    /// Updates the index for all copies that triggers have added to `searchStale`. Every write calls this at its end.
    static func update(_ db: Database) throws {
        guard try db.row("SELECT 1 FROM searchStale LIMIT 1") != nil else { return }
        var index = try SearchIndex(db: db)
        // The copies are updated in batches and in ascending order, which is fastest for FTS5. Descending order is
        // slow.
        var last = Int64.min
        while true {
            let copies = try Int64.fetchAll(
                db.cachedStatement(sql: "SELECT copy FROM searchStale WHERE copy > ? ORDER BY copy LIMIT \(batch)"),
                arguments: [last])
            guard let end = copies.last else { break }
            try index.store(copies)
            last = end
        }
        try db.run("DELETE FROM searchStale")
    }

    /// Rebuilds the whole index. The caller must have added all copies to `searchStale` before.
    static func rebuild(_ db: Database) throws {
        try db.execute(sql: "DELETE FROM listing")
        try db.execute(sql: "DROP TABLE IF EXISTS searchText; \(Schema.searchText)")
        // With a large hash table, FTS5 writes fewer and larger segments, so it has less to merge. The default of FTS5
        // is 1 MB.
        try db.execute(sql: "INSERT INTO searchText (searchText, rank) VALUES ('hashsize', 67108864)")
        try update(db)
        try db.execute(sql: "INSERT INTO searchText (searchText, rank) VALUES ('hashsize', 1048576)")
        // An index with a single segment is the fastest to search.
        try db.execute(sql: "INSERT INTO searchText (searchText) VALUES ('optimize')")
    }

    private init(db: Database) throws {
        self.db = db
        readers = try Int64.fetchAll(db.cachedStatement(sql: "SELECT id FROM reader WHERE deleted IS NULL ORDER BY id"))
        (ignoresArticles, sortsByFamilyName) = (
            try isOn(.ignoreArticles, db), try isOn(.authorsByFamilyName, db)
        )
    }

    private mutating func store(_ copies: [Int64]) throws {
        let chosen = jsonList(copies)
        let stored = try StoredIndex(db, copies: chosen)
        let rows = try db.rows(
            """
            SELECT copy.id, copy.edition, copy.isOwned, copy.shelf, copy.added, copy.deleted, edition.title,
                edition.subtitle, edition.series, edition.isbn, edition.isbnText, edition.language
            FROM copy JOIN edition ON edition.id = copy.edition
            WHERE copy.id IN (SELECT value FROM json_each(?)) ORDER BY copy.id
            """, [chosen])
        for copy in Set(copies).subtracting(rows.map { $0["id"] as Int64 }).sorted() {
            for reader in readers {
                try db.run("DELETE FROM listing WHERE id = ?", [OwnPlace(reader: reader, copy: copy).listingRow])
            }
            try db.run("DELETE FROM searchText WHERE rowid = ?", [copy])
        }
        guard !rows.isEmpty else { return }
        let related = try IndexedRows(db, copies: chosen, editions: jsonList(Set(rows.map { $0["edition"] as Int64 })))
        for row in rows { try store(row, related, unless: stored) }
    }

    /// Writes only what differs from the index. A note changes no column of the row in `listing`, and a rating no word;
    /// writing these again would change a page of each of their indexes.
    private mutating func store(_ row: Row, _ related: IndexedRows, unless stored: StoredIndex) throws {
        let copy: Int64 = row["id"]
        let authors = related.authors[row["edition"]] ?? []
        let tags = related.tags[copy] ?? []
        let title: String? = row["title"]
        let titleWords = title.map { splitter.words(of: $0, for: .index) } ?? []

        var document = SearchDocument()
        document.add(Array(titleWords.prefix(1)), .opening)
        document.add(titleWords, .title)
        document.addNumbers(try numbers(row))
        for author in authors { document.add(splitter.words(of: author.name, for: .index), .author) }
        if let text = row["subtitle"] as String? { document.add(splitter.words(of: text, for: .index), .subtitle) }
        if let text = row["series"] as String? { document.add(splitter.words(of: text, for: .index), .series) }
        for tag in tags { document.add(splitter.words(of: tag.name, for: .index), .tag) }
        for text in related.annotations[copy] ?? [] { document.add(splitter.words(of: text, for: .index), .annotation) }
        for (reader, text) in related.privateAnnotations[copy] ?? [] {
            document.add(splitter.words(of: text, for: .index), privateTo: reader)
        }

        let titleKey = title.map { self.titleKey($0, language: row["language"]) }
        let authorKey = authors.first { $0.isAuthor }.map { self.authorKey($0) + "\u{1}" + (titleKey ?? "") }
        let (tagRows, authorRows) = (
            tags.map { String($0.row) }.joined(separator: " "), authors.map { String($0.row) }.joined(separator: " ")
        )
        for reader in readers {
            let place = OwnPlace(reader: reader, copy: copy)
            let own = related.own[place] ?? OwnFacts()
            let reading = own.status == .toRead ? nil : related.readings[place]
            let listed: [(any DatabaseValueConvertible)?] = [
                place.listingRow, reader, copy, (row["deleted"] as Int64?) != nil,
                Copy.Status.allCases.firstIndex(of: own.status),
                own.rating, row["isOwned"] as Bool, own.isOnWishlist, own.isFavourite, row["shelf"] as Int64?,
                row["language"] as String?, row["added"] as Int64, reading?.started, reading?.finished, tagRows,
                authorRows, titleKey, authorKey, utcDay(row["added"]),
            ]
            guard stored.listing[place] != listed.map({ $0?.databaseValue ?? .null }) else { continue }
            try db.run(
                """
                INSERT OR REPLACE INTO listing (\(StoredIndex.columns))
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """, StatementArguments(listed))
        }
        guard stored.words[copy] != document.text else { return }
        if stored.words[copy] != nil { try db.run("DELETE FROM searchText WHERE rowid = ?", [copy]) }
        try db.run("INSERT INTO searchText (rowid, words) VALUES (?, ?)", [copy, document.text])
    }

    private func numbers(_ row: Row) throws -> [String] {
        let isbn = try row.isbn()
        let entered = (row["isbnText"] as String?).map(searchNumber)
        let known = [isbn?.digits, isbn?.isbn10?.lowercased()].compactMap(\.self)
        return known + (entered.map { known.contains($0) ? [] : [$0] } ?? [])
    }

    /// Returns the sort key of a title. An article that is ignored stands behind the rest, so that the key still shows
    /// whether a title is equal to a search text (``titleKeys(of:)``).
    private mutating func titleKey(_ title: String, language: String?) -> String {
        let parts = SortTitle(title, language: language)
        guard ignoresArticles, let article = parts.article else { return sortKey(title) }
        return Self.key(sortKey(String(parts.rest)), article: sortKey(String(article)))
    }

    private static func key(_ rest: String, article: String) -> String {
        // The sign sorts before every word, and is a word of its own for those who look for words in keys.
        String("\(rest) \u{1} \(article)".unicodeScalars.prefix(longestKey))
    }

    /// Returns the sort keys that titles with these words may have: the words may begin with an article that is
    /// ignored.
    static func titleKeys(of words: [SearchWord]) -> [String] {
        let whole = joined(words)
        guard words.count > 1, SortTitle.allArticles.contains(words[0].text) else { return [whole] }
        return [whole, key(joined(Array(words.dropFirst())), article: words[0].text)]
    }

    /// Returns the sort key of an author, in which the family name is compared before all others.
    private mutating func authorKey(_ author: IndexedRows.Author) -> String {
        guard sortsByFamilyName else { return sortKey(author.name) }
        let name = author.sortName ?? SortName.derived(from: author.name)
        guard let comma = name.firstIndex(of: ",") else { return sortKey(name) }
        let key = sortKey(String(name[..<comma])) + "\u{2}" + sortKey(String(name[comma...]))
        return String(key.unicodeScalars.prefix(Self.longestKey))
    }

    /// Returns the sort key of a text. It consists of the words of the text, so that quotation marks and inverted
    /// punctuation marks (¿, ¡) do not count. If a text has no words, its key is the folded text.
    private mutating func sortKey(_ text: String) -> String {
        let key = Self.joined(splitter.words(of: text, for: .query))
        return key.isEmpty ? String(text.searchFolded.unicodeScalars.prefix(Self.longestKey)) : key
    }

    /// The maximum number of scalars in a sort key. Keys are short because a page token may contain the keys of two
    /// texts, and a person may type or paste the token.
    private static let longestKey = 256

    /// Joins words into a sort key. Titles that a search does not distinguish have equal keys.
    static func joined(_ words: [SearchWord]) -> String {
        String(words.map(\.text).joined(separator: " ").unicodeScalars.prefix(longestKey))
    }
}

/// A reader and a copy, by their row ids.
private struct OwnPlace: Hashable {
    var reader: Int64
    var copy: Int64

    /// The row id in `listing`.
    var listingRow: Int64 { reader << 40 + copy }
}

/// The part of a reader's opinion of a copy by which lists are sorted and filtered.
private struct OwnFacts {
    var status = Copy.Status.toRead
    var rating: Int?
    var isOnWishlist = false
    var isFavourite = false
}

/// The rows that the index has for a batch of copies.
private struct StoredIndex {
    static let columns = """
        id, reader, copy, inTrash, status, rating, isOwned, isOnWishlist, isFavourite, shelf, language, added, started,
            finished, tags, authors, title, author, addedDay
        """

    var listing: [OwnPlace: [DatabaseValue]] = [:]
    var words: [Int64: String] = [:]

    init(_ db: Database, copies: String) throws {
        for row in try db.rows(
            """
            SELECT \(Self.columns) FROM listing
            WHERE id IN (SELECT (reader.id << 40) + value FROM reader, json_each(?))
            """, [copies])
        { listing[OwnPlace(reader: row["reader"], copy: row["copy"])] = Array(row.databaseValues) }
        for row in try db.rows(
            "SELECT rowid, words FROM searchText WHERE rowid IN (SELECT value FROM json_each(?))", [copies])
        { words[row["rowid"]] = row["words"] }
    }
}

/// The data that the index takes from other tables, for a batch of copies. The keys of the dictionaries are the row ids
/// of copies or of editions.
private struct IndexedRows {
    struct Author {
        var row: Int64
        var name: String
        /// The sort name that a person has entered.
        var sortName: String?
        var isAuthor: Bool
    }

    var authors: [Int64: [Author]] = [:]
    var tags: [Int64: [(row: Int64, name: String)]] = [:]
    var annotations: [Int64: [String]] = [:]
    var privateAnnotations: [Int64: [(reader: Int64, text: String)]] = [:]
    var own: [OwnPlace: OwnFacts] = [:]
    /// The dates of the reading that is shown for the book, which is the reader's last reading that is not cancelled.
    var readings: [OwnPlace: (started: String?, finished: String?)] = [:]

    init(_ db: Database, copies: String, editions: String) throws {
        for row in try db.rows(
            """
            SELECT edition, author, name, sortName, role FROM editionAuthor JOIN author ON author.id = editionAuthor.author
            WHERE edition IN (SELECT value FROM json_each(?)) ORDER BY edition, position
            """, [editions])
        {
            authors[row["edition"], default: []].append(
                Author(
                    row: row["author"], name: row["name"], sortName: row["sortName"],
                    isAuthor: row["role"] as String == Contributor.Role.author.rawValue))
        }
        for row in try db.rows(
            """
            SELECT copy, tag, displayName FROM copyTag JOIN tag ON tag.id = copyTag.tag
            WHERE copy IN (SELECT value FROM json_each(?)) ORDER BY copy, tag
            """, [copies])
        { tags[row["copy"], default: []].append((row["tag"], row["displayName"])) }
        for row in try db.rows(
            """
            SELECT copy, text, iif(isPrivate, reader, NULL) AS reader FROM (
                SELECT copy, 0 AS kind, id, text, reader, isPrivate FROM note
                WHERE copy IN (SELECT value FROM json_each(?1))
                UNION ALL
                SELECT copy, 1, id, text, reader, isPrivate FROM quote
                WHERE copy IN (SELECT value FROM json_each(?1)))
            WHERE reader IN (SELECT id FROM reader WHERE deleted IS NULL)
            ORDER BY copy, kind, id
            """, [copies])
        {
            if let reader = row["reader"] as Int64? {
                privateAnnotations[row["copy"], default: []].append((reader, row["text"]))
            } else {
                annotations[row["copy"], default: []].append(row["text"])
            }
        }
        for row in try db.rows(
            """
            SELECT reader, copy, status, rating, isOnWishlist, isFavourite FROM readerCopy
            WHERE copy IN (SELECT value FROM json_each(?))
            """, [copies])
        {
            own[OwnPlace(reader: row["reader"], copy: row["copy"])] = OwnFacts(
                status: try row.word("status"), rating: row["rating"], isOnWishlist: row["isOnWishlist"],
                isFavourite: row["isFavourite"])
        }
        for row in try db.rows(
            """
            SELECT reader, copy, started, finished FROM reading
            WHERE copy IN (SELECT value FROM json_each(?)) AND state <> 'cancelled'
            ORDER BY copy, reader, position, id
            """, [copies])
        { readings[OwnPlace(reader: row["reader"], copy: row["copy"])] = (row["started"], row["finished"]) }
    }
}

/// A searchable field. Its raw value is the letter with which the field's words begin in the index.
enum SearchField: Character, CaseIterable {
    /// The first word of the title.
    case opening = "s"
    case title = "t"
    case number = "n"
    case author = "a"
    case subtitle = "u"
    case series = "e"
    case tag = "g"
    /// The texts of notes and quotes.
    case annotation = "r"
    /// The texts of private notes and quotes. The letter is followed by their reader; see
    /// ``SearchDocument/prefix(ofReader:)``.
    case privateAnnotation = "p"

    /// True if the index also contains the first one and two letters of the field's words, so that a search for these
    /// finds longer words.
    var hasBriefWords: Bool {
        switch self {
        case .opening, .title, .author, .subtitle, .series: true
        case .number, .tag, .annotation, .privateAnnotation: false
        }
    }
}

/// The words of one copy, as they are stored in the search index.
struct SearchDocument {
    private(set) var words: [String] = []
    private var seen: Set<String> = []

    mutating func add(_ found: [SearchWord], _ field: SearchField) {
        for word in found {
            add(String(field.rawValue) + word.text)
            guard field.hasBriefWords, !word.isIdeographic else { continue }
            // With these beginnings, a query for one or two letters finds a whole word of the index. Without them, it
            // would have to find the many words that begin with these letters.
            for length in 1...2 where word.ends.count > length {
                add(String(field.rawValue) + String(word.text.unicodeScalars.prefix(length)))
            }
        }
    }

    /// Returns the beginning of the words that only one reader finds.
    static func prefix(ofReader reader: Int64) -> String { "\(SearchField.privateAnnotation.rawValue)\(reader)r" }

    mutating func add(_ found: [SearchWord], privateTo reader: Int64) {
        for word in found { add(Self.prefix(ofReader: reader) + word.text) }
    }

    /// Adds the forms in which a person may search for a number: the 13 digits, the ISBN-10, and the number as it was
    /// entered.
    mutating func addNumbers(_ numbers: [String]) {
        for number in numbers where !number.isEmpty { add(String(SearchField.number.rawValue) + number) }
    }

    private mutating func add(_ word: String) {
        if seen.insert(word).inserted { words.append(word) }
    }

    var text: String { words.joined(separator: " ") }
}

/// Returns a number in the form that is stored in the index. It consists only of ASCII letters and digits, in lower
/// case.
func searchNumber(_ text: String) -> String {
    String(text.searchFolded.filter { $0.isASCII && ($0.isNumber || $0.isLetter) }.prefix(WordSplitter.longestWord))
}
