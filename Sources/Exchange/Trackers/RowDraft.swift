import Bookplate
import FoundationEssentials

/// A row that is being parsed into an ``ImportedBook``: its cells by column, and the warnings about values that were
/// truncated or look wrong.
struct RowDraft {
    let reader: DelimitedReader
    /// The index of each column, by its name in lower case.
    let columns: [String: Int]
    var metadata = Metadata()
    var copy = Copy(added: Date(timeIntervalSince1970: 0))
    var hasAdded = false
    var isbn: ISBN?
    var isbnText: String?
    var readings: [ReadingRecord] = []
    var notes: [Note] = []
    var quotes: [Quote] = []
    /// The id of the copy in Bookplate's own export.
    var id: ID<Copy>?
    var edition: ID<Edition>?
    /// True if an earlier row of the file has the same book.
    var isFurther = false
    /// True if cells may begin with a protective apostrophe, which Bookplate's CSV has (``CSVWriter/guarded(_:)``).
    var isGuarded = false
    private(set) var doubts: [String] = []

    init(_ reader: DelimitedReader, _ columns: [String: Int]) {
        self.reader = reader
        self.columns = columns
    }

    subscript(_ column: String) -> String {
        let cell = reader.cell(columns[column])
        return isGuarded ? CSVWriter.unguarded(cell) : cell
    }

    mutating func addDoubt(_ what: String) {
        // The number of warnings is limited, because a list of a thousand wrong dates is one fault in the file, not a
        // thousand.
        if doubts.count < 20 {
            doubts.append(what)
        } else if doubts.count == 20 {
            doubts.append("further warnings were left out")
        }
    }

    /// Returns the cleaned text of a cell, cut to `limit` characters; `nil` if it is empty.
    mutating func text(_ column: String, _ limit: Int = TextLimit.name) -> String? {
        cut(self[column], column, limit)
    }

    mutating func cut(_ text: String, _ what: String, _ limit: Int = TextLimit.name) -> String? {
        guard !text.isEmpty else { return nil }
        // Counting the characters of 10 MB would be slow.
        let most = limit * TextLimit.bytesPerCharacter
        let bounded = text.utf8.count > most ? String(text.cut(atBytes: most)) : text
        var kept = bounded.cleaned
        if kept.utf8.count > limit, kept.count > limit {
            kept = String(kept.prefix(limit)).cleaned
            addDoubt("\(what) is longer than \(limit) characters and was truncated")
        } else if bounded.utf8.count < text.utf8.count {
            addDoubt("\(what) is longer than \(limit) characters and was truncated")
        }
        return kept.isEmpty ? nil : kept
    }

    /// Returns the cleaned text without its markup, cut to `limit` characters; `nil` if it is empty.
    mutating func cutPlain(_ html: String, _ what: String, _ limit: Int) -> String? {
        // The limit is twice as high as for plain text, because half of the text may be markup.
        let most = 2 * limit * TextLimit.bytesPerCharacter
        guard html.utf8.count > most else { return cut(plainText(html), what, limit) }
        let count = doubts.count
        let text = cut(plainText(String(html.cut(atBytes: most))), what, limit)
        if doubts.count == count { addDoubt("\(what) is longer than \(limit) characters and was truncated") }
        return text
    }

    /// Splits a text at `separator` into names, without duplicates.
    mutating func names(_ text: String, by separator: String, _ what: String) -> [String] {
        guard !text.isEmpty else { return [] }
        var names: [String] = []
        for part in text.split(separator: separator, maxSplits: 999) {
            if let name = cut(String(part), what), !names.contains(name) { names.append(name) }
        }
        return names
    }

    /// Sets the ISBN to the first valid text. If no text is valid, the first one is kept as it is and flagged.
    mutating func setISBN(_ texts: [String]) {
        var refusal: String?
        for text in texts where !text.isEmpty {
            guard let text = cut(text, "ISBN") else { continue }
            do throws(ISBNRefusal) {
                isbn = try ISBN(text)
                isbnText = text
                return
            } catch {
                if isbnText == nil { (isbnText, refusal) = (text, "\"\(text.excerpt)\" is not an ISBN: \(error)") }
            }
        }
        if let refusal { addDoubt(refusal) }
    }

