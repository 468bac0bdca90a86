import Bookplate
import FoundationEssentials
import Mustache

/// All words of the pages in one language. They stand in Web/texts, one file a page or topic, each key with all languages side
/// by side: `{"search": {"en": "Search", "de": "Suchen", "fr": "Rechercher"}}`.
///
/// In a template `{{t.library.search}}`, in code `texts("library.search")`. `{name}` in a text is filled in; a text with a bar
/// has a form for one and a form for several: "{count} book|{count} books".
struct Texts: Sendable, MustacheParent {
    let language: Language
    private let sections: [String: [String: String]]

    /// - Parameter files: names without extension, and contents.
    /// - Throws: when a file is no such JSON, or lacks a language.
    static func load(_ files: [(name: String, json: Data)]) throws -> [Language: Texts] {
        var sections: [Language: [String: [String: String]]] = [:]
        for file in files {
            let table = try JSONDecoder().decode([String: [String: String]].self, from: file.json)
            for (key, forms) in table {
                for language in Language.allCases {
                    guard let text = forms[language.rawValue] else {
                        throw KioskError(.fault, "the text \(file.name).\(key) has no \(language.rawValue)")
                    }
                    sections[language, default: [:]][file.name, default: [:]][key] = language.set(text)
                }
            }
        }
        return Dictionary(
            uniqueKeysWithValues: Language.allCases.map { ($0, Texts(language: $0, sections: sections[$0] ?? [:])) })
    }

    /// - Returns: the key itself where there is no such text: seen at once, and no reason to fail.
    func callAsFunction(_ key: String, _ values: [String: String] = [:]) -> String {
        let parts = key.split(separator: ".", maxSplits: 1)
        guard parts.count == 2, let text = sections[String(parts[0])]?[String(parts[1])] else { return key }
        return values.isEmpty ? text : Self.filled(text[...], values)
    }

    /// In one pass: what a title says is no place to fill in.
    private static func filled(_ text: Substring, _ values: [String: String]) -> String {
        var (rest, result) = (text, "")
        while let start = rest.firstIndex(of: "{"), let end = rest[start...].firstIndex(of: "}") {
            result += rest[..<start]
            let name = rest[rest.index(after: start)..<end]
            result += values[String(name)] ?? String(rest[start...end])
            rest = rest[rest.index(after: end)...]
        }
        return result + rest
    }

    /// The form of the text for so many, `{count}` filled in with its thousands apart.
    func callAsFunction(_ key: String, count: Int, _ values: [String: String] = [:]) -> String {
        self(key, isOne: isOne(Double(count)), values.merging(["count": grouped(count)]) { given, _ in given })
    }

    func callAsFunction(_ key: String, isOne: Bool, _ values: [String: String]) -> String {
        let text = self(key)
        let forms = text.split(separator: "|", omittingEmptySubsequences: false)
        return Self.filled(forms.count == 2 ? (isOne ? forms[0] : forms[1]) : text[...], values)
    }

    /// Whether so many take the form of one: in French all below two do (CLDR, plural rules).
    func isOne(_ number: Double) -> Bool { language == .french ? abs(number) < 2 : number == 1 }

    /// One file's texts, as they stand.
    func section(_ name: String) -> [String: String] { sections[name] ?? [:] }

    func child(named name: String) -> Any? { sections[name] }
}

extension Texts {
    /// "17 March 1969", "March 1969", "1969".
    func day(_ day: CalendarDay) -> String {
        guard let month = day.month else { return String(day.year) }
        let name = self("dates.month\(month)")
        guard let number = day.day else { return "\(name) \(day.year)" }
        return self("dates.day", ["day": String(number), "month": name, "year": String(day.year)])
    }

    /// When it was, as exactly as it is known: "on 17 March 1969", "in March 1969", "in 1969".
    func when(_ day: CalendarDay) -> String {
        let key = day.day != nil ? "dates.onDay" : day.month != nil ? "dates.inMonth" : "dates.inYear"
        return self(key, ["day": self.day(day)])
    }

    /// "17 March 1969, 14:05"
    func instant(_ date: Date, in zone: TimeZone) -> String {
        let day = day(CalendarDay(date, in: zone))
        let seconds = Int(date.timeIntervalSince1970.rounded(.down)) + zone.secondsFromGMT(for: date)
        let minutes = ((seconds % 86_400) + 86_400) % 86_400 / 60
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(day), \(two(minutes / 60)):\(two(minutes % 60))"
    }
}

/// The languages that the pages speak. Raw values are ISO 639-1.
enum Language: String, Sendable, CaseIterable {
    case english = "en"
    case german = "de"
    case french = "fr"

    /// A text as it is set in this language. French has a space before these marks at which no line ends; who writes a text need not
    /// find the key for it.
    func set(_ text: String) -> String {
        guard self == .french else { return text }
        var text = text.replacing("'", with: "’").replacing("« ", with: "«\u{A0}")
        for mark in [";", ":", "?", "!", "»"] { text = text.replacing(" \(mark)", with: "\u{A0}\(mark)") }
        return text
    }

