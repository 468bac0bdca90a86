import Bookplate
import GRDB

extension LibraryFile {
    /// Makes what search knows anew, from the books. Nothing is lost by it; it takes some seconds for 100,000 books.
    public func rebuildSearchIndex() async throws {
        try await write { db in
            try db.execute(sql: "INSERT INTO searchStale (copy) SELECT id FROM copy WHERE true ON CONFLICT DO NOTHING")
            try SearchIndex.rebuild(db)
        }
    }
}

/// Keeps ``listing`` and ``searchText`` in line with the books.
struct SearchIndex {
    private static let batch = 500
    private let db: Database
    private var splitter = WordSplitter()

    /// Brings up to date what triggers have named since the last time: the end of every write.
    static func bringUpToDate(_ db: Database) throws {
        guard try db.row("SELECT 1 FROM searchStale LIMIT 1") != nil else { return }
        var index = SearchIndex(db: db)
        // A batch at a time, in order of the numbers, as FTS5 takes them best. Backwards is slow.
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

    /// Forgets everything and makes it of what is named stale: everything, for the callers.
    static func rebuild(_ db: Database) throws {
        try db.execute(sql: "DELETE FROM listing")
        try db.execute(sql: "DROP TABLE IF EXISTS searchText; \(Schema.searchText)")
        // Fewer, larger pieces to merge while everything is written; 1 MB is FTS5's own default.
        try db.execute(sql: "INSERT INTO searchText (searchText, rank) VALUES ('hashsize', 67108864)")
        try bringUpToDate(db)
        try db.execute(sql: "INSERT INTO searchText (searchText, rank) VALUES ('hashsize', 1048576)")
        // One sorted piece is the fastest to search.
        try db.execute(sql: "INSERT INTO searchText (searchText) VALUES ('optimize')")
    }

    private init(db: Database) { self.db = db }

    private mutating func store(_ copies: [Int64]) throws {
        let chosen = list(copies)
        try db.run("DELETE FROM listing WHERE copy IN (SELECT value FROM json_each(?))", [chosen])
        try db.run("DELETE FROM searchText WHERE rowid IN (SELECT value FROM json_each(?))", [chosen])
        let rows = try db.rows(
            """
            SELECT copy.id, copy.edition, copy.status, copy.rating, copy.isOwned, copy.isOnWishlist, copy.isFavourite,
                copy.shelf, copy.added, copy.deleted, edition.title, edition.subtitle, edition.series, edition.isbn,
                edition.isbnText, edition.language
            FROM copy JOIN edition ON edition.id = copy.edition
            WHERE copy.id IN (SELECT value FROM json_each(?)) ORDER BY copy.id
            """, [chosen])
        guard !rows.isEmpty else { return }
        let around = try IndexedRows(db, copies: chosen, editions: list(Set(rows.map { $0["edition"] as Int64 })))
        for row in rows { try store(row, around) }
    }

    private mutating func store(_ row: Row, _ around: IndexedRows) throws {
        let copy: Int64 = row["id"]
        let authors = around.authors[row["edition"]] ?? []
        let tags = around.tags[copy] ?? []
        let title: String? = row["title"]
        let titleWords = title.map { splitter.words(of: $0, for: .stored) } ?? []

        var document = SearchDocument()
        document.add(Array(titleWords.prefix(1)), .opening)
        document.add(titleWords, .title)
        document.addNumbers(try numbers(row))
        for author in authors { document.add(splitter.words(of: author.name, for: .stored), .author) }
        if let text = row["subtitle"] as String? { document.add(splitter.words(of: text, for: .stored), .subtitle) }
        if let text = row["series"] as String? { document.add(splitter.words(of: text, for: .stored), .series) }
        for tag in tags { document.add(splitter.words(of: tag.name, for: .stored), .tag) }
        for text in around.annotations[copy] ?? [] { document.add(splitter.words(of: text, for: .stored), .annotation) }

        let status: Copy.Status = try row.word("status")
        let reading = status == .toRead ? nil : around.readings[copy]
        let titleKey = title.map { sortKey($0) }
        let authorKey = authors.first { $0.isAuthor }.map { sortKey($0.name) + "\u{1}" + (titleKey ?? "") }
        try db.run(
            """
            INSERT INTO listing (copy, inTrash, status, rating, isOwned, isOnWishlist, isFavourite, shelf, language, added,
                started, finished, tags, authors, title, author)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                copy, (row["deleted"] as Int64?) != nil, Copy.Status.allCases.firstIndex(of: status),
                row["rating"] as Int?,
                row["isOwned"] as Bool, row["isOnWishlist"] as Bool, row["isFavourite"] as Bool, row["shelf"] as Int64?,
                row["language"] as String?, row["added"] as Int64, reading?.started, reading?.finished,
                tags.map { String($0.row) }.joined(separator: " "),
                authors.map { String($0.row) }.joined(separator: " "), titleKey, authorKey,
            ])
        try db.run("INSERT INTO searchText (rowid, words) VALUES (?, ?)", [copy, document.text])
    }

    private func numbers(_ row: Row) throws -> [String] {
        let isbn = try StoredBooks.isbn(row)
        let entered = (row["isbnText"] as String?).map(searchNumber)
        let known = [isbn?.digits, isbn?.isbn10?.lowercased()].compactMap(\.self)
        return known + (entered.map { known.contains($0) ? [] : [$0] } ?? [])
    }

    /// What a text is sorted by: its words, so that quotation marks and inverted signs do not count; or itself, when it has none.
    private mutating func sortKey(_ text: String) -> String {
        let key = Self.joined(splitter.words(of: text, for: .asked))
        return key.isEmpty ? String(text.searchFolded.unicodeScalars.prefix(Self.longestKey)) : key
    }

    /// In scalars: a place in a list holds two keys, and is to be typed or pasted.
    private static let longestKey = 256

    /// Words as one text; two titles that differ in nothing that search sees are the same.
    static func joined(_ words: [SearchWord]) -> String {
        String(words.map(\.text).joined(separator: " ").unicodeScalars.prefix(longestKey))
    }
}

/// What hangs on the copies of a batch, by copy or edition.
private struct IndexedRows {
    var authors: [Int64: [(row: Int64, name: String, isAuthor: Bool)]] = [:]
    var tags: [Int64: [(row: Int64, name: String)]] = [:]
    var annotations: [Int64: [String]] = [:]
    /// The last that is not cancelled: the one that a book shows.
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

/// Where a word can stand, with the letter that its words carry in the index.
enum SearchField: Character, CaseIterable {
    /// The title's first word.
    case opening = "s"
    case title = "t"
    case number = "n"
    case author = "a"
    case subtitle = "u"
    case series = "e"
    case tag = "g"
    /// Notes and quotes.
    case annotation = "r"

    /// Whether words of one and two letters are looked for in it.
    var takesBriefWords: Bool {
        switch self {
        case .opening, .title, .author, .subtitle, .series: true
        case .number, .tag, .annotation: false
        }
    }
}

/// What the index holds of one copy, ready to be stored.
struct SearchDocument {
    private(set) var words: [String] = []
    private var seen: Set<String> = []

    mutating func add(_ found: [SearchWord], _ field: SearchField) {
        for word in found {
            add(String(field.rawValue) + word.text)
            guard field.takesBriefWords, !word.isIdeographic else { continue }
            // A word of one or two letters in a query is then a word of the index, not the beginning of half of them.
            for length in 1...2 where word.ends.count > length {
                add(String(field.rawValue) + String(word.text.unicodeScalars.prefix(length)))
            }
        }
    }

    /// The forms in which a number is looked for: 13 digits, ISBN-10, and as entered.
    mutating func addNumbers(_ numbers: [String]) {
        for number in numbers where !number.isEmpty { add(String(SearchField.number.rawValue) + number) }
    }

    private mutating func add(_ word: String) {
        if seen.insert(word).inserted { words.append(word) }
    }

    var text: String { words.joined(separator: " ") }
}

/// A number as it stands in the index: letters and digits of ASCII, in lower case, nothing between them.
func searchNumber(_ text: String) -> String {
    String(text.searchFolded.filter { $0.isASCII && ($0.isNumber || $0.isLetter) }.prefix(WordSplitter.longestWord))
}
