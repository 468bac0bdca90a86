import Bookplate

/// The number of a book in its series.
enum SeriesNumber {
    /// Returns the number in a statement such as "Bd. 3", "v.1307", "Band / Volume 2", "3. kötet", "第3巻", "[2]" or
    /// "62347 : Sachbuch".
    static func number(in text: String?) -> String? {
        guard let text else { return nil }
        // What follows a mark is a series within the series.
        var number = MarcText.part(of: text.cleanedLine, before: ":", ";", "=")
        number = MarcText.withoutMarks(number.filter { !"[]()#".contains($0) })
        // A catalogue in two languages names the volume twice.
        while let rest = withoutWord(number) { number = rest }
        if let word = number.firstIndex(where: \.isLetter), following.contains(letters(number[word...])) {
            let start = String(number[..<word]).cleaned
            if start.contains(where: \.isNumber),
                number[word...].drop(while: \.isLetter).allSatisfy({ ". ".contains($0) })
            {
                number = start
            }
        }
        if number.hasSuffix("."), !number.hasSuffix("..") { number.removeLast() }
        return FieldLimits.text(number, limit: TextLimit.seriesNumber)
    }

    /// Returns the text without the word for a volume at its beginning.
    ///
    /// - Returns: `nil` if it begins with none, or if no number follows.
    private static func withoutWord(_ text: String) -> String? {
        let lowered = text.lowercased()
        guard
            let word = leading.first(where: { word in
                guard lowered.hasPrefix(word) else { return false }
                let rest = lowered.dropFirst(word.count)
                return (rest.contains(where: \.isNumber) || isRoman(rest)) && rest.first?.isLetter == false
            })
        else { return nil }
        return String(text.dropFirst(word.count).drop { "./ ".contains($0) })
    }

    /// Returns true for the rest of "Vol. III".
    private static func isRoman(_ rest: Substring) -> Bool {
        let word = rest.drop { ". ".contains($0) }
        return !word.isEmpty && word.allSatisfy { "ivxlcdm.".contains($0) } && word.first != "."
    }

    private static func letters(_ text: Substring) -> String { text.prefix(while: \.isLetter).lowercased() }

    /// The words for a volume before its number, longer ones first.
    private static let leading = [
        "številka", "zeszyt", "ausgabe", "fascicule", "fascículo", "fascicolo", "episode", "volumen", "volume",
        "number",
        "numéro", "número", "numero", "svazek", "wolumin", "issue", "folge", "reihe", "libro", "livre", "livro", "szám",
        "tome", "tomo", "band", "book", "buch", "teil", "część", "heft", "deel", "fasc", "číslo", "выпуск", "книга",
        "núm", "том", "вып", "vol", "num", "tom", "del", "díl", "bok", "no.", "n.º", "n.o", "no", "nr", "n°", "nº",
        "n.", "bd",
        "bk", "cz", "pt", "dl", "sv", "кн", "№", "v", "t", "h", "z", "č", "т", "第", "巻",
    ]

    /// The words for a volume behind its number, as in "3. Band".
    private static let following: Set<String> = [
        "band", "bd", "teil", "heft", "kötet", "köt", "szám", "sz", "díl", "sv", "svazek", "巻", "号", "冊", "集", "卷", "册",
        "권",
    ]
}
