import Foundation

/// A word as search stores or asks for it.
struct SearchWord: Equatable {
    /// Folded; at most ``WordSplitter/longestWord`` scalars.
    var text: String
    /// Where in the original it begins, and where it ends after each scalar of ``text``: offsets in UTF-8.
    var start: Int
    var ends: [Int]
    /// Of a query: whether a word that only begins so matches as well.
    var isPrefix = true
    /// Whether it comes of a script without spaces, where one letter can be a word.
    var isIdeographic = false
}

/// Takes a text apart into folded words, for the index, for queries and for marking what matched: one way for all three, so
/// that they agree.
///
/// A word is a run of letters and digits. Where an apostrophe, a hyphen or a full stop stands between them, the parts are
/// words and so, in the index, is the whole without it: "L'Étranger" is found by "etranger" and by "letranger", "J.R.R." by
/// "jrr". In scripts that are written without spaces every two neighbours are a word; so is every emoji.
struct WordSplitter {
    enum Use { case stored, asked }

    static let longestWord = 40

    private enum Kind { case letter, ideograph, connector, other }
    /// Folding a character costs microseconds, and most texts use few.
    private var folded: [Character: [Unicode.Scalar]] = [:]

    /// - Parameter limit: how many words at the most.
    mutating func words(of text: String, for use: Use, limit: Int = .max) -> [SearchWord] {
        var text = text
        text.makeContiguousUTF8()
        let bytes = ContiguousArray(text.utf8)
        var run = Run(use: use)
        var offset = 0
        while offset < bytes.count, run.words.count < limit {
            let byte = bytes[offset]
            // Of ASCII, and nothing that combines with it behind it.
            if byte < 0x80, offset + 1 == bytes.count || bytes[offset + 1] < 0x80 {
                let isCapital = UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
                let scalar = Unicode.Scalar(isCapital ? byte | 0x20 : byte)
                run.take(scalar, Self.kind(ofASCII: scalar.value), start: offset, end: offset + 1)
                offset += 1
                continue
            }
            let index = text.utf8.index(text.startIndex, offsetBy: offset)
            let next = text.index(after: index)
            let end = text.utf8.distance(from: text.startIndex, to: next)
            for scalar in fold(text[index]) { run.take(scalar, Self.kind(of: scalar), start: offset, end: end) }
            offset = end
        }
        run.end()
        return run.words.count > limit ? Array(run.words.prefix(limit)) : run.words
    }

    private mutating func fold(_ character: Character) -> [Unicode.Scalar] {
        if let known = folded[character] { return known }
        let scalars = Array(String(character).searchFolded.unicodeScalars)
        // A heap of combining marks is one character too, and not worth keeping.
        if scalars.count <= 4, folded.count < 4096 { folded[character] = scalars }
        return scalars
    }

    private static func kind(ofASCII value: UInt32) -> Kind {
        switch value {
        case 0x30...0x39, 0x61...0x7A: .letter
        case 0x27, 0x2D, 0x2E: .connector
        default: .other
        }
    }

    private static func kind(of scalar: Unicode.Scalar) -> Kind {
        switch scalar.value {
        case 0..<0x80: return kind(ofASCII: scalar.value)
        // Thai, Lao, Burmese, Khmer; Han, Kana: written without spaces.
        case 0x0E00...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF, 0x2E80...0x2FDF, 0x3005...0x3007, 0x3041...0x30FF,
            0x31F0...0x31FF, 0x3400...0x9FFF, 0xF900...0xFAFF, 0x20000...0x3FFFD:
            return scalar.value == 0x30FB ? .other : .ideograph
        // Hyphens that folding leaves as they are.
        case 0x2010, 0x2011: return .connector
        default: break
        }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .spacingMark,
            .enclosingMark, .decimalNumber, .letterNumber, .otherNumber, .privateUse:
            return .letter
        case .otherSymbol: return .ideograph
        default: return .other
        }
    }

    /// Letters become words here.
    private struct Run {
        let use: Use
        var words: [SearchWord] = []
        private var parts: [SearchWord] = []
        private var part = SearchWord(text: "", start: 0, ends: [])
        private var isJoined = false
        private var ideographs: [(scalar: Unicode.Scalar, start: Int, end: Int)] = []

        init(use: Use) { self.use = use }

        mutating func take(_ scalar: Unicode.Scalar, _ kind: Kind, start: Int, end: Int) {
            switch kind {
            case .letter:
                endIdeographs()
                if part.ends.isEmpty {
                    if !isJoined { endParts() }
                    part.start = start
                }
                guard part.ends.count < longestWord else { return }
                part.text.unicodeScalars.append(scalar)
                part.ends.append(end)
            case .connector where !part.ends.isEmpty:
                endPart()
                isJoined = true
            case .ideograph:
                endPart()
                endParts()
                ideographs.append((scalar, start, end))
            case .connector, .other: self.end()
            }
        }

        mutating func end() {
            endPart()
            endParts()
            endIdeographs()
        }

        private mutating func endPart() {
            guard !part.ends.isEmpty else { return }
            parts.append(part)
            part = SearchWord(text: "", start: 0, ends: [])
            isJoined = false
        }

        private mutating func endParts() {
            isJoined = false
            guard let first = parts.first else { return }
            words += parts
            // More parts than this are a date, an address or a table, and nobody types them without their signs.
            if use == .stored, (2...6).contains(parts.count) {
                let whole = parts.reduce("") { $0 + $1.text }
                let ends = parts.flatMap(\.ends)
                words.append(
                    SearchWord(
                        text: String(whole.unicodeScalars.prefix(longestWord)), start: first.start,
                        ends: Array(ends.prefix(longestWord))))
            }
            parts.removeAll(keepingCapacity: true)
        }

        private mutating func endIdeographs() {
            guard let last = ideographs.last else { return }
            for (left, right) in zip(ideographs, ideographs.dropFirst()) {
                var text = String(left.scalar)
                text.unicodeScalars.append(right.scalar)
                words.append(
                    SearchWord(
                        text: text, start: left.start, ends: [left.end, right.end], isPrefix: false, isIdeographic: true
                    ))
            }
            // What is stored ends with its last letter alone, so that every letter begins a word.
            if use == .stored || ideographs.count == 1 {
                words.append(
                    SearchWord(text: String(last.scalar), start: last.start, ends: [last.end], isIdeographic: true))
            }
            ideographs.removeAll(keepingCapacity: true)
        }
    }
}

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
