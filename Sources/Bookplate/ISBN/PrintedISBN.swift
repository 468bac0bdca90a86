/// An ISBN that was read from printed text in a picture. It is as reliable as an ISBN that a person has typed: its
/// check digit is right, but one misreading in ten or eleven passes that check by chance.
public struct PrintedISBN: Sendable, Equatable {
    public let isbn: ISBN
    /// The number as printed, with its own hyphens or spaces, such as `0-14-044926-2`. An SBN of nine digits is given
    /// the leading 0 that makes it an ISBN.
    public let text: String
    /// True if a letter was replaced by the digit that it resembles.
    public let isCorrected: Bool

    public init(isbn: ISBN, text: String, isCorrected: Bool = false) {
        (self.isbn, self.text, self.isCorrected) = (isbn, text, isCorrected)
    }

    /// Finds the ISBNs in text that was read from a picture.
    ///
    /// - A number after the word ISBN or SBN counts if its check digit is right. Letters that resemble digits are read
    ///   as those digits if exactly one ISBN results.
    /// - Further numbers count if each is separated from the number before it only by words and punctuation that are
    ///   usual in lists of ISBNs (`(hardback)`, `pbk.`, `and`).
    /// - Without the word, a number counts only if it has thirteen digits, begins with 978 or 979 and lies in an
    ///   assigned range. Ten digits do not count, because they may be a telephone number: 978 is also an area code of
    ///   Massachusetts.
    ///
    /// - Parameter text: the lines as printed; only the first 100,000 characters are searched.
    /// - Returns: each ISBN once, in the order of the text; empty if there are no ISBNs.
    public static func all(in text: String) -> [PrintedISBN] {
        let print = Array(text.prefix(100_000))
        var found: [PrintedISBN] = []
        var position = 0
        // The search continues where the last number ended, so that no digit counts twice.
        while position < print.count {
            let numbers: (found: [PrintedISBN], end: Int)
            if let label = PrintedLabel(in: print, at: position) {
                numbers = named(by: label, in: print)
            } else if let (number, end) = unnamed(in: print, at: position) {
                numbers = ([number], end)
            } else {
                position += 1
                continue
            }
            for number in numbers.found where !found.contains(where: { $0.isbn == number.isbn }) {
                found.append(number)
            }
            position = max(position + 1, numbers.end)
        }
        return found
    }

    /// Returns the numbers after the word ISBN, and the index after the last number.
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

    /// Returns the number of thirteen digits at `position` if it is recognisable as an ISBN without the word before it.
    private static func unnamed(in print: [Character], at position: Int) -> (PrintedISBN, end: Int)? {
        guard print[position] == "9", PrintedNumber.mayBegin(in: print, at: position),
            let number = PrintedNumber.first(of: [13], in: print, at: position, isNamed: false)
        else { return nil }
        return (number.printed, number.end)
    }
}

/// The word before a number: ISBN, I.S.B.N., ISBN-13, SBN, and their usual misreadings.
struct PrintedLabel {
    /// The index after the word, such as ISBN, that precedes the number.
    let end: Int
    /// The indices at which to look for the number. If the word ISBN is followed by a length such as `-13` or `10`, the
    /// first index is the one after this length. The last index is the one directly after the word.
    let forms: [Int]
    /// The lengths that the number may have, in digits, likeliest first.
    let lengths: [Int]

    /// The characters that text recognition may return for each letter of the word.
    private static let letters: [Set<Character>] = [
        ["I", "i", "1", "l", "|", "!", "J", "ı", "Í", "í", "Ï", "ï"], ["S", "s", "5", "$"], ["B", "b", "8", "ß"],
        ["N", "n"],
    ]

    /// - Returns: `nil` if neither ISBN nor SBN begins at `position`.
    init?(in print: [Character], at position: Int) {
        guard Self.letters[0].contains(print[position]) || Self.letters[1].contains(print[position]) else { return nil }
        // The word must not be part of a longer word, except in eISBN, and in TSBN, where the I was read as T.
        if position > 1, print[position - 1].isLetter, print[position - 2].isLetter { return nil }
        if let end = Self.end(of: Self.letters[...], in: print, at: position) {
            (self.end, lengths) = (end, [13, 10])
        } else if let end = Self.end(of: Self.letters[1...], in: print, at: position) {
            // The word is SBN: either a Standard Book Number (1967-74), which has nine digits, or an ISBN whose I was
            // not read.
            (self.end, lengths) = (end, [9, 13, 10])
        } else {
            return nil
        }
        forms = [Self.behindLength(in: print, at: end), end].compactMap { $0 }
    }

