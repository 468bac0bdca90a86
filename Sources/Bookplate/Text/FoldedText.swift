import Foundation

extension String {
    /// The text with its case folded. The names of tags and shelves are compared in this form. Canonically equivalent
    /// spellings have the same folded text.
    package var caseFolded: String {
        if utf8.allSatisfy({ $0 < 0x80 }) { return lowercased() }
        // Changing to lower case, to upper case and to lower case again gives the same result as full case folding for
        // everything that people write (ẞ, ß and ss; ς and σ). The standard library has no table for case folding.
        return precomposedStringWithCanonicalMapping.lowercased().uppercased().lowercased()
            .precomposedStringWithCanonicalMapping
    }

    /// The text without case and diacritics. Searches compare texts in this form.
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

    /// The replacements for letters and signs that people type in a simpler form, but that Unicode does not decompose.
    private static let letters: [Unicode.Scalar: String] = [
        "ø": "o", "ł": "l", "đ": "d", "ð": "d", "ħ": "h", "æ": "ae", "œ": "oe", "þ": "th", "ı": "i",
        "’": "'", "‘": "'", "“": "\"", "”": "\"", "–": "-", "—": "-",
    ]
}
