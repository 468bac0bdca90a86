import Bookplate
import Glibc

/// The rows of one batch, in the form in which they are staged.
struct ParsedBatch: Sendable {
    struct Text: Sendable {
        var number: Int64
        var revision: UInt64
        /// The place in ``ParsedBatch/texts``.
        var range: Range<Int>
    }

    /// The staged rows, one after another. An edition with several ISBNs has a row for each.
    var rows: [UInt8] = []
    /// The key of each row, and where it ends.
    var entries: [(key: Int64, end: Int)] = []
    var editions: [(id: Int64, revision: UInt64)] = []
    var authors: [Text] = []
    var works: [Text] = []
    /// The names of authors, and the numbers of the authors of works.
    var texts: [UInt8] = []
    var counts = BuildCounts()

    init(_ lines: [UInt8], _ options: OfflineIndexOptions) {
        rows.reserveCapacity(lines.count / 4)
        var edition: [UInt8] = []
        lines.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return }
            var start = 0
            while start < bytes.count {
                let end =
                    memchr(base + start, 0x0A, bytes.count - start).map {
                        UnsafeRawPointer($0) - UnsafeRawPointer(base)
                    }
                    ?? bytes.count
                if end - start > DumpReader.maxLength {
                    counts.tooLong += 1
                } else {
                    counts.rows += 1
                    add(UnsafeBufferPointer(rebasing: bytes[start..<end]), options, &edition)
                }
                start = end + 1
            }
        }
    }

    private mutating func add(
        _ line: UnsafeBufferPointer<UInt8>, _ options: OfflineIndexOptions, _ edition: inout [UInt8]
    ) {
        switch DumpRow(line) {
        case .junk(.columns): counts.wrongColumns += 1
        case .junk(.content): counts.junk += 1
        case .other: break
        case .edition(let id, let version, let record):
            counts.kinds.insert(.editions)
            counts.note(version)
            add(edition: id, version, record, options, &edition)
        case .work(let id, let version, let numbers):
            counts.kinds.insert(.works)
            counts.note(version)
            let start = texts.count
            for number in numbers { texts.append(number: UInt64(number)) }
            let revision = UInt64(clamping: version.revision)
            works.append(Text(number: id, revision: revision, range: start..<texts.count))
        case .author(let id, let version, var name):
            counts.kinds.insert(.authors)
            counts.note(version)
            let start = texts.count
            name.withUTF8 { texts += $0 }
            let revision = UInt64(clamping: version.revision)
            authors.append(Text(number: id, revision: revision, range: start..<texts.count))
        }
    }

    private mutating func add(
        edition id: Int64, _ version: DumpRow.Version, _ record: JSONValue, _ options: OfflineIndexOptions,
        _ edition: inout [UInt8]
    ) {
        let metadata = OpenLibraryEdition.metadata(record, parsesDate: false)
        let keys = IndexKey.keys(of: record)
        guard metadata.title != nil, !keys.isEmpty || !options.isNumbersOnly else {
            counts.withoutISBN += 1
            return
        }
        guard options.includes(language: metadata.language, country: record["publish_country"]?.string, key: keys.first)
        else {
            counts.notInSubset += 1
            return
        }
        let work = record["works"]?.items.first?["key"]?.string.flatMap {
            OpenLibraryEdition.number(in: $0, "/works/OL", "W")
        }
        let cover = record["covers"]?.items.lazy.compactMap(\.wholeNumber).first { $0 > 0 }
        edition.removeAll(keepingCapacity: true)
        IndexRow.append(
            id: id, version, metadata, work: work.map { $0 < NumberSet.limit ? $0 : 0 } ?? 0,
            authors: DumpRow.authorNumbers(record), cover: Int64(cover.map { $0 <= Int32.max ? $0 : 0 } ?? 0),
            to: &edition)
        for key in keys.isEmpty ? [IndexKey.afterISBNs + id] : keys {
            var number: [UInt8] = []
            number.append(number: UInt64(key))
            rows.append(number: UInt64(number.count + edition.count))
            rows += number
            rows += edition
            entries.append((key, rows.count))
        }
        editions.append((id, UInt64(clamping: version.revision)))
    }
}

/// The kinds of records in dumps.
struct DumpKinds: OptionSet, Sendable {
    let rawValue: Int
    static let editions = DumpKinds(rawValue: 1)
    static let authors = DumpKinds(rawValue: 2)
    static let works = DumpKinds(rawValue: 4)

    var names: [String] {
        [(DumpKinds.editions, "editions"), (.authors, "authors"), (.works, "works")].filter { contains($0.0) }.map(\.1)
    }
}

/// The counts of rows that were read.
struct BuildCounts: Sendable, Equatable {
    var rows = 0
    var wrongColumns = 0
    var junk = 0
    var tooLong = 0
    var withoutISBN = 0
    var notInSubset = 0
    var kinds: DumpKinds = []
    /// The time of the latest change to any record, as the dump writes it.
    var newest = ""
    private var newestValue: UInt64 = 0

    mutating func note(_ version: DumpRow.Version) {
        guard version.modified.value > newestValue else { return }
        newestValue = version.modified.value
        newest = String(decoding: version.text, as: UTF8.self)
    }

    mutating func add(_ other: BuildCounts) {
        rows += other.rows
        wrongColumns += other.wrongColumns
        junk += other.junk
        tooLong += other.tooLong
        withoutISBN += other.withoutISBN
        notInSubset += other.notInSubset
        kinds.formUnion(other.kinds)
        if other.newestValue > newestValue { (newest, newestValue) = (other.newest, other.newestValue) }
    }

    func append(to out: inout [UInt8]) {
        for count in [rows, wrongColumns, junk, tooLong, withoutISBN, notInSubset, kinds.rawValue] {
            out.append(number: UInt64(count))
        }
        out.append(number: newestValue)
        out.append(text: newest)
    }

    init() {}

    init(_ reader: inout ByteReader) throws(DamagedBytes) {
        rows = try reader.count()
        wrongColumns = try reader.count()
        junk = try reader.count()
        tooLong = try reader.count()
        withoutISBN = try reader.count()
        notInSubset = try reader.count()
        kinds = DumpKinds(rawValue: try reader.count())
        newestValue = try reader.number()
        newest = try reader.string()
    }
}
