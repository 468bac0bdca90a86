import Bookplate

/// Turns the names of catalogues, which are sorted by family name, into names as they are on the title page.
enum PersonName {
    /// Returns "First Last" for a name such as "Last, First, 1930-" or "Last, First (Full First)". Japanese, Chinese
    /// and Korean names keep their order.
    static func displayed(_ text: String) -> String? {
        let line = text.cleanedLine.replacing("\u{3000}", with: " ")
        // The fuller form of a first name follows in brackets.
        let plain = line.firstRange(of: " (").map { String(line[..<$0.lowerBound]) } ?? line
        return displayed(plain.split(separator: ",").map { String($0).cleaned }.filter { !$0.isEmpty })
    }

    /// - Parameter parts: the parts of a name between its commas, such as "Garnett", "Constance" and "1861-1946".
    static func displayed(_ parts: [String]) -> String? {
        // Years of life, as in "1953-", "b. 1920" and "active 16th century", are left out. Only ASCII digits count,
        // because the characters for numbers occur in Japanese names.
        let parts = parts.enumerated().filter { offset, part in
            offset == 0 ? part.contains(where: \.isLetter) : !part.contains { $0.isASCII && $0.isNumber }
        }.map(\.element.withoutFullStop)
        guard let family = parts.first else { return nil }
        guard parts.count > 1 else { return FieldLimits.text(family) }
        let second = parts[1]
        // In "King, Martin Luther, Jr.", the suffix stands behind the name.
        let isInOrder = isSuffix(second) || isEastAsian(family)
        var words = isInOrder ? [family, second] : [second, family]
        if parts.count > 2, isSuffix(parts[2]) { words.append(parts[2]) }
        return FieldLimits.text(words.joined(separator: " "))
    }

    private static func isSuffix(_ part: String) -> Bool {
        ["jr", "jr.", "sr", "sr.", "ii", "iii", "iv"].contains(part.lowercased())
    }

    private static func isEastAsian(_ name: String) -> Bool {
        name.unicodeScalars.contains { scalar in
            // Kana, the unified ideographs with their extensions, and Hangul.
            (0x3040...0x30FF).contains(scalar.value) || (0x3400...0x9FFF).contains(scalar.value)
                || (0xAC00...0xD7AF).contains(scalar.value) || (0x20000...0x3FFFF).contains(scalar.value)
        }
    }
}
