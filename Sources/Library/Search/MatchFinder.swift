import Bookplate
import GRDB

/// Finds the text in each book that matches a query. The text is in the book's own spelling, and shows a person why the
/// book was found.
struct MatchFinder {
    private struct FieldText {
        var field: BookHit.Field
        var text: String
    }

    private let query: QueryText
    private var splitter = WordSplitter()

    init(_ query: QueryText) { self.query = query }

    func hits(_ db: Database, _ found: [StoredBook]) throws -> [BookHit] {
        var finder = self
        var matches = found.map { finder.match(in: texts(of: $0.book)) }
        // Notes and quotes are fetched only for books whose other texts do not explain the whole match.
        let open = matches.indices.filter { !matches[$0].isComplete }
        if !open.isEmpty, query.searchesAnnotations {
            let annotations = try Self.annotations(db, of: open.map { found[$0].copyRow })
            for index in open {
                matches[index] = finder.match(
                    in: texts(of: found[index].book) + (annotations[found[index].copyRow] ?? []))
            }
        }
        return zip(found, matches).map { BookHit(book: $0.book, match: $1.match) }
    }

    /// Returns the texts of a book. The texts that explain a match best come first.
    private func texts(of book: Book) -> [FieldText] {
        let metadata = book.edition.metadata
        var texts: [FieldText] = []
        func add(_ field: BookHit.Field, _ text: String?) {
            if let text { texts.append(FieldText(field: field, text: text)) }
        }
        add(.title, metadata.title)
        if query.hasNumber {
            add(.isbn, book.edition.isbn?.hyphenated)
            add(.isbn, book.edition.isbn?.isbn10)
            add(.isbn, book.edition.isbnText)
        }
        for author in metadata.authors { add(.author, author.name) }
        add(.subtitle, metadata.subtitle)
        add(.series, metadata.series)
        for tag in book.copy.tags { add(.tag, tag) }
        return texts
    }

    private static func annotations(_ db: Database, of copies: [Int64]) throws -> [Int64: [FieldText]] {
        var texts: [Int64: [FieldText]] = [:]
        for row in try db.rows(
            """
            SELECT copy, field, text FROM (
                SELECT copy, 'note' AS field, id, text FROM note
                WHERE copy IN (SELECT value FROM json_each(?1)) AND \(Note.isVisible)
                UNION ALL
                SELECT copy, 'quote', id, text FROM quote
                WHERE copy IN (SELECT value FROM json_each(?1)) AND \(Quote.isVisible))
            ORDER BY copy, field, id
            """, [jsonList(copies)])
        { texts[row["copy"], default: []].append(FieldText(field: try row.word("field"), text: row["text"])) }
        return texts
    }

    /// Finds the text that explains why a book matches. For each part of the query, finds the first text that contains
    /// the part. Returns the last of these texts, with all parts of the query marked in it.
    private mutating func match(in texts: [FieldText]) -> (match: BookHit.Match?, isComplete: Bool) {
        // The words of each text, which is split when its words are first needed.
        var words = [[SearchWord]?](repeating: nil, count: texts.count)
        var last: Int?
        var found = 0
        for part in query.parts {
            guard let first = texts.indices.first(where: { !ranges(of: part, in: texts[$0], &words[$0]).isEmpty })
            else { continue }
            last = max(last ?? 0, first)
            found += 1
        }
        guard let last else { return (nil, false) }
        let marks = query.parts.flatMap { ranges(of: $0, in: texts[last], &words[last]) }
        let isWholeTitle =
            texts.first.map { first in
                first.field == .title && SearchIndex.joined(splitter.words(of: first.text, for: .query)) == query.title
            } ?? false
        let snippet = Snippet(cutting: texts[last].text, around: marks)
        return (
            BookHit.Match(field: texts[last].field, snippet: snippet, isWholeTitle: isWholeTitle),
            found == query.parts.count
        )
    }

    private mutating func ranges(
        of part: QueryText.Part, in text: FieldText, _ words: inout [SearchWord]?
    ) -> [Range<Int>] {
        switch part {
        case .word(let word):
            if text.field == .isbn { return [] }
            var word = word
            // In these texts, a word of one or two letters must be a whole word, as in the index.
            if word.isBrief, [.tag, .note, .quote].contains(text.field) { word.isPrefix = false }
            if words == nil, word.isPrefix, let ranges = PlainText(text.text)?.ranges(of: word) { return ranges }
            return ranges(of: word, in: indexWords(of: text, &words))
        case .number(let number, let parts):
            if text.field == .isbn { return Self.numberRange(of: number, in: text.text).map { [$0] } ?? [] }
            let indexed = indexWords(of: text, &words)
            let found = parts.map { ranges(of: $0, in: indexed) }
            return found.contains(where: \.isEmpty) ? [] : found.flatMap(\.self)
        }
    }

    private mutating func indexWords(of text: FieldText, _ words: inout [SearchWord]?) -> [SearchWord] {
        if let words { return words }
        let found = splitter.words(of: text.text, for: .index)
        words = found
        return found
    }

