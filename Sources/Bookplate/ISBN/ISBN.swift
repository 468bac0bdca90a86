/// An International Standard Book Number, always in its 13-digit form.
///
/// ISBN-10, hyphens and spaces exist only in input and output: ``init(_:)`` parses them, and ``isbn10`` and
/// ``hyphenated`` write them. Source: ISBN Users' Manual, 7th edition, sections 4 and 5.
public struct ISBN: Hashable, Sendable {
    /// The thirteen digits, without hyphens. They begin with 978 or 979 (never 979-0), and the check digit is right.
    public let digits: String

    /// Parses the payload of a bar code.
    ///
    /// - Parameter payload: the thirteen digits that an EAN-13 symbol encodes.
    /// - Throws: ``ISBNRefusal`` with the reason if the payload is not an ISBN.
    public init(ean13 payload: String) throws(ISBNRefusal) {
        let ascii = Array(payload.utf8)
        guard ascii.count == 13 else { throw .wrongLength(ascii.count) }
        guard let values = digitValues(ascii) else { throw .notDigits(payload) }
        let expected = ean13CheckDigit(values)
        guard values[12] == expected else {
            throw .wrongCheckDigit(given: String(values[12]), expected: String(expected), length: 13)
        }
        let kind = CodeKind(ean13: ascii)
        guard kind == .isbn else { throw .notABook(kind) }
        digits = payload
    }

    /// Parses a number as a person types it or a handheld scanner sends it: an ISBN-10, an ISBN-13, or an SBN of nine
    /// digits, possibly with hyphens, spaces, the word "ISBN" or "SBN", Unicode dashes and digits, or an AIM prefix
    /// such as `]E0`. An SBN, as printed before 1970, is an ISBN-10 without its leading 0.
    ///
    /// - Throws: ``ISBNRefusal``, which says which digit is wrong or which rule is broken.
    public init(_ text: String) throws(ISBNRefusal) {
        let characters = try normalized(text)
        switch characters.count {
        case 0: throw .empty
        case 13:
            guard !characters.contains(UInt8(ascii: "X")) else { throw .misplacedX }
            try self.init(ean13: String(decoding: characters, as: UTF8.self))
        case 10: try self.init(isbn10: characters)
        case 9 where isbn10CheckCharacter(ofSBN: characters) == characters[8]:
            try self.init(isbn10: [UInt8(ascii: "0")] + characters)
        case 12 where digitValues(characters) != nil:
            let values = [0] + digitValues(characters)!
            throw ean13CheckDigit(values) == values[12] ? .notABook(.upc) : .wrongLength(12)
        case 8 where digitValues(characters) != nil && ean8CheckDigitIsRight(digitValues(characters)!):
            throw .ean8
        case 8 where issnCheckCharacter(characters) == characters[7]: throw .notABook(.issn)
        default: throw .wrongLength(characters.count)
        }
    }

    /// - Parameter characters: ten ASCII characters, digits or X.
    private init(isbn10 characters: [UInt8]) throws(ISBNRefusal) {
        guard !characters.dropLast().contains(UInt8(ascii: "X")) else { throw .misplacedX }
        let expected = isbn10CheckCharacter(characters[0..<9])
        guard characters[9] == expected else {
            throw .wrongCheckDigit(
                given: String(UnicodeScalar(characters[9])), expected: String(UnicodeScalar(expected)), length: 10)
        }
        let body = Array("978".utf8) + characters[0..<9]
        let check = ean13CheckDigit(digitValues(body)! + [0])
        digits = String(decoding: body + [UInt8(ascii: "0") + UInt8(check)], as: UTF8.self)
    }

    /// The ten-character form; `nil` for an ISBN that begins with 979, which has no such form.
    public var isbn10: String? {
        guard digits.hasPrefix("978") else { return nil }
        let body = Array(digits.utf8)[3..<12]
        return String(decoding: body + [isbn10CheckCharacter(body)], as: UTF8.self)
    }
}

extension ISBN: CustomStringConvertible {
    /// The thirteen digits.
    public var description: String { digits }
}

