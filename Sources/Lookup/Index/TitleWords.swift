import Bookplate

/// The words by which the index finds titles: without case and diacritics, as in the library's search, and without
/// punctuation.
enum TitleWords {
    /// Appends the words of a text, each with a space behind it.
    static func append(_ text: UnsafeBufferPointer<UInt8>, to out: inout [UInt8]) {
        let start = out.count
        var isInWord = false
        var index = 0
        while index < text.count {
            let byte = text[index]
            if byte < 0x80 {
                index += 1
                let letter = ascii[Int(byte)]
                if letter != 0 {
                    out.append(letter)
                    isInWord = true
                } else if isInWord {
                    out.append(0x20)
                    isInWord = false
                }
                continue
            }
            // Two bytes encode the letters of Latin with its diacritics. Each has always the same folded form.
            guard byte >= 0xC2, byte < 0xC9 || (byte == 0xC9 && index + 1 < text.count && text[index + 1] < 0x90),
                index + 1 < text.count
            else {
                out.removeSubrange(start...)
                appendSlowly(text, to: &out)
                return
            }
            let folded = latin[(Int(byte & 0x1F) << 6 | Int(text[index + 1] & 0x3F)) - 0x80]
            index += 2
            if folded.isEmpty {
                if isInWord { out.append(0x20) }
                isInWord = false
            } else {
                out += folded
                isInWord = true
            }
        }
        if isInWord { out.append(0x20) }
    }

    private static func appendSlowly(_ text: UnsafeBufferPointer<UInt8>, to out: inout [UInt8]) {
        var isInWord = false
        for scalar in String(decoding: text, as: UTF8.self).searchFolded.unicodeScalars {
            if isPartOfWord(scalar) {
                out += String(scalar).utf8
                isInWord = true
            } else if isInWord {
                out.append(0x20)
                isInWord = false
            }
        }
        if isInWord { out.append(0x20) }
    }

    private static func isPartOfWord(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.properties.isAlphabetic { return true }
        return switch scalar.properties.generalCategory {
        case .decimalNumber, .letterNumber, .otherNumber, .spacingMark: true
        default: false
        }
    }

    /// The lower-case letter or digit for each ASCII character; 0 for one that separates words.
    private static let ascii: [UInt8] = (0..<128).map { (byte: UInt8) in
        switch byte {
        case 0x30...0x39, 0x61...0x7A: byte
        case 0x41...0x5A: byte + 0x20
        default: 0
        }
    }

    /// The folded form of the characters from U+0080 to U+024F; empty for one that separates words.
    private static let latin: [[UInt8]] = (0x80..<0x250).map(folded)

    private static func folded(_ value: UInt32) -> [UInt8] {
        guard let scalar = Unicode.Scalar(value) else { return [] }
        var bytes: [UInt8] = []
        for part in String(scalar).searchFolded.unicodeScalars where isPartOfWord(part) { bytes += String(part).utf8 }
        return bytes
    }

    /// Returns the words of a text.
    static func words(of text: String) -> [String] {
        var (text, bytes) = (text, [UInt8]())
        text.withUTF8 { append($0, to: &bytes) }
        return bytes.split(separator: 0x20).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns a word that stands for the whole of a title, so that an exact title is found among any number of longer
    /// ones with the same words.
    ///
    /// - Parameter words: the words of the title, each with a space behind it.
    static func whole(_ words: some Sequence<UInt8>) -> String {
        // FNV-1a, of which 40 bits are kept. Titles are compared when a record has been read, so that two titles with
        // the same word do no harm.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in words { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return "zq" + String((hash ^ hash >> 40) & 0xFF_FFFF_FFFF, radix: 36)
    }

    /// Appends the words of a record as they are stored: without the most common ones, and with a word for the whole
    /// title.
    static func append(
        record title: UnsafeBufferPointer<UInt8>, _ others: [UnsafeBufferPointer<UInt8>], to out: inout [UInt8]
    ) {
        var words: [UInt8] = []
        words.reserveCapacity(160)
        append(title, to: &words)
        let whole = whole(words)
        for text in others { append(text, to: &words) }
        var start = 0
        for (index, byte) in words.enumerated() where byte == 0x20 {
            if !isCommon(words[start..<index]) { out += words[start...index] }
            start = index + 1
        }
        out += whole.utf8
    }

    /// Returns true for an article, a preposition and the like, which is in so many titles that finding it takes long
    /// and excludes little.
    static func isCommon(_ word: some Collection<UInt8>) -> Bool {
        word.count <= 4 && common.contains(word.reduce(0) { $0 << 8 | UInt32($1) })
    }

    private static let common: Set<UInt32> = Set(
        """
        the of and a an in on to for with from by at as or der die das und von des dem den ein eine im zur zum le la les
        de du et un une en au aux il lo i gli e di da del el los las y o os do dos das em van het een te og och i s d l
        """.split(whereSeparator: \.isWhitespace).map { $0.utf8.reduce(0) { $0 << 8 | UInt32($1) } })
}
