import Bookplate
import FoundationEssentials

/// One row on its way to an ``ImportedBook``: cells by the names of their columns, and what had to be cut or doubted.
struct RowDraft {
    let reader: DelimitedReader
    /// Lower-case names.
    let columns: [String: Int]
    var metadata = Metadata()
    var copy = Copy(added: Date(timeIntervalSince1970: 0))
    var hasAdded = false
    var isbn: ISBN?
    var isbnText: String?
    var readings: [ReadingRecord] = []
    var notes: [Note] = []
    var quotes: [Quote] = []
    /// The identity that our own export gave the copy.
    var id: ID<Copy>?
    var edition: ID<Edition>?
    /// Whether the book stood in an earlier row.
    var isFurther = false
    /// Whether the cells carry the apostrophes of our own CSV.
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

    mutating func doubt(_ what: String) {
        // A list of a thousand days that are none is one fault of the file, not a thousand.
        if doubts.count < 20 { doubts.append(what) } else if doubts.count == 20 { doubts.append("and more") }
    }

    /// A cell's text as the library keeps it, cut at the limit.
    mutating func text(_ column: String, _ limit: Int = TextLimit.name) -> String? {
        cut(self[column], column, limit)
    }

    mutating func cut(_ text: String, _ what: String, _ limit: Int = TextLimit.name) -> String? {
        guard !text.isEmpty else { return nil }
        // Counting the characters of 10 MB is slow.
        let most = limit * TextLimit.bytesPerCharacter
        let bounded = text.utf8.count > most ? String(text.cut(atBytes: most)) : text
        var kept = bounded.cleaned
        if kept.utf8.count > limit, kept.count > limit {
            kept = String(kept.prefix(limit)).cleaned
            doubt("\(what) is longer than \(limit) characters and was cut")
        } else if bounded.utf8.count < text.utf8.count {
            doubt("\(what) is longer than \(limit) characters and was cut")
        }
        return kept.isEmpty ? nil : kept
    }

    /// The same of a text with markup.
    mutating func cutPlain(_ html: String, _ what: String, _ limit: Int) -> String? {
        // Half of it may be markup.
        let most = 2 * limit * TextLimit.bytesPerCharacter
        guard html.utf8.count > most else { return cut(plainText(html), what, limit) }
        let count = doubts.count
        let text = cut(plainText(String(html.cut(atBytes: most))), what, limit)
        if doubts.count == count { doubt("\(what) is longer than \(limit) characters and was cut") }
        return text
    }

    /// Names parted by `separator`, each once.
    mutating func names(_ text: String, by separator: String, _ what: String) -> [String] {
        guard !text.isEmpty else { return [] }
        var names: [String] = []
        for part in text.split(separator: separator, maxSplits: 999) {
            if let name = cut(String(part), what), !names.contains(name) { names.append(name) }
        }
        return names
    }

    /// The first of these columns that is an ISBN; else the text stays, with a warning.
    mutating func takeISBN(_ texts: [String]) {
        var refusal: String?
        for text in texts where !text.isEmpty {
            guard let text = cut(text, "ISBN") else { continue }
            do throws(ISBNRefusal) {
                isbn = try ISBN(text)
                isbnText = text
                return
            } catch {
                if isbnText == nil { (isbnText, refusal) = (text, "\(text.beginning) is no ISBN: \(error)") }
            }
        }
        if let refusal { doubt(refusal) }
    }

    /// YYYY, YYYY/MM, YYYY/MM/DD, also with hyphens, brackets or a time after it.
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
        doubt("\(what): \(text.beginning) is no day and was left out")
        return nil
    }

    mutating func takeAdded(_ column: String) {
        guard let day = day(self[column], column), let number = day.number ?? day.span.first else { return }
        // Noon in UTC is that day in every place where people live.
        copy.added = Date(timeIntervalSince1970: Double(number) * 86_400 + 43_200)
        hasAdded = true
    }

    mutating func takePages(_ column: String) {
        let text = self[column].filter { !$0.isWhitespace && $0 != "[" && $0 != "]" }
        // 0 means unknown.
        guard !text.isEmpty, text != "0" else { return }
        guard let pages = Int(text), NumberLimit.pages.contains(pages) else {
            return doubt("\(column): \(text.beginning) is no number of pages and was left out")
        }
        metadata.pageCount = pages
    }

    /// In stars; 0 is none, and what lies between quarters goes to the nearest.
    mutating func takeRating(_ text: String) {
        let bare = text.filter { !$0.isWhitespace && $0 != "[" && $0 != "]" }
        guard !bare.isEmpty, bare != "0" else { return }
        guard let stars = Double(bare), stars >= 0, stars <= 5 else {
            return doubt("rating: \(bare.beginning) is not 0 to 5 stars and was left out")
        }
        let quarters = (stars * 4).rounded()
        guard quarters > 0 else { return }
        if quarters != stars * 4 { doubt("rating: \(bare.beginning) was taken for \(quarters / 4)") }
        copy.rating = quarters / 4
    }

    mutating func takePublished(_ text: String) {
        guard let text = cut(text, "published") else { return }
        metadata.publishedDateText = text
        let year = text.prefix(while: \.isNumber)
        metadata.publishedDate = CalendarDay(text) ?? (year.count == 4 ? CalendarDay(String(year)) : nil)
    }

    mutating func note(_ text: String, _ what: String, kind: Note.Kind = .note) {
        guard let text = cutPlain(text, what, TextLimit.note) else { return }
        notes.append(Note(kind: kind, text: text, created: copy.added))
    }

    mutating func addAuthor(_ name: String, _ role: Contributor.Role = .author) {
        guard let name = cut(name, "author") else { return }
        let spaced = name.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let author = Contributor(name: spaced, role: role)
        if !metadata.authors.contains(author) { metadata.authors.append(author) }
    }

    /// The book, and the row as it stood where there are doubts.
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
            book.doubts.append("the row is not UTF-8 as the others are; it was read as Windows-1252")
        }
        if !book.doubts.isEmpty { book.raw = reader.rawText(ImportFlag.rawLimit) }
        return book
    }

    /// What names the book, for trackers that number nothing. FNV-1a, 64 bits.
    var mark: UInt64 {
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
    /// Enough of it, on one line, to know it by: at most 40 characters. One character can have megabytes of combining marks, so
    /// that bytes are counted first.
    var beginning: String { String(String(cut(atBytes: 320)).cleanedLine.prefix(40)) }

    /// At most so many bytes of it, no scalar cut in two.
    func cut(atBytes limit: Int) -> Substring {
        guard utf8.count > limit else { return self }
        var end = utf8.index(startIndex, offsetBy: limit)
        while end > startIndex, utf8[end] & 0xC0 == 0x80 { end = utf8.index(before: end) }
        return self[..<end]
    }
}

