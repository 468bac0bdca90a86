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
