import Bookplate

/// Bytes of an index or of a build's own files that do not have the expected form.
struct DamagedBytes: Error, CustomStringConvertible {
    var description: String { "its content is not what was written" }
}

extension [UInt8] {
    /// Appends a number in groups of seven bits, the lowest first. Every group but the last has its highest bit set.
    @inline(__always)
    mutating func append(number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }

    /// Appends a signed number such that small ones of either sign are short.
    mutating func append(difference: Int64) {
        append(number: UInt64(bitPattern: (difference << 1) ^ (difference >> 63)))
    }

    /// Appends a text with its length in front.
    mutating func append(text: String?) {
        guard var text else { return append(0) }
        text.withUTF8 { bytes in
            append(number: UInt64(bytes.count))
            append(contentsOf: bytes)
        }
    }

    mutating func append(block bytes: [UInt8]) {
        append(number: UInt64(bytes.count))
        append(contentsOf: bytes)
    }
}

/// Reads what the methods above append. It never reads beyond the bytes, whatever they are.
struct ByteReader {
    let bytes: UnsafeBufferPointer<UInt8>
    private(set) var position = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    @inline(__always)
    mutating func byte() throws(DamagedBytes) -> UInt8 {
        guard position < bytes.count else { throw DamagedBytes() }
        defer { position += 1 }
        return bytes[position]
    }

    @inline(__always)
    mutating func number() throws(DamagedBytes) -> UInt64 {
        var (value, shift): (UInt64, UInt64) = (0, 0)
        while true {
            let byte = try byte()
            guard shift < 63 || byte < 2 else { throw DamagedBytes() }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
            guard shift < 64 else { throw DamagedBytes() }
        }
    }

    /// Reads a number that is at most `limit`.
    mutating func count(upTo limit: Int = 1 << 40) throws(DamagedBytes) -> Int {
        guard let value = Int(exactly: try number()), value <= limit else { throw DamagedBytes() }
        return value
    }

    mutating func difference() throws(DamagedBytes) -> Int64 {
        let value = try number()
        return Int64(bitPattern: value >> 1) ^ -Int64(value & 1)
    }

    mutating func slice(_ count: Int) throws(DamagedBytes) -> UnsafeBufferPointer<UInt8> {
        guard count >= 0, count <= bytes.count - position else { throw DamagedBytes() }
        defer { position += count }
        return UnsafeBufferPointer(rebasing: bytes[position..<position + count])
    }

    mutating func text() throws(DamagedBytes) -> UnsafeBufferPointer<UInt8> { try slice(count()) }

    mutating func block() throws(DamagedBytes) -> [UInt8] { Array(try text()) }

    mutating func string() throws(DamagedBytes) -> String { String(decoding: try text(), as: UTF8.self) }
}

/// A set of numbers below 2^30, of which only the parts that hold one take memory. With 64 million numbers from 1 on,
/// this is 8 MiB; no numbers take more than 128 MiB.
struct NumberSet {
    static let limit: Int64 = 1 << 30
    /// The bits of one part.
    private static let part = 1 << 19

    private var parts: [[UInt64]] = []
    /// The parts that changed since they were stored.
    private(set) var changed: Set<Int> = []

    /// - Returns: false if the set contains the number already.
    @discardableResult
    mutating func insert(_ number: Int64) -> Bool {
        let index = Int(number) / Self.part
        if index >= parts.count { parts += Array(repeating: [], count: index + 1 - parts.count) }
        if parts[index].isEmpty { parts[index] = Array(repeating: 0, count: Self.part / 64) }
        let (word, bit) = (Int(number) % Self.part / 64, UInt64(1) << UInt64(number % 64))
        guard parts[index][word] & bit == 0 else { return false }
        parts[index][word] |= bit
        changed.insert(index)
        return true
    }

    var count: Int { parts.reduce(0) { $1.reduce($0) { $0 + $1.nonzeroBitCount } } }

    var stored: [UInt8] {
        var bytes: [UInt8] = []
        let full = parts.indices.filter { !parts[$0].isEmpty }
        bytes.append(number: UInt64(full.count))
        for index in full {
            bytes.append(number: UInt64(index))
            bytes.append(contentsOf: words(of: index))
        }
        return bytes
    }

    init() {}

    init(_ reader: inout ByteReader) throws(DamagedBytes) {
        for _ in 0..<(try reader.count(upTo: Int(Self.limit) / Self.part)) {
            let index = try reader.count(upTo: Int(Self.limit) / Self.part - 1)
            try set(index, reader.slice(Self.part / 8))
        }
    }

    private mutating func set(_ index: Int, _ bytes: UnsafeBufferPointer<UInt8>) {
        if index >= parts.count { parts += Array(repeating: [], count: index + 1 - parts.count) }
        let raw = UnsafeRawBufferPointer(bytes)
        parts[index] = (0..<Self.part / 64).map { word in
            UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: word * 8, as: UInt64.self))
        }
    }

    private func words(of index: Int) -> [UInt8] {
        parts[index].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64($0 * 8)) } }
    }

    /// Writes the parts that changed to a file that two sets share: their parts alternate.
    ///
    /// - Parameter place: 0 or 1.
    mutating func store(in file: BuildFile, place: Int) throws(OfflineIndexError) {
        for index in changed.sorted() {
            try file.write(words(of: index), at: Int64((2 * index + place) * Self.part / 8))
        }
        changed = []
    }

    /// Reads what ``store(in:place:)`` has written.
    init(storedIn file: BuildFile, place: Int) throws(OfflineIndexError) {
        let size = try file.size
        for index in 0..<Int(Self.limit) / Self.part {
            let start = Int64((2 * index + place) * Self.part / 8)
            guard start < size else { return }
            let bytes = try file.read(Self.part / 8, at: start)
            if bytes.count == Self.part / 8, bytes.contains(where: { $0 != 0 }) {
                bytes.withUnsafeBufferPointer { set(index, $0) }
            }
        }
    }
}
