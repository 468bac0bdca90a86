import Bookplate
import FoundationEssentials
import Station

/// What the domain refuses, in the language of the page. The English is the domain's own sentence where it says what to do next; else
/// Web/texts/refusals.json has it, as it has the other languages.
extension Texts {
    /// Whole sentences; `nil` for an error that is not the domain's.
    ///
    /// - Parameter zone: whose clock the reader goes by.
    func words(for error: any Error, in zone: TimeZone = .current) -> String? {
        switch error {
        case let refusal as FieldRefusal: words(for: refusal.cause, in: zone)
        case ISBNRefusal.wrongLength(let count): words("wrongLength", ["count": "\(count)"], "", isOne: count == 1)
        case let refusal as ISBNRefusal: words(refusal.code, refusal.values, refusal.description)
        case let refusal as ReadingRefusal: words(refusal.key, refusal.values(self), refusal.description)
        case let error as SessionError: words(error.code, error.values(self, zone), error.description)
        case let refusal as TextRefusal: words(refusal.key, refusal.values(self), refusal.description)
        case let refusal as InputRefusal: words(refusal.key, refusal.values(self), refusal.description)
        case let refusal as LabelRefusal: words(refusal.key, refusal.values, refusal.description)
        case let refusal as UndoRefusal: words(refusal.key, [:], refusal.description)
        case let refusal as InTrash: words("code inTrash", [:], refusal.description)
        case let refusal as AnnotationRefusal: words("noRemark", [:], refusal.description)
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
        if refusal.isTranslated { return refusal.message }
        let key = "refusals." + (refusal.key ?? "code \(refusal.code)")
        let text = self(key, refusal.values)
        return text.isEmpty || text == key ? refusal.message : text
    }

    /// Where the camera's trouble stands on the page; English names the device as well.
    func words(for trouble: CameraError) -> String {
        words("camera \(trouble.kind.rawValue)", [:], trouble.description)
    }

    func words(for miss: Desk.Miss, _ trouble: KioskError.Reading) -> String {
        switch miss {
        case .noBook(let refusal): words(for: refusal) ?? refusal.description
        case .notCaptured(let error): self("refusals.notCaptured", ["reason": reason(of: error, trouble)])
        }
    }

    /// Why something cannot be done just now, in a whole sentence: what the domain refuses in its words, all else by the kind of
    /// trouble. Exactly, paths included, the log has it.
    func reason(of error: any Error, _ trouble: KioskError.Reading) -> String {
        if let words = words(for: error) { return words }
        let trouble = trouble(error)
        let kind = trouble.kind == .unavailable ? trouble.kind : .fault
        return self("refusals.trouble \(trouble.cause?.rawValue ?? kind.rawValue)")
    }

    /// What was refused, by the domain's word for it: "note", "page count".
    func name(_ what: String) -> String {
        let text = self("refusals.what \(what)")
        return text.hasPrefix("refusals.") ? what : text
    }

    private func words(
        _ key: String, _ values: [String: String], _ english: String, isOne: Bool = false
    ) -> String {
        let text = self("refusals.\(key)", isOne: isOne, values)
        let sentence = text.isEmpty || text.hasPrefix("refusals.") ? english : text
        let whole = sentence.prefix(1).uppercased() + sentence.dropFirst()
        return whole.hasSuffix(".") ? whole : whole + "."
    }
}

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

extension Desk.Refusal {
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
