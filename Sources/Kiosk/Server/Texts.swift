import Bookplate
import FoundationEssentials
import Mustache

/// All texts of the pages in one language. The texts are in the files of Web/texts, one file for each page or topic.
/// Each key has the text in all languages: `{"search": {"en": "Search", "de": "Suchen", "fr": "Rechercher"}}`.
///
/// Templates use a text as `{{t.library.search}}`, and code uses it as `texts("library.search")`. `{name}` in a text is
/// a placeholder. A bar separates the singular from the plural: "{count} book|{count} books".
struct Texts: Sendable, MustacheParent {
    let language: Language
    private let sections: [String: [String: String]]

    /// Loads the texts of all languages.
    ///
    /// - Parameter files: the files' names without extensions, and their contents.
    /// - Throws: an error if a file is not in this format or lacks a language.
    static func load(_ files: [(name: String, json: Data)]) throws -> [Language: Texts] {
        var sections: [Language: [String: [String: String]]] = [:]
        for file in files {
            let table = try JSONDecoder().decode([String: [String: String]].self, from: file.json)
            for (key, forms) in table {
                for language in Language.allCases {
                    guard let text = forms[language.rawValue] else {
                        throw KioskError(
                            .fault, "the text \(file.name).\(key) is missing in the language \"\(language.rawValue)\"")
                    }
                    sections[language, default: [:]][file.name, default: [:]][key] = language.typeset(text)
                }
            }
        }
        return Dictionary(
            uniqueKeysWithValues: Language.allCases.map { ($0, Texts(language: $0, sections: sections[$0] ?? [:])) })
    }

    /// Returns a text with its placeholders filled in. If there is no such text, returns the key, so that the mistake
    /// is visible on the page.
    func callAsFunction(_ key: String, _ values: [String: String] = [:]) -> String {
        let parts = key.split(separator: ".", maxSplits: 1)
        guard parts.count == 2, let text = sections[String(parts[0])]?[String(parts[1])] else { return key }
        return values.isEmpty ? text : Self.filled(text[...], values)
    }

    /// Fills in the placeholders in one pass, so that braces in a value are not treated as placeholders.
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

    /// Returns the singular or the plural form of a text, depending on `count`. The number also replaces `{count}`,
    /// with separators for thousands.
    func callAsFunction(_ key: String, count: Int, _ values: [String: String] = [:]) -> String {
        self(
            key, isSingular: isSingular(Double(count)),
            values.merging(["count": grouped(count)]) { given, _ in given })
    }

    /// Returns the singular or the plural form of a text, depending on `n`. The number also replaces `{n}`, with
    /// separators for thousands.
    func callAsFunction(_ key: String, n: Int) -> String { self(key, count: n, ["n": grouped(n)]) }

    /// Returns the singular or the plural form of a text, depending on a number with one decimal, such as "1 page per
    /// hour" or "1.5 pages per hour". The number also replaces `{n}`.
    func callAsFunction(_ key: String, n: Double) -> String {
        self(key, isSingular: isSingular((n * 10).rounded() / 10), ["n": tenths(n)])
    }

    func callAsFunction(_ key: String, isSingular: Bool, _ values: [String: String]) -> String {
        let text = self(key)
        let forms = text.split(separator: "|", omittingEmptySubsequences: false)
        return Self.filled(forms.count == 2 ? (isSingular ? forms[0] : forms[1]) : text[...], values)
    }

    /// Returns true if a number takes the singular. In French, all numbers below two do (CLDR, plural rules).
    private func isSingular(_ number: Double) -> Bool { language == .french ? abs(number) < 2 : number == 1 }

    /// Returns the items of a text that is a list separated by commas, such as "M,T,W".
    func list(_ key: String) -> [String] { self(key).split(separator: ",").map(String.init) }

    /// Returns the texts of one file, by their keys.
    func section(_ name: String) -> [String: String] { sections[name] ?? [:] }

    func child(named name: String) -> Any? { sections[name] }
}

/// The languages of the pages. The raw values are codes of ISO 639-1.
enum Language: String, Sendable, CaseIterable {
    case english = "en"
    case german = "de"
    case french = "fr"

    /// Applies the typography of the language. French has no-break spaces before or after certain marks, which are hard
    /// to type in the files.
    func typeset(_ text: String) -> String {
        guard self == .french else { return text }
        var text = text.replacing("'", with: "’").replacing("« ", with: "«\u{A0}")
        for mark in [";", ":", "?", "!", "»"] { text = text.replacing(" \(mark)", with: "\u{A0}\(mark)") }
        return text
    }

