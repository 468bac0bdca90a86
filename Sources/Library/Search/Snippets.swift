import Bookplate

extension Snippet {
    /// In characters, before the first match and from its beginning.
    private static let (before, behind) = (28, 72)
    /// A character can be as long as one likes; an excerpt cannot.
    private static let longest = 1200

    /// Cuts an excerpt out.
    ///
    /// - Parameter marks: ranges of UTF-8 offsets that end where characters do; they may overlap and be in any order.
    init(cutting text: String, around marks: [Range<Int>]) {
        let marks = Self.united(marks)
        let first = marks.first ?? 0..<0
        func index(_ offset: Int) -> String.Index { text.utf8.index(text.startIndex, offsetBy: offset) }
        func offset(_ index: String.Index) -> Int { text.utf8.distance(from: text.startIndex, to: index) }

        var start = index(first.lowerBound)
        var word = start
        for _ in 0..<Self.before {
            guard start > text.startIndex, first.lowerBound - offset(text.index(before: start)) < Self.longest / 3
            else { break }
            start = text.index(before: start)
            // Whole words, where there is one.
            if start == text.startIndex || text[text.index(before: start)].isWhitespace { word = start }
        }
        if start != text.startIndex, word < index(first.lowerBound) { start = word }
        var end = index(first.lowerBound)
        word = end
        for _ in 0..<Self.behind {
            guard end < text.endIndex, offset(end) - first.lowerBound < Self.longest else { break }
            end = text.index(after: end)
            if end == text.endIndex || text[end].isWhitespace { word = end }
        }
        if end != text.endIndex, offset(word) >= first.upperBound { end = word }
        // A match of a single huge character is shown cut like everything else.
        let window = offset(start)..<max(offset(end), offset(start))

        var parts: [Part] = []
        func add(_ range: Range<Int>, isMatch: Bool) {
            guard !range.isEmpty else { return }
            let piece = String(text[index(range.lowerBound)..<index(range.upperBound)])
            let shown = String(String.UnicodeScalarView(piece.unicodeScalars.prefix(Self.longest))).onOneLine
            if !shown.isEmpty { parts.append(Part(text: shown, isMatch: isMatch)) }
        }
        var place = window.lowerBound
        for mark in marks where mark.overlaps(window) {
            let mark = mark.clamped(to: window)
            add(place..<mark.lowerBound, isMatch: false)
            add(mark, isMatch: true)
            place = mark.upperBound
        }
        add(place..<window.upperBound, isMatch: false)
        if window.lowerBound > 0 { parts.insert(Part(text: "…", isMatch: false), at: 0) }
        if window.upperBound < text.utf8.count { parts.append(Part(text: "…", isMatch: false)) }
        self.init(parts: Self.joined(parts))
    }

    /// In order, those that touch made one.
    private static func united(_ marks: [Range<Int>]) -> [Range<Int>] {
        var united: [Range<Int>] = []
        for mark in marks.sorted(by: { ($0.lowerBound, $0.upperBound) < ($1.lowerBound, $1.upperBound) }) {
            if let last = united.last, mark.lowerBound <= last.upperBound {
                united[united.count - 1] = last.lowerBound..<max(last.upperBound, mark.upperBound)
            } else {
                united.append(mark)
            }
        }
        return united
    }

    private static func joined(_ parts: [Part]) -> [Part] {
        var joined: [Part] = []
        for part in parts {
            if let last = joined.last, last.isMatch == part.isMatch {
                joined[joined.count - 1].text += part.text
            } else {
                joined.append(part)
            }
        }
        return joined
    }
}

extension String {
    /// Line breaks and other control characters as spaces, and nothing that turns the text around it.
    fileprivate var onOneLine: String {
        var scalars = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            switch scalar.value {
            case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029: scalars.append(" ")
            case 0x202A...0x202E, 0x2066...0x2069, 0xFEFF: break
            default: scalars.append(scalar)
            }
        }
        return String(scalars)
    }
}
