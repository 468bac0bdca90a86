import Foundation

extension Character {
    /// The number of columns that the character takes on a terminal: 2 for East Asian wide characters and emoji, 0 for
    /// a combining mark alone. Source: Unicode Standard Annex 11, the ranges that are wide or full-width.
    var columns: Int {
        guard let scalar = unicodeScalars.first else { return 0 }
        // Letters of most European languages are found without a search in Unicode's tables.
        if (0x20..<0x7F).contains(scalar.value) || (0xC0..<0x250).contains(scalar.value) { return 1 }
        if scalar.properties.generalCategory == .nonspacingMark || scalar.properties.generalCategory == .format {
            return 0
        }
        if scalar.properties.isEmojiPresentation { return 2 }
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }
}

extension String {
    /// The number of columns that the text takes on a terminal. Escape sequences are not counted.
    package var columns: Int {
        if isPlainASCII { return utf8.count }
        return withoutEscapes.reduce(0) { $0 + $1.columns }
    }

    /// Returns the text cut to `width` columns, with an ellipsis where it was cut. The text must not contain escape
    /// sequences.
    package func fitted(_ width: Int) -> String {
        guard columns > width else { return self }
        var out = ""
        var used = 0
        for character in self {
            if used + character.columns > width - 1 { break }
            out.append(character)
            used += character.columns
        }
        return out + "…"
    }

    /// Returns the text, followed by spaces up to `width` columns.
    package func padded(_ width: Int) -> String { self + String(repeating: " ", count: max(0, width - columns)) }

    private var withoutEscapes: String {
        guard contains("\u{1B}") else { return self }
        var out = ""
        var inEscape = false
        for character in self {
            if inEscape {
                if character == "m" { inEscape = false }
            } else if character == "\u{1B}" {
                inEscape = true
            } else {
                out.append(character)
            }
        }
        return out
    }
}
