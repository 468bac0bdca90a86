/// The languages that the pages speak. Raw values are ISO 639-1.
enum Language: String, Sendable, CaseIterable {
    case english = "en"
    case german = "de"
    case french = "fr"

    /// A text as it is set in this language. French has a space before these marks at which no line ends; who writes a text need not
    /// find the key for it.
    func set(_ text: String) -> String {
        guard self == .french else { return text }
        var text = text.replacing("'", with: "’").replacing("« ", with: "«\u{A0}")
        for mark in [";", ":", "?", "!", "»"] { text = text.replacing(" \(mark)", with: "\u{A0}\(mark)") }
        return text
    }

    /// The one that the browser likes best of those there are (RFC 9110, 12.5.4); English where it likes none of them.
    init(accepting header: String?) {
        var best: (language: Language, quality: Double)?
        for wish in (header ?? "").prefix(500).split(separator: ",") {
            let parts = wish.split(separator: ";").map { $0.filter { !$0.isWhitespace } }
            guard let tag = parts.first, let language = Language(rawValue: tag.prefix(2).lowercased()),
                tag.count == 2 || tag.dropFirst(2).first == "-"
            else { continue }
            let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            if quality > (best?.quality ?? 0) { best = (language, quality) }
        }
        self = best?.language ?? .english
    }
}
