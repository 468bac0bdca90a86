import Bookplate
import CZlib
import Glibc

/// The rows of the dumps in the form in which the second stage of a build needs them.
///
/// Editions are collected in memory and written in runs. Within a run, they are in the order of their partitions, which
/// are ranges of 131,072 keys; so the second stage reads the rows of neighbouring partitions with one read from each
/// run. Names of authors and the authors of works are in files of records that are found by number, so no table of
/// them is in memory.
///
/// Memory: one run (`runSize`); 94 KB for the directory of each run, of which 55 million editions need about 200
/// (20 MB); the set of the editions' numbers (8 MB, at most 128 MB); at most a million repeated records (50 MB).
struct Staging {
    /// The number of keys in a partition, as a power of two.
    static let partitionBits: Int64 = 17
    static let partitions = Int(IndexKey.end >> partitionBits) + 1

    struct Run: Sendable {
        var offset: Int64
        /// The end of each partition, from the beginning of the run.
        var ends: [UInt32]
    }

    let rows: BuildFile
    let authors: NumberedTexts
    let works: NumberedTexts
    /// The end of what is in use of the file of rows.
    private(set) var end: Int64 = 0
    private(set) var runs: [Run] = []
    /// The numbers of the editions that are staged.
    private(set) var seen = NumberSet()
    /// The highest revision of each edition that occurred several times.
    private(set) var repeated: [Int64: UInt64] = [:]
    private var run: [UInt8] = []
    private var entries: [(partition: Int32, start: UInt32, length: UInt32)] = []
    private let runSize: Int
    private let repeatedLimit: Int

    init(
        _ target: BuildTarget, _ sizes: OfflineIndexBuilder.Sizes, isNew: Bool
    ) throws(OfflineIndexError) {
        rows = try BuildFile(target.rows, isNew: isNew)
        authors = NumberedTexts(try BuildFile(target.authors, isNew: isNew), long: rows)
        works = NumberedTexts(try BuildFile(target.works, isNew: isNew), long: rows)
        (runSize, repeatedLimit) = (sizes.run, sizes.repeated)
    }

    /// Takes over the rows of a batch, in the order of the dump. If they fill the memory, they are written.
    mutating func add(_ batch: ParsedBatch) throws(OfflineIndexError) {
        for edition in batch.editions where !seen.insert(edition.id) {
            repeated[edition.id] = max(repeated[edition.id] ?? 0, edition.revision)
            guard repeated.count <= repeatedLimit else { throw .repeated }
        }
        var start = 0
        for (key, end) in batch.entries {
            let length = end - start
            entries.append((Int32(key >> Self.partitionBits), UInt32(run.count), UInt32(length)))
            run += batch.rows[start..<end]
            start = end
        }
        for text in batch.authors {
            try authors.put(batch.texts[text.range], number: text.number, revision: text.revision, &end)
        }
        for text in batch.works {
            try works.put(batch.texts[text.range], number: text.number, revision: text.revision, &end)
        }
        if run.count >= runSize { try flush() }
    }

    /// Writes the rows that are in memory.
    mutating func flush() throws(OfflineIndexError) {
        guard !entries.isEmpty else { return }
        // A counting sort: first the bytes of each partition, then the positions at which they end.
        var ends = [UInt32](repeating: 0, count: Self.partitions)
        var counts = [Int32](repeating: 0, count: Self.partitions + 1)
        for entry in entries {
            ends[Int(entry.partition)] += entry.length
            counts[Int(entry.partition) + 1] += 1
        }
        for partition in 1..<Self.partitions {
            ends[partition] += ends[partition - 1]
            counts[partition] += counts[partition - 1]
        }
        var order = [Int32](repeating: 0, count: entries.count)
        for (index, entry) in entries.enumerated() {
            order[Int(counts[Int(entry.partition)])] = Int32(index)
            counts[Int(entry.partition)] += 1
        }
        runs.append(Run(offset: end, ends: ends))
        var output: [UInt8] = []
        for index in order {
            let entry = entries[Int(index)]
            output += run[Int(entry.start)..<Int(entry.start + entry.length)]
            if output.count >= 1 << 20 {
                try rows.write(output, at: end)
                end += Int64(output.count)
                output.removeAll(keepingCapacity: true)
            }
        }
        try rows.write(output, at: end)
        end += Int64(output.count)
        run.removeAll(keepingCapacity: true)
        entries.removeAll(keepingCapacity: true)
    }

    /// Frees the memory that only the first stage needs.
    mutating func finish() {
        (run, entries, seen) = ([], [], NumberSet())
    }

    func sync() throws(OfflineIndexError) {
        try rows.sync()
        try authors.file.sync()
        try works.file.sync()
    }

    /// Finds the highest revision of each repeated record, because only the second and later occurrences have been
    /// compared yet.
    mutating func compareRepeated() throws {
        guard !repeated.isEmpty else { return }
        for run in runs {
            let size = Int64(run.ends.last ?? 0)
            var (offset, rest): (Int64, [UInt8]) = (0, [])
            while offset < size {
                let piece = try rows.read(Int(min(4 << 20, size - offset)), at: run.offset + offset)
                guard !piece.isEmpty else { throw DamagedBytes() }
                offset += Int64(piece.count)
                rest += piece
                let used = try rest.withUnsafeBufferPointer { bytes in
                    var (reader, used) = (ByteReader(bytes), 0)
                    while let row = try StagedRow(&reader, isLast: offset == size) {
                        used = reader.position
                        if let highest = repeated[row.id], row.revision > highest { repeated[row.id] = row.revision }
                    }
                    return used
                }
                rest.removeFirst(used)
            }
        }
    }

