import Bookplate
import FoundationEssentials
import Station

/// Messages of refusals and errors in a page's language, from Web/texts/refusals.json. Where the English text is empty there, the
/// error's own description is the message.
extension Texts {
    /// - Parameter zone: the reader's time zone.
    /// - Returns: whole sentences; `nil` for an error that has no text, and where the description may name a file.
    func message(for error: any Error, in zone: TimeZone = .current) -> String? {
        switch error {
        case let refusal as FieldRefusal: message(for: refusal.cause, in: zone)
        case ISBNRefusal.wrongLength(let count):
            message("wrongLength", ["count": "\(count)"], "", isSingular: count == 1)
        case let refusal as ISBNRefusal: message(refusal.code, refusal.values, refusal.description)
        case let refusal as ReadingRefusal: message(refusal.key, refusal.values(self), refusal.description)
        case let error as SessionError:
            message(error.code, error.values(self, zone), error.namesFile ? nil : error.description)
        case let refusal as TextRefusal: message(refusal.key, refusal.values(self), refusal.description)
        case let refusal as InputRefusal: message(refusal.key, refusal.values(self), refusal.description)
        case let refusal as LabelRefusal: message(refusal.key, refusal.values, refusal.description)
        case let refusal as UndoRefusal: message(refusal.key, [:], refusal.description)
        case let refusal as InTrash: message("code inTrash", [:], refusal.description)
        case let refusal as AnnotationRefusal: message("noRemark", [:], refusal.description)
        case let refusal as SearchRefusal: message("noPlace", [:], refusal.description)
        case let refusal as StationRefusal: message(refusal.key, refusal.values, refusal.description)
        case let refusal as Desk.Refusal: message(refusal.code, [:], refusal.description)
        case let refusal as ConfirmRefusal: message("needsTitle", [:], refusal.description)
        case let refusal as Batch.TickRefusal: message(refusal.code, [:], refusal.description)
        default: nil
        }
    }

    /// Returns the translated message of a refusal of the kiosk; its own message if there is no text for it.
    func message(for refusal: RequestRefusal) -> String {
        if refusal.isTranslated { return refusal.message }
        let key = "refusals." + (refusal.key ?? "code \(refusal.code)")
        let text = self(key, refusal.values)
        return text.isEmpty || text == key ? refusal.message : text
    }

    /// Returns the message about the camera. The English one, the error's own, also names the device.
    func message(for error: CameraError) -> String {
        message("camera \(error.kind.rawValue)", [:], error.description) ?? error.description
    }

    func message(for miss: Desk.Miss, _ classify: KioskError.Classifier) -> String {
        switch miss {
        case .noBook(let refusal): message(for: refusal) ?? refusal.description
        case .notCaptured(let error): self("refusals.notCaptured", ["reason": reason(of: error, classify)])
        }
    }

    /// Returns a whole sentence that says why something is not possible at the moment: the message of a refusal, or a general one
    /// for the class of the error, whose details are in the log.
    func reason(of error: any Error, _ classify: KioskError.Classifier) -> String {
        if let message = message(for: error) { return message }
        let error = classify(error)
        let kind = error.kind == .unavailable ? error.kind : .fault
        return self("refusals.trouble \(error.cause?.rawValue ?? kind.rawValue)")
    }

    /// Returns the name of a field, such as "note" or "page count", in this language.
    func fieldName(_ what: String) -> String {
        let text = self("refusals.what \(what)")
        return text.hasPrefix("refusals.") ? what : text
    }

    private func message(
        _ key: String, _ values: [String: String], _ description: String?, isSingular: Bool = false
    ) -> String? {
        let text = self("refusals.\(key)", isSingular: isSingular, values)
        guard let sentence = text.isEmpty || text.hasPrefix("refusals.") ? description : text else { return nil }
        let whole = sentence.capitalisedFirst
        return whole.hasSuffix(".") ? whole : whole + "."
    }
}

// The keys and placeholders of the domain's refusals in Web/texts/refusals.json.

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
    /// The word for programs, and the key of the text.
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
        case .empty(let what), .damaged(let what): ["what": texts.fieldName(what)]
        case .tooLong(let what, let limit, let count):
            ["what": texts.fieldName(what), "limit": "\(limit)", "count": "\(count)"]
        case .farTooLong(let what, let limit): ["what": texts.fieldName(what), "limit": "\(limit)"]
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
            ["what": texts.fieldName(what), "least": "\(range.lowerBound)", "most": "\(range.upperBound)"]
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
    /// The word for programs, and the key of the text.
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
    /// The word for programs, and the key of the text.
    var code: String {
        switch self {
        case .needsTitle: "needsTitle"
        case .answered: "answered"
        }
    }
}