    /// Parses a date in the form YYYY, YYYY/MM or YYYY/MM/DD. It may also be written with hyphens or dots, be in
    /// brackets, or be followed by "T" and a time.
    mutating func day(_ text: String, _ what: String) -> CalendarDay? {
        let bare = text.prefix { $0 != "T" }.filter { !$0.isWhitespace && $0 != "[" && $0 != "]" }
        guard !bare.isEmpty else { return nil }
        let parts = bare.split(whereSeparator: { $0 == "/" || $0 == "-" || $0 == "." }).map { Int($0) }
        if (1...3).contains(parts.count), parts.allSatisfy({ $0 != nil }), bare.first?.isNumber == true,
            bare.prefix(while: \.isNumber).count == 4,
            let day = CalendarDay(
                year: parts[0] ?? 0, month: parts.count > 1 ? parts[1] : nil, day: parts.count > 2 ? parts[2] : nil)
        {
            return day
        }
        addDoubt("\(what): \"\(text.excerpt)\" is not a date and was left out")
        return nil
    }

    mutating func setAdded(_ column: String) {
        guard let day = day(self[column], column), let number = day.number ?? day.span.first else { return }
        // Noon in UTC falls on the same day in almost every time zone.
        copy.added = Date(timeIntervalSince1970: Double(number) * 86_400 + 43_200)
        hasAdded = true
    }

    mutating func setPages(_ column: String) {
        let text = self[column].filter { !$0.isWhitespace && $0 != "[" && $0 != "]" }
        // 0 means unknown.
        guard !text.isEmpty, text != "0" else { return }
        guard let pages = Int(text), NumberLimit.pages.contains(pages) else {
            return addDoubt("\(column): \"\(text.excerpt)\" is not a page count and was left out")
        }
        metadata.pageCount = pages
    }

    /// Sets the rating from a number of stars. 0 means no rating, and other values are rounded to the nearest quarter.
    mutating func setRating(_ text: String) {
        let bare = text.filter { !$0.isWhitespace && $0 != "[" && $0 != "]" }
        guard !bare.isEmpty, bare != "0" else { return }
        guard let stars = Double(bare), stars >= 0, stars <= 5 else {
            return addDoubt("rating: \"\(bare.excerpt)\" is not a number of stars from 0 to 5 and was left out")
        }
        let quarters = (stars * 4).rounded()
        guard quarters > 0 else { return }
        if quarters != stars * 4 { addDoubt("rating: \(bare.excerpt) was rounded to \(quarters / 4)") }
        copy.rating = quarters / 4
    }

    mutating func setPublished(_ text: String) {
        guard let text = cut(text, "published") else { return }
        metadata.publishedDateText = text
        let year = text.prefix(while: \.isNumber)
        metadata.publishedDate = CalendarDay(text) ?? (year.count == 4 ? CalendarDay(String(year)) : nil)
    }

    /// Adds a note. With one reader, there are no private ones; see ``RowImporter``.
    mutating func addNote(_ text: String, _ what: String, kind: Note.Kind = .note, isPrivate: Bool = false) {
        guard let text = cutPlain(text, what, TextLimit.note) else { return }
        notes.append(Note(kind: kind, text: text, created: copy.added, isPrivate: isPrivate))
    }

    mutating func addAuthor(_ name: String, _ role: Contributor.Role = .author) {
        guard let name = cut(name, "author") else { return }
        let spaced = name.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let author = Contributor(name: spaced, role: role)
        if !metadata.authors.contains(author) { metadata.authors.append(author) }
    }

    /// Returns the finished book. If there are warnings, the book includes the original text of the row.
    func book(source: String, request: String) -> ImportedBook {
        var record = CopyRecord(copy: copy)
        record.readings = readings
        record.notes = notes
        record.quotes = quotes
        var book = ImportedBook(
            row: reader.row, source: source, request: request, metadata: metadata, record: record)
        book.isFurther = isFurther
        book.id = id
        book.edition = edition
        book.isbn = isbn
        book.isbnText = isbnText
        book.hasAdded = hasAdded
        book.doubts = doubts
        if reader.isForeign, reader.hasMetUTF8 {
            book.doubts.append("unlike earlier rows, this row is not UTF-8; it was read as Windows-1252")
        }
        if !book.doubts.isEmpty { book.raw = reader.rawText(ImportFlag.rawLimit) }
        return book
    }

