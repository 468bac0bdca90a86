import Bookplate
import CZlib

/// A block of the index: the editions of a range of keys, compressed together so that they fill one page of 4 KiB.
///
/// Blocks tile the keys without a gap. A block knows the key at which it begins and the one at which the next block
/// begins, and has a checksum. So an ISBN that is not in the block of its range is certainly not in the index, and a
/// damaged file never answers "not found".
///
/// The layout is: CRC-32 of all that follows and of the first key; the number of keys in the range; the number of
/// editions; the lengths of the two parts. The first part has numbers that do not compress, row by row, as differences
/// to the row before. The second has the texts, column by column, each ended by a zero, as raw deflate data.
enum EditionBlock {
    /// The maximum size of a block that fills a leaf of SQLite's tree exactly: of a page of 4096 bytes, at most 4061
    /// bytes of a row stay on the leaf (sqlite.org/fileformat2.html, 1.6), of which four describe the columns.
    static let size = 4057
    /// The size limit for the decompressed texts of a block, in bytes.
    private static let textLimit = 1 << 22
    private static let headerSize = 4

    /// Packs rows into blocks, as many as fit into each.
    ///
    /// - Parameters:
    ///   - rows: rows in the order of their keys.
    ///   - range: the range of keys that the blocks tile.
    static func pack(_ rows: [IndexRow], range: Range<Int64>) -> [(first: Int64, bytes: [UInt8])] {
        guard !rows.isEmpty else {
            return [(range.lowerBound, encode([], from: range.lowerBound, to: range.upperBound))]
        }
        var blocks: [(first: Int64, bytes: [UInt8])] = []
        var start = 0
        let deflater = Deflater()
        // The size of a row in a block, by its size before. It follows what the last block took.
        let sizes = rows.map { row in row.names.count + row.texts.reduce(24) { $0 + $1.count } }
        var ratio = 0.5
        while start < rows.count {
            func end(_ wanted: Double) -> Int {
                var (end, sum) = (start, 0.0)
                while end < rows.count {
                    sum += Double(sizes[end])
                    if sum * ratio > wanted, end > start { break }
                    end += 1
                }
                return end
            }
            let first = start == 0 ? range.lowerBound : rows[start].key
            func encode(_ end: Int) -> [UInt8] {
                let next = end < rows.count ? rows[end].key : range.upperBound
                let bytes = Self.encode(rows[start..<end], from: first, to: next, deflater)
                ratio = Double(bytes.count) / Double(sizes[start..<end].reduce(0, +))
                return bytes
            }
            var last = end(Double(size) * 0.985)
            var bytes = encode(last)
            var attempts = 0
            while bytes.count > size, last - start > 1 {
                last = min(last - 1, end(Double(size) * (attempts < 3 ? 0.985 : 0.9)))
                bytes = encode(last)
                attempts += 1
            }
            // One more attempt fills what is left of the page.
            if attempts == 0, bytes.count < size * 96 / 100, last < rows.count {
                let more = end(Double(size) * 0.985)
                if more > last {
                    let fuller = encode(more)
                    if fuller.count <= size { (bytes, last) = (fuller, more) }
                }
            }
            blocks.append((first, bytes))
            start = last
        }
        return blocks
    }

    static func encode(
        _ rows: ArraySlice<IndexRow>, from first: Int64, to next: Int64, _ deflater: Deflater = Deflater()
    ) -> [UInt8] {
        var numbers: [UInt8] = []
        var texts: [UInt8] = []
        var last = (key: first, id: Int64(0), work: Int64(0), cover: Int64(0))
        for row in rows {
            numbers.append(number: UInt64(row.key - last.key))
            numbers.append(difference: row.id - last.id)
            if row.work > 0 {
                numbers.append(difference: row.work - last.work)
                last.work = row.work
            }
            if row.cover > 0 {
                numbers.append(difference: Int64(row.cover) - last.cover)
                last.cover = Int64(row.cover)
            }
            if row.pages > 0 { numbers.append(number: row.pages) }
            (last.key, last.id) = (row.key, row.id)
            texts.append(
                0x40 | (row.work > 0 ? 1 : 0) | (row.cover > 0 ? 2 : 0) | (row.pages > 0 ? 4 : 0) | row.format << 3)
        }
        for row in rows {
            texts += row.names
            texts.append(0)
        }
        for column in IndexRow.Text.allCases {
            for row in rows {
                texts += row.texts[column.rawValue]
                texts.append(0)
            }
        }
        let packed = deflater.deflated(texts)
        var bytes = [UInt8](repeating: 0, count: headerSize)
        bytes.append(number: UInt64(next - first))
        bytes.append(number: UInt64(rows.count))
        bytes.append(number: UInt64(numbers.count))
        bytes.append(number: UInt64(texts.count))
        bytes += numbers
        bytes += packed
        let checksum = checksum(bytes[headerSize...], first)
        for index in 0..<headerSize { bytes[index] = UInt8(truncatingIfNeeded: checksum >> UInt32(index * 8)) }
        return bytes
    }

