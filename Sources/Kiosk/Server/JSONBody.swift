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
    /// The maximum size of a photo, in bytes.
    static let maxPhotoBytes = 32 << 20

    /// The maximum size of a JSON body, in bytes.
    static let maxJSONBytes = 64 << 10

    /// Decodes the body as JSON of at most ``maxJSONBytes`` bytes.
    ///
    /// - Throws: ``RequestRefusal`` if the body has another type (415), is too long (413) or is not the expected JSON
    ///   (400).
    func json<Value: Decodable>(_ type: Value.Type) async throws -> Value {
        let bytes = try await jsonBytes()
        do {
            return try JSONDecoder().decode(Value.self, from: Data(bytes))
        } catch {
            throw RequestRefusal.unexpectedJSON
        }
    }

    /// Parses the body as a JSON object of at most ``maxJSONBytes`` bytes.
    ///
    /// - Throws: ``RequestRefusal`` if the body has another type (415), is too long (413) or is not a JSON object
    ///   (400).
    func object() async throws -> RequestObject {
        try RequestObject(parsing: try await jsonBytes())
    }

    private func jsonBytes() async throws -> [UInt8] {
        guard let type = headers[.contentType], type.split(separator: ";").first?.lowercased() == "application/json"
        else {
            throw RequestRefusal.notJSON
        }
        return [UInt8](buffer: try await body.collect(upTo: Self.maxJSONBytes))
    }
}

/// The JSON object of a request. It distinguishes absent members, null and values, which become the cases of ``Edit``.
struct RequestObject: Sendable {
    /// The members as they were sent.
    let members: [String: JSONValue]

    /// - Throws: ``RequestRefusal`` (400) if the bytes are not a JSON object.
    init(parsing bytes: [UInt8]) throws(RequestRefusal) {
        let value: JSONValue
        do { value = try JSONValue(parsing: bytes) } catch { throw .unexpectedJSON }
        guard let object = RequestObject(value) else { throw .unexpectedJSON }
        self = object
    }

    private init?(_ value: JSONValue) {
        guard case .object(let members) = value else { return nil }
        self.members = Dictionary(members.map { ($0.key, $0.value) }) { $1 }
    }

    private init(_ members: [String: JSONValue]) { self.members = members }

    /// The object without its null members. It is for new books, which have nothing to clear.
    var withoutNulls: RequestObject {
        RequestObject(members.filter { $0.value != .null })
    }

    /// Decodes the members that a type has, and ignores the others.
    ///
    /// - Throws: ``RequestRefusal`` (400) for members of wrong types.
    func decoded<Value: Decodable>(as type: Value.Type) throws(RequestRefusal) -> Value {
        let object = JSONValue.object(members.map { (key: $0.key, value: $0.value) })
        do { return try JSONDecoder().decode(type, from: Data(object.utf8)) } catch { throw .unexpectedJSON }
    }

    /// Checks the members' names, so that a typing error in a name is not overlooked.
    ///
    /// - Throws: ``RequestRefusal`` (400) for an unknown member.
    func checkMembers(_ names: Set<String>) throws {
        guard let unknown = members.keys.sorted().first(where: { !names.contains($0) }) else { return }
        throw RequestRefusal(
            .unknownField,
            "Unknown field \"\(unknown.cleanedLine.prefix(40))\". Allowed fields: \(names.sorted().joined(separator: ", "))."
        )
    }

    func text(_ name: String) throws -> Edit<String> { try edit(name, "a string", \.string) }

    func integer(_ name: String) throws -> Edit<Int> { try edit(name, "a whole number", \.integer) }

    /// Returns a member that must be a page.
    ///
    /// - Throws: ``RequestRefusal`` (400) in words for a person if a page was typed with a decimal point.
    func page(_ name: String) throws -> Edit<Int> {
        guard case .number? = members[name] else { return try integer(name) }
        throw RequestRefusal(
            .badField, "A page is a whole number such as 145, without a decimal point.", key: "wholePage")
    }

    func number(_ name: String) throws -> Edit<Double> {
        try edit(name, "a number") { value in
            switch value {
            case .integer(let number): Double(number)
            case .number(let number) where number.isFinite: number
            default: nil
            }
        }
    }

    func bool(_ name: String) throws -> Edit<Bool> {
        try edit(name, "true or false") { if case .bool(let bool) = $0 { bool } else { nil } }
    }

    func texts(_ name: String) throws -> Edit<[String]> {
        try edit(name, "a list of strings") { Self.list($0, of: \.string) }
    }

    func objects(_ name: String) throws -> [RequestObject]? {
        guard let value = members[name] else { return nil }
        guard let objects = Self.list(value, of: RequestObject.init) else {
            throw Self.refusal(name, "a list of objects")
        }
        return objects
    }

    func object(_ name: String) throws -> RequestObject? {
        guard let value = members[name] else { return nil }
        guard let object = RequestObject(value) else { throw Self.refusal(name, "an object") }
        return object
    }

    /// Returns the items of an array; `nil` if the value is not an array or an item has another type.
    private static func list<Item>(_ value: JSONValue, of convert: (JSONValue) -> Item?) -> [Item]? {
        guard case .array(let values) = value else { return nil }
        let items = values.compactMap(convert)
        return items.count == values.count ? items : nil
    }

    /// Returns a member whose value must be one of the enumeration's raw values.
    func choice<Choice: RawRepresentable & CaseIterable & Sendable & Equatable>(
        _ name: String, _ type: Choice.Type
    ) throws -> Edit<Choice> where Choice.RawValue == String {
        let choices = Choice.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
        return try edit(name, "one of these: \(choices)") { $0.string.flatMap(Choice.init(rawValue:)) }
    }

    /// Returns a member that must be a calendar day, a month or a year.
    ///
    /// - Throws: ``FieldRefusal`` for a text that is not a date, ``RequestRefusal`` (400) for another type.
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
        try edit(name, "a time such as 2026-11-21T14:30:00Z") { $0.string.flatMap(Date.init(rfc3339:)) }
    }

    /// Returns the id of the request from the member `request`, or a new id if the member is absent. Pages send an id
    /// so that saving twice makes only one copy.
    func request() throws -> String {
        guard let request = try text("request").value else { return ID<Confirmed>().rawValue }
        let isSound = (8...64).contains(request.utf8.count) && request.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        guard isSound else { throw Self.refusal("request", "8 to 64 ASCII characters") }
        return request
    }

    private func edit<Value>(_ name: String, _ what: String, _ convert: (JSONValue) -> Value?) throws -> Edit<Value> {
        guard let value = members[name] else { return .keep }
        if case .null = value { return .clear }
        guard let converted = convert(value) else { throw Self.refusal(name, what) }
        return .set(converted)
    }

    static func refusal(_ name: String, _ what: String) -> RequestRefusal {
        RequestRefusal(.badField, "\"\(name)\" must be \(what).")
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

    /// The value for ``MetadataEdit`` in the case of a field that has no empty value: `nil` leaves the field as it is,
    /// and `.some(nil)` clears it.
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
            throw RequestRefusal(.missingField, "\"\(name)\" is missing.")
        }
        return value
    }
}

extension JSONValue {
    /// Returns the value with the member `change`, which is the id of the change that can be undone, or `null` if
    /// nothing was changed.
    func with(change: ID<Change>?) -> JSONValue { appending([("change", JSONValue(change?.rawValue))]) }
}