    /// Matches the letters in order, with at most a dot and a space between two letters, and returns the index after
    /// the word; `nil` if the letters do not match.
    private static func end(of letters: ArraySlice<Set<Character>>, in print: [Character], at position: Int) -> Int? {
        var position = position
        for letter in letters {
            if letter != letters.first {
                if position < print.count, print[position] == "." || print[position] == "·" { position += 1 }
                if position < print.count, print[position] == " " { position += 1 }
            }
            guard position < print.count, letter.contains(print[position]) else { return nil }
            position += 1
        }
        // The match must be a whole word; only the plural "isbns" counts too.
        if position < print.count, print[position] == "s" { position += 1 }
        guard position == print.count || !print[position].isLetter || PrintedNumber.mayBe(print[position]) else {
            return nil
        }
        return position
    }

    /// Returns the index after the length that follows the word ISBN, as in `-13`, ` 10:` or `(13)`; `nil` if no length
    /// follows.
    private static func behindLength(in print: [Character], at position: Int) -> Int? {
        var position = position
        var passed = 0
        while position < print.count, passed < 3,
            print[position] == " " || print[position] == "(" || print[position].isPrintedDash
        {
            position += 1
            passed += 1
        }
        guard position + 2 < print.count, print[position] == "1",
            print[position + 1] == "0" || print[position + 1] == "3",
            !print[position + 2].isNumber
        else { return nil }
        return position + 2
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

    /// Returns the index of the next digit; `nil` if anything but punctuation and ``words`` comes before it, or if no
    /// digit follows within 60 characters.
    static func start(in print: [Character], behind position: Int) -> Int? {
        var position = position
        let limit = min(print.count, position + 60)
        var lines = 0
        while position < limit {
            let character = print[position]
            if character.isNewline { lines += 1 }
            guard lines <= 2 else { return nil }
            if let end = wordEnd(in: print, at: position, limit: limit) {
                position = end
            } else if PrintedNumber.mayBe(character) {
                return position
            } else if character.isLetter || character.isNumber {
                return nil
            } else {
                position += 1
            }
        }
        return nil
    }

    private static func wordEnd(in print: [Character], at position: Int, limit: Int) -> Int? {
        var end = position
        while end < limit, print[end].isLetter { end += 1 }
        guard end > position, end == print.count || !print[end].isNumber else { return nil }
        return words.contains(String(print[position..<end]).lowercased()) ? end : nil
    }
}

/// A printed number with a given count of digits. It may contain hyphens, spaces, a line break, and letters that
/// resemble digits.
struct PrintedNumber {
    let printed: PrintedISBN
    /// The index after the last digit.
    let end: Int

    /// The characters that text recognition confuses with digits, each with the digits that it may stand for.
    private static let alike: [Character: [UInt8]] = [
        "O": [0], "o": [0], "Q": [0], "D": [0], "I": [1], "l": [1], "|": [1], "i": [1], "!": [1], "Z": [2], "z": [2],
        "S": [5], "s": [5], "$": [5], "G": [6, 0], "b": [6], "T": [7], "?": [7, 2], "B": [8, 3], "&": [8], "g": [9],
        "q": [9],
    ]
    private static let crosses: Set<Character> = ["X", "x", "×", "Х", "х"]
    /// The maximum number of letters in a number; text with more letters is not a number.
    private static let mostLetters = 3
    /// The maximum number of characters between two digits of a number.
    private static let widestGap = 3

    /// Returns true if a number can begin with this character: that is, if it is a digit or resembles one.
    static func mayBe(_ character: Character) -> Bool { character.isASCIIDigit || alike[character] != nil }

    /// Returns true if the text before `position` allows a number to begin there.
    static func mayBegin(in print: [Character], at position: Int) -> Bool {
        guard position > 0 else { return true }
        let before = print[position - 1]
        if before.isLetter || before.isNumber { return false }
        guard position > 1, print[position - 2].isNumber else { return true }
        // "1-978…", "3.978…" and "12/978…" are parts of other numbers.
        return before.isWhitespace
    }

