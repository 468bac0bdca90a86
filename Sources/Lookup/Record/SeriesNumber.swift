import Bookplate

/// The number of a book in its series.
enum SeriesNumber {
    /// Returns the number in a statement such as "Bd. 3", "v.1307", "[2]" or "62347 : Sachbuch".
    static func number(in text: String?) -> String? {
        guard let text else { return nil }
        // What follows a mark is a series within the series.
        var number = MarcText.part(of: text.cleanedLine, before: ":", ";", "=")
        number = MarcText.withoutMarks(number.filter { !"[]()#".contains($0) })
        let lowered = number.lowercased()
        let word = words.first { word in
            guard lowered.hasPrefix(word) else { return false }
            let rest = lowered.dropFirst(word.count)
            return rest.contains(where: \.isNumber) && rest.first?.isLetter == false
        }
        if let word { number = String(number.dropFirst(word.count).drop { ". ".contains($0) }) }
        if number.hasSuffix("."), !number.hasSuffix("..") { number.removeLast() }
        return FieldLimits.text(number, limit: TextLimit.seriesNumber)
    }

    /// The words for a volume, longer ones first.
    private static let words = [
        "volume", "number", "numéro", "issue", "tome", "band", "book", "teil", "część", "heft", "vol", "num", "no",
        "nr", "n°",
        "nº", "bd", "bk", "cz", "pt", "v", "t", "h",
    ]
}
