import Mustache

/// Escapes texts for HTML, as Mustache does by itself, but byte by byte: its own way looks each character up in a table, which is
/// felt where a page shows 50 books with every letter typed. Templates ask for it with `{{% CONTENT_TYPE:PAGE}}`.
struct PageText: MustacheContentType {
    static func register() { MustacheContentTypes.register(PageText(), named: "PAGE") }

    func escapeText(_ text: String) -> String {
        // Most of what is shown has nothing to escape.
        guard text.utf8.contains(where: { Self.escape($0) != nil }) else { return text }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + 32)
        for byte in text.utf8 {
            if let escape = Self.escape(byte) { bytes += escape.description.utf8 } else { bytes.append(byte) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func escape(_ byte: UInt8) -> StaticString? {
        switch byte {
        case UInt8(ascii: "<"): "&lt;"
        case UInt8(ascii: ">"): "&gt;"
        case UInt8(ascii: "&"): "&amp;"
        case UInt8(ascii: "\""): "&quot;"
        case UInt8(ascii: "'"): "&#39;"
        default: nil
        }
    }
}