    /// Returns the number at `position`. The lengths are tried in order, and the first one that makes the number an
    /// ISBN is used.
    ///
    /// - Parameter isNamed: true if the number follows the word ISBN. Letters then count as the digits that they
    ///   resemble, and the number may contain a line break anywhere. If it contains no such letters, its range need not
    ///   be assigned.
    static func first(of lengths: [Int], in print: [Character], at position: Int, isNamed: Bool) -> PrintedNumber? {
        for length in lengths {
            if let number = PrintedNumber(of: length, in: print, at: position, isNamed: isNamed) { return number }
        }
        return nil
    }

    private init?(of length: Int, in print: [Character], at position: Int, isNamed: Bool) {
        guard let run = Run(of: length, in: print, at: position, isNamed: isNamed),
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
        // This is the start of a thirteen-digit number whose end was not read. Ten-digit ISBNs from Nigeria begin in
        // the same way, so they are lost.
        if length < 13, digits.starts(with: Array("978".utf8)) || digits.starts(with: Array("979".utf8)) { return nil }
        // A number that does not follow the word ISBN, or that has corrected letters, is less certain, so it must lie
        // in an assigned range.
        guard (isNamed && letters == 0) || isbn.hyphenated.count == 17 else { return nil }
        printed = PrintedISBN(isbn: isbn, text: run.text(with: digits), isCorrected: letters > 0)
        end = run.end
    }

    /// Returns the ASCII digits that the character may stand for, or X.
    private static func values(of character: Character, isLast: Bool) -> [UInt8] {
        if let value = character.asciiValue, character.isASCIIDigit { return [value] }
        if isLast, crosses.contains(character) { return [UInt8(ascii: "X")] }
        return (alike[character] ?? []).map { $0 + UInt8(ascii: "0") }
    }

    private static func isbn(_ digits: [UInt8]) -> ISBN? {
        do throws(ISBNRefusal) {
            return try ISBN(String(decoding: digits, as: UTF8.self))
        } catch {
            // Most texts with digits are not ISBNs, and the reason does not matter.
            return nil
        }
    }

    /// A run of the required number of digits, with the characters between them.
    private struct Run {
        private(set) var characters: [Character] = []
        /// The characters before each digit except the first.
        private var gaps: [[Character]] = []
        let end: Int

        init?(of length: Int, in print: [Character], at position: Int, isNamed: Bool) {
            var position = position
            var gap: [Character] = []
            while position < print.count, characters.count < length {
                let character = print[position]
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
                position += 1
            }
            guard characters.count == length else { return nil }
            end = position
        }

        /// Returns true if the gap may separate two digits of one number. The gap may contain one line break. If the
        /// word ISBN does not precede the number, the line break must follow a hyphen.
        private static func mayPart(_ gap: [Character], isNamed: Bool) -> Bool {
            switch gap.count(where: \.isNewline) {
            case 0: true
            case 1: isNamed || gap.first?.isPrintedDash == true
            default: false
            }
        }

        /// Returns true if the number ends after these digits and is not part of a longer number.
        func isWhole(in print: [Character], isNamed: Bool) -> Bool {
            guard end < print.count else { return true }
            let follower = print[end]
            // A word may follow directly, but not a character that could be another digit.
            if follower.isNumber || (follower.isLetter && (!isNamed || mayBe(follower) || crosses.contains(follower))) {
                return false
            }
            var next = end
            while next < print.count, next - end <= widestGap, print[next].mayPartDigits { next += 1 }
            guard next < print.count, print[next].isASCIIDigit else { return true }
            let between = print[end..<next]
            if between.contains(where: \.isNewline) { return true }
            // More digits follow on the line. They are a separate number only after a space, and only if this number is
            // grouped like an ISBN.
            return between.contains { $0.isWhitespace } && !between.contains(where: \.isPrintedDash) && isInOrder
        }

        /// True if the digits are not separated, or are grouped as in an ISBN or as below a bar code.
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

    /// True for hyphens and dashes, and for the characters that text recognition returns for faint or broken hyphens.
    var isPrintedDash: Bool {
        unicodeScalars.allSatisfy {
            $0.properties.generalCategory == .dashPunctuation || "\u{2212}\u{00AD}~_=¬".unicodeScalars.contains($0)
        }
    }

    /// True if the character may stand between two digits of one number.
    var mayPartDigits: Bool { isWhitespace || isPrintedDash || ".·•'’‘\"”“°*›‹<>".contains(self) }
}
