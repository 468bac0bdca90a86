import FoundationEssentials

/// An error that a person sees: a mistake by the user, a state that does not allow what the user asked for, or a
/// failure.
///
/// ``kind`` determines the exit status of a command and the status of an HTTP response. ``code`` and ``arguments``
/// select and fill in the text in each language. The description is the English text, which is also the default.
public protocol Refusal: Error, CustomStringConvertible {
    var kind: RefusalKind { get }
    /// The key of the error's text in Web/texts/refusals.json, such as "tooLong".
    var code: String { get }
    /// The values for the placeholders in the error's text.
    var arguments: [String: RefusalArgument] { get }
    /// The HTTP status of the API's error response; by default, the status of ``kind``.
    var httpStatus: Int { get }
    /// The code in an error response of the API; by default, the code of ``kind``. Scripts depend on it.
    var apiCode: String { get }
    /// True if the description may contain the path of a file on this machine, which people at another machine need not
    /// see.
    var namesFile: Bool { get }
}

extension Refusal {
    public var arguments: [String: RefusalArgument] { [:] }
    public var httpStatus: Int { kind.httpStatus }
    public var apiCode: String { kind.apiCode }
    public var namesFile: Bool { false }
}

/// The kinds of refusals, according to what a person can do next.
public enum RefusalKind: Sendable, Equatable, CaseIterable {
    /// A value that is wrong regardless of the contents of the library.
    case invalid
    /// A position in a list, or a filter, that is not valid.
    case badQuery
    /// A request that is not possible with the present contents of the library.
    case refused
    case notFound
    /// A setting, a path or the version of the program must be changed.
    case configuration
    /// A damaged file must be restored from a backup, or built again.
    case corrupt
    case permission
    /// A disk is full or has failed.
    case inputOutput
    /// Another process holds a lock that is needed.
    case locked
    case unreadable
    /// A source, a hub or the service is not available now.
    case unavailable
    /// A bug, or a failure that nobody can do anything about.
    case fault

    /// The row of this kind in the table of statuses: the exit status of commands (from sysexits.h, or 3 if something
    /// does not exist or its present state does not allow the request), the status of HTTP responses, and the code in
    /// the bodies of these responses.
    private var row: (exit: Int32, http: Int, code: String) {
        switch self {
        case .invalid: (64, 422, "refused")
        case .badQuery: (64, 400, "badQuery")
        case .refused: (3, 422, "refused")
        case .notFound: (3, 404, "notThere")
        case .configuration: (78, 500, "fault")
        case .corrupt: (65, 500, "fault")
        case .permission: (77, 500, "fault")
        case .inputOutput: (74, 503, "unavailable")
        case .locked: (75, 503, "unavailable")
        case .unreadable: (66, 500, "fault")
        case .unavailable: (69, 503, "unavailable")
        case .fault: (74, 500, "fault")
        }
    }

    public var exitStatus: Int32 { row.exit }
    public var httpStatus: Int { row.http }
    public var apiCode: String { row.code }
}

/// A value in the text of a refusal, formatted for each language.
public enum RefusalArgument: Sendable, Equatable {
    /// A text that is not translated. Web pages show at most 80 characters of it.
    case text(String)
    case list([String])
    /// The English name of a field or a thing, such as "page count".
    case term(String)
    case day(CalendarDay)
    case instant(Date)
    case status(Copy.Status)

    public static func number(_ number: some CustomStringConvertible) -> RefusalArgument { .text("\(number)") }
}

// The refusals of this module.

extension ISBNRefusal: Refusal {
    public var kind: RefusalKind { .refused }
    public var apiCode: String { "isbn" }

    public var arguments: [String: RefusalArgument] {
        switch self {
        case .unexpectedCharacter(let character, let position):
            ["character": .text(String(character)), "position": .number(position)]
        case .wrongLength(let count): ["count": .number(count)]
        case .wrongCheckDigit(let given, let expected, let length):
            ["given": .text(given), "expected": .text(expected), "length": .number(length)]
        case .empty, .notDigits, .misplacedX, .notABook, .ean8: [:]
        }
    }
}