extension ISBN: Comparable {
    /// Orders ISBNs by their digits.
    public static func < (left: ISBN, right: ISBN) -> Bool { left.digits < right.digits }
}

extension ISBN: Codable {
    public init(from decoder: any Decoder) throws {
        try self.init(ean13: decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(digits)
    }
}

/// The reason why a text or payload is not an ISBN. Every case stands for a wrong digit or a broken rule.
public enum ISBNRefusal: Error, Hashable, Sendable {
    case empty
    /// A character that cannot be part of a number, with its position in the text (1 for the first character).
    case unexpectedCharacter(Character, position: Int)
    /// A text with this number of digits, which is neither 10 nor 13. Hyphens and spaces are not counted.
    case wrongLength(Int)
    case notDigits(String)
    /// An X that is not the last of ten characters.
    case misplacedX
    case wrongCheckDigit(given: String, expected: String, length: Int)
    /// A valid number that is not an ISBN, such as an ISSN.
    case notABook(CodeKind)
    /// An EAN-8, the eight-digit code on small products.
    case ean8
}

extension ISBNRefusal: CustomStringConvertible {
    /// The reason as one sentence for people, without a full stop.
    public var description: String {
        switch self {
        case .empty: "it contains no number"
        case .unexpectedCharacter(let character, let position):
            "\"\(character.isPrintable ? String(character) : "a control character")\" at position \(position) cannot be part of an ISBN"
        case .wrongLength(let count): "it has \(count) digit\(count == 1 ? "" : "s"); an ISBN has 10 or 13"
        case .notDigits: "an ISBN-13 can contain only digits"
        case .misplacedX: "X is allowed only at the end of a 10-digit ISBN"
        case .wrongCheckDigit(let given, let expected, let length):
            "the last digit of this ISBN-\(length) should be \(expected), not \(given); one of the digits is wrong"
        case .notABook(let kind): kind.refusal
        case .ean8: "it is an EAN-8, the short code on small products, not a book"
        }
    }

    /// The reason as one word, for logs, events and JSON.
    public var code: String {
        switch self {
        case .empty: "empty"
        case .unexpectedCharacter: "unexpectedCharacter"
        case .wrongLength: "wrongLength"
        case .notDigits: "notDigits"
        case .misplacedX: "misplacedX"
        case .wrongCheckDigit: "wrongCheckDigit"
        case .notABook(let kind): kind.rawValue
        case .ean8: "ean8"
        }
    }
}

extension Character {
    var isPrintable: Bool { unicodeScalars.allSatisfy { $0.properties.generalCategory != .control } }
}

/// A number that a person typed into a form. A number that is not an ISBN is kept as text, so that nothing is lost.
public struct EnteredNumber: Sendable, Equatable {
    /// The ISBN; `nil` if the number is invalid.
    public let isbn: ISBN?
    public let text: String
    /// The reason why the number is invalid; `nil` if it is valid.
    public let refusal: ISBNRefusal?

