extension String {
    /// The text without characters that nobody sees, by which names that look the same would differ: zero-width spaces,
    /// soft hyphens, fillers, tags and the like. Such a character stays where it has a meaning: a joiner in an emoji or
    /// in a word of a script whose letters join, a variation selector after the character that it changes, the tags of
    /// a flag, and a mark of direction in a text with letters that run from right to left.
    var withoutInvisibles: String {
        guard unicodeScalars.contains(where: \.isInvisible) else { return self }
        let isRightToLeft = unicodeScalars.contains(where: \.isRightToLeft)
        var kept = String.UnicodeScalarView()
        /// True within the tags of a flag, which begins with a black flag (UTS 51, ED-14a).
        var isFlag = false
        var rest = unicodeScalars[...]
        while let scalar = rest.popFirst() {
            isFlag = scalar.value == 0x1F3F4 || isFlag && scalar.isTag
            let hasMeaning =
                switch scalar.value {
                case 0x200E, 0x200F, 0x061C: isRightToLeft
                case 0x200C, 0x200D, 0x180E: scalar.joins(kept.last, rest.first)
                case 0xE0020...0xE007F: isFlag
                default: scalar.properties.isVariationSelector && scalar.varies(kept.last, before: rest.first)
                }
            if !scalar.isInvisible || hasMeaning { kept.append(scalar) }
        }
        return String(kept)
    }
}

extension Unicode.Scalar {
    /// True if the character is not drawn. The annotation characters U+FFF9 to U+FFFB are not drawn either, though
    /// Unicode does not say that a program may ignore them.
    fileprivate var isInvisible: Bool {
        value >= 0xAD && (properties.isDefaultIgnorableCodePoint || (0xFFF9...0xFFFB).contains(value))
    }

    fileprivate var isTag: Bool { (0xE0020...0xE007F).contains(value) }

    /// True for the blocks of Unicode whose letters run from right to left. Source: UAX 9, table 4, and
    /// DerivedBidiClass.txt.
    fileprivate var isRightToLeft: Bool {
        switch value {
        case 0x0590..<0x061C, 0x061D..<0x0900, 0xFB1D..<0xFE00, 0xFE70..<0xFEFF, 0x10800..<0x11000, 0x1E800..<0x1F000:
            true
        default: false
        }
    }

    /// Returns true if this joiner or separator has a meaning between two characters: in an emoji (UTS 51, ED-16), or
    /// where it shapes letters (UAX 31, 2.3).
    fileprivate func joins(_ previous: Unicode.Scalar?, _ next: Unicode.Scalar?) -> Bool {
        guard let previous else { return false }
        // In the scripts of India, a joiner after a virama also stands at the end of a word.
        if previous.properties.canonicalCombiningClass == .virama { return true }
        guard let next else { return false }
        if value == 0x200D, previous.isPartOfEmoji, next.isPartOfEmoji { return true }
        return previous.isShaped && next.isShaped
    }

    /// Returns true if this variation selector changes how a character is drawn. Selectors after ASCII characters have
    /// a meaning only in keycaps, such as 1️⃣.
    fileprivate func varies(_ previous: Unicode.Scalar?, before next: Unicode.Scalar?) -> Bool {
        guard let previous, !previous.isInvisible else { return false }
        return previous.value >= 0x1000 || previous == "©" || previous == "®" || next?.value == 0x20E3
    }

    /// True for the characters of an emoji, its modifiers and its variation selector.
    private var isPartOfEmoji: Bool { value > 0xFF && properties.isEmoji || value == 0xFE0F }

    /// True for the blocks of the scripts whose letters take another shape beside others: from Arabic to Sinhala,
    /// Tibetan and Myanmar, Khmer and Mongolian, and those that were added later.
    private var isShaped: Bool {
        switch value {
        case 0x0600..<0x0E00, 0x0F00..<0x10A0, 0x1780..<0x18B0, 0xA800..<0xAC00, 0xFB50..<0xFE00, 0xFE70..<0xFEFF,
            0x10A00..<0x12000, 0x1E900..<0x1E960:
            !isInvisible
        default: false
        }
    }
}