    /// A hash that identifies the book, for files from trackers that give their books no ids (FNV-1a, 64 bits).
    var fingerprint: UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        let key = [
            metadata.title ?? "", metadata.authorNames.joined(separator: "|"), isbn?.digits ?? isbnText ?? "",
            metadata.format?.rawValue ?? "",
        ].joined(separator: "\u{1F}")
        for byte in key.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        return hash
    }
}

extension Substring {
    /// The first 40 characters of the text on one line, for messages. The number of bytes is limited first, because one
    /// character can have megabytes of combining marks.
    var excerpt: String { String(String(cut(atBytes: 320)).cleanedLine.prefix(40)) }

    /// Returns at most `limit` bytes of the text, without cutting a Unicode scalar in two.
    func cut(atBytes limit: Int) -> Substring {
        guard utf8.count > limit else { return self }
        var end = utf8.index(startIndex, offsetBy: limit)
        while end > startIndex, utf8[end] & 0xC0 == 0x80 { end = utf8.index(before: end) }
        return self[..<end]
    }
}

extension String {
    var excerpt: String { self[...].excerpt }

    func cut(atBytes limit: Int) -> Substring { self[...].cut(atBytes: limit) }
}

/// Reads the rows of a tracker's export, each of which describes a book.
protocol TrackerRow: SendableMetatype {
    static var format: ExchangeFormat { get }
    /// Returns true if the columns are those of the tracker.
    ///
    /// - Parameter columns: the header's names in lower case.
    static func matches(_ columns: Set<String>) -> Bool
    /// Fills the draft from the cells of its row. Missing values stay empty, and unknown values are ignored.
    ///
    /// - Returns: the request id, made from the tracker's own id for the book; `nil` if there is no such id.
    static func read(_ row: inout RowDraft) -> String?
}

/// The trackers whose exports can be imported. Bookplate's own CSV comes before Goodreads, because it includes
/// Goodreads' columns.
let trackers: [any TrackerRow.Type] = [
    OwnRow.self, GoodreadsRow.self, StoryGraphRow.self, LibraryThingRow.self, OpenreadsRow.self,
]

extension RowDraft {
    /// One reading of a book as a file describes it.
    struct Span {
        var started: CalendarDay?
        var finished: CalendarDay?
        var session: Session?

        var isEmpty: Bool { started == nil && finished == nil && session == nil }
    }

    /// Sets the readings from the status, the days and the read count in the file.
    ///
    /// - Parameters:
    ///   - spans: the readings with days or a session, in any order.
    ///   - count: the number of times the book was read; if there are fewer spans, readings without days are added.
    mutating func setReadings(_ status: Copy.Status, _ spans: [Span], count: Int = 0) {
        copy.status = status
        for span in spans {
            if let started = span.started, let finished = span.finished, finished.isCertainlyBefore(started) {
                addDoubt("the book was finished on \(finished), before it was started on \(started)")
            }
        }
        let dated = spans.filter { !$0.isEmpty }.enumerated().sorted { left, right in
            let (first, second) = (
                left.element.finished ?? left.element.started, right.element.finished ?? right.element.started
            )
            guard let first, let second, first != second else { return left.offset < right.offset }
            return first < second
        }.map(\.element)
        let isOpen = status == .reading || status == .onHold
        let current = isOpen ? dated.last { $0.finished == nil } : status == .dnf ? dated.last : nil
        var past = dated
        if current != nil, let index = past.lastIndex(where: { !isOpen || $0.finished == nil }) {
            past.remove(at: index)
        }
        var finished = past.map { span in
            var record = ReadingRecord(Reading(state: .finished, started: span.started, finished: span.finished))
            if let session = span.session { record.sessions = [session] }
            return record
        }
        let wanted = status == .read ? max(1, count) : 0
        if wanted > 999 { addDoubt("the read count of \(count) was reduced to 999") }
        let undated = max(0, min(wanted, 999) - finished.count)
        finished = (0..<undated).map { _ in ReadingRecord(Reading(state: .finished)) } + finished
        readings = finished
        guard let state = Reading.State(after: status), state != .finished else { return }
        var reading = Reading(state: state, started: current?.started)
        if status == .dnf { reading.stopped = current?.finished }
        readings.append(ReadingRecord(reading, sessions: current?.session.map { [$0] } ?? []))
    }
}

