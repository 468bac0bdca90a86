import Bookplate

/// The summaries of changes in the language of a page.
///
/// The library stores an English sentence with each change. The texts in changes.json whose keys begin with `form_`,
/// and those with `act_` for what was done to one book, are the forms of these sentences: the English text is compared
/// with the sentence, and its values are filled into the text of the page's language. In English too, because settings
/// and quotation marks are written otherwise than in the terminal. A sentence without a form stays as it is.
struct ChangeTexts: Sendable {
    private let english: Texts
    private let texts: Texts
    /// The forms of whole summaries, and those of what was done to one book.
    private let forms, acts: SentenceForms

    /// - Parameter english: the English texts.
    init(_ texts: Texts, english: Texts) {
        (self.texts, self.english) = (texts, english)
        forms = SentenceForms(english, section: "changes", beginning: "form_")
        acts = SentenceForms(english, section: "changes", beginning: "act_")
    }

    /// Returns the summary, with the language that it is in.
    func summary(of change: Change) -> (text: String, language: Language) {
        let summary = change.summary.cleanedLine
        return translated(summary[...], among: forms).map { ($0, texts.language) } ?? (summary, .english)
    }

    private func translated(_ sentence: Substring, among forms: SentenceForms) -> String? {
        forms.match(sentence, value).map { texts($0.key, $0.values) }
    }

    /// Returns a value of a sentence in the page's language; `nil` if the text is no such value.
    private func value(_ name: Substring, _ text: Substring) -> String? {
        switch name {
        case "books": books(text)
        case "target": quoted(text)
        case "names":
            text.hasPrefix("\"")
                ? text.dropFirst().split(separator: "\", \"").map { quote($0) }.joined(separator: ", ") : nil
        case "count": number(text, of: "book").map { texts("common.books", count: $0) }
        case "items": number(text, of: "item").map { texts("changes.items", count: $0) }
        case "number", "page": Int(text).map { texts.grouped($0) }
        case "amount": amount(text)
        case "act": translated(text, among: acts)
        case "setting": LibrarySetting(rawValue: String(text)).map { quote(texts.label(of: $0)[...]) }
        case "statuses": statuses(text)
        default: String(text)
        }
    }

    private func quote(_ text: Substring) -> String {
        texts("changes.quoted", ["name": text.hasSuffix("\"") ? String(text.dropLast()) : String(text)])
    }

    private func quoted(_ text: Substring) -> String? {
        guard text.count > 1, text.hasPrefix("\""), text.hasSuffix("\"") else { return nil }
        return quote(text.dropFirst())
    }

    /// Returns the first title and the number of others: "Dune" and 23 more.
    private func books(_ text: Substring) -> String? {
        if text == "no book" { return texts("changes.noBook") }
        if let title = quoted(text) { return title }
        guard let match = text.wholeMatch(of: /(".*") and (\d+) more/), let more = Int(match.2),
            let title = quoted(match.1)
        else { return nil }
        return texts("changes.andMore", count: more, ["name": title])
    }

    /// Returns the number of things: no book, 1 book, 12 books.
    private func number(_ text: Substring, of what: String) -> Int? {
        if text == "no \(what)" { return 0 }
        guard let match = text.wholeMatch(of: /(\d+) (\w+)/), match.2 == what || match.2 == "\(what)s" else {
            return nil
        }
        return Int(match.1)
    }

    private func amount(_ text: Substring) -> String? {
        if let page = text.wholeMatch(of: /page (-?\d+)/).flatMap({ Int($0.1) }) {
            return texts("book.page", ["page": texts.grouped(page)])
        }
        return text.hasSuffix("%") ? Double(text.dropLast()).map { texts.withPercentSign(texts.decimal($0)) } : nil
    }

    private func statuses(_ text: Substring) -> String? {
        let words = text.split(separator: ", ").map { word -> String? in
            if let status = Copy.Status.allCases.first(where: { $0.displayName == word }) {
                return texts.label(for: status)
            }
            return ["rated", "notRated", "withNote"].map { "changes.\($0)" }.first { english($0) == word }.map {
                texts($0)
            }
        }
        return words.contains(nil) ? nil : words.compactMap(\.self).joined(separator: ", ")
    }
}

extension Pages {
    /// Returns the summaries of changes in the caller's language.
    func changeTexts(_ context: KioskContext) -> ChangeTexts {
        ChangeTexts(texts(context), english: web.texts[.english]!)
    }
}
