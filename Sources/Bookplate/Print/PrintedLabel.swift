/// The word in front of a number: ISBN, I.S.B.N., ISBN-13, SBN, and what a reading of print makes of them.
struct PrintedLabel {
    /// Behind the word.
    let end: Int
    /// Where the number may begin: behind `-13` or `10` where one follows, and behind the word alone.
    let forms: [Int]
    /// How many digits the number may have, the likeliest first.
    let lengths: [Int]

    /// Letters of the word, each as it may be read.
    private static let letters: [Set<Character>] = [
        ["I", "i", "1", "l", "|", "!", "J", "ı", "Í", "í", "Ï", "ï"], ["S", "s", "5", "$"], ["B", "b", "8", "ß"],
        ["N", "n"],
    ]

    /// - Returns: `nil` where the word does not begin at `place`.
    init?(in print: [Character], at place: Int) {
        guard Self.letters[0].contains(print[place]) || Self.letters[1].contains(print[place]) else { return nil }
        // Not within a longer word; but there is eISBN, and TSBN is what an I may be read as.
        if place > 1, print[place - 1].isLetter, print[place - 2].isLetter { return nil }
        if let end = Self.end(of: Self.letters[...], in: print, at: place) {
            (self.end, lengths) = (end, [13, 10])
        } else if let end = Self.end(of: Self.letters[1...], in: print, at: place) {
            // Standard Book Numbers, 1967-74, have nine digits; or the I was not read.
            (self.end, lengths) = (end, [9, 13, 10])
        } else {
            return nil
        }
        forms = [Self.behindLength(in: print, at: end), end].compactMap { $0 }
    }

    /// The letters one after the other, with at most a dot and a space between two.
    private static func end(of letters: ArraySlice<Set<Character>>, in print: [Character], at place: Int) -> Int? {
        var place = place
        for letter in letters {
            if letter != letters.first {
                if place < print.count, print[place] == "." || print[place] == "·" { place += 1 }
                if place < print.count, print[place] == " " { place += 1 }
            }
            guard place < print.count, letter.contains(print[place]) else { return nil }
            place += 1
        }
        // A longer word is another: "isbns" is the same in the plural.
        if place < print.count, print[place] == "s" { place += 1 }
        guard place == print.count || !print[place].isLetter || PrintedNumber.mayBe(print[place]) else { return nil }
        return place
    }

    /// `-13`, ` 10:`, `(13)`: which length is meant.
    private static func behindLength(in print: [Character], at place: Int) -> Int? {
        var place = place
        var passed = 0
        while place < print.count, passed < 3, print[place] == " " || print[place] == "(" || print[place].isPrintedDash
        {
            place += 1
            passed += 1
        }
        guard place + 2 < print.count, print[place] == "1", print[place + 1] == "0" || print[place + 1] == "3",
            !print[place + 2].isNumber
        else { return nil }
        return place + 2
    }

    /// What stands between the word and a number, or between two numbers of a list.
    private static let words: Set<String> = [
        "no", "nr", "number", "hb", "hbk", "pb", "pbk", "hc", "hardback", "hardcover", "hard", "paperback", "paper",
        "soft",
        "softcover", "limp", "cloth", "cased", "case", "cover", "covers", "bound", "binding", "edition", "ed",
        "library",
        "trade", "lib", "bdg", "alk", "set", "and", "or", "und", "et", "geb", "gebunden", "kart", "kartoniert", "br",
        "brosch", "broschiert", "leinen", "ln", "relié", "broché", "ebook", "print", "invalid",
    ]

    /// Where the next digits begin, when nothing stands before them but punctuation and words of ``words``, for a line and a half.
    static func start(in print: [Character], behind place: Int) -> Int? {
        var place = place
        let limit = min(print.count, place + 60)
        var lines = 0
        while place < limit {
            let character = print[place]
            if character.isNewline { lines += 1 }
            guard lines <= 2 else { return nil }
            if let end = wordEnd(in: print, at: place, limit: limit) {
                place = end
            } else if PrintedNumber.mayBe(character) {
                return place
            } else if character.isLetter || character.isNumber {
                return nil
            } else {
                place += 1
            }
        }
        return nil
    }

    private static func wordEnd(in print: [Character], at place: Int, limit: Int) -> Int? {
        var end = place
        while end < limit, print[end].isLetter { end += 1 }
        guard end > place, end == print.count || !print[end].isNumber else { return nil }
        return words.contains(String(print[place..<end]).lowercased()) ? end : nil
    }
}
