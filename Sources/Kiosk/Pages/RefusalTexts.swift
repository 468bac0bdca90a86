import Bookplate
import FoundationEssentials
import Station

/// What the domain refuses, in the language of the page. The English is the domain's own sentence; Web/texts/refusals.json has the others,
/// with an empty English text for each.
extension Texts {
    /// Whole sentences; `nil` for an error that is not the domain's.
    func words(for error: any Error) -> String? {
        switch error {
        case let refusal as FieldRefusal: words(for: refusal.cause)
        case let refusal as ISBNRefusal: words(refusal.code, refusal.values, refusal.description)
        case let refusal as ReadingRefusal: words(refusal.key, refusal.values(self), refusal.description)
        case let error as SessionError: words(error.code, error.values, error.description)
        case let refusal as TextRefusal: words(refusal.key, refusal.values(self), refusal.description)
        case let refusal as EntryRefusal: words(refusal.key, refusal.values(self), refusal.description)
        case let refusal as LabelRefusal: words(refusal.key, refusal.values, refusal.description)
        case let refusal as UndoRefusal: words(refusal.key, [:], refusal.description)
        case let refusal as RemarkRefusal: words("noRemark", [:], refusal.description)
        case let refusal as SearchRefusal: words("noPlace", [:], refusal.description)
        case let refusal as StationRefusal: words(refusal.key, refusal.values, refusal.description)
        case let refusal as Desk.Refusal: words(refusal.code, [:], refusal.description)
        case let refusal as ConfirmRefusal: words("needsTitle", [:], refusal.description)
        case let refusal as Batch.TickRefusal: words(refusal.code, [:], refusal.description)
        default: nil
        }
    }

    /// What the kiosk itself refuses, where a person may meet it; the message stays for the rest.
    func words(for refusal: RequestRefusal) -> String {
        let key = "refusals.code \(refusal.code)"
        let text = self(key, refusal.values)
        return text.isEmpty || text == key ? refusal.message : text
    }

    /// Where the camera's trouble stands on the page; English names the device as well.
    func words(for trouble: CameraTrouble) -> String {
        words("camera \(trouble.kind.rawValue)", [:], trouble.description)
    }

    func words(for hint: Hint) -> String {
        let text = self("refusals.hint \(hint.rawValue)")
        return text.isEmpty ? hint.text : text
    }

    /// What was refused, by the domain's word for it: "note", "page count".
    fileprivate func name(_ what: String) -> String {
        let text = self("refusals.what \(what)")
        return text.hasPrefix("refusals.") ? what : text
    }

    private func words(_ key: String, _ values: [String: String], _ english: String) -> String {
        let text = self("refusals.\(key)", values)
        let sentence = text.isEmpty || text.hasPrefix("refusals.") ? english : text
        let whole = sentence.prefix(1).uppercased() + sentence.dropFirst()
        return whole.hasSuffix(".") ? whole : whole + "."
    }
}

extension ISBNRefusal {
    fileprivate var values: [String: String] {
        switch self {
        case .unexpectedCharacter(let character, let position):
            ["character": String(character).cleanedLine, "position": "\(position)"]
        case .wrongLength(let count): ["count": "\(count)"]
        case .wrongCheckDigit(let given, let expected, let length):
            ["given": given, "expected": expected, "length": "\(length)"]
        case .empty, .notDigits, .misplacedX, .notABook, .ean8: [:]
        }
    }
}

extension ReadingRefusal {
    fileprivate var key: String {
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
        }
    }

    fileprivate func values(_ texts: Texts) -> [String: String] {
        switch self {
        case .finishedBeforeStarted(let started, let finished):
            ["started": texts.day(started), "finished": texts.day(finished)]
        case .stoppedBeforeStarted(let started, let stopped):
            ["started": texts.day(started), "stopped": texts.day(stopped)]
        case .negativePage(let page), .hugePage(let page):
            ["page": "\(page)", "most": "\(NumberLimit.pages.upperBound)"]
        case .badPercent(let percent): ["percent": "\(percent)"]
        case .closed(let status), .lastReading(let status): ["status": texts("common.\(status.rawValue)")]
        case .noReading, .noSuchReading, .wrongEnd, .twoEnds, .sessionRunning: [:]
        }
    }
}

