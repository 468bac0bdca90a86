import Bookplate

extension FieldLimits {
    /// Returns the page count in a statement of extent such as "xii, 83 p.", "242 Seiten", "1 vol. (534 p.)" or "242".
    ///
    /// If several numbers precede the word for pages, the largest is returned, because the others count the pages of a
    /// preface or of plates: "4, 242, [16] S." gives 242. What follows a plus sign accompanies the book. Pages of
    /// plates are not counted with the text, and leaves ("152 Bl.", "[40] h.") are not pages.
    static func pages(inExtent text: String) -> Int? {
        let words = words(in: text)
        var counts: [Int] = []
        var numbers: [Int] = []
        var isBare = true
        for (place, word) in words.enumerated() {
            if let number = Int(word) {
                numbers.append(number)
            } else if pageWords.contains(word) {
                guard let most = numbers.max() else { continue }
                if !arePlates(words[(place + 1)...]) { counts.append(most) }
                numbers = []
                isBare = false
            } else if isRoman(word), numbers.isEmpty {
                // The pages of a preface.
                continue
            } else if !isRoman(word), !uncountedWords.contains(word) {
                // Numbers before any other word, as in "2 volumes (534 p.)" and "5 v. (80 p.)", are not those of pages.
                numbers = []
                isBare = false
            } else {
                isBare = false
            }
        }
        if isBare, numbers.count == 1 { counts = numbers }
        return counts.max().flatMap { pages.contains($0) ? $0 : nil }
    }

    /// Splits a text into numbers and words in small letters, up to what accompanies the book. Digits and letters of
    /// full width, as in "３０４ｐ", count as the usual ones.
    private static func words(in text: String) -> [String] {
        let folded = String(
            String.UnicodeScalarView(
                text.unicodeScalars.prefix(200).map { scalar in
                    (0xFF01...0xFF5E).contains(scalar.value)
                        ? Unicode.Scalar(UInt8(scalar.value - 0xFEE0)) : scalar
                }))
        var words: [String] = []
        // Japanese catalogues put the word for plates before their number.
        var rest = folded.lowercased().prefix { !"+図".contains($0) }
        while let first = rest.first {
            let isDigit = first.isASCII && first.isNumber
            let word = isDigit ? rest.prefix { $0.isASCII && $0.isNumber } : rest.prefix { $0.isLetter }
            guard !word.isEmpty else {
                rest.removeFirst()
                continue
            }
            rest = rest.dropFirst(word.count)
            if word == "1", let mark = rest.first, ",.".contains(mark) {
                // A thousand, as in "1,024 p.". In "4,242 S.", two counts may stand without a space.
                let next = rest.dropFirst().prefix { $0.isASCII && $0.isNumber }
                if next.count == 3 {
                    words.append("\(word)\(next)")
                    rest = rest.dropFirst(4)
                    continue
                }
            }
            words.append(String(word))
        }
        return words
    }

    /// Returns true for a Roman numeral, but not for the "v" of volumes nor for media whose names look like one.
    private static func isRoman(_ word: String) -> Bool {
        !["v", "cd", "mc"].contains(word) && word.allSatisfy { "ivxlcdm".contains($0) }
    }

    /// Returns true if the words behind a count of pages say that plates were counted: "[16] p. of plates".
    private static func arePlates(_ words: ArraySlice<String>) -> Bool {
        words.prefix(3).prefix { Int($0) == nil }.contains { word in
            ["plate", "planche", "pl", "taf", "tabl", "lám", "lam", "tav", "obr"].contains { word.hasPrefix($0) }
        }
    }

    /// The words and abbreviations for pages in catalogues of many countries, also for pages that bear no number.
    private static let pageWords: Set<String> = [
        "p", "pp", "pg", "pgs", "page", "pages", "unpaged", "unpaginated", "pag", "pagina", "pagine", "página",
        "páginas", "paginas", "pàgines", "pág", "págs", "s", "seite", "seiten", "bladzijden", "blz", "sid", "sidor",
        "side", "sider", "sivua", "strona", "strony", "stron", "str", "stran", "strana", "strany", "strán", "oldal",
        "sayfa", "с", "стр", "страниц", "стор", "σ", "σελ", "頁", "ページ", "页", "쪽", "면",
    ]

    /// The words between a number and the word for pages which say that the pages bear no number.
    private static let uncountedWords: Set<String> = [
        "unnumbered", "unn", "numbered", "ungezählte", "ungez", "nicht", "gezählte", "gez", "unpaginierte", "unpag",
        "nummerierte", "numerierte", "non", "paginées", "numérotées", "n", "num", "nienumerowanych", "nienumerowane",
        "nlb", "sin", "numerar", "paginar", "onumrerade", "onumr", "numerate", "nečíslovaných", "nečíslované", "nečísl",
        "不分",
    ]
}
