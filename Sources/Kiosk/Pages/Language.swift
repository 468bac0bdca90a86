/// The languages that the pages speak. Raw values are ISO 639-1.
enum Language: String, Sendable, CaseIterable {
    case english = "en"
    case german = "de"
    case french = "fr"

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