    /// - Throws: ``TextRefusal`` for a text that is empty, damaged or too long.
    public init(_ entered: String) throws(TextRefusal) {
        text = try entered.checked(as: "ISBN", limit: TextLimit.name)
        do throws(ISBNRefusal) {
            (isbn, refusal) = (try BookNumber(text).isbn, nil)
        } catch {
            (isbn, refusal) = (nil, error)
        }
    }
}

// Check digits, and the characters that people type. Sources: GS1 General Specifications 7.9; ISBN Users' Manual, 5.5;
// ISO 3297 (ISSN), annex A.

/// - Returns: the values of the digits, 0 to 9; `nil` if there is anything but ASCII digits.
func digitValues(_ ascii: some Sequence<UInt8>) -> [Int]? {
    var values: [Int] = []
    for byte in ascii {
        guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
        values.append(Int(byte - UInt8(ascii: "0")))
    }
    return values
}

/// - Parameter values: thirteen digits, the last of which is ignored.
func ean13CheckDigit(_ values: [Int]) -> Int {
    let sum = values.prefix(12).enumerated().reduce(0) { $0 + $1.element * ($1.offset.isMultiple(of: 2) ? 1 : 3) }
    return (10 - sum % 10) % 10
}

func ean8CheckDigitIsRight(_ values: [Int]) -> Bool {
    values.enumerated().reduce(0) { $0 + $1.element * ($1.offset.isMultiple(of: 2) ? 3 : 1) }.isMultiple(of: 10)
}

/// - Parameter body: the first nine ASCII digits.
func isbn10CheckCharacter(_ body: some Collection<UInt8>) -> UInt8 { modulo11(body, firstWeight: 10) }

/// - Parameter characters: nine characters; all but the last are the body.
/// - Returns: the check character of the SBN; `nil` if the first eight characters are not digits.
func isbn10CheckCharacter(ofSBN characters: [UInt8]) -> UInt8? {
    digitValues(characters.prefix(8)) == nil
        ? nil : isbn10CheckCharacter([UInt8(ascii: "0")] + characters.prefix(8))
}

/// - Returns: the check character of an ISSN; `nil` if the first seven characters are not digits.
func issnCheckCharacter(_ characters: [UInt8]) -> UInt8? {
    digitValues(characters.prefix(7)) == nil ? nil : modulo11(characters.prefix(7), firstWeight: 8)
}

private func modulo11(_ body: some Collection<UInt8>, firstWeight: Int) -> UInt8 {
    let sum = body.enumerated().reduce(0) { $0 + Int($1.element - UInt8(ascii: "0")) * (firstWeight - $1.offset) }
    let check = (11 - sum % 11) % 11
    return check == 10 ? UInt8(ascii: "X") : UInt8(ascii: "0") + UInt8(check)
}

/// Reduces a typed number to its ASCII digits and X: removes the AIM prefix, the word ISBN or SBN, white space, hyphens
/// and every Unicode dash, and converts digits of other scripts to ASCII.
///
/// - Throws: ``ISBNRefusal/unexpectedCharacter(_:position:)`` for any other character.
func normalized(_ text: String) throws(ISBNRefusal) -> [UInt8] {
    var rest = Substring(text)
    var position = 1
    func drop(_ count: Int) {
        rest = rest.dropFirst(count)
        position += count
    }
    while let first = rest.first, first.isWhitespace { drop(1) }
    // AIM symbology identifier (ISO/IEC 15424): "]", a letter, a modifier.
    if rest.first == "]", rest.dropFirst().first?.isLetter == true, rest.count >= 3 { drop(3) }
    if let word = ["ISBN", "SBN"].first(where: { rest.prefix($0.count).uppercased() == $0 }) {
        drop(word.count)
        for form in ["-13", "-10"] where rest.hasPrefix(form) && !(rest.dropFirst(3).first?.isNumber ?? false) {
            drop(3)
        }
        if rest.first == ":" || rest.first == "." { drop(1) }
    }
    var characters: [UInt8] = []
    for (offset, character) in rest.enumerated() {
        if character.isWhitespace || character.isDash { continue }
        if let value = character.decimalDigitValue {
            characters.append(UInt8(ascii: "0") + UInt8(value))
        } else if character == "X" || character == "x" || character == "Ｘ" {
            characters.append(UInt8(ascii: "X"))
        } else {
            throw .unexpectedCharacter(character, position: position + offset)
        }
    }
    return characters
}

extension Character {
    /// True for characters of Unicode's category of dash punctuation, the minus sign, the soft hyphen, and invisible
    /// characters copied from web pages.
    fileprivate var isDash: Bool {
        unicodeScalars.allSatisfy { scalar in
            scalar.properties.generalCategory == .dashPunctuation || scalar.properties.generalCategory == .format
                || scalar == "\u{2212}"
        }
    }

    /// The value, 0 to 9, of a decimal digit of any script; `nil` for other characters.
    fileprivate var decimalDigitValue: Int? {
        guard let scalar = unicodeScalars.first, unicodeScalars.count == 1,
            scalar.properties.generalCategory == .decimalNumber, let value = scalar.properties.numericValue
        else { return nil }
        return Int(value)
    }
}