    /// Chooses the language that the header Accept-Language prefers (RFC 9110, 12.5.4); English if the header lists
    /// none of the pages' languages.
    init(accepting header: String?) {
        var best: (language: Language, quality: Double)?
        for range in (header ?? "").prefix(500).split(separator: ",") {
            let parts = range.split(separator: ";").map { $0.filter { !$0.isWhitespace } }
            guard let tag = parts.first, let language = Language(rawValue: tag.prefix(2).lowercased()),
                tag.count == 2 || tag.dropFirst(2).first == "-"
            else { continue }
            let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            if quality > (best?.quality ?? 0) { best = (language, quality) }
        }
        self = best?.language ?? .english
    }
}

// MARK: Dates and times

extension Texts {
    /// Returns a date as text, such as "17 March 1969", "March 1969" or "1969". In French, the first day of a month is
    /// "1er".
    func day(_ day: CalendarDay) -> String {
        guard let month = day.month else { return String(day.year) }
        let name = self("dates.month\(month)")
        guard let number = day.day else { return "\(name) \(day.year)" }
        let ordinal = language == .french && number == 1 ? "1er" : String(number)
        return self("dates.day", ["day": ordinal, "month": name, "year": String(day.year)])
    }

    /// Returns a date with its preposition, such as "on 17 March 1969", "in March 1969" or "in 1969".
    func when(_ day: CalendarDay) -> String {
        let key = day.day != nil ? "dates.onDay" : day.month != nil ? "dates.inMonth" : "dates.inYear"
        return self(key, ["day": self.day(day)])
    }

    /// Returns a date and time, such as "17 March 1969, 14:05".
    func instant(_ date: Date, in zone: TimeZone) -> String {
        let day = day(CalendarDay(date, in: zone))
        let seconds = Int(date.timeIntervalSince1970.rounded(.down)) + zone.secondsFromGMT(for: date)
        let minutes = ((seconds % 86_400) + 86_400) % 86_400 / 60
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(day), \(two(minutes / 60)):\(two(minutes % 60))"
    }
    /// Returns a duration, such as "2 h 05 min" or "34 min".
    func duration(minutes: Int) -> String {
        let (hours, rest) = (minutes / 60, minutes % 60)
        guard hours > 0 else { return self("stats.minutes", ["n": String(minutes)]) }
        if hours >= 100 || rest == 0 { return self("stats.hours", ["n": grouped(hours)]) }
        return self("stats.hoursMinutes", ["h": grouped(hours), "m": (rest < 10 ? "0" : "") + String(rest)])
    }

    /// Returns a duration in the form of a running clock, such as "12:34" or "1:02:34".
    func elapsed(_ seconds: Int) -> String {
        let seconds = max(0, seconds)
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let tail = "\(two(seconds / 60 % 60)):\(two(seconds % 60))"
        return seconds < 3600 ? tail : "\(seconds / 3600):\(tail)"
    }
}

// MARK: Numbers

extension Texts {
    /// Returns a number with separators for thousands: 12,345 in English, 12.345 in German, 12 345 in French.
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

    /// Returns a number with at most one decimal, such as 12 or 12.5.
    func tenths(_ number: Double) -> String {
        guard number.isFinite, abs(number) < 1e15 else { return "–" }
        let tenths = Int((number * 10).rounded())
        let whole = grouped(tenths / 10)
        return tenths % 10 == 0 ? whole : whole + (language == .english ? "." : ",") + String(abs(tenths % 10))
    }

    /// Returns a number with all its decimals, such as 4.5, or 4,5 in German and French.
    func decimal(_ number: Double) -> String {
        let text = JSONValue.number(number).text
        return language == .english ? text : text.replacing(".", with: ",")
    }

    /// Returns a fraction in whole percent, such as "38%", or "38 %" in German and French.
    func percent(_ fraction: Double) -> String { withPercentSign("\(ProgressEntry.Amount.wholePercent(fraction))") }

    /// Returns a number followed by a percent sign. In German and French, there is a no-break space between them.
    func withPercentSign(_ number: String) -> String { number + (language == .english ? "%" : "\u{A0}%") }

    /// Returns a rating as stars, such as "★★★½". Screen readers get a text beside the stars.
    func stars(_ rating: Double) -> String {
        let quarters = Int((rating * 4).rounded())
        return String(repeating: "★", count: min(5, quarters / 4)) + ["", "¼", "½", "¾"][max(0, quarters % 4)]
    }

