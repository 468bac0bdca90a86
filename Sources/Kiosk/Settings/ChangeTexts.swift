import Bookplate

/// The summaries of changes in the language of a page.
///
/// The library stores an English sentence with each change. The texts in changes.json whose keys begin with `form_`,
/// and those with `act_` for what was done to one book, are the forms of these sentences: the English text is compared
/// with the sentence, and its values are filled into the text of the page's language. A sentence without a form stays
/// English.
struct ChangeTexts: Sendable {
    private let english: Texts
    private let texts: Texts
    /// The forms by their beginning, each with its key and its English text. The more of a form is fixed, the earlier
    /// it is compared.
    private let forms: [String: [(key: String, pieces: [Piece])]]

    private enum Piece: Sendable {
        case fixed(Substring)
        case value(Substring)
    }

    /// - Parameter english: the English texts.
    init(_ texts: Texts, english: Texts) {
        (self.texts, self.english) = (texts, english)
        forms =
            texts.language == .english
            ? [:]
            : ["form_", "act_"].reduce(into: [:]) { forms, beginning in
                forms[beginning] = english.section("changes").filter { $0.key.hasPrefix(beginning) }
                    .map { (key: $0.key, pieces: Self.pieces(of: $0.value[...])) }
                    .sorted { Self.weight($0.pieces) > Self.weight($1.pieces) }
            }
    }

    /// Returns the summary, with the language that it is in.
    func summary(of change: Change) -> (text: String, language: Language) {
        let summary = change.summary.cleanedLine
        guard texts.language != .english, let text = translated(summary[...], among: "form_") else {
            return (summary, .english)
        }
        return (text, texts.language)
    }

    private static func pieces(of text: Substring) -> [Piece] {
        guard let start = text.firstIndex(of: "{"), let end = text[start...].firstIndex(of: "}") else {
            return text.isEmpty ? [] : [.fixed(text)]
        }
        let before: [Piece] = start == text.startIndex ? [] : [.fixed(text[..<start])]
        return before + [.value(text[text.index(after: start)..<end])] + pieces(of: text[text.index(after: end)...])
    }

    private static func weight(_ pieces: [Piece]) -> Int {
        pieces.reduce(0) { if case .fixed(let text) = $1 { $0 + text.count } else { $0 } }
    }

    private func translated(_ sentence: Substring, among beginning: String) -> String? {
        for form in forms[beginning] ?? [] {
            if let values = values(of: sentence, in: form.pieces[...]) { return texts("changes." + form.key, values) }
        }
        return nil
    }

    /// Returns the values of a sentence in the page's language; `nil` if the sentence has another form.
    private func values(of sentence: Substring, in pieces: ArraySlice<Piece>) -> [String: String]? {
        switch (pieces.first, pieces.dropFirst().first) {
        case (nil, _): return sentence.isEmpty ? [:] : nil
        case (.fixed(let text), _):
            return sentence.hasPrefix(text) ? values(of: sentence.dropFirst(text.count), in: pieces.dropFirst()) : nil
        case (.value(let name), .fixed(let next)?):
            // A title may contain the words of the form, so the last place at which they fit is taken.
            for place in sentence.ranges(of: next).reversed() {
                guard let value = value(name, sentence[..<place.lowerBound]),
                    let rest = values(of: sentence[place.lowerBound...], in: pieces.dropFirst())
                else { continue }
                return rest.merging([String(name): value]) { $1 }
            }
            return nil
        case (.value(let name), _): return value(name, sentence).map { [String(name): $0] }
        }
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
        case "act": translated(text, among: "act_")
        case "setting": LibrarySetting(rawValue: String(text)).map { texts.label(of: $0) }
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
