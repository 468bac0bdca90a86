import Bookplate

/// Texts that must not break any field. A field must store each text clean and within the field's limit, or refuse it.
enum HostileText: String, CaseIterable, Sendable {
    case megabytes, manyCharacters, nul, onlyNul, family, override, rightToLeft, accents, whiteSpace, invisible
    case ends, lineBreaks, damaged, quotes, escape

    /// Made once, and from long parts, because a debug build takes half a second to append ten million letters.
    static let tenMegabytes = String(repeating: String(repeating: "x", count: 10_000), count: 1000)

    var text: String {
        switch self {
        case .megabytes: Self.tenMegabytes
        case .manyCharacters: String(repeating: "é", count: 10_001)
        case .nul: "a\u{0}b"
        case .onlyNul: "\u{0}"
        case .family: String(repeating: "👨🏽‍👩🏽‍👧🏽‍👦🏽", count: 32)
        case .override: "\u{202E}evil\u{2066}"
        case .rightToLeft: "חולית \u{200F}(1965)"
        case .accents: "a" + String(repeating: "\u{301}", count: 1000)
        case .whiteSpace: " \t\n\u{A0} "
        case .invisible: "\u{200B}\u{2060}"
        case .ends: "  ends \n"
        case .lineBreaks: "one\r\ntwo\u{2028}three"
        case .damaged: "Caf\u{FFFD}"
        case .quotes: #"'; DROP TABLE note; -- " % _ \ "#
        case .escape: "\u{1B}[2J\u{7}bell"
        }
    }
}

extension String {
    /// True if the text has no control characters, direction overrides or long runs of combining marks.
    var isClean: Bool {
        let marks = unicodeScalars.split { $0 != "\u{301}" }.map(\.count).max() ?? 0
        return marks <= 30
            && unicodeScalars.allSatisfy { scalar in
                scalar == "\n" || scalar == "\t"
                    || !(scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value)
                        || (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value))
            } && first?.isWhitespace != true && last?.isWhitespace != true
    }
}