extension SessionError {
    /// One word for programs, and for the texts.
    var code: String {
        switch self {
        case .alreadyActive: "alreadyActive"
        case .notActive: "notActive"
        case .entryNotFound: "entryNotFound"
        case .invalidPageNumber: "invalidPageNumber"
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

    fileprivate var values: [String: String] {
        if case .clockWentBackwards(let start) = self { ["start": start.rfc3339] } else { [:] }
    }
}

extension TextRefusal {
    fileprivate var key: String {
        switch self {
        case .empty: "textEmpty"
        case .tooLong: "tooLong"
        case .farTooLong: "farTooLong"
        case .damaged: "damaged"
        }
    }

    fileprivate func values(_ texts: Texts) -> [String: String] {
        switch self {
        case .empty(let what), .damaged(let what): ["what": texts.name(what)]
        case .tooLong(let what, let limit, let count):
            ["what": texts.name(what), "limit": "\(limit)", "count": "\(count)"]
        case .farTooLong(let what, let limit): ["what": texts.name(what), "limit": "\(limit)"]
        }
    }
}

extension EntryRefusal {
    fileprivate var key: String {
        switch self {
        case .outOfRange: "outOfRange"
        case .badRating: "badRating"
        case .noLink: "noLink"
        case .noIdentifier: "noIdentifier"
        case .noDay: "noDay"
        }
    }

    fileprivate func values(_ texts: Texts) -> [String: String] {
        switch self {
        case .outOfRange(let what, let range):
            ["what": texts.name(what), "least": "\(range.lowerBound)", "most": "\(range.upperBound)"]
        case .badRating: [:]
        case .noLink(_, let text), .noIdentifier(let text), .noDay(_, let text):
            ["text": String(text.cleanedLine.prefix(80))]
        }
    }
}

extension LabelRefusal {
    fileprivate var key: String {
        switch self {
        case .none: "labelNone"
        case .ambiguous: "labelAmbiguous"
        case .taken: "labelTaken"
        case .alreadyOne: "labelAlreadyOne"
        }
    }

    fileprivate var values: [String: String] {
        func short(_ name: String) -> String { String(name.cleanedLine.prefix(80)) }
        switch self {
        case .none(_, let name, _), .alreadyOne(_, let name): return ["name": short(name)]
        case .ambiguous(_, let name, let fits):
            return ["name": short(name), "fits": fits.prefix(5).map(short).joined(separator: ", ")]
        case .taken(_, let name, let other): return ["name": short(name), "by": short(other)]
        }
    }
}

extension UndoRefusal {
    fileprivate var key: String {
        switch self {
        case .noSuchChange: "noSuchChange"
        case .alreadyUndone: "alreadyUndone"
        case .changedSince: "changedSince"
        }
    }
}

extension StationRefusal {
    fileprivate var key: String {
        switch self {
        case .badID: "stationBadID"
        case .none: "stationNone"
        case .tooMany: "stationTooMany"
        }
    }

    fileprivate var values: [String: String] {
        if case .tooMany(let limit) = self { ["limit": "\(limit)"] } else { [:] }
    }
}

extension Desk.Refusal {
    /// One word for programs, and for the texts.
    var code: String {
        switch self {
        case .gone: "gone"
        case .answered: "answered"
        case .nothingTicked: "nothingTicked"
        case .nothingToUndo: "nothingToUndo"
        case .notNewest: "notNewest"
        }
    }
}

extension Batch.TickRefusal {
    /// One word for programs, and for the texts.
    var code: String {
        switch self {
        case .needsTitle: "needsTitle"
        case .answered: "answered"
        }
    }
}
