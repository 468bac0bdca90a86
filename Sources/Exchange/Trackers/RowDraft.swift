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
