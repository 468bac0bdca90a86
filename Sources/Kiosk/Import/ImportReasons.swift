import Bookplate

/// The reasons for which rows of an import are flagged or left out, in the language of a page. An import reports them
/// in English, as `scan import` prints them and the library stores them. Web/texts/reasons.json has their forms; a
/// reason without a form stays English.
struct ImportReasons: Sendable {
    private let texts: Texts
    private let forms: SentenceForms

    /// - Parameter english: the English texts.
    init(_ texts: Texts, english: Texts) {
        self.texts = texts
        forms = SentenceForms(english, section: "reasons")
    }

    /// Returns the reason, with the language that it is in.
    func text(of reason: String) -> (text: String, language: Language) {
        let reason = reason.cleanedLine
        guard texts.language != .english, let text = translated(reason[...]) else { return (reason, .english) }
        return (text, texts.language)
    }

    private func translated(_ reason: Substring) -> String? {
        guard let form = forms.match(reason, value) else { return nil }
        var values = form.values
        // The page explains what is wrong with an ISBN as everywhere else.
        if let number = values["isbn"] { values["why"] = flaw(ofISBN: number) }
        return texts(form.key, values)
    }

    private func value(_ name: Substring, _ text: Substring) -> String? {
        switch name {
        case "flaw": translated(text)
        case "column": text.contains("\"") || text.count > 80 ? nil : String(text)
        case "term": texts.fieldName(String(text))
        case "day", "otherDay": CalendarDay(String(text)).map(texts.day) ?? String(text)
        case "number": Int(text).map { texts.grouped($0) } ?? String(text)
        case "stars": Double(text).map { texts.decimal($0) } ?? String(text)
        default: String(text)
        }
    }

    private func flaw(ofISBN number: String) -> String {
        do throws(ISBNRefusal) {
            _ = try ISBN(number)
            return ""
        } catch {
            return texts.message(for: error) ?? ""
        }
    }
}

extension Pages {
    /// Returns the reasons of imports in the caller's language.
    func importReasons(_ context: KioskContext) -> ImportReasons {
        ImportReasons(texts(context), english: web.texts[.english]!)
    }
}
