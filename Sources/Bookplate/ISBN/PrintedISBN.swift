/// An ISBN read from printed text in a picture, as reliable as one that a person has typed. Its check digit is right;
/// one misreading in ten or eleven passes that check by chance.
public struct PrintedISBN: Sendable, Equatable {
    public let isbn: ISBN
    /// The number as printed, with its own hyphens or spaces, such as `0-14-044926-2`; an SBN of nine digits has got
    /// the leading 0 that makes it an ISBN.
    public let text: String
    /// True if a letter was read as the digit it resembles.
    public let isCorrected: Bool

    public init(isbn: ISBN, text: String, isCorrected: Bool = false) {
        (self.isbn, self.text, self.isCorrected) = (isbn, text, isCorrected)
    }

    /// Finds the ISBNs in text that was read from a picture.
    ///
    /// - A number after the word ISBN or SBN counts if its check digit is right; letters in it that resemble digits
    ///   count as these if exactly one ISBN results.
    /// - Further numbers after it count if only words and punctuation of such lists stand between (`(hardback)`,
    ///   `pbk.`, `and`).
    /// - Without the word, only thirteen digits count that begin with 978 or 979 and lie in an assigned range. Ten
    ///   digits do not: 978 is also an area code of Massachusetts.
    ///
    /// - Parameter text: the lines as printed; only the first 100,000 characters are searched.
    /// - Returns: each ISBN once, in the order of the text; empty if there is none.
    public static func all(in text: String) -> [PrintedISBN] {
        let print = Array(text.prefix(100_000))
        var found: [PrintedISBN] = []
        var place = 0
        // The search continues where the last number ended, so that no digit counts twice.
        while place < print.count {
            let numbers: (found: [PrintedISBN], end: Int)
            if let label = PrintedLabel(in: print, at: place) {
                numbers = named(by: label, in: print)
            } else if let (number, end) = unnamed(in: print, at: place) {
                numbers = ([number], end)
            } else {
                place += 1
                continue
            }
            for number in numbers.found where !found.contains(where: { $0.isbn == number.isbn }) {
                found.append(number)
            }
            place = max(place + 1, numbers.end)
        }
        return found
    }

    /// Returns the numbers after the word, and the end of the last one.
    private static func named(by label: PrintedLabel, in print: [Character]) -> (found: [PrintedISBN], end: Int) {
        var (found, end) = ([PrintedISBN](), label.end)
        for form in label.forms {
            guard let start = PrintedLabel.start(in: print, behind: form),
                let number = PrintedNumber.first(
                    of: label.lengths, in: print, at: start, isNamed: true)
            else { continue }
            found.append(number.printed)
            end = number.end
            break
        }
        guard !found.isEmpty else { return ([], label.end) }
        while let start = PrintedLabel.start(in: print, behind: end),
            let number = PrintedNumber.first(of: [13, 10], in: print, at: start, isNamed: false)
        {
            found.append(number.printed)
            end = number.end
        }
        return (found, end)
    }

    /// Returns thirteen digits that are recognisable as an ISBN without the word.
    private static func unnamed(in print: [Character], at place: Int) -> (PrintedISBN, end: Int)? {
        guard print[place] == "9", PrintedNumber.mayBegin(in: print, at: place),
            let number = PrintedNumber.first(of: [13], in: print, at: place, isNamed: false)
        else { return nil }
        return (number.printed, number.end)
    }
}

/// The word before a number: ISBN, I.S.B.N., ISBN-13, SBN, and their usual misreadings.
struct PrintedLabel {
    /// The index after the word.
    let end: Int
    /// The indices at which the number may begin: after `-13` or `10` if one follows, and directly after the word.
    let forms: [Int]
    /// The numbers of digits that the number may have, likeliest first.
    let lengths: [Int]

    /// The letters of the word, each with the characters it may be read as.
    private static let letters: [Set<Character>] = [
        ["I", "i", "1", "l", "|", "!", "J", "ı", "Í", "í", "Ï", "ï"], ["S", "s", "5", "$"], ["B", "b", "8", "ß"],
        ["N", "n"],
    ]

    /// - Returns: `nil` if the word does not begin at `place`.
    init?(in print: [Character], at place: Int) {
        guard Self.letters[0].contains(print[place]) || Self.letters[1].contains(print[place]) else { return nil }
        // Not within a longer word, except eISBN, and TSBN, where the I was read as T.
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

    /// Matches the letters in order, with at most a dot and a space between two.
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
        // A longer word is a different word; only the plural "isbns" is the same.
        if place < print.count, print[place] == "s" { place += 1 }
        guard place == print.count || !print[place].isLetter || PrintedNumber.mayBe(print[place]) else { return nil }
        return place
    }

