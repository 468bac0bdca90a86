import Bookplate
import FoundationEssentials
import Hummingbird

/// An answer in JSON. Never kept by a browser.
struct JSONAnswer: ResponseGenerator {
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

/// Why a request is not answered as asked.
struct RequestRefusal: Error {
    let status: HTTPResponse.Status
    /// One word for programs: "notJSON".
    let code: String
    /// For a person, in English; other languages have words of their own for codes that a person may meet.
    var message: String
    var headers: HTTPFields = [:]
    /// What the page's own words have to fill in.
    var values: [String: String] = [:]
    /// Whose words these are among the texts of refusals; the code's where it is `nil`.
    var key: String?
    /// What stands there now, where something else was expected.
    var now: JSONValue?
    /// Whether the message is in the page's language already.
    var isTranslated = false

    static func notThere(_ what: String) -> RequestRefusal {
        RequestRefusal(
            status: .notFound, code: "notThere",
            message: "There is no such \(what). Reload the page: it shows what there is.")
    }
}

extension Request {
    /// The largest photo, in bytes.
    static let mostPhoto = 32 << 20

    /// The body as bytes, at most ``mostPhoto``, counted while they come. For routes that take a ``Route/Body/photo``.
    ///
    /// - Throws: ``RequestRefusal`` when it is longer (413).
    func photo() async throws -> [UInt8] {
        Array(buffer: try await body.collect(upTo: Self.mostPhoto))
    }

    /// The largest body in JSON, in bytes.
    static let mostJSON = 64 << 10

    /// The body as JSON, at most ``mostJSON`` bytes.
    ///
    /// - Throws: ``RequestRefusal`` when it is another type (415), too long (413), or no such JSON (400).
    func json<Value: Decodable>(_ type: Value.Type) async throws -> Value {
        guard let type = headers[.contentType], type.split(separator: ";").first?.lowercased() == "application/json"
        else {
            throw RequestRefusal(
                status: .unsupportedMediaType, code: "notJSON", message: "Bodies are application/json.")
        }
        let bytes = try await body.collect(upTo: Self.mostJSON)
        do {
            return try JSONDecoder().decode(Value.self, from: Data(bytes.readableBytesView))
        } catch {
            throw RequestRefusal(
                status: .badRequest, code: "badJSON", message: "The body is not the JSON that is wanted here.")
        }
    }
}