extension TextRefusal: Refusal {
    public var kind: RefusalKind { .invalid }
    public var apiCode: String { "text" }

    public var code: String {
        switch self {
        case .empty: "textEmpty"
        case .tooLong: "tooLong"
        case .farTooLong: "farTooLong"
        case .damaged: "damaged"
        }
    }

    public var arguments: [String: RefusalArgument] {
        switch self {
        case .empty(let what), .damaged(let what): ["what": .term(what)]
        case .tooLong(let what, let limit, let count):
            ["what": .term(what), "limit": .number(limit), "count": .number(count)]
        case .farTooLong(let what, let limit): ["what": .term(what), "limit": .number(limit)]
        }
    }
}

extension InputRefusal: Refusal {
    public var kind: RefusalKind { .invalid }
    public var apiCode: String { "entry" }

    public var code: String {
        switch self {
        case .outOfRange: "outOfRange"
        case .badRating: "badRating"
        case .noLink: "noLink"
        case .noIdentifier: "noIdentifier"
        case .noDay: "noDay"
        }
    }

    public var arguments: [String: RefusalArgument] {
        switch self {
        case .outOfRange(let what, let range):
            ["what": .term(what), "least": .number(range.lowerBound), "most": .number(range.upperBound)]
        case .badRating: [:]
        case .noLink(_, let text), .noIdentifier(let text), .noDay(_, let text): ["text": .text(text)]
        }
    }
}

extension ReadingRefusal: Refusal {
    public var kind: RefusalKind {
        switch self {
        case .negativePage, .hugePage, .badPercent: .invalid
        case .noSuchReading, .noSuchEntry: .notFound
        default: .refused
        }
    }

    public var apiCode: String {
        if case .sessionRunning = self { return code }
        return kind == .notFound ? code : "reading"
    }

    public var code: String {
        switch self {
        case .finishedBeforeStarted: "finishedBeforeStarted"
        case .stoppedBeforeStarted: "stoppedBeforeStarted"
        case .negativePage: "negativePage"
        case .hugePage: "hugePage"
        case .badPercent: "badPercent"
        case .closed: "closed"
        case .noReading: "noReading"
        case .noSuchReading: "noSuchReading"
        case .wrongEnd(.open): "wrongEndOpen"
        case .wrongEnd(.stopped): "wrongEndStopped"
        case .wrongEnd: "wrongEndFinished"
        case .twoEnds: "twoEnds"
        case .lastReading: "lastReading"
        case .sessionRunning: "sessionRunning"
        case .noSessionToEnd: "noSessionToEnd"
        case .noSuchEntry: "noSuchEntry"
        case .entryInFuture: "entryInFuture"
        case .entryOfSession: "entryOfSession"
        }
    }

    public var arguments: [String: RefusalArgument] {
        switch self {
        case .finishedBeforeStarted(let started, let finished):
            ["started": .day(started), "finished": .day(finished)]
        case .stoppedBeforeStarted(let started, let stopped): ["started": .day(started), "stopped": .day(stopped)]
        case .negativePage(let page), .hugePage(let page):
            ["page": .number(page), "most": .number(NumberLimit.pages.upperBound)]
        case .badPercent(let percent): ["percent": .number(percent)]
        case .closed(let status), .lastReading(let status): ["status": .status(status)]
        case .sessionRunning(let title), .noSessionToEnd(let title): ["title": .text(title)]
        case .noReading, .noSuchReading, .wrongEnd, .twoEnds, .noSuchEntry, .entryInFuture, .entryOfSession: [:]
        }
    }
}

extension SessionError: Refusal {
    public var kind: RefusalKind {
        switch self {
        case .noSuchSession, .entryNotFound: .notFound
        // The kind of the cause is used, because it says more than the session's error does.
        case .persistenceFailed(let cause): (cause as? any Refusal)?.kind ?? .fault
        default: .refused
        }
    }

    public var apiCode: String { if case .persistenceFailed = self { kind.apiCode } else { code } }

