import Bookplate
import FoundationEssentials
import Station

// Which text of Web/texts/refusals.json a refusal of the domain has, and what is filled in.

extension ISBNRefusal {
    var values: [String: String] {
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
    var key: String {
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
        case .noSuchEntry: "noSuchEntry"
        case .entryInFuture: "entryInFuture"
        case .entryOfSession: "entryOfSession"
        }
    }

    func values(_ texts: Texts) -> [String: String] {
        switch self {
        case .finishedBeforeStarted(let started, let finished):
            ["started": texts.when(started), "finished": texts.when(finished)]
        case .stoppedBeforeStarted(let started, let stopped):
            ["started": texts.when(started), "stopped": texts.when(stopped)]
        case .negativePage(let page), .hugePage(let page):
            ["page": "\(page)", "most": "\(NumberLimit.pages.upperBound)"]
        case .badPercent(let percent): ["percent": "\(percent)"]
        case .closed(let status), .lastReading(let status): ["status": texts("common.\(status.rawValue)")]
        case .noReading, .noSuchReading, .wrongEnd, .twoEnds, .sessionRunning, .noSuchEntry, .entryInFuture,
            .entryOfSession:
            [:]
        }
    }
}

extension SessionError {
    /// One word for programs, and for the texts.
    var code: String {
        switch self {
        case .alreadyActive: "alreadyActive"
        case .notActive: "notActive"
        case .alreadyEnded: "alreadyEnded"
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

    func values(_ texts: Texts, _ zone: TimeZone) -> [String: String] {
        if case .clockWentBackwards(let start) = self { ["start": texts.instant(start, in: zone)] } else { [:] }
    }
}

extension TextRefusal {
    var key: String {
        switch self {
        case .empty: "textEmpty"
        case .tooLong: "tooLong"
        case .farTooLong: "farTooLong"
        case .damaged: "damaged"
        }
    }

    func values(_ texts: Texts) -> [String: String] {
        switch self {
        case .empty(let what), .damaged(let what): ["what": texts.name(what)]
        case .tooLong(let what, let limit, let count):
            ["what": texts.name(what), "limit": "\(limit)", "count": "\(count)"]
        case .farTooLong(let what, let limit): ["what": texts.name(what), "limit": "\(limit)"]
        }
    }
}

extension InputRefusal {
    var key: String {
        switch self {
        case .outOfRange: "outOfRange"
        case .badRating: "badRating"
        case .noLink: "noLink"
        case .noIdentifier: "noIdentifier"
        case .noDay: "noDay"
        }
    }

    func values(_ texts: Texts) -> [String: String] {
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
    var key: String {
        switch self {
        case .none: "labelNone"
        case .ambiguous: "labelAmbiguous"
        case .taken: "labelTaken"
        case .alreadyOne: "labelAlreadyOne"
        }
    }

    var values: [String: String] {
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
    var key: String {
        switch self {
        case .noSuchChange: "noSuchChange"
        case .alreadyUndone: "alreadyUndone"
        case .changedSince: "changedSince"
        }
    }
}

extension StationRefusal {
    var key: String {
        switch self {
        case .badID: "stationBadID"
        case .none: "stationNone"
        case .tooMany: "stationTooMany"
        }
    }

    var values: [String: String] {
        if case .tooMany(let limit) = self { ["limit": "\(limit)"] } else { [:] }
    }
}

extension Station.Refusal {
    /// One word for programs, and for the texts.
    var code: String {
        switch self {
        case .gone: "gone"
        case .answered: "answered"
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
