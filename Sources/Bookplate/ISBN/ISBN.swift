/// An International Standard Book Number, always in its 13-digit form.
///
/// ISBN-10, hyphens and spaces exist only at the edges: parse them with ``init(_:)``, write them with ``isbn10`` and
/// ``hyphenated``. Source: ISBN Users' Manual, 7th edition, sections 4 and 5.
public struct ISBN: Hashable, Sendable {
    /// The thirteen digits, without hyphens. Begins with 978 or 979 (never 979-0), the check digit is right.
    public let digits: String

    /// Takes a bar code's payload.
    ///
    /// - Parameter payload: the thirteen digits of an EAN-13 symbol, as encoded.
    /// - Throws: ``ISBNRefusal`` that says why the payload names no book.
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

    /// Parses a number as a person types it or a handheld scanner sends it: ISBN-10 or ISBN-13, with hyphens, spaces, the
    /// word "ISBN", Unicode dashes and digits, or an AIM prefix such as `]E0`.
    ///
    /// - Throws: ``ISBNRefusal`` that names the digit or the rule.
    public init(_ text: String) throws(ISBNRefusal) {
        let characters = try normalized(text)
        switch characters.count {
        case 0: throw .empty
        case 13:
            guard !characters.contains(UInt8(ascii: "X")) else { throw .misplacedX }
            try self.init(ean13: String(decoding: characters, as: UTF8.self))
        case 10: try self.init(isbn10: characters)
        case 12 where digitValues(characters) != nil:
            let values = [0] + digitValues(characters)!
            throw ean13CheckDigit(values) == values[12] ? .notABook(.upc) : .wrongLength(12)
        case 8 where digitValues(characters) != nil && ean8CheckDigitIsRight(digitValues(characters)!):
            throw .ean8
        case 8 where issnCheckCharacter(characters) == characters[7]: throw .notABook(.issn)
        default: throw .wrongLength(characters.count)
        }
    }

    /// An EAN-13 with the EAN-2 or EAN-5 printed beside it, as handheld scanners send both where add-ons are switched on: in one
    /// piece, or parted as ``init(_:)`` takes it.
    ///
    /// - Returns: `nil` for anything else.
    public static func withAddon(_ text: String) -> (isbn: ISBN, addon: String)? {
        do throws(ISBNRefusal) {
            let characters = try normalized(text)
            guard characters.count == 15 || characters.count == 18, digitValues(characters) != nil else { return nil }
            let digits = String(decoding: characters, as: UTF8.self)
            return (try ISBN(ean13: String(digits.prefix(13))), String(digits.dropFirst(13)))
        } catch {
            return nil
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

    /// The ten-character form, `nil` for 979, which has none.
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
    /// Orders by the digits.
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
