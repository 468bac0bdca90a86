import Bookplate
import Hummingbird

/// A refusal that only the web interface issues, or any other refusal in the form of a response.
struct RequestRefusal: Refusal {
    let status: HTTPResponse.Status
    let apiCode: String
    /// The message for a person. It is in English until the middleware translates it.
    var message: String
    var headers: HTTPFields = [:]
    /// The values for the placeholders in the translated text.
    var values: [String: String] = [:]
    /// The key of the translated text in Web/texts/refusals.json; if `nil`, the key is "code CODE", where CODE is the
    /// error's code in the API.
    var key: String?
    /// The current value, if the request was refused because the caller expected another value.
    var now: JSONValue?
    /// True if the message is already in the caller's language.
    var isTranslated = false

    var kind: RefusalKind { .refused }
    var httpStatus: Int { status.code }
    var code: String { key ?? "code \(apiCode)" }
    var description: String { message }
}

extension RequestRefusal {
    /// The codes of the refusals that only the web interface issues.
    enum Code: String {
        case badBooks, badField, badHost, badJSON, badNumber, badQuery, badTarget, changed, elsewhere, field, fixed
        case foreignHost, foreignOrigin, httpsNeeded, importBusy, invitationOver, libraryInUse, missingField,
            moreThanAsked, noAddress,
            noBarCode,
            noCode
        case noPhotos, noPicture, noPrint, noWords, notFile, notInTrash, notJPEG, notJSON, notPhoto, notPicture
        case notOpen, notThere, notYours, owned, refused, signInNeeded, throttled, tooLarge, tooManyFrames,
            tooManyPhones, tooManyWatch, unknownField
        case unknownToken, unsoundPicture, wrongCode, wrongMethod, wrongOldCode
        case wrongPIN

        /// The HTTP status for this code. ``RefusalKind`` has the statuses of all other refusals.
        var status: HTTPResponse.Status {
            switch self {
            case .badField, .badHost, .badJSON, .badNumber, .badQuery, .badTarget, .missingField, .unknownField:
                .badRequest
            case .signInNeeded, .unknownToken, .wrongCode: .unauthorized
            case .elsewhere, .foreignHost, .foreignOrigin, .invitationOver, .noCode, .notYours, .wrongOldCode,
                .wrongPIN:
                .forbidden
            case .notThere: .notFound
            case .wrongMethod: .methodNotAllowed
            case .changed, .fixed, .notOpen, .importBusy, .libraryInUse, .owned: .conflict
            case .tooLarge: .contentTooLarge
            case .httpsNeeded: .upgradeRequired
            case .notFile, .notJPEG, .notJSON, .notPhoto, .notPicture: .unsupportedMediaType
            case .badBooks, .field, .moreThanAsked, .noAddress, .noBarCode, .noWords, .notInTrash, .refused,
                .unsoundPicture:
                .unprocessableContent
            case .throttled, .tooManyFrames, .tooManyPhones: .tooManyRequests
            case .noPhotos, .noPicture, .noPrint, .tooManyWatch: .serviceUnavailable
            }
        }
    }

    /// - Parameter member: the member of the request's JSON that is refused. Its name is appended to the code, as in
    ///   "changed.title".
    init(
        _ code: Code, _ message: String, member: String? = nil, headers: HTTPFields = [:],
        values: [String: String] = [:],
        key: String? = nil, now: JSONValue? = nil
    ) {
        self.init(
            status: code.status, apiCode: code.rawValue + (member.map { ".\($0)" } ?? ""), message: message,
            headers: headers, values: values, key: key, now: now)
    }

    static func notFound(_ what: String) -> RequestRefusal {
        RequestRefusal(.notThere, "There is no such \(what). Reload the page.")
    }

    static let tooLarge = RequestRefusal(
        .tooLarge,
        "The request is too large. The limit is 64 kB for JSON, 32 MiB for a photo, 5 MiB for a cover "
            + "and 128 MiB for a file to import.")

    static let notJSON = RequestRefusal(.notJSON, "The Content-Type of the request must be \"application/json\".")

    static let notFile = RequestRefusal(
        .notFile, "The Content-Type of a file to import must be \"application/octet-stream\".")

    static let unexpectedJSON = RequestRefusal(.badJSON, "The request's JSON does not have the expected form.")

    /// The refusal for an unknown caller who uses a route that is not for everyone.
    static let signInNeeded = RequestRefusal(.signInNeeded, "Sign in with the access code first.")

    /// The refusal for a caller who has no station's token and uses a route for stations.
    static let tokenNeeded = RequestRefusal(
        .signInNeeded, "Only a paired station may use this address, and it must send its token.",
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
    /// Creates the response to a refusal.
    ///
    /// - Parameter message: the message in the caller's language; if `nil`, the refusal's description is used.
    init(_ refusal: any Refusal, message: String?) {
        self.init(
            status: HTTPResponse.Status(integerLiteral: refusal.httpStatus), apiCode: refusal.apiCode,
            message: message ?? refusal.description, isTranslated: message != nil)
    }
}
