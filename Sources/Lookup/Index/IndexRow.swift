import Bookplate

/// The number under which the index stores an edition.
enum IndexKey {
    /// The key behind those of all ISBNs. Editions without an ISBN follow, in the order of Open Library's numbers.
    static let afterISBNs: Int64 = 2_000_000_000
    static let end = afterISBNs + NumberSet.limit

    /// Returns the digits of an ISBN without the check digit and the first two, so that numbers of 979 follow those of
    /// 978.
    static func key(of isbn: ISBN) -> Int64 {
        var digits = isbn.digits
        return digits.withUTF8 { key(thirteen: $0) }
    }

    private static func key(thirteen digits: UnsafeBufferPointer<UInt8>) -> Int64 {
        digits[2..<12].reduce(0) { $0 * 10 + Int64($1 - 0x30) } - 8_000_000_000
    }

    /// - Returns: `nil` for the key of an edition without an ISBN.
    static func isbn(of key: Int64) -> ISBN? {
        guard (0..<afterISBNs).contains(key) else { return nil }
        let digits = "97\(8_000_000_000 + key)"
        let sum = digits.utf8.enumerated().reduce(0) {
            $0 + Int($1.element - 0x30) * ($1.offset.isMultiple(of: 2) ? 1 : 3)
        }
        do throws(ISBNRefusal) { return try ISBN(ean13: "\(digits)\((10 - sum % 10) % 10)") } catch { return nil }
    }

    /// Reads an ISBN as most records write it: only digits, and perhaps an X at the end.
    ///
    /// - Returns: `nil` for any other text, also for a wrong check digit.
    static func key(plain digits: UnsafeBufferPointer<UInt8>) -> Int64? {
        var sum = 0
        guard digits.dropLast().allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let last = digits.last else { return nil }
        if digits.count == 13 {
            guard last >= 0x30, last <= 0x39, digits[0] == 0x39, digits[1] == 0x37, digits[2] >= 0x38,
                // Numbers that begin with 979-0 are those of printed music.
                digits[2] == 0x38 || digits[3] != 0x30
            else { return nil }
            for index in 0..<13 { sum += Int(digits[index] - 0x30) * (index & 1 == 0 ? 1 : 3) }
            return sum % 10 == 0 ? key(thirteen: digits) : nil
        }
        guard digits.count == 10, (last >= 0x30 && last <= 0x39) || last == UInt8(ascii: "X") else { return nil }
        for index in 0..<9 { sum += Int(digits[index] - 0x30) * (10 - index) }
        sum += last == UInt8(ascii: "X") ? 10 : Int(last - 0x30)
        return sum % 11 == 0 ? digits[0..<9].reduce(0) { $0 * 10 + Int64($1 - 0x30) } : nil
    }

    /// Returns the keys of an edition in the order of its record: those of its valid ISBNs, each once.
    static func keys(of record: JSONValue) -> [Int64] {
        var keys: [Int64] = []
        for var text in OpenLibraryEdition.numbers(record) {
            let key = text.withUTF8(Self.key(plain:)) ?? isbn(in: text).map(Self.key(of:))
            if let key, !keys.contains(key) { keys.append(key) }
        }
        return keys
    }

    private static func isbn(in text: String) -> ISBN? {
        do throws(ISBNRefusal) { return try ISBN(text) } catch {
            // In "0140449264 (pbk.)", an annotation follows the number.
            let number = text.prefix { $0.isHexDigit || "-‐ xX".contains($0) }
            do throws(ISBNRefusal) { return try ISBN(String(number)) } catch { return nil }
        }
    }
}

/// An edition as a build stages it: its numbers, and its texts as bytes that are valid as long as the staged rows are.
struct IndexRow {
    var key: Int64
    var id: Int64
    var revision: UInt64 = 0
    var modified: UInt64 = 0
    /// Open Library's number of the work, or 0.
    var work: Int64 = 0
    /// Open Library's numbers of the authors, in order.
    var authors: [Int64] = []
    /// The number of the cover, or 0.
    var cover: UInt64 = 0
    /// The page count, or 0.
    var pages: UInt64 = 0
    /// The position of the format in ``Metadata/Format/allCases`` and 1 more, or 0.
    var format: UInt8 = 0
    /// The texts in the order of ``Text``; one that is missing is empty.
    var texts: [UnsafeBufferPointer<UInt8>] = []
    /// The people whom the record itself names. Behind every name is a byte for the role: its position in
    /// ``Contributor/Role/allCases`` and 1 more.
    var people = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
    /// The names in the form of ``people``: first the authors, who are known by number, then the others.
    var names: [UInt8] = []

    enum Text: Int, CaseIterable {
        case title, subtitle, publisher, published, language, originalLanguage, series, seriesNumber
    }

    /// The rank by which one of several editions with an ISBN is chosen.
    var completeness: Int {
        let texts: [Text] = [.subtitle, .publisher, .published, .language]
        return texts.count { !self.texts[$0.rawValue].isEmpty } + (authors.isEmpty ? 0 : 1) + (pages > 0 ? 1 : 0)
            + (cover > 0 ? 1 : 0)
    }

    /// Appends an edition for staging, without its key.
    ///
    /// - Parameter authors: Open Library's numbers of the authors.
    static func append(
        id: Int64, _ version: DumpRow.Version, _ metadata: Metadata, work: Int64, authors: [Int64], cover: Int64,
        to out: inout [UInt8]
    ) {
        out.append(number: UInt64(id))
        out.append(number: UInt64(version.revision))
        out.append(number: version.modified.value)
        out.append(number: UInt64(work))
        out.append(number: UInt64(authors.count))
        for author in authors { out.append(number: UInt64(author)) }
        out.append(number: UInt64(cover))
        out.append(number: UInt64(metadata.pageCount ?? 0))
        out.append(metadata.format.map { UInt8(Metadata.Format.allCases.firstIndex(of: $0)! + 1) } ?? 0)
        out.append(text: metadata.title)
        out.append(text: metadata.subtitle)
        out.append(text: metadata.publisher)
        out.append(text: metadata.publishedDateText)
        out.append(text: metadata.language)
        out.append(text: metadata.originalLanguage)
        out.append(text: metadata.series)
        out.append(text: metadata.seriesNumber)
        var people: [UInt8] = []
        for person in metadata.authors { append(name: person.name, person.role, to: &people) }
        out.append(block: people)
    }

    static func append(name: String, _ role: Contributor.Role, to out: inout [UInt8]) {
        out += name.utf8
        out.append(UInt8(Contributor.Role.allCases.firstIndex(of: role)! + 1))
    }

    init(key: Int64, _ reader: inout ByteReader) throws(DamagedBytes) {
        self.key = key
        id = Int64(try reader.count())
        revision = try reader.number()
        modified = try reader.number()
        work = Int64(try reader.count())
        let count = try reader.count(upTo: 1000)
        authors.reserveCapacity(count)
        for _ in 0..<count { authors.append(Int64(try reader.count())) }
        cover = try reader.number()
        pages = try reader.number()
        format = try reader.byte()
        texts.reserveCapacity(Text.allCases.count)
        for _ in Text.allCases { texts.append(try reader.text()) }
        people = try reader.text()
    }
}