    public var namesFile: Bool {
        if case .persistenceFailed(let cause) = self { (cause as? any Refusal)?.namesFile ?? true } else { false }
    }

    public var code: String {
        switch self {
        case .alreadyActive: "alreadyActive"
        case .notActive: "notActive"
        case .alreadyEnded: "alreadyEnded"
        case .entryNotFound: "entryNotFound"
        case .invalidPageNumber: "invalidPageNumber"
        case .pageBeyondBook: "pageBeyondBook"
        case .sessionTooShort: "sessionTooShort"
        case .persistenceFailed: "persistenceFailed"
        case .noSuchSession: "noSuchSession"
        case .clockWentBackwards: "clockWentBackwards"
        case .startInFuture: "startInFuture"
        case .endInFuture: "endInFuture"
        case .endBeforeStart: "endBeforeStart"
        case .sessionTooLong: "sessionTooLong"
        case .stillRunning: "stillRunning"
        }
    }

    public var arguments: [String: RefusalArgument] {
        switch self {
        case .clockWentBackwards(let start): ["start": .instant(start)]
        case .pageBeyondBook(let page, let pageCount): ["page": .number(page), "pageCount": .number(pageCount)]
        default: [:]
        }
    }
}

extension LabelRefusal: Refusal {
    public var kind: RefusalKind { .refused }
    public var apiCode: String { "label" }

    public var code: String {
        switch self {
        case .none: "labelNone"
        case .ambiguous: "labelAmbiguous"
        case .taken: "labelTaken"
        case .alreadyOne: "labelAlreadyOne"
        }
    }

    public var arguments: [String: RefusalArgument] {
        switch self {
        case .none(let what, let name, let near): ["kind": .text(what), "name": .text(name), "near": .list(near)]
        case .alreadyOne(let what, let name): ["kind": .text(what), "name": .text(name)]
        case .ambiguous(let what, let name, let fits):
            ["kind": .text(what), "name": .text(name), "fits": .list(fits)]
        case .taken(let what, let name, let other): ["kind": .text(what), "name": .text(name), "by": .text(other)]
        }
    }
}

extension QueryMistake: Refusal {
    public var kind: RefusalKind { .badQuery }
    public var code: String { "queryMistake" }

    public var arguments: [String: RefusalArgument] {
        let part = query.dropFirst(place.lowerBound).prefix(place.count)
        return ["part": .text(String(part)), "position": .number(place.lowerBound + 1)]
    }
}

extension SavedFilterRefusal: Refusal {
    public var kind: RefusalKind { self == .noSuchFilter ? .notFound : .refused }

    public var code: String {
        switch self {
        case .noSuchFilter: "noSuchFilter"
        case .nameTaken: "filterNameTaken"
        }
    }

    public var arguments: [String: RefusalArgument] {
        if case .nameTaken(let name) = self { ["name": .text(name)] } else { [:] }
    }
}

extension WishlistLinkRefusal: Refusal {
    public var kind: RefusalKind { .refused }
    public var code: String { "tooManyWishlistLinks" }
    public var arguments: [String: RefusalArgument] { ["limit": .number(WishlistLink.limit)] }
}

extension ReaderRefusal: Refusal {
    public var kind: RefusalKind { self == .noSuchReader ? .notFound : .refused }
    public var apiCode: String {
        switch self {
        case .noSuchReader: kind.apiCode
        case .locked: code
        default: "reader"
        }
    }

    public var code: String {
        switch self {
        case .noSuchReader: "noSuchReader"
        case .unknown: "unknownReader"
        case .nameTaken: "readerNameTaken"
        case .firstNeedsName: "firstReaderNeedsName"
        case .lastReader: "lastReader"
        case .locked: "readerLocked"
        case .badPIN: "badPIN"
        case .tooMany: "tooManyReaders"
        case .everybody: "chooseReader"
        }
    }

    public var arguments: [String: RefusalArgument] {
        switch self {
        case .nameTaken(let name): ["name": .text(name)]
        case .unknown(let name, let known): ["name": .text(name), "known": .list(known)]
        case .tooMany(let limit): ["limit": .number(limit)]
        case .badPIN: ["shortest": .number(Reader.shortestPIN)]
        case .noSuchReader, .firstNeedsName, .lastReader, .locked, .everybody: [:]
        }
    }
}

