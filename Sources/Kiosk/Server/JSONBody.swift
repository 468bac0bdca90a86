import Bookplate
import FoundationEssentials
import Hummingbird

/// A JSON response, which browsers may not cache.
struct JSONResponse: ResponseGenerator {
    let value: JSONValue
    var status: HTTPResponse.Status = .ok

    init(_ value: JSONValue, status: HTTPResponse.Status = .ok) {
        self.value = value
        self.status = status
    }

    func response(from request: Request, context: some RequestContext) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: value.utf8)))
    }
}

extension Request {
    /// The largest photo, in bytes.
    static let maxPhotoBytes = 32 << 20

    /// Returns the body, and counts its bytes while they arrive. It is for routes with ``Route/Body/photo``.
    ///
    /// - Throws: an error that becomes 413 if the body is longer than ``maxPhotoBytes``.
    func photo() async throws -> [UInt8] {
        Array(buffer: try await body.collect(upTo: Self.maxPhotoBytes))
    }

    /// The largest JSON body, in bytes.
    static let maxJSONBytes = 64 << 10

    /// Decodes the body as JSON of at most ``maxJSONBytes`` bytes.
    ///
    /// - Throws: ``RequestRefusal`` if the body has another type (415), is too long (413) or is not the expected JSON
    ///   (400).
    func json<Value: Decodable>(_ type: Value.Type) async throws -> Value {
        guard let type = headers[.contentType], type.split(separator: ";").first?.lowercased() == "application/json"
        else {
            throw RequestRefusal(
                status: .unsupportedMediaType, code: "notJSON", message: "The body must be application/json.")
        }
        let bytes = try await body.collect(upTo: Self.maxJSONBytes)
        do {
            return try JSONDecoder().decode(Value.self, from: Data(bytes.readableBytesView))
        } catch {
            throw RequestRefusal(
                status: .badRequest, code: "badJSON", message: "The body is not the JSON that this route expects.")
        }
    }
}

/// The JSON object of a request. It distinguishes absent members, null and values, which become the cases of ``Edit``.
struct RequestObject: Decodable, Sendable {
    private let values: [String: RequestValue]

    init(from decoder: any Decoder) throws {
        values = try decoder.singleValueContainer().decode([String: RequestValue].self)
    }

    fileprivate init(_ values: [String: RequestValue]) { self.values = values }

    /// The members as they were sent.
    var members: [String: JSONValue] { values.mapValues(\.json) }

    /// The object without its null members. It is for new books, which have nothing to clear.
    var withoutNulls: RequestObject {
        RequestObject(values.filter { if case .null = $0.value { false } else { true } })
    }

    /// Checks the members' names, so that a typing error in a name is not overlooked.
    ///
    /// - Throws: ``RequestRefusal`` (400) for an unknown member.
    func checkMembers(_ names: Set<String>) throws {
        guard let unknown = values.keys.sorted().first(where: { !names.contains($0) }) else { return }
        throw RequestRefusal(
            status: .badRequest, code: "unknownField",
            message:
                "Unknown field \"\(unknown.cleanedLine.prefix(40))\"; allowed: \(names.sorted().joined(separator: ", "))."
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

    func objects(_ name: String) throws -> [RequestObject]? {
        switch values[name] {
        case nil: return nil
        case .list(let values)?:
            let objects = values.compactMap { if case .object(let values) = $0 { RequestObject(values) } else { nil } }
            if objects.count == values.count { return objects }
        default: break
        }
        throw Self.refusal(name, "a list of objects")
    }

    func object(_ name: String) throws -> RequestObject? {
        switch values[name] {
        case nil: return nil
        case .object(let values)?: return RequestObject(values)
        default: throw Self.refusal(name, "an object")
        }
    }

    /// Returns a member whose value must be one of the enumeration's raw values.
    func choice<Choice: RawRepresentable & CaseIterable & Sendable & Equatable>(
        _ name: String, _ type: Choice.Type
    ) throws -> Edit<Choice> where Choice.RawValue == String {
        let choices = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        return try edit(name, "one of \(choices)") {
            if case .text(let text) = $0 { Choice(rawValue: text) } else { nil }
        }
    }

    /// Returns a member that must be a calendar day, a month or a year.
    ///
    /// - Throws: ``FieldRefusal`` for a text that is not a day, ``RequestRefusal`` (400) for another type.
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

    /// Returns a member that must be an instant in the form of RFC 3339.
    func instant(_ name: String) throws -> Edit<Date> {
        try edit(name, "a time such as 2026-11-21T14:30:00Z") {
            if case .text(let text) = $0 { Date(rfc3339: text) } else { nil }
        }
    }

    /// Returns the member `request`, or a new id if it is absent. The page generates this id so that saving twice makes
    /// only one copy.
    func request() throws -> String {
        guard let request = try text("request").value else { return ID<Confirmed>().rawValue }
        let isSound = (8...64).contains(request.utf8.count) && request.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        guard isSound else { throw Self.refusal("request", "8 to 64 ASCII characters") }
        return request
    }

    private func edit<Value>(_ name: String, _ what: String, _ convert: (RequestValue) -> Value?) throws -> Edit<Value>
    {
        guard let value = values[name] else { return .keep }
        if case .null = value { return .clear }
        guard let converted = convert(value) else { throw Self.refusal(name, what) }
        return .set(converted)
    }

    static func refusal(_ name: String, _ what: String) -> RequestRefusal {
        RequestRefusal(status: .badRequest, code: "badField", message: "\"\(name)\" must be \(what).")
    }
}

/// A JSON value of a request.
private enum RequestValue: Decodable, Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case text(String)
    case list([RequestValue])
    case object([String: RequestValue])

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
            // Each attempt only detects the type. The last attempt throws an error if no type fits.
            self = .bool(bool)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let list = try? container.decode([RequestValue].self) {
            self = .list(list)
        } else {
            self = .object(try container.decode([String: RequestValue].self))
        }
    }
}

extension Edit {
    /// Returns the value for ``MetadataEdit``, where `nil` leaves the field as it is and `empty` clears it.
    func value(clearedBy empty: Value) -> Value? {
        switch self {
        case .keep: nil
        case .clear: empty
        case .set(let value): value
        }
    }

    /// The value for ``MetadataEdit`` if the field has no empty value: `nil` leaves the field as it is, and
    /// `.some(nil)` clears it.
    var edited: Value?? {
        switch self {
        case .keep: .none
        case .clear: .some(nil)
        case .set(let value): .some(value)
        }
    }

    /// The new value; `nil` if the member is absent or null.
    var value: Value? { if case .set(let value) = self { value } else { nil } }

    /// Returns the new value.
    ///
    /// - Throws: ``RequestRefusal`` (400) if the member is absent or null.
    func required(as name: String) throws -> Value {
        guard let value else {
            throw RequestRefusal(status: .badRequest, code: "missingField", message: "\"\(name)\" is missing.")
        }
        return value
    }
}

extension JSONValue {
    /// Adds the change that can be undone, or `null` if nothing was changed.
    func with(change: ID<Change>?) -> JSONValue { with("change", JSONValue(change?.rawValue)) }

    func with(_ key: String, _ value: JSONValue) -> JSONValue {
        guard case .object(let members) = self else { return self }
        return .object(members + [(key: key, value: value)])
    }
}
