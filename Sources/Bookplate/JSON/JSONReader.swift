/// The reason why bytes are not JSON, and the position of the problem.
public struct JSONError: Error, Equatable, Sendable, CustomStringConvertible {
    public var problem: String
    /// The position of the problem, in bytes from the beginning.
    public var offset: Int
    public var description: String { "\(problem) at byte \(offset)" }
}

extension JSONValue {
    /// The maximum depth of nested arrays and objects.
    public static let depthLimit = 32
    /// The maximum size of a text, in bytes. In memory, the parsed value takes a few times as much.
    public static let sizeLimit = 64 << 20
    /// The maximum length of a number, in bytes.
    static let numberLimit = 64

    /// Reads JSON (RFC 8259) from an untrusted source.
    ///
    /// Foundation's decoder rejects a whole answer because of one lone surrogate, and allows values to nest 512 deep on
    /// the caller's stack. Here nesting is limited to ``depthLimit``, bytes that are not Unicode become U+FFFD, and NUL
    /// is a character like any other. A leading byte order mark is skipped, because some servers send one although it
    /// is not JSON. If a key appears twice in an object, the last value counts.
    public init(parsing bytes: [UInt8]) throws(JSONError) {
        self = try bytes.withUnsafeBufferPointer { Self.parse($0) }.get()
    }

    /// Reads JSON like ``init(parsing:)``, but without copying the bytes. The value does not refer to the bytes
    /// afterwards.
    public static func parse(_ bytes: UnsafeBufferPointer<UInt8>) -> Result<JSONValue, JSONError> {
        var reader = JSONReader(bytes: bytes)
        do throws(JSONError) {
            return .success(try reader.document())
        } catch {
            return .failure(error)
        }
    }
}

extension JSONValue {
    /// Reads a JSON object like ``parse(_:)``, but keeps only some of its members. The values of the others are not
    /// parsed; only their strings and their nesting are checked. With long objects of which little is needed, this is
    /// several times as fast.
    ///
    /// - Parameter isWanted: returns true for the key of a member to keep.
    public static func parse(
        _ bytes: UnsafeBufferPointer<UInt8>, keeping isWanted: (UnsafeBufferPointer<UInt8>) -> Bool
    ) -> Result<JSONValue, JSONError> {
        var reader = JSONReader(bytes: bytes)
        do throws(JSONError) {
            return .success(try reader.document { key in key.map(isWanted) ?? false })
        } catch {
            return .failure(error)
        }
    }
}

private struct JSONReader {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0

    init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    /// - Parameter isWanted: returns true for the keys of the members to keep of an object; `nil` stands for all keys.
    mutating func document(
        keeping isWanted: (UnsafeBufferPointer<UInt8>?) -> Bool = { _ in true }
    ) throws(JSONError) -> JSONValue {
        guard bytes.count <= JSONValue.sizeLimit else { throw refusal("longer than \(JSONValue.sizeLimit) bytes") }
        if bytes.count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF { position = 3 }
        skipSpace()
        let value = try next == UInt8(ascii: "{") ? object(depth: 0, keeping: isWanted) : value(depth: 0)
        skipSpace()
        guard position == bytes.count else { throw refusal("more than one value") }
        return value
    }

