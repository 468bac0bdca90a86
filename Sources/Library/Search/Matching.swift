import Bookplate
import GRDB

/// Says of each book why it was found, and shows it in the book's own spelling.
struct Matching {
    /// A text of a book, with the field it is of.
    private struct Place {
        var field: BookHit.Field
        var text: String
    }

    private let asked: AskedText
    private var splitter = WordSplitter()

    init(_ asked: AskedText) { self.asked = asked }

    func hits(_ db: Database, _ found: [StoredBooks.Entry]) throws -> [BookHit] {
        var matching = self
        var matches = found.map { matching.match(in: places(of: $0.book)) }
        // Only what is not explained by the book itself is explained by what was written beside it.
        let open = matches.indices.filter { !matches[$0].isComplete }
        if !open.isEmpty, asked.looksIntoRemarks {
            let remarks = try Self.remarks(db, of: open.map { found[$0].copyRow })
            for index in open {
                matches[index] = matching.match(
                    in: places(of: found[index].book) + (remarks[found[index].copyRow] ?? []))
            }
        }
        return zip(found, matches).map { BookHit(book: $0.book, match: $1.match) }
    }

    /// In the order in which they count.
    private func places(of book: Book) -> [Place] {
        let metadata = book.edition.metadata
        var places: [Place] = []
        func add(_ field: BookHit.Field, _ text: String?) {
            if let text { places.append(Place(field: field, text: text)) }
        }
        add(.title, metadata.title)
        if asked.hasNumber {
            add(.isbn, book.edition.isbn?.hyphenated)
            add(.isbn, book.edition.isbn?.isbn10)
            add(.isbn, book.edition.isbnText)
        }
        for author in metadata.authors { add(.author, author.name) }
        add(.subtitle, metadata.subtitle)
        add(.series, metadata.series)
        for tag in book.copy.tags { add(.tag, tag) }
        return places
    }

    private static func remarks(_ db: Database, of copies: [Int64]) throws -> [Int64: [Place]] {
        var places: [Int64: [Place]] = [:]
        for row in try db.rows(
            """
            SELECT copy, field, text FROM (
                SELECT copy, 'note' AS field, id, text FROM note WHERE copy IN (SELECT value FROM json_each(?1))
                UNION ALL SELECT copy, 'quote', id, text FROM quote WHERE copy IN (SELECT value FROM json_each(?1)))
            ORDER BY copy, field, id
            """, [list(copies)])
        { places[row["copy"], default: []].append(Place(field: try row.word("field"), text: row["text"])) }
        return places
    }

    /// Each part of the query is found in the first place that has it; told is the last of these places, with everything in it
    /// that was asked for.
    private mutating func match(in places: [Place]) -> (match: BookHit.Match?, isComplete: Bool) {
        // A place is taken apart when it is looked at, and once.
        var words = [[SearchWord]?](repeating: nil, count: places.count)
        var told: Int?
        var found = 0
        for part in asked.parts {
            guard let first = places.indices.first(where: { !ranges(of: part, in: places[$0], &words[$0]).isEmpty })
            else { continue }
            told = max(told ?? 0, first)
            found += 1
        }
        guard let told else { return (nil, false) }
        let marks = asked.parts.flatMap { ranges(of: $0, in: places[told], &words[told]) }
        let isWholeTitle =
            places.first.map { place in
                place.field == .title && SearchIndex.joined(splitter.words(of: place.text, for: .asked)) == asked.title
            } ?? false
        let snippet = Snippet(cutting: places[told].text, around: marks)
        return (
            BookHit.Match(field: places[told].field, snippet: snippet, isWholeTitle: isWholeTitle),
            found == asked.parts.count
        )
    }

    private mutating func ranges(
        of part: AskedText.Part, in place: Place, _ words: inout [SearchWord]?
    ) -> [Range<Int>] {
        switch part {
        case .word(let word):
            if place.field == .isbn || (word.isBrief && [.tag, .note, .quote].contains(place.field)) { return [] }
            if words == nil, let ranges = PlainText(place.text)?.ranges(of: word) { return ranges }
            return ranges(of: word, in: stored(place, &words))
        case .number(let number, let parts):
            if place.field == .isbn { return Self.numberRange(of: number, in: place.text).map { [$0] } ?? [] }
            let stored = stored(place, &words)
            let found = parts.map { ranges(of: $0, in: stored) }
            return found.contains(where: \.isEmpty) ? [] : found.flatMap(\.self)
        }
    }

    private mutating func stored(_ place: Place, _ words: inout [SearchWord]?) -> [SearchWord] {
        if let words { return words }
        let found = splitter.words(of: place.text, for: .stored)
        words = found
        return found
    }

    private func ranges(of word: SearchWord, in stored: [SearchWord]) -> [Range<Int>] {
        let length = word.ends.count
        return stored.compactMap { candidate in
            guard candidate.ends.count >= length, word.isPrefix || candidate.ends.count == length,
                candidate.text.utf8.starts(with: word.text.utf8)
            else { return nil }
            return candidate.start..<candidate.ends[length - 1]
        }
    }

    /// The beginning of a number as it is printed, hyphens within.
    private static func numberRange(of number: String, in text: String) -> Range<Int>? {
        var wanted = Substring(number)
        for (offset, byte) in text.utf8.enumerated() {
            let letter = Character(Unicode.Scalar(byte)).lowercased()
            guard let next = wanted.first else { return 0..<offset }
            if letter == String(next) {
                wanted = wanted.dropFirst()
            } else if letter != "-", letter != " " {
                return nil
            }
        }
        return wanted.isEmpty ? 0..<text.utf8.count : nil
    }
}

/// A text of ASCII in which no word has a sign within: there words are found by looking at its bytes, many times faster than by
/// taking it apart, and the same ones.
private struct PlainText {
    private let bytes: ContiguousArray<UInt8>

    /// - Returns: `nil` for any other text.
    init?(_ text: String) {
        bytes = ContiguousArray(text.utf8)
        for (index, byte) in bytes.enumerated() {
            if byte >= 0x80 { return nil }
            guard byte == 0x27 || byte == 0x2D || byte == 0x2E, index > 0, index + 1 < bytes.count else { continue }
            if Self.isLetter(bytes[index - 1]), Self.isLetter(bytes[index + 1]) { return nil }
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
    }

    /// Where words begin so.
    func ranges(of word: SearchWord) -> [Range<Int>] {
        let wanted = ContiguousArray(word.text.utf8)
        var ranges: [Range<Int>] = []
        var isInside = false
        for index in bytes.indices {
            let isLetter = Self.isLetter(bytes[index])
            defer { isInside = isLetter }
            guard isLetter, !isInside, index + wanted.count <= bytes.count else { continue }
            let fits = wanted.indices.allSatisfy { offset in
                let byte = bytes[index + offset]
                return Self.isLetter(byte) && (byte < 0x40 ? byte : byte | 0x20) == wanted[offset]
            }
            if fits { ranges.append(index..<index + wanted.count) }
        }
        return ranges
    }
}