    /// Returns the index after a length, as in `-13`, ` 10:` or `(13)`.
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

    /// The words that may stand between ISBN and a number, or between two numbers of a list.
    private static let words: Set<String> = [
        "no", "nr", "number", "hb", "hbk", "pb", "pbk", "hc", "hardback", "hardcover", "hard", "paperback", "paper",
        "soft",
        "softcover", "limp", "cloth", "cased", "case", "cover", "covers", "bound", "binding", "edition", "ed",
        "library",
        "trade", "lib", "bdg", "alk", "set", "and", "or", "und", "et", "geb", "gebunden", "kart", "kartoniert", "br",
        "brosch", "broschiert", "leinen", "ln", "relié", "broché", "ebook", "print", "invalid",
    ]

    /// Returns the index of the next digit if only punctuation and ``words`` stand before it, within a line and a half.
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

/// A number with a given count of digits as it is printed: with hyphens and spaces, perhaps over the end of a line, and
/// with letters that resemble digits.
struct PrintedNumber {
    let printed: PrintedISBN
    /// The index after the last digit.
    let end: Int

    /// The letters that are read as digits, with those digits: shapes that text recognition confuses.
    private static let alike: [Character: [UInt8]] = [
        "O": [0], "o": [0], "Q": [0], "D": [0], "I": [1], "l": [1], "|": [1], "i": [1], "!": [1], "Z": [2], "z": [2],
        "S": [5], "s": [5], "$": [5], "G": [6, 0], "b": [6], "T": [7], "?": [7, 2], "B": [8, 3], "&": [8], "g": [9],
        "q": [9],
    ]
    private static let crosses: Set<Character> = ["X", "x", "×", "Х", "х"]
    /// With more letters than this, it is not a number.
    private static let mostLetters = 3
    /// The most characters between two digits.
    private static let widestGap = 3

    /// Returns true if a number may begin with the character.
    static func mayBe(_ character: Character) -> Bool { character.isASCIIDigit || alike[character] != nil }

    /// Returns true if the text before this digit allows it to be the first of its number.
    static func mayBegin(in print: [Character], at place: Int) -> Bool {
        guard place > 0 else { return true }
        let before = print[place - 1]
        if before.isLetter || before.isNumber { return false }
        guard place > 1, print[place - 2].isNumber else { return true }
        // "1-978…", "3.978…" and "12/978…" are parts of other numbers.
        return before.isWhitespace
    }

    /// Returns the number for the first of the lengths that makes an ISBN.
    ///
    /// - Parameter isNamed: true after the word ISBN: letters count as the digits they resemble, the line may end
    ///   anywhere, and the range need not be assigned.
    static func first(of lengths: [Int], in print: [Character], at place: Int, isNamed: Bool) -> PrintedNumber? {
        for length in lengths {
            if let number = PrintedNumber(of: length, in: print, at: place, isNamed: isNamed) { return number }
        }
        return nil
    }

    private init?(of length: Int, in print: [Character], at place: Int, isNamed: Bool) {
        guard let run = Run(of: length, in: print, at: place, isNamed: isNamed),
            run.isWhole(in: print, isNamed: isNamed)
        else { return nil }
        let letters = run.characters.enumerated().count { index, character in
            !character.isASCIIDigit && !(index == length - 1 && length < 13 && Self.crosses.contains(character))
        }
        guard letters == 0 || (isNamed && letters <= Self.mostLetters) else { return nil }
        var readings: [[UInt8]] = [[]]
        for (index, character) in run.characters.enumerated() {
            let values = Self.values(of: character, isLast: index == length - 1 && length < 13)
            readings = readings.flatMap { reading in values.map { reading + [$0] } }
        }
        let right = readings.compactMap { digits in Self.isbn(digits).map { (digits, $0) } }
        guard let (digits, isbn) = right.first, right.count == 1 else { return nil }
        // The start of a thirteen-digit number whose end was not read. Ten-digit ISBNs of Nigeria begin the same way
        // and are lost.
        if length < 13, digits.starts(with: Array("978".utf8)) || digits.starts(with: Array("979".utf8)) { return nil }
        // A less certain number must lie in an assigned range.
        guard (isNamed && letters == 0) || isbn.hyphenated.count == 17 else { return nil }
        printed = PrintedISBN(isbn: isbn, text: run.text(with: digits), isCorrected: letters > 0)
        end = run.end
    }

