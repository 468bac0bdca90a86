// Check digits and the characters people type. Sources: GS1 General Specifications 7.9; ISBN Users' Manual, 5.5;
// ISO 3297 (ISSN), annex A.

/// - Returns: the values 0-9, `nil` when there is anything but ASCII digits.
func digitValues(_ ascii: some Sequence<UInt8>) -> [Int]? {
    var values: [Int] = []
    for byte in ascii {
        guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
        values.append(Int(byte - UInt8(ascii: "0")))
    }
    return values
}

/// - Parameter values: thirteen digits, the last of which is not looked at.
func ean13CheckDigit(_ values: [Int]) -> Int {
    let sum = values.prefix(12).enumerated().reduce(0) { $0 + $1.element * ($1.offset.isMultiple(of: 2) ? 1 : 3) }
    return (10 - sum % 10) % 10
}

func ean8CheckDigitIsRight(_ values: [Int]) -> Bool {
    values.enumerated().reduce(0) { $0 + $1.element * ($1.offset.isMultiple(of: 2) ? 3 : 1) }.isMultiple(of: 10)
}

/// - Parameter body: the first nine ASCII digits.
func isbn10CheckCharacter(_ body: some Collection<UInt8>) -> UInt8 { modulo11(body, firstWeight: 10) }

/// - Returns: the check character of an ISSN, `nil` when the first seven are no digits.
func issnCheckCharacter(_ characters: [UInt8]) -> UInt8? {
    digitValues(characters.prefix(7)) == nil ? nil : modulo11(characters.prefix(7), firstWeight: 8)
}

private func modulo11(_ body: some Collection<UInt8>, firstWeight: Int) -> UInt8 {
    let sum = body.enumerated().reduce(0) { $0 + Int($1.element - UInt8(ascii: "0")) * (firstWeight - $1.offset) }
    let check = (11 - sum % 11) % 11
    return check == 10 ? UInt8(ascii: "X") : UInt8(ascii: "0") + UInt8(check)
}

/// Reduces a typed number to its ASCII digits and X: strips the AIM prefix, the word ISBN, white space, hyphens and
/// every Unicode dash, and turns digits of other scripts into ASCII ones.
///
/// - Throws: ``ISBNRefusal/unexpectedCharacter(_:position:)`` for anything else.
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
    if rest.prefix(4).uppercased() == "ISBN" {
        drop(4)
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
    /// Unicode's dash punctuation, the minus sign, the soft hyphen and the invisible marks that copying from the web brings.
    fileprivate var isDash: Bool {
        unicodeScalars.allSatisfy { scalar in
            scalar.properties.generalCategory == .dashPunctuation || scalar.properties.generalCategory == .format
                || scalar == "\u{2212}"
        }
    }

    /// 0-9 for a decimal digit of any script, `nil` for everything else.
    fileprivate var decimalDigitValue: Int? {
        guard let scalar = unicodeScalars.first, unicodeScalars.count == 1,
            scalar.properties.generalCategory == .decimalNumber, let value = scalar.properties.numericValue
        else { return nil }
        return Int(value)
    }
}
