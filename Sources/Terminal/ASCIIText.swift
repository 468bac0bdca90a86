import Foundation

/// Returns true if the terminal's locale uses UTF-8. The first of LC_ALL, LC_CTYPE and LANG that is set decides
/// (setlocale(3)).
func localeIsUTF8(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> Bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
    let name = locale.lowercased()
    return name.contains("utf-8") || name.contains("utf8")
}

extension String {
    /// The text for a terminal that shows only ASCII: shapes become similar characters, letters lose their accents, and
    /// each column of any other character becomes a question mark. The text keeps its width.
    var inASCII: String {
        if utf8.allSatisfy({ $0 < 0x80 }) { return self }
        return map { character -> String in
            if character.isASCII { return String(character) }
            if let shape = Self.shapes[character] { return shape }
            let bare = String(character).decomposedStringWithCanonicalMapping.unicodeScalars.filter(\.isASCII)
            return bare.isEmpty
                ? String(repeating: "?", count: character.columns) : String(String.UnicodeScalarView(bare))
        }.joined()
    }

    private static let shapes: [Character: String] = [
        "✓": "+", "●": "o", "▲": "!", "✕": "x", "○": ".", "★": "*", "☆": ".", "♥": "+", "•": "*", "─": "-", "│": "|",
        "┌": "+", "┐": "+", "└": "+", "┘": "+", "█": "#", "░": ".", "·": "-", "…": ".", "▸": ">", "–": "-", "↑": "^",
        "↓": "v", "↵": "|", "→": ">", "←": "<", "↶": "<", "↷": ">", "⟦": "[", "⟧": "]", "¼": "+", "½": "+", "¾": "+",
        "×": "x",
        "’": "'", "‘": "'", "‹": "<", "›": ">", "“": "\"", "”": "\"", "„": "\"", "«": "\"", "»": "\"", "—": "-",
        "\u{A0}": " ", "\u{2011}": "-", "ß": "s", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ı": "i",
    ]
}