    /// Returns a rating as a number with a fraction, such as "3¾".
    func rating(_ rating: Double) -> String {
        let quarters = Int((rating * 4).rounded())
        let (whole, rest) = (quarters / 4, ["", "¼", "½", "¾"][quarters % 4])
        return whole == 0 && !rest.isEmpty ? rest : "\(whole)\(rest)"
    }

    /// Returns the progress of a reading, such as "145 of 382 · 38%", "page 145" or "38%".
    func progress(_ amount: ProgressEntry.Amount, pageCount: Int?) -> String {
        let fraction = amount.fraction(of: pageCount).map { percent($0) }
        guard let page = amount.page else { return fraction ?? "" }
        let pages =
            pageCount.map { self("book.pageOf", ["page": grouped(page), "count": grouped($0)]) }
            ?? self("book.page", ["page": grouped(page)])
        return [pages, fraction].compactMap(\.self).joined(separator: " · ")
    }

    /// Returns the progress of a book for the Home page, such as "145 of 382 · 38%", "page 145" or "38%".
    func amount(_ amount: ProgressEntry.Amount?, of pageCount: Int?) -> String {
        let percent = amount?.fraction(of: pageCount).map { String(ProgressEntry.Amount.wholePercent($0)) }
        switch (amount, pageCount) {
        case (.page(let page)?, let count?):
            return self(
                "home.amount", ["page": grouped(page), "count": grouped(count), "percent": percent ?? "0"])
        case (.page(let page)?, nil): return self("home.amountPage", ["page": grouped(page)])
        case (.percent?, _): return self("home.amountPercent", ["percent": percent ?? "0"])
        case (nil, let count?): return self("home.amount", ["page": "0", "count": grouped(count), "percent": "0"])
        case (nil, nil): return self("home.amountNone")
        }
    }
}

// MARK: Terms of the domain

// All pages use this one set of terms.
extension Texts {
    func label(for role: Contributor.Role) -> String { self("common.role_\(role.rawValue)") }

    func label(for format: Metadata.Format?) -> String { self("common.format_\(format?.rawValue ?? "unknown")") }

    func label(for status: Copy.Status) -> String { self("common.\(status.rawValue)") }

    func source(_ source: SourceName) -> String {
        switch source {
        case .library, .offlineIndex, .person: self("common.source_\(source.rawValue)")
        default: source.displayName
        }
    }

    /// Returns the name of a language, such as "German", or "German (AT)" if the code has a region (BCP 47, 2.1). An
    /// unknown code is returned unchanged.
    func language(code: String) -> String {
        let names = section("languages")
        let parts = code.cleanedLine.split(separator: "-", maxSplits: 1)
        guard let name = parts.first.flatMap({ names[$0.lowercased()] }) else {
            return String(code.cleanedLine.prefix(35))
        }
        return parts.count > 1 ? "\(name) (\(parts[1].prefix(20)))" : name
    }

    /// Returns the displayed name of an identifier's scheme, such as "Goodreads". It is the same in every language.
    func identifier(_ scheme: String) -> String {
        Self.identifiers[scheme.lowercased()] ?? scheme.cleanedLine.replacing("_", with: " ")
    }

    private static let identifiers = [
        "amazon": "Amazon", "asin": "ASIN", "doi": "DOI", "goodreads": "Goodreads", "google": "Google Books",
        "isbn_10": "ISBN-10", "isbn_13": "ISBN-13", "lccn": "LCCN", "librarything": "LibraryThing", "oclc": "OCLC",
        "openlibrary": "Open Library", "openlibrary_work": "Open Library (work)", "overdrive": "OverDrive",
        "project_gutenberg": "Project Gutenberg",
        "storygraph": "StoryGraph", "wikidata": "Wikidata",
    ]

    /// Returns ``Book/displayTitle`` in this language.
    func shownTitle(of book: Book) -> String {
        book.edition.metadata.title ?? book.edition.isbn?.hyphenated ?? self("common.untitled")
    }

    /// Returns ``Edition/displayTitle(_:_:)`` in this language.
    func title(_ title: String?, _ isbn: ISBN?) -> String {
        title.map { String($0.cleanedLine.prefix(TextLimit.title)) } ?? isbn?.hyphenated ?? self("common.untitled")
    }
}

extension String {
    /// The text with a capital first letter.
    var capitalisedFirst: String { prefix(1).uppercased() + dropFirst() }
}