    private func ranges(of word: SearchWord, in indexed: [SearchWord]) -> [Range<Int>] {
        let length = word.ends.count
        return indexed.compactMap { candidate in
            guard candidate.ends.count >= length, word.isPrefix || candidate.ends.count == length,
                candidate.text.utf8.starts(with: word.text.utf8)
            else { return nil }
            return candidate.start..<candidate.ends[length - 1]
        }
    }

    /// If a printed number begins with the given number, returns the range of this beginning; otherwise `nil`. Hyphens
    /// and spaces in the printed number are ignored.
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

/// An ASCII text in which no word has an apostrophe, a hyphen or a full stop inside. Words are found directly in its
/// bytes. This gives the same result as splitting the text, but is many times faster.
private struct PlainText {
    private let bytes: ContiguousArray<UInt8>

    /// - Returns: `nil` if the text is not ASCII, or if one of its words has an apostrophe, a hyphen or a full stop
    ///   inside.
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

    /// Returns the ranges of the text in which a word begins with the given word.
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

extension Snippet {
    /// The maximum numbers of characters in an excerpt: before the first match, and from the beginning of this match.
    private static let (before, behind) = (28, 72)
    /// The maximum length of an excerpt, in bytes. Limiting the number of characters is not enough, because a character
    /// can have any number of bytes.
    private static let longest = 1200

    /// Cuts an excerpt out of a text, around the first marked range.
    ///
    /// - Parameter marks: the ranges to mark, as UTF-8 offsets. Each range ends between two characters. The ranges may
    ///   overlap, and may be in any order.
    init(cutting text: String, around marks: [Range<Int>]) {
        let marks = Self.merged(marks)
        let first = marks.first ?? 0..<0
        func index(_ offset: Int) -> String.Index { text.utf8.index(text.startIndex, offsetBy: offset) }
        func offset(_ index: String.Index) -> Int { text.utf8.distance(from: text.startIndex, to: index) }

        var start = index(first.lowerBound)
        var word = start
        for _ in 0..<Self.before {
            guard start > text.startIndex, first.lowerBound - offset(text.index(before: start)) < Self.longest / 3
            else { break }
            start = text.index(before: start)
            // The excerpt begins between two words if possible.
            if start == text.startIndex || text[text.index(before: start)].isWhitespace { word = start }
        }
        if start != text.startIndex, word < index(first.lowerBound) { start = word }
        var end = index(first.lowerBound)
        word = end
        for _ in 0..<Self.behind {
            guard end < text.endIndex, offset(end) - first.lowerBound < Self.longest else { break }
            end = text.index(after: end)
            if end == text.endIndex || text[end].isWhitespace { word = end }
        }
        if end != text.endIndex, offset(word) >= first.upperBound { end = word }
        // A match that is a single huge character is cut as well.
        let window = offset(start)..<max(offset(end), offset(start))

        var parts: [Part] = []
        func add(_ range: Range<Int>, isMatch: Bool) {
            guard !range.isEmpty else { return }
            let piece = String(text[index(range.lowerBound)..<index(range.upperBound)])
            let shown = String(String.UnicodeScalarView(piece.unicodeScalars.prefix(Self.longest))).onOneLine
            if !shown.isEmpty { parts.append(Part(text: shown, isMatch: isMatch)) }
        }
        var position = window.lowerBound
        for mark in marks where mark.overlaps(window) {
            let mark = mark.clamped(to: window)
            add(position..<mark.lowerBound, isMatch: false)
            add(mark, isMatch: true)
            position = mark.upperBound
        }
        add(position..<window.upperBound, isMatch: false)
        if window.lowerBound > 0 { parts.insert(Part(text: "…", isMatch: false), at: 0) }
        if window.upperBound < text.utf8.count { parts.append(Part(text: "…", isMatch: false)) }
        self.init(parts: Self.joined(parts))
    }

    /// Returns the ranges in ascending order. Ranges that touch or overlap are merged.
    private static func merged(_ marks: [Range<Int>]) -> [Range<Int>] {
        var merged: [Range<Int>] = []
        for mark in marks.sorted(by: { ($0.lowerBound, $0.upperBound) < ($1.lowerBound, $1.upperBound) }) {
            if let last = merged.last, mark.lowerBound <= last.upperBound {
                merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, mark.upperBound)
            } else {
                merged.append(mark)
            }
        }
        return merged
    }

    private static func joined(_ parts: [Part]) -> [Part] {
        var joined: [Part] = []
        for part in parts {
            if let last = joined.last, last.isMatch == part.isMatch {
                joined[joined.count - 1].text += part.text
            } else {
                joined.append(part)
            }
        }
        return joined
    }
}

extension String {
    /// The text on one line. Line breaks and other control characters are replaced by spaces, and characters that
    /// change the writing direction are removed.
    fileprivate var onOneLine: String {
        var scalars = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            switch scalar.value {
            case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029: scalars.append(" ")
            case 0x202A...0x202E, 0x2066...0x2069, 0xFEFF: break
            default: scalars.append(scalar)
            }
        }
        return String(scalars)
    }
}
