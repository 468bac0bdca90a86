/// Why a text or a payload is no ISBN. Every case names the digit or the rule.
public enum ISBNRefusal: Error, Hashable, Sendable {
    case empty
    /// A character that no number has, with its position in the text (1 is the first).
    case unexpectedCharacter(Character, position: Int)
    /// Digits counted without hyphens and spaces.
    case wrongLength(Int)
    case notDigits(String)
    /// An X anywhere but at the end of ten characters.
    case misplacedX
    case wrongCheckDigit(given: String, expected: String, length: Int)
    /// A sound number of another kind.
    case notABook(CodeKind)
    /// The short code of small goods, eight digits.
    case ean8
}

extension ISBNRefusal: CustomStringConvertible {
    /// One sentence for a person, without a full stop.
    public var description: String {
        switch self {
        case .empty: "there is no number in it"
        case .unexpectedCharacter(let character, let position):
            "\"\(character.isPrintable ? String(character) : "a control character")\" at position \(position) belongs to no ISBN"
        case .wrongLength(let count): "it has \(count) digit\(count == 1 ? "" : "s"); an ISBN has 10 or 13"
        case .notDigits: "a 13-digit code has digits only"
        case .misplacedX: "X stands only at the end of a 10-digit ISBN"
        case .wrongCheckDigit(let given, let expected, let length):
            "the last digit of this ISBN-\(length) should be \(expected), not \(given); one of the digits is wrong"
        case .notABook(let kind): kind.refusal
        case .ean8: "it is an EAN-8, the short code of small goods, not a book"
        }
    }

    /// One word for logs, events and JSON.
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