    private static func checksum(_ bytes: ArraySlice<UInt8>, _ first: Int64) -> UInt32 {
        let key = (0..<8).map { UInt8(truncatingIfNeeded: first >> Int64($0 * 8)) }
        let start = crc32(0, key, UInt32(key.count))
        return bytes.withUnsafeBufferPointer {
            UInt32(truncatingIfNeeded: crc32(start, $0.baseAddress, UInt32($0.count)))
        }
    }

    /// A block that was read.
    struct Content {
        /// The range of keys for which this block answers.
        var range: Range<Int64>
        var editions: [Edition]

        /// - Returns: `nil` if no edition has the key.
        func edition(_ key: Int64) -> Edition? {
            editions.first { $0.key == key }
        }
    }

    struct Edition {
        var key: Int64
        var id: Int64
        var metadata: Metadata
    }

    /// Reads a block.
    ///
    /// - Parameters:
    ///   - first: the key of the block.
    ///   - wanted: the key of an edition of which alone the metadata is read; nil for all.
    static func decode(_ bytes: [UInt8], first: Int64, only wanted: Int64? = nil) throws(DamagedBytes) -> Content {
        guard bytes.count > headerSize, first >= 0, first < IndexKey.end else { throw DamagedBytes() }
        let stored = bytes[0..<headerSize].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        guard stored == checksum(bytes[headerSize...], first) else { throw DamagedBytes() }
        return try bytes.withUnsafeBufferPointer { buffer throws(DamagedBytes) in
            try decode(UnsafeBufferPointer(rebasing: buffer[headerSize...]), first, wanted)
        }
    }

    private static func decode(
        _ bytes: UnsafeBufferPointer<UInt8>, _ first: Int64, _ wanted: Int64?
    ) throws(DamagedBytes) -> Content {
        var reader = ByteReader(bytes)
        let next = first + Int64(try reader.count(upTo: Int(IndexKey.end)))
        let count = try reader.count(upTo: textLimit)
        let numberCount = try reader.count(upTo: bytes.count)
        let textCount = try reader.count(upTo: textLimit)
        var numbers = ByteReader(try reader.slice(numberCount))
        let texts = try inflated(reader.slice(bytes.count - reader.position), textCount)
        guard count <= textCount else { throw DamagedBytes() }
        return try texts.withUnsafeBufferPointer { texts throws(DamagedBytes) in
            var editions: [(key: Int64, id: Int64, work: Int64, cover: Int64, pages: Int, flags: UInt8)] = []
            editions.reserveCapacity(count)
            var last = (key: first, id: Int64(0), work: Int64(0), cover: Int64(0))
            for index in 0..<count {
                let flags = texts[index]
                last.key += Int64(try numbers.count(upTo: Int(IndexKey.end)))
                guard last.key < next else { throw DamagedBytes() }
                last.id &+= try numbers.difference()
                if flags & 1 != 0 { last.work &+= try numbers.difference() }
                if flags & 2 != 0 { last.cover &+= try numbers.difference() }
                let pages = flags & 4 != 0 ? try numbers.count(upTo: 1 << 31) : 0
                editions.append(
                    (last.key, last.id, flags & 1 != 0 ? last.work : 0, flags & 2 != 0 ? last.cover : 0, pages, flags))
            }
            var ends: [Int] = []
            ends.reserveCapacity(count * 9)
            for index in count..<texts.count where texts[index] == 0 { ends.append(index) }
            guard ends.count == count * (1 + IndexRow.Text.allCases.count) else { throw DamagedBytes() }
            // Column by column, each text begins behind the end of the one before.
            func text(_ column: Int, _ row: Int) -> UnsafeBufferPointer<UInt8> {
                let index = column * count + row
                let start = index == 0 ? count : ends[index - 1] + 1
                return UnsafeBufferPointer(rebasing: texts[start..<ends[index]])
            }
            let read = editions.indices.filter { wanted == nil || editions[$0].key == wanted }.map { row in
                let edition = editions[row]
                var metadata = Metadata()
                func string(_ column: IndexRow.Text) -> String? {
                    let bytes = text(column.rawValue + 1, row)
                    return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
                }
                metadata.title = string(.title)
                metadata.subtitle = string(.subtitle)
                metadata.authors = people(text(0, row))
                metadata.publisher = string(.publisher)
                metadata.publishedDateText = string(.published)
                metadata.publishedDate = metadata.publishedDateText.flatMap(PublishedDate.day(in:))
                metadata.pageCount = edition.pages > 0 ? edition.pages : nil
                metadata.language = string(.language)
                metadata.originalLanguage = string(.originalLanguage)
                let format = Int(edition.flags >> 3 & 3) - 1
                metadata.format = format >= 0 ? Metadata.Format.allCases[format] : nil
                metadata.series = string(.series)
                metadata.seriesNumber = string(.seriesNumber)
                metadata.coverURL = edition.cover > 0 ? CoverAddress.ofOpenLibrary(Int(edition.cover)) : nil
                metadata.identifiers["openlibrary"] = ["OL\(edition.id)M"]
                metadata.identifiers[Metadata.workScheme] = edition.work > 0 ? ["OL\(edition.work)W"] : nil
                metadata.attribute(to: .offlineIndex)
                return Edition(key: edition.key, id: edition.id, metadata: metadata)
            }
            return Content(range: first..<max(first, next), editions: read)
        }
    }

