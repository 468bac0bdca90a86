import Bookplate

/// Why a text is no JSON, and where.
struct JSONError: Error, Equatable, CustomStringConvertible {
    var problem: String
    /// In bytes from the beginning.
    var offset: Int
    var description: String { "\(problem) at byte \(offset)" }
}

/// Reads JSON (RFC 8259) from bytes.
///
/// Foundation's decoder throws a whole answer away for one lone surrogate, and nests 512 deep on the caller's stack.
/// Here nesting ends at ``depthLimit``, what is no Unicode becomes U+FFFD, and NUL is a character like any other (it is
/// stripped later). The text's size is bounded by who fetched it; the value's memory is a small multiple of it.
struct JSONReader {
    static let depthLimit = 32

    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0

    static func read(_ bytes: [UInt8]) throws(JSONError) -> JSON {
        let result: Result<JSON, JSONError> = bytes.withUnsafeBufferPointer { read($0) }
        return try result.get()
    }

    /// The same without a copy; the value does not point into `bytes`.
    static func read(_ bytes: UnsafeBufferPointer<UInt8>) -> Result<JSON, JSONError> {
        var reader = JSONReader(bytes: bytes)
        do throws(JSONError) {
            // A byte order mark is not JSON, but some servers send it.
            if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { reader.position = 3 }
            let value = try reader.value(depth: 0)
            reader.skipSpace()
            guard reader.position == bytes.count else { throw reader.refusal("more than one value") }
            return .success(value)
        } catch {
            return .failure(error)
        }
    }

    private init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    private func refusal(_ problem: String) -> JSONError { JSONError(problem: problem, offset: position) }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    private mutating func value(depth: Int) throws(JSONError) -> JSON {
        skipSpace()
        switch next {
        case .some(let byte) where depth == Self.depthLimit && (byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[")):
            throw refusal("nested deeper than \(Self.depthLimit)")
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try text())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case .some: return try number()
        case nil: throw refusal("it breaks off")
        }
    }

    private mutating func word(_ word: StaticString, _ value: JSON) throws(JSONError) -> JSON {
        for index in 0..<word.utf8CodeUnitCount where !take(word.utf8Start[index]) {
            throw refusal(next == nil ? "it breaks off" : "an unknown word")
        }
        return value
    }

    private mutating func object(depth: Int) throws(JSONError) -> JSON {
        position += 1
        var members: [String: JSON] = [:]
        skipSpace()
        if take(UInt8(ascii: "}")) { return .object(members) }
        while true {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw refusal(next == nil ? "it breaks off" : "a name is missing") }
            let name = try text()
            skipSpace()
            guard take(UInt8(ascii: ":")) else { throw refusal(next == nil ? "it breaks off" : "a colon is missing") }
            members[name] = try value(depth: depth + 1)
            skipSpace()
            if take(UInt8(ascii: "}")) { return .object(members) }
            guard take(UInt8(ascii: ",")) else { throw refusal(next == nil ? "it breaks off" : "a comma is missing") }
        }
    }

    private mutating func array(depth: Int) throws(JSONError) -> JSON {
        position += 1
        var items: [JSON] = []
        skipSpace()
        if take(UInt8(ascii: "]")) { return .array(items) }
        while true {
            items.append(try value(depth: depth + 1))
            skipSpace()
            if take(UInt8(ascii: "]")) { return .array(items) }
            guard take(UInt8(ascii: ",")) else { throw refusal(next == nil ? "it breaks off" : "a comma is missing") }
        }
    }

    private mutating func number() throws(JSONError) -> JSON {
        let start = position
        while let byte = next, "+-.0123456789eE".utf8.contains(byte) { position += 1 }
        guard position > start, position - start <= 64 else { throw refusal("neither a value nor a number") }
        let text = String(decoding: UnsafeBufferPointer(rebasing: bytes[start..<position]), as: UTF8.self)
        guard let number = Double(text) else { throw refusal("no number") }
        return .number(number)
    }

    private mutating func text() throws(JSONError) -> String {
        position += 1
        let start = position
        // The common case: nothing escaped, one copy.
        while let byte = next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") { position += 1 }
        let plain = String(decoding: UnsafeBufferPointer(rebasing: bytes[start..<position]), as: UTF8.self)
        if take(UInt8(ascii: "\"")) { return plain }
        var units = Array(plain.utf8)
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: units, as: UTF8.self)
            case UInt8(ascii: "\\"): try escape(into: &units)
            default: units.append(byte)
            }
        }
        throw refusal("it breaks off")
    }

    private mutating func escape(into units: inout [UInt8]) throws(JSONError) {
        guard let byte = next else { throw refusal("it breaks off") }
        position += 1
        switch byte {
        case UInt8(ascii: "b"): units.append(0x08)
        case UInt8(ascii: "f"): units.append(0x0C)
        case UInt8(ascii: "n"): units.append(0x0A)
        case UInt8(ascii: "r"): units.append(0x0D)
        case UInt8(ascii: "t"): units.append(0x09)
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): units.append(byte)
        case UInt8(ascii: "u"): units.append(contentsOf: String(try scalar()).utf8)
        default: throw refusal("an unknown escape")
        }
    }

    /// The character of one `\uXXXX`, or of two that make a surrogate pair. A lone half is U+FFFD.
    private mutating func scalar() throws(JSONError) -> Character {
        let first = try hexadecimal()
        if let scalar = UnicodeScalar(first) { return Character(scalar) }
        let afterFirst = position
        guard first < 0xDC00, take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
            position = afterFirst
            return "\u{FFFD}"
        }
        let second = try hexadecimal()
        guard (0xDC00...0xDFFF).contains(second),
            let scalar = UnicodeScalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else {
            position = afterFirst
            return "\u{FFFD}"
        }
        return Character(scalar)
    }

    private mutating func hexadecimal() throws(JSONError) -> UInt32 {
        guard position + 4 <= bytes.count else { throw refusal("it breaks off") }
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = Character(UnicodeScalar(bytes[position])).hexDigitValue, bytes[position] < 0x80 else {
                throw refusal("no hexadecimal digit")
            }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }
}

/// A JSON value of a stranger: read with bounds, looked at without trust. A member that is not what was hoped for is
/// simply absent.
enum JSON: Sendable, Equatable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    /// The member of an object.
    subscript(_ key: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members[key]
    }

    var string: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// Whole numbers, also those that stand in quotes.
    var integer: Int? {
        switch self {
        case .number(let number): Int(exactly: number)
        case .string(let text): Int(text.cleaned)
        default: nil
        }
    }

    /// The items of an array; none for anything else.
    var items: [JSON] {
        guard case .array(let items) = self else { return [] }
        return items
    }

    /// The members of an object; none for anything else.
    var members: [String: JSON] {
        guard case .object(let members) = self else { return [:] }
        return members
    }
}
