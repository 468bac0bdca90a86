/// Where a word can stand, with the letter that its words carry in the index.
enum SearchField: Character, CaseIterable {
    /// The title's first word.
    case opening = "s"
    case title = "t"
    case number = "n"
    case author = "a"
    case subtitle = "u"
    case series = "e"
    case tag = "g"
    /// Notes and quotes.
    case remark = "r"

    /// Whether words of one and two letters are looked for in it.
    var takesBriefWords: Bool {
        switch self {
        case .opening, .title, .author, .subtitle, .series: true
        case .number, .tag, .remark: false
        }
    }
}

/// What the index holds of one copy, ready to be stored.
struct SearchDocument {
    private(set) var words: [String] = []
    private var seen: Set<String> = []

    mutating func add(_ found: [SearchWord], _ field: SearchField) {
        for word in found {
            add(String(field.rawValue) + word.text)
            guard field.takesBriefWords, !word.isIdeographic else { continue }
            // A word of one or two letters in a query is then a word of the index, not the beginning of half of them.
            for length in 1...2 where word.ends.count > length {
                add(String(field.rawValue) + String(word.text.unicodeScalars.prefix(length)))
            }
        }
    }

    /// The forms in which a number is looked for: 13 digits, ISBN-10, and as entered.
    mutating func addNumbers(_ numbers: [String]) {
        for number in numbers where !number.isEmpty { add(String(SearchField.number.rawValue) + number) }
    }

    private mutating func add(_ word: String) {
        if seen.insert(word).inserted { words.append(word) }
    }

    var text: String { words.joined(separator: " ") }
}

/// A number as it stands in the index: letters and digits of ASCII, in lower case, nothing between them.
func searchNumber(_ text: String) -> String {
    String(text.searchFolded.filter { $0.isASCII && ($0.isNumber || $0.isLetter) }.prefix(WordSplitter.longestWord))
}
