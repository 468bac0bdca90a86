import Bookplate
import FoundationEssentials
import Hummingbird
import Station

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
        message: "That is too large: JSON has 64 kB at most, a photo 32 MiB, a cover 5 MiB. Send less.")

    /// For an unknown caller at a route that is not for everyone.
    static let signInNeeded = RequestRefusal(
        status: .unauthorized, code: "signInNeeded", message: "Sign in with the access code first.")

    /// For a caller without a station's token at a route for stations.
    static let tokenNeeded = RequestRefusal(
        status: .unauthorized, code: "signInNeeded", message: "Only a paired station may ask for that, with its token.",
        headers: [.wwwAuthenticate: "Bearer"])
}

/// A refusal of the domain that concerns one member of the request's JSON.
struct FieldRefusal: Error {
    /// The name of the member, such as "pageCount".
    let field: String
    let cause: any Error

    /// Runs the check of one member and attributes its refusal to the member.
    static func at<Value>(_ field: String, _ check: () throws -> Value) throws -> Value {
        do {
            return try check()
        } catch let error where error is TextRefusal || error is InputRefusal {
            throw FieldRefusal(field: field, cause: error)
        }
    }
}

extension RequestRefusal {
    /// What the rules of the domain and of the station refuse, in the language of the page: here alone each gets its status and its
    /// word for programs. `nil` for any other error.
    init?(_ error: any Error, in texts: Texts, _ zone: TimeZone) {
        guard let (status, code) = Self.meaning(of: error), let words = texts.message(for: error, in: zone) else {
            return nil
        }
        self.init(status: status, code: code, message: words)
    }

    static func meaning(of error: any Error) -> (HTTPResponse.Status, String)? {
        switch error {
        case let refusal as FieldRefusal: meaning(of: refusal.cause).map { ($0.0, "field.\(refusal.field)") }
        // What failed says more than the session does.
        case SessionError.persistenceFailed: nil
        case let error as SessionError: (error.isAboutNothing ? .notFound : .unprocessableContent, error.code)
        case ReadingRefusal.noSuchReading: (.notFound, "noSuchReading")
        case ReadingRefusal.noSuchEntry: (.notFound, "noSuchEntry")
        case is InTrash: (.unprocessableContent, "inTrash")
        case is ReadingRefusal: (.unprocessableContent, "reading")
        case is TextRefusal: (.unprocessableContent, "text")
        case is InputRefusal: (.unprocessableContent, "entry")
        case is ISBNRefusal: (.unprocessableContent, "isbn")
        case is LabelRefusal: (.unprocessableContent, "label")
        case is UndoRefusal: (.unprocessableContent, "undo")
        case is SearchRefusal: (.badRequest, "badQuery")
        case is AnnotationRefusal, StationRefusal.none, Desk.Refusal.gone: (.notFound, "notThere")
        case is ConfirmRefusal: (.unprocessableContent, "needsTitle")
        case is StationRefusal: (.unprocessableContent, "refused")
        case let refusal as Desk.Refusal: (.unprocessableContent, refusal.code)
        case let refusal as Batch.TickRefusal: (.unprocessableContent, refusal.code)
        default: nil
        }
    }
}

extension SessionError {
    fileprivate var isAboutNothing: Bool {
        switch self {
        case .noSuchSession, .entryNotFound: true
        default: false
        }
    }
}
