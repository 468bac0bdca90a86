/// A number of a given count of digits as it stands in print: with hyphens and spaces, perhaps over the end of a line, and with letters
/// that look like digits.
struct PrintedNumber {
    let printed: PrintedISBN
    /// Behind its last digit.
    let end: Int

    /// Letters that are taken for digits, and for which: the shapes that readers of print confuse.
    private static let alike: [Character: [UInt8]] = [
        "O": [0], "o": [0], "Q": [0], "D": [0], "I": [1], "l": [1], "|": [1], "i": [1], "!": [1], "Z": [2], "z": [2],
        "S": [5], "s": [5], "$": [5], "G": [6, 0], "b": [6], "T": [7], "?": [7, 2], "B": [8, 3], "&": [8], "g": [9],
        "q": [9],
    ]
    private static let crosses: Set<Character> = ["X", "x", "×", "Х", "х"]
    /// More letters than this are no number.
    private static let mostLetters = 3
    /// Between two digits, at most so many characters.
    private static let widestGap = 3

    /// Whether a number may begin with it.
    static func mayBe(_ character: Character) -> Bool { character.isASCIIDigit || alike[character] != nil }

    /// Whether what stands before leaves this digit the first of its number.
    static func mayBegin(in print: [Character], at place: Int) -> Bool {
        guard place > 0 else { return true }
        let before = print[place - 1]
        if before.isLetter || before.isNumber { return false }
        guard place > 1, print[place - 2].isNumber else { return true }
        // "1-978…", "3.978…" and "12/978…" are parts of something else.
        return before.isWhitespace
    }

    /// The first of the lengths that makes an ISBN.
    ///
    /// - Parameter isNamed: behind the word, letters count as the digits they look like, the line may end anywhere, and no range is
    ///   asked for.
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
        // The beginning of thirteen whose end was not read. Nigeria's own ten digits begin so, too, and are lost with it.
        if length < 13, digits.starts(with: Array("978".utf8)) || digits.starts(with: Array("979".utf8)) { return nil }
        // What is less sure has to be a number that somebody was given.
        guard (isNamed && letters == 0) || isbn.hyphenated.count == 17 else { return nil }
        printed = PrintedISBN(isbn: isbn, text: run.text(with: digits), isCorrected: letters > 0)
        end = run.end
    }

    /// ASCII digits, or X.
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
            // Most texts with digits in them are no ISBN; nobody asks why.
            return nil
        }
    }

    /// As many digits as asked for, with what stands between them.
    private struct Run {
        private(set) var characters: [Character] = []
        /// What stands before each digit but the first.
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

        /// At most one line ends there; without the word before, only behind a hyphen.
        private static func mayPart(_ gap: [Character], isNamed: Bool) -> Bool {
            switch gap.count(where: \.isNewline) {
            case 0: true
            case 1: isNamed || gap.first?.isPrintedDash == true
            default: false
            }
        }

        /// Whether the number ends here, and does not go on.
        func isWhole(in print: [Character], isNamed: Bool) -> Bool {
            guard end < print.count else { return true }
            let follower = print[end]
            // A word may be stuck to it, but nothing that could be a digit more.
            if follower.isNumber || (follower.isLetter && (!isNamed || mayBe(follower) || crosses.contains(follower))) {
                return false
            }
            var next = end
            while next < print.count, next - end <= widestGap, print[next].mayPartDigits { next += 1 }
            guard next < print.count, print[next].isASCIIDigit else { return true }
            let between = print[end..<next]
            if between.contains(where: \.isNewline) { return true }
            // More digits on the line: another number only behind a space, and where this one is parted as they are.
            return between.contains { $0.isWhitespace } && !between.contains(where: \.isPrintedDash) && isInOrder
        }

        /// In one piece, or in the groups of an ISBN or of the digits below a bar code.
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

        /// The number with plain hyphens and spaces where any stood.
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

    /// Hyphens and dashes, and what a faint or a broken one is read as.
    var isPrintedDash: Bool {
        unicodeScalars.allSatisfy {
            $0.properties.generalCategory == .dashPunctuation || "\u{2212}\u{00AD}~_=¬".unicodeScalars.contains($0)
        }
    }

    /// Whether it may stand between two digits of one number.
    var mayPartDigits: Bool { isWhitespace || isPrintedDash || ".·•'’‘\"”“°*›‹<>".contains(self) }
}
