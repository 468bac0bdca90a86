import Bookplate
import FoundationEssentials
import Hummingbird
import Station

/// A refusal of the domain at one member of what was sent.
struct FieldRefusal: Error {
    /// "pageCount"
    let field: String
    let cause: any Error

    /// Runs the check of one member; what it refuses is refused there.
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
        guard let (status, code) = Self.meaning(of: error), let words = texts.words(for: error, in: zone) else {
            return nil
        }
        self.init(status: status, code: code, message: words)
    }

    fileprivate static func meaning(of error: any Error) -> (HTTPResponse.Status, String)? {
        switch error {
        case let refusal as FieldRefusal: meaning(of: refusal.cause).map { ($0.0, "field.\(refusal.field)") }
        // What failed says more than the session does.
        case SessionError.persistenceFailed: nil
        case let error as SessionError: (error.isAboutNothing ? .notFound : .unprocessableContent, error.code)
        case ReadingRefusal.noSuchReading: (.notFound, "noSuchReading")
        case ReadingRefusal.noSuchEntry: (.notFound, "noSuchEntry")
        case is InTrashRefusal: (.unprocessableContent, "inTrash")
        case is ReadingRefusal: (.unprocessableContent, "reading")
        case is TextRefusal: (.unprocessableContent, "text")
        case is InputRefusal: (.unprocessableContent, "entry")
        case is ISBNRefusal: (.unprocessableContent, "isbn")
        case is LabelRefusal: (.unprocessableContent, "label")
        case is UndoRefusal: (.unprocessableContent, "undo")
        case is SearchRefusal: (.badRequest, "badQuery")
        case is AnnotationRefusal, StationRefusal.none, Station.Refusal.gone: (.notFound, "notThere")
        case is ConfirmRefusal: (.unprocessableContent, "needsTitle")
        case is StationRefusal: (.unprocessableContent, "refused")
        case let refusal as Station.Refusal: (.unprocessableContent, refusal.code)
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

extension KioskParts {
    /// Runs an act on a book. What the library itself throws may mean that the book is not there, or not to be acted on.
    ///
    /// - Throws: ``RequestRefusal``; 404 when there is no such book.
    func acting<Result>(on copy: ID<Copy>, _ act: () async throws -> Result) async throws -> Result {
        do {
            return try await act()
        } catch {
            if error is RequestRefusal || RequestRefusal.meaning(of: error) != nil { throw error }
            guard let book = try await library.book(copy) else { throw RequestRefusal.notThere("book") }
            try book.checkOutsideTrash()
            throw error
        }
    }
}

extension JSONValue {
    /// The object with what undo takes back: `null` when nothing was changed.
    func with(change: ID<Change>?) -> JSONValue { with("change", JSONValue(change?.rawValue)) }

    func with(_ key: String, _ value: JSONValue) -> JSONValue {
        guard case .object(let members) = self else { return self }
        return .object(members + [(key: key, value: value)])
    }
}

extension Request {
    /// A whole number in the query.
    ///
    /// - Throws: ``RequestRefusal`` (400) when it is none, or outside of `range`.
    func number(_ name: String, in range: ClosedRange<Int>, or standard: Int) throws -> Int {
        guard let text = uri.queryParameters[name[...]] else { return standard }
        guard let number = Int(text), range.contains(number) else {
            throw RequestRefusal(
                status: .badRequest, code: "badQuery",
                message: "\"\(name)\" is a number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }
}
