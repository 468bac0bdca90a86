import Bookplate

/// A word of an indexed text or a query.
struct SearchWord: Equatable {
    /// The folded word, which has at most ``WordSplitter/longestWord`` scalars.
    var text: String
    /// The UTF-8 offset of the word's beginning in the original text.
    var start: Int
    /// For each scalar of ``text``, the UTF-8 offset of its end in the original text.
    var ends: [Int]
    /// True if the word, in a query, also matches longer words that begin with it.
    var isPrefix = true
    /// True if the word is in a script without spaces, in which one letter can be a word.
    var isIdeographic = false
}

/// Splits a text into folded words. The index, the queries and the marking of matches all use this splitter, so that
/// they agree.
///
/// A word is a run of letters and digits. If runs are connected by apostrophes, hyphens or full stops, each run is a
/// word. In the index, the connected runs without these signs also form one word. For example, "etranger" and
/// "letranger" both find "L'Étranger", and "jrr" finds "J.R.R.". In scripts without spaces, every two neighbouring
/// letters are a word. Every emoji is treated like a letter of such a script.
struct WordSplitter {
    enum Use { case index, query }

    static let longestWord = 40

    private enum Kind { case letter, ideograph, connector, other }
    /// The folded characters, which are cached because folding a character takes microseconds and most texts use few
    /// different characters.
    private var folded: [Character: [Unicode.Scalar]] = [:]

    /// - Parameter limit: the maximum number of words to return.
    mutating func words(of text: String, for use: Use, limit: Int = .max) -> [SearchWord] {
        var text = text
        text.makeContiguousUTF8()
        let bytes = ContiguousArray(text.utf8)
        var run = Run(use: use)
        var offset = 0
        while offset < bytes.count, run.words.count < limit {
            let byte = bytes[offset]
            // This is an ASCII character that is not followed by a combining character.
            if byte < 0x80, offset + 1 == bytes.count || bytes[offset + 1] < 0x80 {
                let isCapital = UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
                let scalar = Unicode.Scalar(isCapital ? byte | 0x20 : byte)
                run.add(scalar, Self.kind(ofASCII: scalar.value), start: offset, end: offset + 1)
                offset += 1
                continue
            }
            let index = text.utf8.index(text.startIndex, offsetBy: offset)
            let next = text.index(after: index)
            let end = text.utf8.distance(from: text.startIndex, to: next)
            for scalar in fold(text[index]) { run.add(scalar, Self.kind(of: scalar), start: offset, end: end) }
            offset = end
        }
        run.end()
        return run.words.count > limit ? Array(run.words.prefix(limit)) : run.words
    }

    private mutating func fold(_ character: Character) -> [Unicode.Scalar] {
        if let known = folded[character] { return known }
        let scalars = Array(String(character).searchFolded.unicodeScalars)
        // A character with many combining marks is not worth caching.
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
        // These are scripts without spaces: Thai, Lao, Burmese, Khmer, Han and Kana.
        case 0x0E00...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF, 0x2E80...0x2FDF, 0x3005...0x3007, 0x3041...0x30FF,
            0x31F0...0x31FF, 0x3400...0x9FFF, 0xF900...0xFAFF, 0x20000...0x3FFFD:
            return scalar.value == 0x30FB ? .other : .ideograph
        // These are hyphens that folding does not change.
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

    /// Collects scalars into words.
    private struct Run {
        let use: Use
        var words: [SearchWord] = []
        private var parts: [SearchWord] = []
        private var part = SearchWord(text: "", start: 0, ends: [])
        private var isJoined = false
        private var ideographs: [(scalar: Unicode.Scalar, start: Int, end: Int)] = []

        init(use: Use) { self.use = use }

        mutating func add(_ scalar: Unicode.Scalar, _ kind: Kind, start: Int, end: Int) {
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
            // A text with more parts is a date, an address or a table. Nobody types these without the signs.
            if use == .index, (2...6).contains(parts.count) {
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
            // In the index, the last letter alone is also a word, so that every letter begins a word.
            if use == .index || ideographs.count == 1 {
                words.append(
                    SearchWord(text: String(last.scalar), start: last.start, ends: [last.end], isIdeographic: true))
            }
            ideographs.removeAll(keepingCapacity: true)
        }
    }
}