extension String {
    var beginning: String { self[...].beginning }

    func cut(atBytes limit: Int) -> Substring { self[...].cut(atBytes: limit) }
}

/// How one tracker writes a book as a row.
protocol TrackerRow: SendableMetatype {
    static var format: ExchangeFormat { get }
    /// - Parameter columns: the header's names in lower case.
    static func isIts(_ columns: Set<String>) -> Bool
    /// Fills the draft. What is missing is empty, what is unknown ignored.
    ///
    /// - Returns: the row's own number as a request, `nil` where the tracker gives none.
    static func read(_ row: inout RowDraft) -> String?
}

/// All that are read; ours before Goodreads, whose columns it has too.
let trackers: [any TrackerRow.Type] = [
    OwnRow.self, GoodreadsRow.self, StoryGraphRow.self, LibraryThingRow.self, OpenreadsRow.self,
]

extension RowDraft {
    /// One time through a book as files tell it.
    struct Span {
        var started: CalendarDay?
        var finished: CalendarDay?
        var session: Session?

        var isEmpty: Bool { started == nil && finished == nil && session == nil }
    }

    /// Makes the readings that the file's status, days and number of times speak of.
    ///
    /// - Parameters:
    ///   - spans: in any order.
    ///   - count: how many times it was read, as the file says; more than there are days for become readings without.
    mutating func takeReadings(_ status: Copy.Status, _ spans: [Span], count: Int = 0) {
        copy.status = status
        for span in spans {
            if let started = span.started, let finished = span.finished, finished.isCertainlyBefore(started) {
                doubt("finished on \(finished), before it was started on \(started)")
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
        if wanted > 999 { doubt("read \(count) times was taken for 999 times") }
        let undated = max(0, min(wanted, 999) - finished.count)
        finished = (0..<undated).map { _ in ReadingRecord(Reading(state: .finished)) } + finished
        readings = finished
        guard let state = Reading.State(after: status), state != .finished else { return }
        var reading = Reading(state: state, started: current?.started)
        if status == .dnf { reading.stopped = current?.finished }
        readings.append(ReadingRecord(reading, sessions: current?.session.map { [$0] } ?? []))
    }
}

/// A text with the markup that reviews carry taken out: breaks and paragraphs become line breaks, other known tags go, the common
/// entities become what they mean. What looks like a tag and is none ("a < b") stays.
///
/// Each byte is looked at a bounded number of times, whatever brackets there are.
func plainText(_ html: String) -> String {
    guard html.utf8.contains(where: { $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: "&") }) else { return html }
    let bytes = Array(html.utf8)
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count)
    // The first ">" from here on: the end where there is none.
    var close = 0
    var place = 0
    while place < bytes.count {
        var piece: (meaning: String, length: Int)?
        if bytes[place] == UInt8(ascii: "<") {
            if close <= place { close = bytes[place...].firstIndex(of: UInt8(ascii: ">")) ?? bytes.count }
            if close < bytes.count, close - place <= longestTag { piece = tag(bytes[(place + 1)..<close]) }
        } else if bytes[place] == UInt8(ascii: "&") {
            piece = entity(bytes[(place + 1)...].prefix(longestEntity))
        }
        if let piece {
            text += piece.meaning.utf8
            place += piece.length
        } else {
            text.append(bytes[place])
            place += 1
        }
    }
    return String(decoding: text, as: UTF8.self)
}

/// In bytes. Longer than the address in a link is no tag.
private let longestTag = 8192
/// In bytes, without the ampersand.
private let longestEntity = 12

private let breaks: Set<String> = ["br", "p", "div", "li", "blockquote", "ul", "ol"]
private let others: Set<String> = [
    "i", "b", "em", "strong", "u", "s", "a", "span", "spoiler", "sup", "sub", "strike", "del", "h1", "h2", "h3", "h4",
    "img", "small", "font", "pre", "code", "hr",
]

/// - Parameter inside: what stands between its brackets.
/// - Returns: what it means, and its length in bytes; `nil` for what is no tag that is known.
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

/// - Parameter text: what follows the ampersand.
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
