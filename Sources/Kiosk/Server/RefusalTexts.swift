import Bookplate
import FoundationEssentials

/// The messages of refusals in a page's language, from Web/texts/refusals.json. If the English text in that file is
/// empty, the refusal's own description is the message.
extension Texts {
    /// Returns the message of a refusal.
    ///
    /// - Parameter zone: the reader's time zone.
    /// - Returns: the message in whole sentences; `nil` if there is no text, or if the only text is a description that
    ///   may name a file.
    func message(for refusal: any Refusal, in zone: TimeZone = .current) -> String? {
        guard let key = [refusal.code, "code \(refusal.code)"].first(where: { section("refusals")[$0] != nil }) else {
            return nil
        }
        let values = refusal.arguments.mapValues { format($0, in: zone) }
        let text = self("refusals.\(key)", isSingular: values["count"] == "1", values)
        guard text.isEmpty else { return Self.sentence(text) }
        return refusal.namesFile ? nil : Self.sentence(refusal.description)
    }

    /// Returns the translated message of a refusal, or the refusal's own message if there is no translation.
    func message(for refusal: RequestRefusal) -> String {
        if refusal.isTranslated { return refusal.message }
        let key = "refusals." + refusal.code
        let text = self(key, refusal.values)
        return text.isEmpty || text == key ? refusal.message : text
    }

    /// Returns the message for an error of the camera. In English, it is the error's own description, which also names
    /// the device.
    func message(for error: CameraError) -> String {
        let text = self("refusals.camera \(error.kind.rawValue)")
        return Self.sentence(text.isEmpty ? error.description : text)
    }

    /// Returns a whole sentence that explains why something is not possible at the moment. It is the message of the
    /// refusal, or a general message for the kind of failure; the details are then in the log.
    func reason(of error: any Error) -> String {
        guard let refusal = error as? any Refusal else { return self("refusals.error fault") }
        if let message = message(for: refusal) { return message }
        let text = self("refusals.error \(refusal.code)")
        guard text.hasPrefix("refusals.") else { return text }
        return self(refusal.httpStatus == 503 ? "refusals.error unavailable" : "refusals.error fault")
    }

    /// Returns the name of a field, such as "note" or "page count", in this language.
    func fieldName(_ what: String) -> String {
        let text = self("refusals.what \(what)")
        return text.hasPrefix("refusals.") ? what : text
    }

    private func format(_ argument: RefusalArgument, in zone: TimeZone) -> String {
        func short(_ text: String) -> String { String(text.cleanedLine.prefix(80)) }
        return switch argument {
        case .text(let text): short(text)
        case .list(let items): items.prefix(5).map(short).joined(separator: ", ")
        case .term(let what): fieldName(what)
        case .day(let day): when(day)
        case .instant(let date): instant(date, in: zone)
        case .status(let status): label(for: status)
        }
    }

    private static func sentence(_ text: String) -> String {
        let whole = text.capitalisedFirst
        return whole.hasSuffix(".") ? whole : whole + "."
    }
}