extension MergeRefusal: Refusal {
    public var kind: RefusalKind { .refused }
    public var apiCode: String { "merge" }

    public var code: String {
        switch self {
        case .alreadyOne: "mergeAlreadyOne"
        case .differentISBNs: "mergeDifferentISBNs"
        case .differentYears: "mergeDifferentYears"
        case .differentLanguages: "mergeDifferentLanguages"
        case .twoOpenReadings: "mergeTwoOpenReadings"
        }
    }

    public var arguments: [String: RefusalArgument] {
        switch self {
        case .alreadyOne(let title), .twoOpenReadings(let title): ["title": .text(title)]
        case .differentISBNs(let kept, let other): ["kept": .text(kept.hyphenated), "other": .text(other.hyphenated)]
        case .differentYears(let kept, let other): ["kept": .number(kept), "other": .number(other)]
        case .differentLanguages(let kept, let other): ["kept": .text(kept), "other": .text(other)]
        }
    }
}

extension UndoRefusal: Refusal {
    public var kind: RefusalKind { .refused }
    public var apiCode: String { "undo" }

    public var code: String {
        switch self {
        case .noSuchChange: "noSuchChange"
        case .alreadyUndone: "alreadyUndone"
        case .changedSince: "changedSince"
        }
    }

    public var arguments: [String: RefusalArgument] {
        if case .changedSince(_, let later?) = self { ["later": .text(later.id.rawValue)] } else { [:] }
    }
}

extension RedoRefusal: Refusal {
    public var kind: RefusalKind { .refused }
    public var apiCode: String { "redo" }

    public var code: String {
        switch self {
        case .noSuchChange: "nothingToRedo"
        case .notUndone: "notUndone"
        case .notKept: "notKeptForRedo"
        case .changedSince(_, let other): other?.undone == nil ? "redoAfterUndo" : "redoAfterRedo"
        }
    }

    public var arguments: [String: RefusalArgument] {
        if case .changedSince(_, let other?) = self { ["other": .text(other.id.rawValue)] } else { [:] }
    }
}

extension InTrashRefusal: Refusal {
    public var kind: RefusalKind { .refused }
    public var code: String { "inTrash" }
    public var apiCode: String { code }
}

extension ConfirmRefusal: Refusal {
    public var kind: RefusalKind { .refused }
    public var code: String { "needsTitle" }
    public var apiCode: String { code }
}

extension AnnotationRefusal: Refusal {
    public var kind: RefusalKind { if case .ofOtherReader = self { .refused } else { .notFound } }
    public var code: String { if case .ofOtherReader = self { "annotationOfOtherReader" } else { "noAnnotation" } }

    public var arguments: [String: RefusalArgument] {
        switch self {
        case .ofOtherReader(let name): ["name": .text(name)]
        case .noSuchNote: ["kind": .text("note")]
        case .noSuchQuote: ["kind": .text("quote")]
        }
    }
}

extension SearchRefusal: Refusal {
    public var kind: RefusalKind { .badQuery }
    public var code: String { "noPosition" }
}

extension StationRefusal: Refusal {
    public var kind: RefusalKind { self == .none ? .notFound : .refused }

    public var code: String {
        switch self {
        case .badID: "stationBadID"
        case .none: "stationNone"
        case .tooMany: "stationTooMany"
        }
    }

    public var arguments: [String: RefusalArgument] {
        if case .tooMany(let limit) = self { ["limit": .number(limit)] } else { [:] }
    }
}

extension AccessCodeRefusal: Refusal {
    public var kind: RefusalKind { .invalid }

    public var code: String {
        switch self {
        case .tooShort: "accessCodeTooShort"
        case .tooLong: "accessCodeTooLong"
        case .control: "accessCodeControl"
        }
    }

    public var arguments: [String: RefusalArgument] { ["shortest": .number(Self.shortest)] }
}