    private func refusal(_ problem: String) -> JSONError { JSONError(problem: problem, offset: position) }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func consume(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    private mutating func value(depth: Int) throws(JSONError) -> JSONValue {
        skipSpace()
        switch next {
        case .some(let byte)
        where depth == JSONValue.depthLimit && (byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[")):
            throw refusal("more than \(JSONValue.depthLimit) levels of nesting")
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try text())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case .some: return try number()
        case nil: throw refusal("the JSON ends too early")
        }
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(JSONError) -> JSONValue {
        for index in 0..<word.utf8CodeUnitCount where !consume(word.utf8Start[index]) {
            throw refusal(next == nil ? "the JSON ends too early" : "an unknown word")
        }
        return value
    }

    private mutating func object(
        depth: Int, keeping isWanted: (UnsafeBufferPointer<UInt8>?) -> Bool = { _ in true }
    ) throws(JSONError) -> JSONValue {
        let keepsAll = isWanted(nil)
        position += 1
        var members: [(key: String, value: JSONValue)] = []
        skipSpace()
        if consume(UInt8(ascii: "}")) { return .object(members) }
        while true {
            skipSpace()
            guard next == UInt8(ascii: "\"") else {
                throw refusal(next == nil ? "the JSON ends too early" : "a key is missing")
            }
            let start = position
            let isKept = keepsAll ? true : try isKey(isWanted)
            if isKept { position = start }
            let name = isKept ? try text() : ""
            skipSpace()
            guard consume(UInt8(ascii: ":")) else {
                throw refusal(next == nil ? "the JSON ends too early" : "a colon is missing")
            }
            if isKept { members.append((name, try value(depth: depth + 1))) } else { try skipValue() }
            skipSpace()
            if consume(UInt8(ascii: "}")) { return .object(members) }
            guard consume(UInt8(ascii: ",")) else {
                throw refusal(next == nil ? "the JSON ends too early" : "a comma is missing")
            }
        }
    }

    /// Passes over a key.
    private mutating func isKey(_ isWanted: (UnsafeBufferPointer<UInt8>?) -> Bool) throws(JSONError) -> Bool {
        let start = position
        let isPlain = try skipText()
        if isPlain { return isWanted(UnsafeBufferPointer(rebasing: bytes[start + 1..<position - 1])) }
        let end = position
        position = start
        var key = try text()
        position = end
        return key.withUTF8(isWanted)
    }

    /// Passes over a string.
    ///
    /// - Returns: false if it contains an escape sequence.
    private mutating func skipText() throws(JSONError) -> Bool {
        position += 1
        var isPlain = true
        while let byte = next {
            position += 1
            if byte == UInt8(ascii: "\"") { return isPlain }
            if byte == UInt8(ascii: "\\") { (isPlain, position) = (false, position + 1) }
        }
        position = bytes.count
        throw refusal("the JSON ends too early")
    }

    /// Passes over a value. It ends where its brackets are closed; a value without brackets ends at the next comma or
    /// closing bracket.
    private mutating func skipValue() throws(JSONError) {
        var depth = 0
        skipSpace()
        let start = position
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                _ = try skipText()
                if depth == 0 { return }
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                guard depth < JSONValue.depthLimit else {
                    throw refusal("more than \(JSONValue.depthLimit) levels of nesting")
                }
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth <= 1 {
                    // This bracket belongs to the object around the value, or ends the value.
                    if depth == 1 { position += 1 }
                    if position == start { throw refusal("not a valid value") }
                    return
                }
                depth -= 1
            case UInt8(ascii: ",") where depth == 0:
                if position == start { throw refusal("not a valid value") }
                return
            default: break
            }
            position += 1
        }
        throw refusal("the JSON ends too early")
    }

    private mutating func array(depth: Int) throws(JSONError) -> JSONValue {
        position += 1
        var items: [JSONValue] = []
        skipSpace()
        if consume(UInt8(ascii: "]")) { return .array(items) }
        while true {
            items.append(try value(depth: depth + 1))
            skipSpace()
            if consume(UInt8(ascii: "]")) { return .array(items) }
            guard consume(UInt8(ascii: ",")) else {
                throw refusal(next == nil ? "the JSON ends too early" : "a comma is missing")
            }
        }
    }

    private mutating func number() throws(JSONError) -> JSONValue {
        let start = position
        while let byte = next, "+-.0123456789eE".utf8.contains(byte) { position += 1 }
        guard position > start, position - start <= JSONValue.numberLimit else {
            throw refusal("not a valid value")
        }
        let text = String(decoding: UnsafeBufferPointer(rebasing: bytes[start..<position]), as: UTF8.self)
        if let number = Int(text), text != "-0" { return .integer(number) }
        guard let number = Double(text) else { throw refusal("not a valid number") }
        return .number(number)
    }

    private mutating func text() throws(JSONError) -> String {
        position += 1
        let start = position
        // In the common case, nothing is escaped, and one copy is enough.
        while let byte = next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") { position += 1 }
        let plain = String(decoding: UnsafeBufferPointer(rebasing: bytes[start..<position]), as: UTF8.self)
        if consume(UInt8(ascii: "\"")) { return plain }
        var units = Array(plain.utf8)
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: units, as: UTF8.self)
            case UInt8(ascii: "\\"): try escape(into: &units)
            default: units.append(byte)
            }
        }
        throw refusal("the JSON ends too early")
    }

    private mutating func escape(into units: inout [UInt8]) throws(JSONError) {
        guard let byte = next else { throw refusal("the JSON ends too early") }
        position += 1
        switch byte {
        case UInt8(ascii: "b"): units.append(0x08)
        case UInt8(ascii: "f"): units.append(0x0C)
        case UInt8(ascii: "n"): units.append(0x0A)
        case UInt8(ascii: "r"): units.append(0x0D)
        case UInt8(ascii: "t"): units.append(0x09)
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): units.append(byte)
        case UInt8(ascii: "u"): units.append(contentsOf: String(try scalar()).utf8)
        default: throw refusal("an unknown escape sequence")
        }
    }

    /// Returns the character of one `\uXXXX`, or of two that make a surrogate pair. A lone half of a pair becomes
    /// U+FFFD.
    private mutating func scalar() throws(JSONError) -> Character {
        let first = try hexadecimal()
        if let scalar = UnicodeScalar(first) { return Character(scalar) }
        let afterFirst = position
        guard first < 0xDC00, consume(UInt8(ascii: "\\")), consume(UInt8(ascii: "u")) else {
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
        guard position + 4 <= bytes.count else { throw refusal("the JSON ends too early") }
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = Character(UnicodeScalar(bytes[position])).hexDigitValue, bytes[position] < 0x80 else {
                throw refusal("not a hexadecimal digit")
            }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }
}
