/// Parses dates of publication, which sources and people give as free text.
public enum PublishedDate {
    /// - Parameter text: for example "2015", "March 2009", "1984-10", "January 22, 1988", "22 Jan. 1988", "c1998",
    ///   "[1969?]", "[20]10", "03/17/1969".
    /// - Returns: the year, with the month and the day if they are unambiguous; `nil` if there is no year.
    public static func day(in text: String) -> CalendarDay? {
        let text = withoutInnerBrackets(text.prefix(100).cleanedForDates)
        // A day with a time, as in "2015-10-01T00:00:00+02:00", is that day where the book was published.
        if let exact = CalendarDay(String(text.prefix { $0 != "t" })) { return exact }
        let words = words(of: text)
        let numbers = words.compactMap { word in word.allSatisfy(\.isASCIIDigit) ? word : nil }
        let years = numbers.filter { $0.count == 4 }.compactMap { Int($0) }.filter { (1000...2199).contains($0) }
        // In "1969-1971" and "1990, c1985", the first year is that of the edition.
        guard let year = years.first else { return compact(numbers) }
        guard years.count == 1 else { return CalendarDay(year: year) }
        let small = numbers.filter { $0.count <= 2 }.compactMap { Int($0) }
        if let month = words.lazy.compactMap(month(named:)).first {
            return small.count == 1
                ? CalendarDay(year: year, month: month, day: small[0]) ?? CalendarDay(year: year, month: month)
                : CalendarDay(year: year, month: month)
        }
        return numeric(
            year: year, small: small, yearIsFirst: numbers.first?.count == 4, isDotted: text.contains("."))
            ?? CalendarDay(year: year)
    }

    /// Parses the numbers of a date such as "1984/10", "2022.02.09", "17/03/1969" or "9.2.1969".
    ///
    /// - Parameter isDotted: true for dates such as 9.2.1969, in which the day is first.
    /// - Returns: `nil` if the order of month and day is ambiguous.
    private static func numeric(year: Int, small: [Int], yearIsFirst: Bool, isDotted: Bool) -> CalendarDay? {
        switch (small.count, yearIsFirst) {
        case (1, _): return CalendarDay(year: year, month: small[0])
        case (2, true): return CalendarDay(year: year, month: small[0], day: small[1])
        case (2, false) where small[0] > 12: return CalendarDay(year: year, month: small[1], day: small[0])
        case (2, false) where small[1] > 12 || small[0] == small[1]:
            return CalendarDay(year: year, month: small[0], day: small[1])
        case (2, false) where isDotted: return CalendarDay(year: year, month: small[1], day: small[0])
        default: return nil
        }
    }

    /// Parses a date of eight or six digits, such as "19690317" or "196903".
    private static func compact(_ numbers: [Substring]) -> CalendarDay? {
        guard numbers.count == 1, let digits = numbers.first, digits.count == 8 || digits.count == 6,
            let year = Int(digits.prefix(4)), (1000...2199).contains(year),
            let month = Int(digits.dropFirst(4).prefix(2))
        else { return nil }
        guard digits.count == 8 else { return CalendarDay(year: year, month: month) }
        return Int(digits.suffix(2)).flatMap { CalendarDay(year: year, month: month, day: $0) }
    }

    /// Removes the brackets inside a year of which the cataloguer supplied a part: "[20]10", "199[5]".
    private static func withoutInnerBrackets(_ text: String) -> String {
        text.replacing(/[0-9\[\]]+/) { run in
            let digits = run.output.filter(\.isASCIIDigit)
            return digits.count == 4 ? String(digits) : String(run.output)
        }
    }

    /// Splits the text into words, each a run of ASCII digits or a run of letters: "c1998" becomes two words.
    private static func words(of text: String) -> [Substring] {
        var words: [Substring] = []
        var start = text.startIndex
        while start < text.endIndex {
            let isDigit = text[start].isASCIIDigit
            guard isDigit || text[start].isLetter else {
                start = text.index(after: start)
                continue
            }
            let end = text[start...].firstIndex { isDigit ? !$0.isASCIIDigit : !$0.isLetter } ?? text.endIndex
            words.append(text[start..<end])
            start = end
        }
        return words
    }

    private static func month(named word: Substring) -> Int? {
        guard word.count >= 3 else { return nil }
        return months.firstIndex { names in names.contains { word == $0 || (word.count >= 3 && word == $0.prefix(3)) } }
            .map { $0 + 1 }
    }

    /// The names of the months in English, French, Spanish, German and Italian, without diacritics. The first three
    /// letters of a name are accepted too.
    private static let months: [[String]] = [
        ["january", "janvier", "enero", "januar", "gennaio"],
        ["february", "fevrier", "febrero", "februar", "febbraio"],
        ["march", "mars", "marzo", "marz", "maerz"], ["april", "avril", "abril", "aprile"],
        ["may", "mai", "mayo", "maggio"],
        ["june", "juin", "junio", "juni", "giugno"], ["july", "juillet", "julio", "juli", "luglio"],
        ["august", "aout", "agosto"], ["september", "septembre", "septiembre", "settembre", "sept"],
        ["october", "octobre", "octubre", "oktober", "ottobre"], ["november", "novembre", "noviembre"],
        ["december", "decembre", "diciembre", "dezember", "dicembre"],
    ]
}

extension Substring {
    /// The text in lower case, without the diacritics that occur in names of months.
    fileprivate var cleanedForDates: String {
        let plain: [Character: Character] = ["é": "e", "û": "u", "ä": "a"]
        return String(String(self).cleaned.lowercased().map { plain[$0] ?? $0 })
    }
}
