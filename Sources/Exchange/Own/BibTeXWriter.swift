import Bookplate

/// Writes a bibliography for biber and BibTeX, in UTF-8: one `@book` for each edition that has a copy outside the
/// trash. Only what a bibliography needs is written, so the file cannot be imported.
///
/// Source: Kime, Wemheuer and Lehman, The biblatex Package, 2.1-2.2 (entry types and fields).
public struct BibTeXWriter: Sendable {
    /// The number of entries so far with each key.
    private var keys: [String: Int] = [:]
    /// The sort names that a person has entered, by author.
    private var sortNames: [String: String] = [:]

    public init() {}

    /// Returns the entry for a book, without what belongs to copies in the trash. The text is empty for any other
    /// record. The sort names of authors come before the books.
    public mutating func entry(for record: LibraryRecord) -> String {
        if case .author(let name, let sortName) = record { sortNames[name] = sortName }
        guard case .book(let book) = record else { return "" }
        let copies = book.copies.map(\.copy).filter { $0.deleted == nil }
        guard !copies.isEmpty else { return "" }
        let data = book.edition.metadata
        func names(_ role: Contributor.Role) -> [BibTeXName] {
            data.authors.filter { $0.role == role }.compactMap { BibTeXName(inverted($0.name)) }
        }
        func list(_ role: Contributor.Role) -> String? {
            let names = names(role)
            return names.isEmpty ? nil : names.map(\.text).joined(separator: " and ")
        }
        let (langid, language) = Self.language(data.language)
        let fields: [(String, String?)] = [
            ("author", list(.author)), ("editor", list(.editor)),
            ("title", Self.escaped(Edition.displayTitle(data.title, book.edition.isbn))),
            ("subtitle", data.subtitle.map(Self.escaped)), ("publisher", data.publisher.map(Self.escaped)),
            ("year", data.publishedDate.map { String($0.year) }),
            ("isbn", (book.edition.isbn?.hyphenated ?? book.edition.isbnText).map(Self.escaped)),
            ("series", data.series.map(Self.escaped)), ("number", data.seriesNumber.map(Self.escaped)),
            ("pagetotal", data.pageCount.map(String.init)), ("langid", langid),
            ("language", language.map(Self.escaped)), ("note", Self.note(on: data).map(Self.escaped)),
            ("keywords", Self.keywords(copies)),
        ]
        let first = names(.author).first ?? names(.editor).first
        let lines = fields.compactMap { name, value in
            value.flatMap { $0.isEmpty ? nil : "  \(name) = {\($0)},\n" }
        }
        return "@book{\(key(of: book.edition, by: first)),\n\(lines.joined())}\n\n"
    }

    /// Returns a name with the family name first if a person has said which part it is, or if it has several words:
    /// biber and BibTeX find one word on their own.
    private func inverted(_ name: String) -> String {
        if let sortName = sortNames[name] { return sortName }
        let sortName = SortName.derived(from: name)
        return sortName.prefix { $0 != "," }.contains(" ") ? sortName : name
    }

    /// Returns a key that no other entry has: the author's family name, the year and the first word of the title, in
    /// ASCII. The second entry with the same key gets `-2` appended, and so on.
    private mutating func key(of edition: Edition, by author: BibTeXName?) -> String {
        let year = edition.metadata.publishedDate.map { String($0.year) } ?? ""
        let words = Self.words(in: edition.metadata.title ?? "")
        let word = words.first { !Self.articles.contains($0) } ?? words.first
        let family = Self.words(in: author?.family ?? "").joined()
        let key =
            (family.isEmpty ? "Anonymous" : Self.capitalised(family)) + year
            + (word.map(Self.capitalised) ?? edition.isbn?.digits ?? "Untitled")
        let count = (keys[key] ?? 0) + 1
        keys[key] = count
        return count == 1 ? key : "\(key)-\(count)"
    }

    /// Returns the words of a text in lower case, with the letters and digits that ASCII has.
    private static func words(in text: String) -> [String] {
        // The texts of a damaged library may be long, and a key need not be.
        String(text.prefix(200)).searchFolded.utf8
            .split { !(0x61...0x7A).contains($0) && !(0x30...0x39).contains($0) }
            .map { String(decoding: $0.prefix(24), as: UTF8.self) }
    }

    private static func capitalised(_ word: String) -> String { word.prefix(1).uppercased() + word.dropFirst() }

    /// The articles that a key leaves out, in the languages in which titles often begin with one.
    private static let articles: Set = [
        "a", "an", "the", "der", "die", "das", "ein", "eine", "le", "la", "les", "l", "un", "une", "el", "los", "las",
        "una", "il", "lo", "gli", "i", "het", "de", "o", "os", "as",
    ]

    /// Returns the people for whom a bibliography has no field that every style prints.
    private static func note(on data: Metadata) -> String? {
        let roles: [(Contributor.Role, String)] = [
            (.translator, "translated by"), (.illustrator, "illustrated by"), (.narrator, "narrated by"),
        ]
        let parts = roles.compactMap { role, verb in
            let names = data.authors.filter { $0.role == role }.map(\.name)
            return names.isEmpty ? nil : "\(verb) \(names.joined(separator: ", "))"
        }
        return parts.isEmpty ? nil : capitalised(parts.joined(separator: "; "))
    }