    /// The possible ASCII digits, or X.
    private static func values(of character: Character, isLast: Bool) -> [UInt8] {
        if let value = character.asciiValue, character.isASCIIDigit { return [value] }
        if isLast, crosses.contains(character) { return [UInt8(ascii: "X")] }
        return (alike[character] ?? []).map { $0 + UInt8(ascii: "0") }
    }

    private static func isbn(_ digits: [UInt8]) -> ISBN? {
        let text = String(decoding: digits, as: UTF8.self)
        do throws(ISBNRefusal) {
            return try ISBN(digits.count == 9 ? "0" + text : text)
        } catch {
            // Most texts with digits are not ISBNs, and the reason does not matter.
            return nil
        }
    }

    /// The required number of digits, with the characters between them.
    private struct Run {
        private(set) var characters: [Character] = []
        /// The characters before each digit except the first.
        private var gaps: [[Character]] = []
        let end: Int

        init?(of length: Int, in print: [Character], at place: Int, isNamed: Bool) {
            var place = place
            var gap: [Character] = []
            while place < print.count, characters.count < length {
                let character = print[place]
                let isDigit =
                    isNamed
                    ? mayBe(character) || (characters.count == length - 1 && crosses.contains(character))
                    : character.isASCIIDigit || (characters.count == 9 && length == 10 && crosses.contains(character))
                if isDigit {
                    guard characters.isEmpty || Self.mayPart(gap, isNamed: isNamed) else { return nil }
                    if !characters.isEmpty { gaps.append(gap) }
                    characters.append(character)
                    gap = []
                } else {
                    gap.append(character)
                    guard character.mayPartDigits, gap.count <= widestGap else { return nil }
                }
                place += 1
            }
            guard characters.count == length else { return nil }
            end = place
        }

        /// Allows at most one line break, and without the word ISBN only after a hyphen.
        private static func mayPart(_ gap: [Character], isNamed: Bool) -> Bool {
            switch gap.count(where: \.isNewline) {
            case 0: true
            case 1: isNamed || gap.first?.isPrintedDash == true
            default: false
            }
        }

        /// Returns true if the number ends here.
        func isWhole(in print: [Character], isNamed: Bool) -> Bool {
            guard end < print.count else { return true }
            let follower = print[end]
            // A word may follow directly, but nothing that could be another digit.
            if follower.isNumber || (follower.isLetter && (!isNamed || mayBe(follower) || crosses.contains(follower))) {
                return false
            }
            var next = end
            while next < print.count, next - end <= widestGap, print[next].mayPartDigits { next += 1 }
            guard next < print.count, print[next].isASCIIDigit else { return true }
            let between = print[end..<next]
            if between.contains(where: \.isNewline) { return true }
            // More digits on the line: a separate number only after a space, and only if this one is grouped like an
            // ISBN.
            return between.contains { $0.isWhitespace } && !between.contains(where: \.isPrintedDash) && isInOrder
        }

        /// True for digits in one piece, or in the groups of an ISBN or of the digits below a bar code.
        private var isInOrder: Bool {
            var groups = [1]
            for gap in gaps { if gap.isEmpty { groups[groups.count - 1] += 1 } else { groups.append(1) } }
            if groups.count == 1 { return true }
            switch characters.count {
            case 13:
                return groups == [1, 6, 6] || (groups.count == 5 && groups[0] == 3 && groups[4] == 1)
                    || groups == [3, 10]
            case 10: return groups.count == 4 && groups[3] == 1
            default: return groups.count == 3 && groups[2] == 1
            }
        }

        /// Returns the number with plain hyphens and spaces in place of the printed ones.
        func text(with digits: [UInt8]) -> String {
            var text = String(UnicodeScalar(digits[0]))
            for (index, gap) in gaps.enumerated() {
                if gap.contains(where: \.isPrintedDash) { text += "-" } else if !gap.isEmpty { text += " " }
                text.append(Character(UnicodeScalar(digits[index + 1])))
            }
            guard digits.count == 9 else { return text }
            return "0" + (text.contains("-") ? "-" : text.contains(" ") ? " " : "") + text
        }
    }
}

extension Character {
    var isASCIIDigit: Bool { isASCII && isNumber }

    /// True for hyphens and dashes, and for the characters that faint or broken ones are read as.
    var isPrintedDash: Bool {
        unicodeScalars.allSatisfy {
            $0.properties.generalCategory == .dashPunctuation || "\u{2212}\u{00AD}~_=¬".unicodeScalars.contains($0)
        }
    }

    /// True if the character may stand between two digits of one number.
    var mayPartDigits: Bool { isWhitespace || isPrintedDash || ".·•'’‘\"”“°*›‹<>".contains(self) }
}
