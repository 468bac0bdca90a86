import Bookplate
import Hummingbird

/// The reason why a request is refused, as an error response.
struct RequestRefusal: Error {
    let status: HTTPResponse.Status
    /// A word for programs, such as "notJSON".
    let code: String
    /// The message for a person. In English until the middleware translates it.
    var message: String
    var headers: HTTPFields = [:]
    /// Values for the placeholders of the translated text.
    var values: [String: String] = [:]
    /// The key of the translated text in Web/texts/refusals.json; "code CODE" if `nil`.
    var key: String?
    /// The current value, if the caller expected another one.
    var now: JSONValue?
    /// True if the message is in the caller's language already.
    var isTranslated = false

    static func notFound(_ what: String) -> RequestRefusal {
        RequestRefusal(
            status: .notFound, code: "notThere",
            message: "There is no such \(what). Reload the page: it shows what there is.")
    }
}

extension RequestRefusal {
    static let tooLarge = RequestRefusal(
        status: .contentTooLarge, code: "tooLarge",
        message: "The body is too large: JSON may have 64 kB, a photo 32 MiB, a cover 5 MiB. Send less.")

    /// For an unknown caller at a route that is not for everyone.
    static let signInNeeded = RequestRefusal(
        status: .unauthorized, code: "signInNeeded", message: "Sign in with the access code first.")

    /// For a caller without a station's token at a route for stations.
    static let tokenNeeded = RequestRefusal(
        status: .unauthorized, code: "signInNeeded",
        message: "Only a paired station may use this route, with its token.",
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

    /// Runs the check of one member and attributes its refusal to the member.
    static func at<Value>(_ field: String, _ check: () throws -> Value) throws -> Value {
        do {
            return try check()
        } catch let refusal as any Refusal where refusal is TextRefusal || refusal is InputRefusal {
            throw FieldRefusal(field: field, cause: refusal)
        }
    }
}

extension RequestRefusal {
    /// The response to a refusal, with the status of its kind.
    ///
    /// - Parameter message: in the caller's language; its description if `nil`.
    init(_ refusal: any Refusal, message: String?) {
        self.init(
            status: HTTPResponse.Status(integerLiteral: refusal.kind.httpStatus), code: refusal.apiCode,
            message: message ?? refusal.description, isTranslated: message != nil)
    }
}
