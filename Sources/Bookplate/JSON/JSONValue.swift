/// A JSON value whose objects keep the order of their keys.
///
/// Commands print such values, one object per line, and the web API answers with them. JSON from other servers is
/// parsed into them (``init(parsing:)``). Values of a fixed shape use `Codable` instead.
public enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case integer(Int)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([(key: String, value: JSONValue)])

    public static func == (left: JSONValue, right: JSONValue) -> Bool { left.text == right.text }

    /// The value on one line, without spaces (RFC 8259). Numbers that JSON cannot represent become null.
    public var text: String { String(decoding: utf8, as: UTF8.self) }

    /// The bytes of ``text``, for sending. They are written in one pass, because a page of 50 books has 100 kB.
    public var utf8: [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(4096)
        write(to: &out)
        return out
    }

    private func write(to out: inout [UInt8]) {
        switch self {
        case .null: out += "null".utf8
        case .bool(let value): out += (value ? "true" : "false").utf8
        case .integer(let value): out += String(value).utf8
        case .number(let value):
            if let whole = Int(exactly: value) {
                out += String(whole).utf8
            } else {
                out += (value.isFinite ? "\(value)" : "null").utf8
            }
        case .string(let value): Self.write(value, to: &out)
        case .array(let values):
            out.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                value.write(to: &out)
            }
            out.append(UInt8(ascii: "]"))
        case .object(let members):
            out.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                Self.write(member.key, to: &out)
                out.append(UInt8(ascii: ":"))
                member.value.write(to: &out)
            }
            out.append(UInt8(ascii: "}"))
        }
    }

    private static func write(_ string: String, to out: inout [UInt8]) {
        var string = string
        out.append(UInt8(ascii: "\""))
        string.withUTF8 { bytes in
            // Few texts need escapes, so runs of plain bytes are copied whole.
            var start = 0
            for (index, byte) in bytes.enumerated() where isEscaped(byte) {
                out += bytes[start..<index]
                escape(byte, to: &out)
                start = index + 1
            }
            out += bytes[start...]
        }
        out.append(UInt8(ascii: "\""))
    }

    private static func isEscaped(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == 0x7F
    }

    private static func escape(_ byte: UInt8, to out: inout [UInt8]) {
        switch byte {
        case UInt8(ascii: "\""): out += "\\\"".utf8
        case UInt8(ascii: "\\"): out += "\\\\".utf8
        case UInt8(ascii: "\n"): out += "\\n".utf8
        case UInt8(ascii: "\r"): out += "\\r".utf8
        case UInt8(ascii: "\t"): out += "\\t".utf8
        default:
            let digits = Array("0123456789abcdef".utf8)
            out += "\\u00".utf8
            out += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral {
    public init(stringLiteral value: String) { self = .string(value) }
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(elements.map { (key: $0.0, value: $0.1) })
    }
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
}

// These members are for values from outside. A member whose type is not the expected one counts as absent.
extension JSONValue {
    /// The member of an object with this key, or the last such member if there are several; `nil` for values that are
    /// not objects.
    public subscript(_ key: String) -> JSONValue? { members.last { $0.key == key }?.value }

    /// The text of a string; `nil` for other values.
    public var string: String? { if case .string(let text) = self { text } else { nil } }

    /// The value of a whole number; `nil` for other values.
    public var integer: Int? {
        switch self {
        case .integer(let number): number
        case .number(let number): Int(exactly: number)
        default: nil
        }
    }

    /// The items of an array; empty for other values.
    public var items: [JSONValue] { if case .array(let items) = self { items } else { [] } }

    /// The members of an object, in their order; empty for other values.
    public var members: [(key: String, value: JSONValue)] {
        if case .object(let members) = self { members } else { [] }
    }

    /// Returns the object with further members at its end; other values are returned unchanged.
    public func appending(_ more: [(key: String, value: JSONValue)]) -> JSONValue {
        if case .object(let members) = self { .object(members + more) } else { self }
    }
}

extension JSONValue {
    /// Creates the JSON of a value; `nil` becomes `null`.
    public init(_ value: String?) { self = value.map(JSONValue.string) ?? .null }
    public init(_ value: Int?) { self = value.map(JSONValue.integer) ?? .null }
    public init(_ value: Double?) { self = value.map(JSONValue.number) ?? .null }
    public init(_ value: Bool?) { self = value.map(JSONValue.bool) ?? .null }
    public init(_ value: CalendarDay?) { self = value.map { .string($0.description) } ?? .null }
    public init(_ values: [String]) { self = .array(values.map(JSONValue.string)) }
}