    /// Reads names, each with its role behind it.
    private static func people(_ bytes: UnsafeBufferPointer<UInt8>) -> [Contributor] {
        let roles = Contributor.Role.allCases
        var (people, start): ([Contributor], Int) = ([], 0)
        for (index, byte) in bytes.enumerated() where byte >= 1 && byte <= roles.count {
            let name = String(decoding: UnsafeBufferPointer(rebasing: bytes[start..<index]), as: UTF8.self)
            people.append(Contributor(name: name, role: roles[Int(byte) - 1]))
            start = index + 1
        }
        return people
    }

    private static func inflated(_ bytes: UnsafeBufferPointer<UInt8>, _ count: Int) throws(DamagedBytes) -> [UInt8] {
        var stream = z_stream()
        guard inflateInit2_(&stream, -MAX_WBITS, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            throw DamagedBytes()
        }
        defer { inflateEnd(&stream) }
        // zlib wants room for one byte even if there is no text.
        var code = Z_OK
        let output = [UInt8](unsafeUninitializedCapacity: count + 1) { buffer, filled in
            stream.next_in = UnsafeMutablePointer(mutating: bytes.baseAddress)
            stream.avail_in = UInt32(bytes.count)
            stream.next_out = buffer.baseAddress
            stream.avail_out = UInt32(count + 1)
            code = inflate(&stream, Z_FINISH)
            filled = count + 1 - Int(stream.avail_out)
        }
        guard code == Z_STREAM_END, output.count == count else { throw DamagedBytes() }
        return output
    }
}

/// Compresses texts one after another with the same memory.
final class Deflater {
    private let stream: UnsafeMutablePointer<z_stream>

    init() {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // A negative number of bits leaves out zlib's header and checksum. The highest level costs little more than
        // the default one on texts of some kilobytes.
        let code = deflateInit2_(
            stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        precondition(code == Z_OK, "zlib has no memory")
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    func deflated(_ bytes: [UInt8]) -> [UInt8] {
        deflateReset(stream)
        let room = Int(deflateBound(stream, UInt(bytes.count)))
        return bytes.withUnsafeBufferPointer { input in
            [UInt8](unsafeUninitializedCapacity: room) { output, count in
                stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                stream.pointee.avail_in = UInt32(input.count)
                stream.pointee.next_out = output.baseAddress
                stream.pointee.avail_out = UInt32(room)
                let code = deflate(stream, Z_FINISH)
                precondition(code == Z_STREAM_END, "deflateBound() was wrong")
                count = room - Int(stream.pointee.avail_out)
            }
        }
    }
}
