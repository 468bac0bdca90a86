import Bookplate
import Hummingbird

/// A refusal of a request, which becomes an error response.
struct RequestRefusal: Error {
    let status: HTTPResponse.Status
    /// The code of the refusal for programs, such as "notJSON".
    let code: String
    /// The message for a person. It is in English until the middleware translates it.
    var message: String
    var headers: HTTPFields = [:]
    /// The values for the placeholders in the translated text.
    var values: [String: String] = [:]
    /// The key of the translated text in Web/texts/refusals.json; if `nil`, the key is "code CODE" with the refusal's
    /// code.
    var key: String?
    /// The current value, if the request was refused because the caller expected another value.
    var now: JSONValue?
    /// True if the message is already in the caller's language.
    var isTranslated = false

    static func notFound(_ what: String) -> RequestRefusal {
        RequestRefusal(
            status: .notFound, code: "notThere",
            message: "There is no such \(what). Reload the page to see what there is.")
    }
}

extension RequestRefusal {
    static let tooLarge = RequestRefusal(
        status: .contentTooLarge, code: "tooLarge",
        message: "The body is too large. The limit is 64 kB for JSON, 32 MiB for a photo and 5 MiB for a cover.")

    static let unexpectedJSON = RequestRefusal(
        status: .badRequest, code: "badJSON", message: "The body is not the JSON that this route expects.")

    /// The refusal for an unknown caller who uses a route that is not for everyone.
    static let signInNeeded = RequestRefusal(
        status: .unauthorized, code: "signInNeeded", message: "Sign in with the access code first.")

    /// The refusal for a caller who uses a route for stations without a station's token.
    static let tokenNeeded = RequestRefusal(
        status: .unauthorized, code: "signInNeeded",
        message: "Only a paired station may use this route, and it must send its token.",
        headers: [.wwwAuthenticate: "Bearer"])
}

/// A refusal that concerns one member of the request's JSON.
struct FieldRefusal: Refusal {
    /// The name of the member, such as "pageCount".
    let field: String
    let cause: any Refusal

    var kind: RefusalKind { cause.kind }
    var code: String { cause.code }
    var arguments: [String: RefusalArgument] { cause.arguments }
    var apiCode: String { "field.\(field)" }
    var description: String { cause.description }

    /// Runs the check of one member. If the check refuses the value, the refusal names the member.
    static func at<Value>(_ field: String, _ check: () throws -> Value) throws -> Value {
        do {
            return try check()
        } catch let refusal as any Refusal where refusal is TextRefusal || refusal is InputRefusal {
            throw FieldRefusal(field: field, cause: refusal)
        }
    }
}

extension RequestRefusal {
    /// Creates the response to a refusal. The kind of the refusal determines the HTTP status.
    ///
    /// - Parameter message: the message in the caller's language; if `nil`, the refusal's description is used.
    init(_ refusal: any Refusal, message: String?) {
        self.init(
            status: HTTPResponse.Status(integerLiteral: refusal.kind.httpStatus), code: refusal.apiCode,
            message: message ?? refusal.description, isTranslated: message != nil)
    }
}