    func append(to out: inout [UInt8]) {
        out.append(number: UInt64(end))
        out.append(number: UInt64(runs.count))
        for run in runs {
            out.append(number: UInt64(run.offset))
            var last: UInt32 = 0
            for end in run.ends {
                out.append(number: UInt64(end - last))
                last = end
            }
        }
        out.append(block: seen.stored)
        out.append(number: UInt64(repeated.count))
        for (id, revision) in repeated.sorted(by: { $0.key < $1.key }) {
            out.append(number: UInt64(id))
            out.append(number: revision)
        }
    }

    /// Goes on from a checkpoint. What was written after it is cut off.
    mutating func restore(_ reader: inout ByteReader) throws {
        end = Int64(try reader.count(upTo: 1 << 50))
        for _ in 0..<(try reader.count(upTo: 1 << 20)) {
            var run = Run(offset: Int64(try reader.count(upTo: 1 << 50)), ends: [])
            run.ends.reserveCapacity(Self.partitions)
            var last = 0
            for _ in 0..<Self.partitions {
                last += try reader.count(upTo: Int(UInt32.max) - last)
                run.ends.append(UInt32(last))
            }
            runs.append(run)
        }
        var numbers = ByteReader(try reader.text())
        seen = try NumberSet(&numbers)
        for _ in 0..<(try reader.count(upTo: repeatedLimit)) {
            repeated[Int64(try reader.count())] = try reader.number()
        }
        guard try rows.size >= end else { throw DamagedBytes() }
        try rows.resize(to: end)
    }
}

/// The beginning of a staged edition, and the place of its bytes.
struct StagedRow {
    var key: Int64
    var id: Int64
    var revision: UInt64
    /// The whole row with its length, and the part behind the key.
    var range: Range<Int>
    var content: Range<Int>

    /// Reads the next row: its length, its key, and what ``IndexRow/init(key:_:)`` reads.
    ///
    /// - Parameter isLast: false if the bytes may end within a row.
    /// - Returns: `nil` at the end.
    init?(_ reader: inout ByteReader, isLast: Bool = true) throws(DamagedBytes) {
        let start = reader.position
        guard !reader.isAtEnd else { return nil }
        var ahead = reader
        let bytes: UnsafeBufferPointer<UInt8>
        do throws(DamagedBytes) { bytes = try ahead.text() } catch {
            if isLast { throw error }
            return nil
        }
        var row = ByteReader(bytes)
        key = Int64(try row.count(upTo: Int(IndexKey.end)))
        let behind = row.position
        id = Int64(try row.count())
        revision = try row.number()
        range = start..<ahead.position
        content = ahead.position - bytes.count + behind..<ahead.position
        reader = ahead
    }
}

/// A file of records that are found by number. A text of up to 26 bytes is in its record; a longer one is in another
/// file.
struct NumberedTexts: Sendable {
    private static let recordSize = 32
    private static let shortLimit = 26

    let file: BuildFile
    private let long: BuildFile

    init(_ file: BuildFile, long: BuildFile) { (self.file, self.long) = (file, long) }

    /// Stores a text, unless a higher revision of it is stored. A text of the same revision is replaced, because after
    /// an interruption the place of the old one may be cut off.
    ///
    /// - Parameter end: the end of the file for long texts.
    func put(
        _ text: ArraySlice<UInt8>, number: Int64, revision: UInt64, _ end: inout Int64
    ) throws(OfflineIndexError) {
        let offset = number * Int64(Self.recordSize)
        let revision = UInt32(clamping: revision &+ 1)
        let old = try file.read(4, at: offset)
        let stored = old.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        guard old.count < 4 || stored <= revision else { return }
        var record: [UInt8] = []
        record.reserveCapacity(Self.recordSize)
        for shift: UInt32 in [0, 8, 16, 24] { record.append(UInt8(truncatingIfNeeded: revision >> shift)) }
        let text = text.prefix(Int(UInt16.max))
        record.append(UInt8(truncatingIfNeeded: text.count))
        record.append(UInt8(truncatingIfNeeded: text.count >> 8))
        if text.count <= Self.shortLimit {
            record += text
        } else {
            try long.write(text, at: end)
            for shift: Int64 in stride(from: 0, to: 64, by: 8) {
                record.append(UInt8(truncatingIfNeeded: end >> shift))
            }
            end += Int64(text.count)
        }
        record += [UInt8](repeating: 0, count: Self.recordSize - record.count)
        try file.write(record, at: offset)
    }

    /// - Returns: `nil` if there is no text with this number.
    func text(_ number: Int64) throws(OfflineIndexError) -> [UInt8]? {
        let record = try file.read(Self.recordSize, at: number * Int64(Self.recordSize))
        guard record.count == Self.recordSize, record[0..<4].contains(where: { $0 != 0 }) else { return nil }
        let length = Int(record[4]) | Int(record[5]) << 8
        if length <= Self.shortLimit { return Array(record[6..<6 + length]) }
        let offset = record[6..<14].reversed().reduce(Int64(0)) { $0 << 8 | Int64($1) }
        return try long.read(length, at: offset)
    }
}