    /// Returns the tags of the copies. They are separated by commas, so the commas in a tag are left out.
    private static func keywords(_ copies: [Copy]) -> String? {
        var tags: [String] = []
        for tag in copies.flatMap(\.tags) where !tags.contains(tag) { tags.append(tag) }
        let words = tags.map { tag in
            escaped(tag.split(separator: ",").map { String($0).cleanedLine }.joined(separator: " "))
        }
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }

    /// Returns the text in one line, with the characters that TeX treats specially replaced. A brace is written as a
    /// command, because biber counts `\{` as an opening brace, and braces must be balanced.
    static func escaped(_ text: String) -> String {
        let text = text.cleanedLine
        guard text.utf8.contains(where: { specials[$0] != nil }) else { return text }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + 32)
        for byte in text.utf8 {
            if let command = specials[byte] { bytes += command.utf8 } else { bytes.append(byte) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let specials: [UInt8: String] = [
        UInt8(ascii: "\\"): "\\textbackslash{}", UInt8(ascii: "{"): "\\textbraceleft{}",
        UInt8(ascii: "}"): "\\textbraceright{}", UInt8(ascii: "~"): "\\textasciitilde{}",
        UInt8(ascii: "^"): "\\textasciicircum{}", UInt8(ascii: "#"): "\\#", UInt8(ascii: "$"): "\\$",
        UInt8(ascii: "%"): "\\%", UInt8(ascii: "&"): "\\&", UInt8(ascii: "_"): "\\_",
    ]

    /// Returns babel's name of a language or, if it is not known, the code as the name of the language.
    private static func language(_ code: String?) -> (langid: String?, language: String?) {
        guard let code else { return (nil, nil) }
        return languages[code.lowercased()].map { ($0, nil) } ?? (nil, code)
    }

    /// Babel's names of languages, by their codes in ISO 639-1, or ISO 639-2 if there is none.
    ///
    /// Source: Braams and Bezos, Babel (languages supported by babel with ldf files).
    private static let languages = [
        "af": "afrikaans", "bg": "bulgarian", "br": "breton", "ca": "catalan", "cs": "czech", "cy": "welsh",
        "da": "danish", "de": "ngerman", "el": "greek", "en": "english", "eo": "esperanto", "es": "spanish",
        "et": "estonian", "eu": "basque", "fi": "finnish", "fr": "french", "ga": "irish", "gd": "scottish",
        "gl": "galician", "he": "hebrew", "hr": "croatian", "hu": "hungarian", "ia": "interlingua",
        "id": "indonesian", "is": "icelandic", "it": "italian", "ja": "japanese", "la": "latin", "lt": "lithuanian",
        "lv": "latvian", "nb": "norsk", "nl": "dutch", "nn": "nynorsk", "no": "norsk", "pl": "polish",
        "pt": "portuguese", "ro": "romanian", "ru": "russian", "se": "samin", "sk": "slovak", "sl": "slovene",
        "sq": "albanian", "sr": "serbian", "sv": "swedish", "th": "thai", "tr": "turkish", "uk": "ukrainian",
        "vi": "vietnamese",
    ]
}

/// A person's name in a list of names.
///
/// Source: Patashnik, BibTeXing, 4 (the three forms of a name).
struct BibTeXName {
    /// The family name, by which a key names the person.
    let family: String
    /// The name as it is written to the file: "First Last" as it is stored, or "Last, First" if the comma shows which
    /// part is the family name. In braces, a name that would be read as several.
    let text: String

    /// - Returns: `nil` for an empty name.
    init?(_ name: String) {
        let name = name.cleanedLine
        guard !name.isEmpty else { return nil }
        let words = name.split(separator: " ").map(String.init)
        var parts = name.split(separator: ",").map { String($0).cleanedLine }.filter { !$0.isEmpty }
        var suffix: String?
        if parts.count > 1,
            let index = parts.indices.dropFirst().first(where: { Self.suffixes.contains(parts[$0].lowercased()) })
        {
            // "King, Martin Luther, Jr.", "King, Jr., Martin Luther", or "Martin Luther King, Jr."
            suffix = parts.remove(at: index)
        } else if parts.count == 1, words.count > 2, let last = words.last, Self.suffixes.contains(last.lowercased()) {
            suffix = last
            parts = [words.dropLast().joined(separator: " ")]
        }
        if parts.count == 1, suffix != nil, let space = parts[0].lastIndex(of: " ") {
            parts = [String(parts[0][parts[0].index(after: space)...]), String(parts[0][..<space])]
        }
        // "and" separates names, and the name "others" stands for "et al."
        let isList = words.contains { $0.lowercased() == "and" } || name.lowercased() == "others"
        if !isList, parts.count == 2 {
            family = parts[0]
            text = [parts[0], suffix, parts[1]].compactMap { $0.map(BibTeXWriter.escaped) }.joined(separator: ", ")
        } else if !isList, parts.count == 1, suffix == nil {
            family = words.last ?? name
            text = BibTeXWriter.escaped(parts[0])
        } else {
            family = name
            text = "{\(BibTeXWriter.escaped(name))}"
        }
    }

    private static let suffixes: Set = ["jr", "jr.", "sr", "sr.", "ii", "iii", "iv"]
}
