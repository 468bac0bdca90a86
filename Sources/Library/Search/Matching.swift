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
        if !open.isEmpty, asked.searchesAnnotations {
            let annotations = try Self.annotations(db, of: open.map { found[$0].copyRow })
            for index in open {
                matches[index] = matching.match(
                    in: places(of: found[index].book) + (annotations[found[index].copyRow] ?? []))
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

    private static func annotations(_ db: Database, of copies: [Int64]) throws -> [Int64: [Place]] {
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

extension Snippet {
    /// In characters, before the first match and from its beginning.
    private static let (before, behind) = (28, 72)
    /// A character can be as long as one likes; an excerpt cannot.
    private static let longest = 1200

    /// Cuts an excerpt out.
    ///
    /// - Parameter marks: ranges of UTF-8 offsets that end where characters do; they may overlap and be in any order.
    init(cutting text: String, around marks: [Range<Int>]) {
        let marks = Self.united(marks)
        let first = marks.first ?? 0..<0
        func index(_ offset: Int) -> String.Index { text.utf8.index(text.startIndex, offsetBy: offset) }
        func offset(_ index: String.Index) -> Int { text.utf8.distance(from: text.startIndex, to: index) }

        var start = index(first.lowerBound)
        var word = start
        for _ in 0..<Self.before {
            guard start > text.startIndex, first.lowerBound - offset(text.index(before: start)) < Self.longest / 3
            else { break }
            start = text.index(before: start)
            // Whole words, where there is one.
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
        // A match of a single huge character is shown cut like everything else.
        let window = offset(start)..<max(offset(end), offset(start))

        var parts: [Part] = []
        func add(_ range: Range<Int>, isMatch: Bool) {
            guard !range.isEmpty else { return }
            let piece = String(text[index(range.lowerBound)..<index(range.upperBound)])
            let shown = String(String.UnicodeScalarView(piece.unicodeScalars.prefix(Self.longest))).onOneLine
            if !shown.isEmpty { parts.append(Part(text: shown, isMatch: isMatch)) }
        }
        var place = window.lowerBound
        for mark in marks where mark.overlaps(window) {
            let mark = mark.clamped(to: window)
            add(place..<mark.lowerBound, isMatch: false)
            add(mark, isMatch: true)
            place = mark.upperBound
        }
        add(place..<window.upperBound, isMatch: false)
        if window.lowerBound > 0 { parts.insert(Part(text: "…", isMatch: false), at: 0) }
        if window.upperBound < text.utf8.count { parts.append(Part(text: "…", isMatch: false)) }
        self.init(parts: Self.joined(parts))
    }

    /// In order, those that touch made one.
    private static func united(_ marks: [Range<Int>]) -> [Range<Int>] {
        var united: [Range<Int>] = []
        for mark in marks.sorted(by: { ($0.lowerBound, $0.upperBound) < ($1.lowerBound, $1.upperBound) }) {
            if let last = united.last, mark.lowerBound <= last.upperBound {
                united[united.count - 1] = last.lowerBound..<max(last.upperBound, mark.upperBound)
            } else {
                united.append(mark)
            }
        }
        return united
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
    /// Line breaks and other control characters as spaces, and nothing that turns the text around it.
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
