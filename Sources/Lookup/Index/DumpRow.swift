import Bookplate
import Glibc

/// A row of an Open Library dump, with five columns separated by tabs: type, key, revision, last modified, JSON.
/// Source: openlibrary.org/developers/dumps.
enum DumpRow {
    case edition(id: Int64, version: Version, record: JSONValue)
    case work(id: Int64, version: Version, authors: [Int64])
    case author(id: Int64, version: Version, name: String)
    /// A row that is a redirect, a deleted record, or a record of a type that the index does not need.
    case other
    /// A row that cannot be parsed. Such rows are counted and do not stop the build.
    case junk(Junk)

    struct Version {
        var revision: Int64
        var modified: DumpTime
        /// The time as the dump writes it, such as "2008-04-01T03:28:50.625462". It is valid as long as the line.
        var text: UnsafeBufferPointer<UInt8>
    }

    enum Junk: Equatable { case columns, content }

    init(_ line: UnsafeBufferPointer<UInt8>) {
        guard let columns = Self.columns(of: line) else {
            self = .junk(.columns)
            return
        }
        let type = columns.type
        guard let kind = Kind(type) else {
            self = type.starts(with: "/type/".utf8) ? .other : .junk(.content)
            return
        }
        // A record of which nothing is needed is not parsed, but a row that is cut off is still noticed.
        guard let revision = Int64(decimal: columns.revision), let id = kind.number(in: columns.key),
            case .success(let record) = JSONValue.parse(columns.json, keeping: kind.needs)
        else {
            self = .junk(.content)
            return
        }
        let version = Version(revision: revision, modified: DumpTime(columns.modified), text: columns.modified)
        switch kind {
        case .edition: self = .edition(id: id, version: version, record: record)
        case .work: self = .work(id: id, version: version, authors: Self.authorNumbers(record))
        case .author:
            let name = FieldLimits.text(record["name"] ?? record["personal_name"])
            self = name.map { .author(id: id, version: version, name: $0) } ?? .junk(.content)
        }
    }

    private typealias Bytes = UnsafeBufferPointer<UInt8>

    /// Splits a line into its five columns.
    private static func columns(
        of line: Bytes
    ) -> (type: Bytes, key: Bytes, revision: Bytes, modified: Bytes, json: Bytes)? {
        guard let base = line.baseAddress else { return nil }
        var (ends, start) = ((0, 0, 0, 0), 0)
        for column in 0..<4 {
            guard let tab = memchr(base + start, 0x09, line.count - start) else { return nil }
            let end = UnsafeRawPointer(tab) - UnsafeRawPointer(base)
            switch column {
            case 0: ends.0 = end
            case 1: ends.1 = end
            case 2: ends.2 = end
            default: ends.3 = end
            }
            start = end + 1
        }
        guard memchr(base + start, 0x09, line.count - start) == nil else { return nil }
        func part(_ from: Int, _ to: Int) -> Bytes { Bytes(start: base + from, count: to - from) }
        return (
            part(0, ends.0), part(ends.0 + 1, ends.1), part(ends.1 + 1, ends.2), part(ends.2 + 1, ends.3),
            part(ends.3 + 1, line.count)
        )
    }

    /// Returns the numbers of the authors of an edition or a work, in order and without duplicates.
    static func authorNumbers(_ record: JSONValue) -> [Int64] {
        var numbers: [Int64] = []
        for key in OpenLibraryEdition.authorKeys(record) {
            guard let number = OpenLibraryEdition.number(in: key, "OL", "A"), number < NumberSet.limit,
                !numbers.contains(number)
            else { continue }
            numbers.append(number)
        }
        return numbers
    }
}

extension DumpRow {
    private enum Kind {
        case edition, work, author

        init?(_ type: UnsafeBufferPointer<UInt8>) {
            if type.elementsEqual("/type/edition".utf8) {
                self = .edition
            } else if type.elementsEqual("/type/work".utf8) {
                self = .work
            } else if type.elementsEqual("/type/author".utf8) {
                self = .author
            } else {
                return nil
            }
        }

