import Bookplate
import HTTP

/// Texts of strangers, cleaned and cut to what the library keeps.
enum FieldLimits {
    /// The most items of any list.
    static let items = 100
    /// More pages than any book has: beyond it a source has slipped. A person may say more (``NumberLimit/pages``).
    static let pages = 1...100_000

    /// - Returns: the text without control characters, at most `limit` characters; `nil` when nothing is left.
    static func text(_ value: JSON?, limit: Int = TextLimit.name) -> String? {
        value?.string.flatMap { text($0, limit: limit) }
    }

    static func text(_ value: String, limit: Int = TextLimit.name) -> String? {
        // Cut roughly before, exactly after cleaning: counting the characters of 5 MB is slow.
        let bounded = value.utf8.count > limit * 16 ? String(value.unicodeScalars.prefix(limit * 4)) : value
        // Only a description has lines.
        let cleaned = limit >= TextLimit.description ? bounded.cleaned : bounded.onOneLine.cleaned
        guard cleaned.utf8.count > limit else { return cleaned.isEmpty ? nil : cleaned }
        let cut = String(cleaned.prefix(limit)).cleaned
        return cut.isEmpty ? nil : cut
    }

    /// The texts of a list, or the one text that stands in its place; each once.
    ///
    /// - Parameter key: where the text is when the items are objects: `{"name": "Penguin"}`.
    static func texts(_ value: JSON?, key: String = "name") -> [String] {
        var texts: [String] = []
        let items = value?.items ?? []
        for item in items.isEmpty ? [value].compactMap(\.self) : items {
            if let text = text(item) ?? text(item[key]), !texts.contains(text) { texts.append(text) }
            if texts.count == Self.items { break }
        }
        return texts
    }

    static func pages(_ value: JSON?) -> Int? { value?.integer.flatMap { pages.contains($0) ? $0 : nil } }

    /// An https link for a person to follow.
    static func link(_ value: JSON?) -> String? {
        guard let text = value?.string, let address = WebAddress(text.cleaned) else { return nil }
        return address.secured.description
    }
}

extension String {
    /// Line breaks and tabs as spaces.
    fileprivate var onOneLine: String {
        contains { $0.isNewline || $0 == "\t" } ? String(map { $0.isNewline || $0 == "\t" ? " " : $0 }) : self
    }
}