/// Returns a review without its markup: breaks and paragraphs become line breaks, other known tags are removed, and
/// common entities become characters. Text that only looks like a tag ("a < b") stays.
///
/// Each byte is examined only a bounded number of times, even if the text is full of brackets.
func plainText(_ html: String) -> String {
    guard html.utf8.contains(where: { $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: "&") }) else { return html }
    let bytes = Array(html.utf8)
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count)
    // The position of the next ">", or of the end.
    var close = 0
    var position = 0
    while position < bytes.count {
        var piece: (meaning: String, length: Int)?
        if bytes[position] == UInt8(ascii: "<") {
            if close <= position { close = bytes[position...].firstIndex(of: UInt8(ascii: ">")) ?? bytes.count }
            if close < bytes.count, close - position <= longestTag { piece = tag(bytes[(position + 1)..<close]) }
        } else if bytes[position] == UInt8(ascii: "&") {
            piece = entity(bytes[(position + 1)...].prefix(longestEntity))
        }
        if let piece {
            text += piece.meaning.utf8
            position += piece.length
        } else {
            text.append(bytes[position])
            position += 1
        }
    }
    return String(decoding: text, as: UTF8.self)
}

/// The maximum length of an HTML tag in bytes, with room for the address of a link. A longer text in angle brackets is
/// not a tag.
private let longestTag = 8192
/// The maximum length of an HTML entity in bytes, not counting the ampersand.
private let longestEntity = 12

private let breaks: Set<String> = ["br", "p", "div", "li", "blockquote", "ul", "ol"]
private let others: Set<String> = [
    "i", "b", "em", "strong", "u", "s", "a", "span", "spoiler", "sup", "sub", "strike", "del", "h1", "h2", "h3", "h4",
    "img", "small", "font", "pre", "code", "hr",
]

/// - Parameter inside: the text between the angle brackets of an HTML tag.
/// - Returns: the replacement, and the length of the tag in bytes; `nil` for an unknown tag.
private func tag(_ inside: ArraySlice<UInt8>) -> (String, Int)? {
    let length = inside.count + 2
    let letters = inside.drop { $0 == UInt8(ascii: "/") }.prefix(16).prefix {
        $0 >= 0x80 || (0x30...0x39).contains($0) || (0x41...0x5A).contains($0 & 0xDF)
    }
    let name = String(decoding: letters, as: UTF8.self).lowercased()
    if name == "p" || name == "div", inside.first == UInt8(ascii: "/") { return ("", length) }
    if breaks.contains(name) { return ("\n", length) }
    return others.contains(name) ? ("", length) : nil
}

private let entities: [String: String] = [
    "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": " ", "mdash": "—", "ndash": "–", "hellip": "…",
    "lsquo": "‘", "rsquo": "’", "ldquo": "“", "rdquo": "”",
]

/// - Parameter text: the text after the ampersand.
/// - Returns: the character, and the length of the entity in bytes; `nil` for an unknown entity.
private func entity(_ text: ArraySlice<UInt8>) -> (String, Int)? {
    guard let end = text.firstIndex(of: UInt8(ascii: ";")) else { return nil }
    let name = String(decoding: text[..<end], as: UTF8.self)
    let length = end - text.startIndex + 2
    if let meaning = entities[name] { return (meaning, length) }
    guard name.hasPrefix("#") else { return nil }
    let digits = name.dropFirst()
    let number = digits.first == "x" || digits.first == "X" ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
    guard let number, let scalar = Unicode.Scalar(number) else { return nil }
    return (String(Character(scalar)), length)
}
