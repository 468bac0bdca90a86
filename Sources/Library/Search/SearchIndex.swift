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
    private var splitter = WordSplitter()

    /// Updates the index for all copies that triggers have added to `searchStale`. Every write calls this at its end.
    static func update(_ db: Database) throws {
        guard try db.row("SELECT 1 FROM searchStale LIMIT 1") != nil else { return }
        var index = SearchIndex(db: db)
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

    private init(db: Database) { self.db = db }

    private mutating func store(_ copies: [Int64]) throws {
        let chosen = jsonList(copies)
        let stored = try StoredIndex(db, copies: chosen)
        let rows = try db.rows(
            """
            SELECT copy.id, copy.edition, copy.status, copy.rating, copy.isOwned, copy.isOnWishlist, copy.isFavourite,
                copy.shelf, copy.added, copy.deleted, edition.title, edition.subtitle, edition.series, edition.isbn,
                edition.isbnText, edition.language
            FROM copy JOIN edition ON edition.id = copy.edition
            WHERE copy.id IN (SELECT value FROM json_each(?)) ORDER BY copy.id
            """, [chosen])
        for copy in Set(copies).subtracting(rows.map { $0["id"] as Int64 }).sorted() {
            try db.run("DELETE FROM listing WHERE copy = ?", [copy])
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

        let status: Copy.Status = try row.word("status")
        let reading = status == .toRead ? nil : related.readings[copy]
        let titleKey = title.map { sortKey($0) }
        let authorKey = authors.first { $0.isAuthor }.map { sortKey($0.name) + "\u{1}" + (titleKey ?? "") }
        let listed: [(any DatabaseValueConvertible)?] = [
            copy, (row["deleted"] as Int64?) != nil, Copy.Status.allCases.firstIndex(of: status),
            row["rating"] as Int?,
            row["isOwned"] as Bool, row["isOnWishlist"] as Bool, row["isFavourite"] as Bool, row["shelf"] as Int64?,
            row["language"] as String?, row["added"] as Int64, reading?.started, reading?.finished,
            tags.map { String($0.row) }.joined(separator: " "),
            authors.map { String($0.row) }.joined(separator: " "), titleKey, authorKey,
        ]
        if stored.listing[copy] != listed.map({ $0?.databaseValue ?? .null }) {
            try db.run(
                """
                INSERT OR REPLACE INTO listing (\(StoredIndex.columns))
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
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

/// The rows that the index has for a batch of copies.
private struct StoredIndex {
    static let columns = """
        copy, inTrash, status, rating, isOwned, isOnWishlist, isFavourite, shelf, language, added, started, finished, tags,
            authors, title, author
        """

    var listing: [Int64: [DatabaseValue]] = [:]
    var words: [Int64: String] = [:]

    init(_ db: Database, copies: String) throws {
        for row in try db.rows(
            "SELECT \(Self.columns) FROM listing WHERE copy IN (SELECT value FROM json_each(?))", [copies])
        { listing[row["copy"]] = Array(row.databaseValues) }
        for row in try db.rows(
            "SELECT rowid, words FROM searchText WHERE rowid IN (SELECT value FROM json_each(?))", [copies])
        { words[row["rowid"]] = row["words"] }
    }
}

/// The data that the index takes from other tables, for a batch of copies. The keys of the dictionaries are the row ids
/// of copies or of editions.
private struct IndexedRows {
    var authors: [Int64: [(row: Int64, name: String, isAuthor: Bool)]] = [:]
    var tags: [Int64: [(row: Int64, name: String)]] = [:]
    var annotations: [Int64: [String]] = [:]
    /// The dates of the reading that is shown for the book, which is the last reading that is not cancelled.
    var readings: [Int64: (started: String?, finished: String?)] = [:]

    init(_ db: Database, copies: String, editions: String) throws {
        for row in try db.rows(
            """
            SELECT edition, author, name, role FROM editionAuthor JOIN author ON author.id = editionAuthor.author
            WHERE edition IN (SELECT value FROM json_each(?)) ORDER BY edition, position
            """, [editions])
        {
            authors[row["edition"], default: []].append(
                (row["author"], row["name"], row["role"] as String == Contributor.Role.author.rawValue))
        }
        for row in try db.rows(
            """
            SELECT copy, tag, displayName FROM copyTag JOIN tag ON tag.id = copyTag.tag
            WHERE copy IN (SELECT value FROM json_each(?)) ORDER BY copy, tag
            """, [copies])
        { tags[row["copy"], default: []].append((row["tag"], row["displayName"])) }
        for row in try db.rows(
            """
            SELECT copy, text FROM (
                SELECT copy, 0 AS kind, id, text FROM note WHERE copy IN (SELECT value FROM json_each(?1))
                UNION ALL SELECT copy, 1, id, text FROM quote WHERE copy IN (SELECT value FROM json_each(?1)))
            ORDER BY copy, kind, id
            """, [copies])
        { annotations[row["copy"], default: []].append(row["text"]) }
        for row in try db.rows(
            """
            SELECT copy, started, finished FROM reading
            WHERE copy IN (SELECT value FROM json_each(?)) AND state <> 'cancelled' ORDER BY copy, position, id
            """, [copies])
        { readings[row["copy"]] = (row["started"], row["finished"]) }
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

    /// True if words of one or two letters are searched in this field.
    var hasBriefWords: Bool {
        switch self {
        case .opening, .title, .author, .subtitle, .series: true
        case .number, .tag, .annotation: false
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
