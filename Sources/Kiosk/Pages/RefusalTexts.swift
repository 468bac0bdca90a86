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
        case let refusal as InTrashRefusal: words("code inTrash", [:], refusal.description)
        case let refusal as AnnotationRefusal: words("noRemark", [:], refusal.description)
        case let refusal as SearchRefusal: words("noPlace", [:], refusal.description)
        case let refusal as StationRefusal: words(refusal.key, refusal.values, refusal.description)
        case let refusal as Station.Refusal: words(refusal.code, [:], refusal.description)
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
