/// A text with the markup that reviews carry taken out: breaks and paragraphs become line breaks, other known tags go, the common
/// entities become what they mean. What looks like a tag and is none ("a < b") stays.
///
/// Each byte is looked at a bounded number of times, whatever brackets there are.
func plainText(_ html: String) -> String {
    guard html.utf8.contains(where: { $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: "&") }) else { return html }
    let bytes = Array(html.utf8)
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count)
    // The first ">" from here on: the end where there is none.
    var close = 0
    var place = 0
    while place < bytes.count {
        var piece: (meaning: String, length: Int)?
        if bytes[place] == UInt8(ascii: "<") {
            if close <= place { close = bytes[place...].firstIndex(of: UInt8(ascii: ">")) ?? bytes.count }
            if close < bytes.count, close - place <= longestTag { piece = tag(bytes[(place + 1)..<close]) }
        } else if bytes[place] == UInt8(ascii: "&") {
            piece = entity(bytes[(place + 1)...].prefix(longestEntity))
        }
        if let piece {
            text += piece.meaning.utf8
            place += piece.length
        } else {
            text.append(bytes[place])
            place += 1
        }
    }
    return String(decoding: text, as: UTF8.self)
}

/// In bytes. Longer than the address in a link is no tag.
private let longestTag = 8192
/// In bytes, without the ampersand.
private let longestEntity = 12

private let breaks: Set<String> = ["br", "p", "div", "li", "blockquote", "ul", "ol"]
private let others: Set<String> = [
    "i", "b", "em", "strong", "u", "s", "a", "span", "spoiler", "sup", "sub", "strike", "del", "h1", "h2", "h3", "h4",
    "img", "small", "font", "pre", "code", "hr",
]

/// - Parameter inside: what stands between its brackets.
/// - Returns: what it means, and its length in bytes; `nil` for what is no tag that is known.
private func tag(_ inside: ArraySlice<UInt8>) -> (String, Int)? {
    let length = inside.count + 2
    let letters = inside.drop { $0 == UInt8(ascii: "/") }.prefix(16).prefix {
        $0 >= 0x80 || (0x30...0x39).contains($0) || (0x41...0x5A).contains($0 & 0xDF)
    }
    let name = String(decoding: letters, as: UTF8.self).lowercased()
    if name == "p" || name == "div", inside.first == UInt8(ascii: "/") { return ("", length) }
    if breaks.contains(name) { return ("\n", length) }
    return others.contains(name) ? ("", length) : nil
}

private let entities: [String: String] = [
    "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": " ", "mdash": "—", "ndash": "–", "hellip": "…",
    "lsquo": "‘", "rsquo": "’", "ldquo": "“", "rdquo": "”",
]

/// - Parameter text: what follows the ampersand.
private func entity(_ text: ArraySlice<UInt8>) -> (String, Int)? {
    guard let end = text.firstIndex(of: UInt8(ascii: ";")) else { return nil }
    let name = String(decoding: text[..<end], as: UTF8.self)
    let length = end - text.startIndex + 2
    if let meaning = entities[name] { return (meaning, length) }
    guard name.hasPrefix("#") else { return nil }
    let digits = name.dropFirst()
    let number = digits.first == "x" || digits.first == "X" ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
    guard let number, let scalar = Unicode.Scalar(number) else { return nil }
    return (String(Character(scalar)), length)
}