        /// Returns the number in a key such as "/books/OL123M".
        func number(in key: UnsafeBufferPointer<UInt8>) -> Int64? {
            let (prefix, suffix): (StaticString, UInt8) =
                switch self {
                case .edition: ("/books/OL", UInt8(ascii: "M"))
                case .work: ("/works/OL", UInt8(ascii: "W"))
                case .author: ("/authors/OL", UInt8(ascii: "A"))
                }
            let length = prefix.utf8CodeUnitCount
            guard let base = key.baseAddress, key.count > length + 1, key.count < 40, key[key.count - 1] == suffix,
                memcmp(base, prefix.utf8Start, length) == 0,
                let number = Int64(decimal: UnsafeBufferPointer(rebasing: key[length..<key.count - 1])),
                number > 0, number < NumberSet.limit
            else { return nil }
            return number
        }

        func needs(_ key: UnsafeBufferPointer<UInt8>) -> Bool {
            // Most keys differ in length from all that are needed, or in the first letter.
            switch self {
            case .edition: Self.needed[key.count & 31].contains { key.elementsEqual($0) }
            case .work: key.elementsEqual("authors".utf8)
            case .author: key.elementsEqual("name".utf8) || key.elementsEqual("personal_name".utf8)
            }
        }

        /// The members of an edition of which the index keeps something, by the length of their keys.
        private static let needed: [[[UInt8]]] = {
            var keys = [[[UInt8]]](repeating: [], count: 32)
            for key in [
                "title", "title_prefix", "subtitle", "authors", "contributors", "contributions", "by_statement",
                "publishers", "publish_date", "number_of_pages", "pagination", "languages", "translated_from",
                "physical_format", "series", "covers", "isbn_10", "isbn_13", "works", "publish_country",
            ] {
                keys[key.utf8.count].append(Array(key.utf8))
            }
            return keys
        }()
    }
}

/// The time of a change in a dump, as a number that orders times. It is 0 if the time is malformed.
struct DumpTime: Comparable {
    let value: UInt64

    /// - Parameter text: for example "2008-04-01T03:28:50.625462", or only a day.
    init(_ text: UnsafeBufferPointer<UInt8>) {
        let limits: [UInt64] = [9999, 12, 31, 23, 59, 60]
        let marks = Array("--T::.".utf8)
        var (parts, count, part): ([UInt64], Int, UInt64) = ([0, 0, 0, 0, 0, 0, 0], 0, 0)
        var (digits, isWhole) = (0, text.count >= 10 && text.count <= 32)
        for byte in text where isWhole {
            if byte >= 0x30, byte <= 0x39 {
                // Of the fraction, six digits count.
                if count < 6 || digits < 6 { (part, digits) = (part * 10 + UInt64(byte - 0x30), digits + 1) }
                if digits > 6 { isWhole = false }
            } else {
                isWhole = count < 6 && byte == marks[count] && digits == (count == 0 ? 4 : 2) && part <= limits[count]
                if isWhole { parts[count] = part }
                (count, part, digits) = (count + 1, 0, 0)
            }
        }
        isWhole = isWhole && (count == 6 ? digits > 0 : digits == 2 && part <= limits[count]) && count >= 2
        guard isWhole else {
            value = 0
            return
        }
        parts[count] = part
        for _ in digits..<max(digits, count == 6 ? 6 : digits) { parts[6] *= 10 }
        guard parts[1] >= 1, parts[2] >= 1 else {
            value = 0
            return
        }
        let day = (parts[0] * 12 + parts[1] - 1) * 31 + parts[2] - 1
        value = (((day * 24 + parts[3]) * 60 + parts[4]) * 61 + parts[5]) * 1_000_000 + parts[6]
    }

    static func < (left: DumpTime, right: DumpTime) -> Bool { left.value < right.value }
}

extension Int64 {
    /// Reads a number that consists of at most 18 digits.
    init?(decimal bytes: UnsafeBufferPointer<UInt8>) {
        guard !bytes.isEmpty, bytes.count <= 18 else { return nil }
        var value: Int64 = 0
        for byte in bytes {
            guard byte >= 0x30, byte <= 0x39 else { return nil }
            value = value * 10 + Int64(byte - 0x30)
        }
        self = value
    }
}
