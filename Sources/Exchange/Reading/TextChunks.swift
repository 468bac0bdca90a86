import Glibc

/// Reads a file as text, chunk by chunk. UTF-16 is converted to UTF-8, and a byte order mark is removed. All other
/// bytes stay unchanged.
///
/// Eight-bit encodings are recognised later, row by row (``DelimitedReader``), because the first accented letter may
/// come after a gigabyte.
struct TextChunks {
    enum Encoding: Equatable {
        case eightBit
        case utf16(isLittleEndian: Bool)
    }

    private let next: () throws -> [UInt8]?
    /// The first bytes of the file, unchanged. There are at least 512, unless the file is shorter.
    let head: [UInt8]
    let encoding: Encoding
    private var pending: [UInt8]
    /// The first half of a surrogate pair, from the end of the last chunk.
    private var half: UInt16?
    private var isAtStart = true

    /// - Parameter next: returns the next bytes of the file, at most a few hundred kilobytes; `nil` at the end of the
    ///   file.
    init(_ next: @escaping () throws -> [UInt8]?) throws {
        self.next = next
        var first: [UInt8] = []
        while first.count < 512, let more = try next() { first += more }
        head = first
        pending = first
        encoding = Self.encoding(of: first)
    }

    /// Recognises the encoding by the byte order mark, or by the zero bytes beside the ASCII letters of the header.
    /// Every export has a header.
    private static func encoding(of head: [UInt8]) -> Encoding {
        guard head.count >= 2 else { return .eightBit }
        switch (head[0], head[1]) {
        case (0xFF, 0xFE): return .utf16(isLittleEndian: true)
        case (0xFE, 0xFF): return .utf16(isLittleEndian: false)
        case (1..., 0) where head.count >= 4 && head[2] != 0 && head[3] == 0: return .utf16(isLittleEndian: true)
        case (0, 1...) where head.count >= 4 && head[2] == 0 && head[3] != 0: return .utf16(isLittleEndian: false)
        default: return .eightBit
        }
    }

    /// - Returns: the next bytes of text; `nil` at the end.
    mutating func nextChunk() throws -> [UInt8]? {
        var chunk = pending
        pending = []
        if chunk.isEmpty {
            guard let more = try next() else { return nil }
            chunk = more
        }
        if case .utf16(let isLittleEndian) = encoding {
            // A unit of UTF-16 has two bytes, so an odd number of bytes is completed from the next chunk.
            while !chunk.count.isMultiple(of: 2) {
                guard let more = try next() else {
                    chunk.removeLast()
                    break
                }
                chunk += more
            }
            chunk = utf8(chunk, isLittleEndian: isLittleEndian)
        }
        if isAtStart {
            isAtStart = false
            if chunk.starts(with: [0xEF, 0xBB, 0xBF]) { chunk.removeFirst(3) }
        }
        return chunk
    }

    private mutating func utf8(_ bytes: [UInt8], isLittleEndian: Bool) -> [UInt8] {
        var units: [UInt16] = []
        units.reserveCapacity(bytes.count / 2 + 1)
        if let half { units.append(half) }
        half = nil
        for index in stride(from: 0, to: bytes.count - 1, by: 2) {
            let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            units.append(isLittleEndian ? second << 8 | first : first << 8 | second)
        }
        if let last = units.last, UTF16.isLeadSurrogate(last) { half = units.removeLast() }
        // A surrogate without its other half becomes U+FFFD.
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }
}

/// Decodes Windows-1252, which includes ISO-8859-1 as it is used in practice.
///
/// Source: https://encoding.spec.whatwg.org/#windows-1252
func windows1252(_ bytes: some Sequence<UInt8>) -> String {
    var text = String.UnicodeScalarView()
    for byte in bytes {
        let value = (0x80..<0xA0).contains(byte) ? windows1252Extras[Int(byte) - 0x80] : UInt32(byte)
        text.append(Unicode.Scalar(value) ?? "\u{FFFD}")
    }
    return String(text)
}

/// The characters that the bytes 0x80 to 0x9F stand for.
private let windows1252Extras: [UInt32] = [
    0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D, 0x017D,
    0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,
    0x017E, 0x0178,
]

/// The part of a text that is in memory: the current row and the bytes that were read ahead. Positions count from the
/// beginning of this part, and change only with ``drop(before:)``.
struct TextWindow {
    private var chunks: TextChunks
    private(set) var bytes: [UInt8] = []
    /// True at the end of the text: there are no bytes after ``bytes``.
    private(set) var isAtEnd = false

    init(_ chunks: TextChunks) { self.chunks = chunks }

    /// Returns the byte at an index; `nil` at the end of the text.
    mutating func byte(_ position: Int) throws -> UInt8? {
        while position >= bytes.count { guard try fill() else { return nil } }
        return bytes[position]
    }

    /// - Returns: the index of the first byte `wanted`; `nil` if there is none before `limit` or the end of the text.
    mutating func find(_ wanted: UInt8, from position: Int, before limit: Int) throws -> Int? {
        var from = position
        while true {
            if from < bytes.count {
                let found = bytes.withUnsafeBytes { bytes -> Int? in
                    guard let base = bytes.baseAddress,
                        let match = memchr(base + from, Int32(wanted), bytes.count - from)
                    else { return nil }
                    return base.distance(to: UnsafeRawPointer(match))
                }
                if let found { return found <= limit ? found : nil }
                from = bytes.count
            }
            guard from <= limit, try fill() else { return nil }
        }
    }

    /// - Returns: the index of the first byte that is `other` or begins a line break; the end of the text if there is
    ///   no such byte; `nil` if `limit` is reached first.
    mutating func firstBreak(or other: UInt8, from position: Int, before limit: Int) throws -> Int? {
        var from = position
        while true {
            let found = bytes.withUnsafeBufferPointer { bytes -> Int? in
                var index = from
                while index < bytes.count {
                    let byte = bytes[index]
                    if byte == other || byte == lineFeed || byte == carriageReturn { return index }
                    index += 1
                }
                return nil
            }
            if let found { return found }
            from = bytes.count
            guard from <= limit else { return nil }
            guard try fill() else { return bytes.count }
        }
    }

    /// Returns the index after the line break at `position`. CR LF counts as one line break.
    mutating func afterBreak(_ position: Int) throws -> Int {
        guard let first = try byte(position) else { return position }
        guard first == carriageReturn else { return position + 1 }
        return try byte(position + 1) == lineFeed ? position + 2 : position + 1
    }

    /// - Returns: false at the end of the text.
    mutating func fill() throws -> Bool {
        guard !isAtEnd, let chunk = try chunks.nextChunk() else {
            isAtEnd = true
            return false
        }
        bytes += chunk
        return true
    }

    /// Discards the bytes before `position`, which becomes position 0.
    mutating func drop(before position: Int) { bytes.removeSubrange(..<position) }
}

let lineFeed = UInt8(ascii: "\n")
let carriageReturn = UInt8(ascii: "\r")
