import Bookplate
import FoundationEssentials
import Hummingbird

/// An object that a request sent: a member that is absent, one that is null and one that says something are three
/// things, and become ``Edit``'s.
struct SentObject: Decodable, Sendable {
    private let values: [String: SentValue]

    init(from decoder: any Decoder) throws {
        values = try decoder.singleValueContainer().decode([String: SentValue].self)
    }

    fileprivate init(_ values: [String: SentValue]) { self.values = values }

    /// As it came.
    var members: [String: JSONValue] { values.mapValues(\.json) }

    /// Without the members that are null: where there was nothing yet, nothing is cleared.
    var withoutNulls: SentObject {
        SentObject(values.filter { if case .null = $0.value { false } else { true } })
    }

    /// - Throws: ``RequestRefusal`` (400) for a member that nobody asked for: a slip in its name must not pass for a
    ///   success.
    func only(_ names: Set<String>) throws {
        guard let stranger = values.keys.sorted().first(where: { !names.contains($0) }) else { return }
        throw RequestRefusal(
            status: .badRequest, code: "unknownField",
            message:
                "\"\(stranger.cleanedLine.prefix(40))\" is nothing that can be said here; there are \(names.sorted().joined(separator: ", "))."
        )
    }

    func text(_ name: String) throws -> Edit<String> {
        try edit(name, "a text") { if case .text(let text) = $0 { text } else { nil } }
    }

    func integer(_ name: String) throws -> Edit<Int> {
        try edit(name, "a whole number") { if case .number(let number) = $0 { Int(exactly: number) } else { nil } }
    }

    func number(_ name: String) throws -> Edit<Double> {
        try edit(name, "a number") { if case .number(let number) = $0 { number } else { nil } }
    }

    func bool(_ name: String) throws -> Edit<Bool> {
        try edit(name, "true or false") { if case .bool(let bool) = $0 { bool } else { nil } }
    }

    func texts(_ name: String) throws -> Edit<[String]> {
        try edit(name, "a list of texts") { value in
            guard case .list(let values) = value else { return nil }
            let texts = values.compactMap { if case .text(let text) = $0 { text } else { nil } }
            return texts.count == values.count ? texts : nil
        }
    }

    func objects(_ name: String) throws -> [SentObject]? {
        switch values[name] {
        case nil: return nil
        case .list(let values)?:
            let objects = values.compactMap { if case .object(let values) = $0 { SentObject(values) } else { nil } }
            if objects.count == values.count { return objects }
        default: break
        }
        throw Self.refusal(name, "a list of objects")
    }

    func object(_ name: String) throws -> SentObject? {
        switch values[name] {
        case nil: return nil
        case .object(let values)?: return SentObject(values)
        default: throw Self.refusal(name, "an object")
        }
    }

    /// One of an enumeration's words.
    func word<Word: RawRepresentable & CaseIterable & Sendable & Equatable>(
        _ name: String, _ type: Word.Type
    ) throws -> Edit<Word> where Word.RawValue == String {
        let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
        return try edit(name, "one of \(words)") { if case .text(let text) = $0 { Word(rawValue: text) } else { nil } }
    }

    /// A calendar day, perhaps only its month or year.
    ///
    /// - Throws: ``FieldRefusal`` for a text that is none, ``RequestRefusal`` (400) for another type.
    func day(_ name: String) throws -> Edit<CalendarDay> {
        switch try text(name) {
        case .keep: return .keep
        case .clear: return .clear
        case .set(let text):
            guard let day = CalendarDay(text) else {
                throw FieldRefusal(field: name, cause: InputRefusal.noDay(what: "date", text: String(text.prefix(80))))
            }
            return .set(day)
        }
    }

    /// An instant, in RFC 3339.
    func instant(_ name: String) throws -> Edit<Date> {
        try edit(name, "a time: 2026-11-21T14:30:00Z") {
            if case .text(let text) = $0 { Date(rfc3339: text) } else { nil }
        }
    }

    /// Member `request`, made by the page: the same one saved twice makes one copy. A new one where there is none.
    func request() throws -> String {
        guard let request = try text("request").value else { return ID<Confirmed>().rawValue }
        let isSound = (8...64).contains(request.utf8.count) && request.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        guard isSound else { throw Self.refusal("request", "8 to 64 characters of ASCII") }
        return request
    }

    private func edit<Value>(_ name: String, _ what: String, _ take: (SentValue) -> Value?) throws -> Edit<Value> {
        guard let value = values[name] else { return .keep }
        if case .null = value { return .clear }
        guard let taken = take(value) else { throw Self.refusal(name, what) }
        return .set(taken)
    }

    static func refusal(_ name: String, _ what: String) -> RequestRefusal {
        RequestRefusal(status: .badRequest, code: "badField", message: "\"\(name)\" is \(what).")
    }
}

/// A value of JSON as it came.
private enum SentValue: Decodable, Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case text(String)
    case list([SentValue])
    case object([String: SentValue])

    var json: JSONValue {
        switch self {
        case .null: .null
        case .bool(let bool): .bool(bool)
        case .number(let number): .number(number)
        case .text(let text): .string(text)
        case .list(let values): .array(values.map(\.json))
        case .object(let values): .object(values.sorted { $0.key < $1.key }.map { (key: $0.key, value: $0.value.json) })
        }
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let bool = try? container.decode(Bool.self) {
            // Each of these tries says only which type it is; the last one throws when it is none.
            self = .bool(bool)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let list = try? container.decode([SentValue].self) {
            self = .list(list)
        } else {
            self = .object(try container.decode([String: SentValue].self))
        }
    }
}

extension Edit {
    /// Returns the value for ``MetadataEdit``: `nil` to leave the field as it is, `empty` to clear it.
    func value(clearedBy empty: Value) -> Value? {
        switch self {
        case .keep: nil
        case .clear: empty
        case .set(let value): value
        }
    }

    /// The value for ``MetadataEdit`` of a field without an empty value: `nil` to leave the field as it is,
    /// `.some(nil)` to clear it.
    var edited: Value?? {
        switch self {
        case .keep: .none
        case .clear: .some(nil)
        case .set(let value): .some(value)
        }
    }

    /// What was said; `nil` when nothing was, or null.
    var value: Value? { if case .set(let value) = self { value } else { nil } }

    /// - Throws: ``RequestRefusal`` (400) when it was not said.
    func required(as name: String) throws -> Value {
        guard let value else {
            throw RequestRefusal(status: .badRequest, code: "missingField", message: "\"\(name)\" is missing.")
        }
        return value
    }
}
