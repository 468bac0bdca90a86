import Bookplate

extension FieldLimits {
    /// Returns the page count in a statement such as "xii, 83 p.", "242 Seiten", "1 vol. (534 p.)" or "242".
    ///
    /// If several numbers precede the word for pages, the largest is returned, because the others count the pages of a
    /// preface or of plates: "4, 242, [16] S." gives 242. What follows a plus sign accompanies the book.
    static func pages(inExtent text: String) -> Int? {
        var numbers: [Int] = []
        var isBare = true
        for word in words(in: text.prefix(200)) {
            if let number = Int(word) {
                numbers.append(number)
            } else if pageWords.contains(word.lowercased()) {
                if let most = numbers.max(), pages.contains(most) { return most }
            } else if !isRoman(word) || word.lowercased() == "v" {
                // Numbers before any other word, as in "2 volumes (534 p.)" and "5 v. (80 p.)", are not those of pages.
                numbers = []
                isBare = false
            }
        }
        guard isBare, numbers.count == 1, pages.contains(numbers[0]) else { return nil }
        return numbers[0]
    }

    /// Splits a text into runs of digits and runs of letters, up to the first plus sign.
    private static func words(in text: Substring) -> [Substring] {
        var words: [Substring] = []
        var rest = text.prefix { $0 != "+" }
        while let first = rest.first {
            let isDigit = first.isASCII && first.isNumber
            let word =
                isDigit ? rest.prefix { $0.isASCII && $0.isNumber } : rest.prefix { $0.isLetter }
            if word.isEmpty { rest.removeFirst() } else { words.append(word) }
            rest = rest.dropFirst(word.count)
        }
        return words
    }

    private static func isRoman(_ word: Substring) -> Bool { word.allSatisfy { "ivxlcdmIVXLCDM".contains($0) } }

    /// The words and abbreviations for pages in catalogues of many countries.
    private static let pageWords: Set<String> = [
        "p", "pp", "page", "pages", "pag", "pagina", "pagine", "página", "páginas", "págs", "s", "seite", "seiten",
        "sid",
        "sidor", "sider", "sivua", "strona", "strony", "stron", "str", "stran", "strana", "oldal", "blz", "с", "стр",
        "頁",
        "ページ", "页",
    ]
}
