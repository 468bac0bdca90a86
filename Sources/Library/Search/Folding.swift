import Foundation

extension String {
    /// The text without regard to case: what makes two tags or shelves the same. Canonically equivalent spellings are one.
    package var caseFolded: String {
        if utf8.allSatisfy({ $0 < 0x80 }) { return lowercased() }
        // Lower, upper, lower again per scalar is full case folding for all that people write (ẞ, ß and ss; ς and σ); the
        // standard library has no table of its own for it.
        return precomposedStringWithCanonicalMapping.lowercased().uppercased().lowercased()
            .precomposedStringWithCanonicalMapping
    }

    /// The text without regard to case and diacritics: what search compares.
    package var searchFolded: String {
        if utf8.allSatisfy({ $0 < 0x80 }) { return lowercased() }
        var folded = String.UnicodeScalarView()
        for scalar in caseFolded.decomposedStringWithCompatibilityMapping.unicodeScalars {
            if let letters = Self.letters[scalar] {
                folded.append(contentsOf: letters.unicodeScalars)
            } else if scalar.properties.generalCategory != .nonspacingMark {
                folded.append(scalar)
            }
        }
        return String(folded)
    }

    /// Letters that people type without their stroke although Unicode does not take them apart.
    private static let letters: [Unicode.Scalar: String] = [
        "ø": "o", "ł": "l", "đ": "d", "ð": "d", "ħ": "h", "æ": "ae", "œ": "oe", "þ": "th", "ı": "i",
        "’": "'", "‘": "'", "“": "\"", "”": "\"", "–": "-", "—": "-",
    ]
}