    /// The one that the browser likes best of those there are (RFC 9110, 12.5.4); English where it likes none of them.
    init(accepting header: String?) {
        var best: (language: Language, quality: Double)?
        for wish in (header ?? "").prefix(500).split(separator: ",") {
            let parts = wish.split(separator: ";").map { $0.filter { !$0.isWhitespace } }
            guard let tag = parts.first, let language = Language(rawValue: tag.prefix(2).lowercased()),
                tag.count == 2 || tag.dropFirst(2).first == "-"
            else { continue }
            let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            if quality > (best?.quality ?? 0) { best = (language, quality) }
        }
        self = best?.language ?? .english
    }
}

// What stands in the library as a word for programs, as a word for people. One set of them, for every page.
extension Texts {
    func word(for role: Contributor.Role) -> String { self("common.role_\(role.rawValue)") }

    func word(for format: Metadata.Format?) -> String { self("common.format_\(format?.rawValue ?? "unknown")") }

    func word(for status: Copy.Status) -> String { self("common.\(status.rawValue)") }

    func source(_ source: SourceName) -> String {
        switch source {
        case .library, .offlineIndex, .person: self("common.source_\(source.rawValue)")
        case .openLibrary, .googleBooks, .openLibraryCovers, .googleBooksCovers: source.displayName
        }
    }

    /// A language's name: "German", also of one with a region (BCP 47, 2.1), "German (AT)". What the pages do not know stays a code.
    func language(code: String) -> String {
        let names = section("languages")
        let parts = code.cleanedLine.split(separator: "-", maxSplits: 1)
        guard let name = parts.first.flatMap({ names[$0.lowercased()] }) else {
            return String(code.cleanedLine.prefix(35))
        }
        return parts.count > 1 ? "\(name) (\(parts[1].prefix(20)))" : name
    }

    /// Who numbers books so, as they write themselves: the same in every language.
    func identifier(_ scheme: String) -> String {
        Self.identifiers[scheme.lowercased()] ?? scheme.cleanedLine.replacing("_", with: " ")
    }

    private static let identifiers = [
        "amazon": "Amazon", "asin": "ASIN", "doi": "DOI", "goodreads": "Goodreads", "google": "Google Books",
        "isbn_10": "ISBN-10", "isbn_13": "ISBN-13", "lccn": "LCCN", "librarything": "LibraryThing", "oclc": "OCLC",
        "openlibrary": "Open Library", "overdrive": "OverDrive", "project_gutenberg": "Project Gutenberg",
        "storygraph": "StoryGraph", "wikidata": "Wikidata",
    ]
}

extension String {
    /// As the beginning of a line or a choice: "translator" is "Translator".
    var capitalisedFirst: String { prefix(1).uppercased() + dropFirst() }
}

extension Texts {
    /// A number with its thousands apart: 12,345 in English, 12.345 in German, 12 345 in French.
    func grouped(_ number: Int) -> String {
        let digits = String(number.magnitude)
        guard digits.count > 3 else { return String(number) }
        let separator =
            switch language {
            case .english: ","
            case .german: "."
            case .french: "\u{202F}"
            }
        var groups: [Substring] = []
        var rest = digits[...]
        while !rest.isEmpty {
            groups.insert(rest.suffix(3), at: 0)
            rest = rest.dropLast(3)
        }
        return (number < 0 ? "-" : "") + groups.joined(separator: separator)
    }

    /// A number with at most one digit behind the point: 12, 12.5.
    func tenths(_ number: Double) -> String {
        guard number.isFinite, abs(number) < 1e15 else { return "–" }
        let tenths = Int((number * 10).rounded())
        let whole = grouped(tenths / 10)
        return tenths % 10 == 0 ? whole : whole + (language == .english ? "." : ",") + String(abs(tenths % 10))
    }

    /// The form for a number with tenths, `{n}` filled in: "1 page an hour", "1.5 pages an hour".
    func several(_ key: String, _ number: Double) -> String {
        self(key, isOne: isOne((number * 10).rounded() / 10), ["n": tenths(number)])
    }

    /// The form for so many, `{n}` filled in with its thousands apart.
    func several(_ key: String, _ number: Int) -> String { self(key, count: number, ["n": grouped(number)]) }

    /// "2 h 05 min", "34 min"
    func duration(minutes: Int) -> String {
        let (hours, rest) = (minutes / 60, minutes % 60)
        guard hours > 0 else { return self("stats.minutes", ["n": String(minutes)]) }
        if hours >= 100 || rest == 0 { return self("stats.hours", ["n": grouped(hours)]) }
        return self("stats.hoursMinutes", ["h": grouped(hours), "m": (rest < 10 ? "0" : "") + String(rest)])
    }

    /// The parts of a list in one text: "M,T,W".
    func list(_ key: String) -> [String] { self(key).split(separator: ",").map(String.init) }

    /// "★★★½", for those who see; with words beside it for all others.
    func stars(_ rating: Double) -> String {
        let quarters = Int((rating * 4).rounded())
        return String(repeating: "★", count: min(5, quarters / 4)) + ["", "¼", "½", "¾"][max(0, quarters % 4)]
    }
}
