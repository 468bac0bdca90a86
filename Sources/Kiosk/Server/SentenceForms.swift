/// The forms of the English sentences that the program makes, such as "tagged {books} with {target}". A sentence that
/// was stored or reported as a text can so be shown in the language of a page.
struct SentenceForms: Sendable {
    private enum Piece: Sendable {
        case fixed(Substring)
        case value(Substring)
    }

    /// The more of a form is fixed, the earlier it is compared.
    private let forms: [(key: String, pieces: [Piece])]

    /// - Parameters:
    ///   - section: the file of the texts.
    ///   - beginning: the beginning of the keys of the forms.
    init(_ english: Texts, section: String, beginning: String = "") {
        forms = english.section(section).filter { $0.key.hasPrefix(beginning) }
            .map { (key: "\(section).\($0.key)", pieces: Self.pieces(of: $0.value[...])) }
            .sorted { (Self.weight($1.pieces), $0.key) < (Self.weight($0.pieces), $1.key) }
    }

    /// Finds the form of a sentence.
    ///
    /// - Parameter value: returns a value as the page shows it, from its name and its English text; `nil` if the text
    ///   is no such value, so that the sentence has another form.
    /// - Returns: the key of the form's text, and its values; `nil` if the sentence has none of the forms.
    func match(
        _ sentence: Substring, _ value: (_ name: Substring, _ text: Substring) -> String?
    ) -> (key: String, values: [String: String])? {
        for form in forms {
            if let values = Self.values(of: sentence, in: form.pieces[...], value) { return (form.key, values) }
        }
        return nil
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

    private static func values(
        of sentence: Substring, in pieces: ArraySlice<Piece>, _ value: (Substring, Substring) -> String?
    ) -> [String: String]? {
        switch (pieces.first, pieces.dropFirst().first) {
        case (nil, _): return sentence.isEmpty ? [:] : nil
        case (.fixed(let text), _):
            return sentence.hasPrefix(text)
                ? values(of: sentence.dropFirst(text.count), in: pieces.dropFirst(), value) : nil
        case (.value(let name), .fixed(let next)?):
            // A title may contain the words of the form, so the last place at which they fit is taken.
            for place in sentence.ranges(of: next).reversed() {
                guard let own = value(name, sentence[..<place.lowerBound]),
                    let rest = values(of: sentence[place.lowerBound...], in: pieces.dropFirst(), value)
                else { continue }
                return rest.merging([String(name): own]) { $1 }
            }
            return nil
        case (.value(let name), _): return value(name, sentence).map { [String(name): $0] }
        }
    }
}
