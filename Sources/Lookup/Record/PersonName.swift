import Bookplate

/// Turns the names of catalogues, which are sorted by family name, into names as they are on the title page.
enum PersonName {
    /// Returns "First Last" for a name such as "Last, First, 1930-" or "Last, First (Full First)". Japanese, Chinese
    /// and Korean names keep their order.
    static func displayed(_ text: String) -> String? {
        let line = text.cleanedLine.replacing("\u{3000}", with: " ")
        // The fuller form of a first name follows in brackets.
        let plain = line.firstRange(of: " (").map { String(line[..<$0.lowerBound]) } ?? line
        let parts = plain.split(separator: ",").map { String($0).cleaned }.filter { !$0.isEmpty && !isDate($0) }
        guard var name = parts.first.map(withoutStop) else { return nil }
        if parts.count > 1 {
            let second = withoutStop(parts[1])
            if isSuffix(second) {
                name += " " + second
            } else {
                name = isEastAsian(name) ? "\(name) \(second)" : "\(second) \(name)"
                if parts.count > 2, isSuffix(withoutStop(parts[2])) { name += " " + withoutStop(parts[2]) }
            }
        }
        return FieldLimits.text(name)
    }

    /// True for dates of birth and death, such as "1930-", "ca. 1850-1901" and "19..-....".
    private static func isDate(_ part: String) -> Bool {
        part.first?.isNumber == true || part.filter { $0.isASCII && $0.isNumber }.count >= 4
    }

    private static func isSuffix(_ part: String) -> Bool {
        ["jr", "jr.", "sr", "sr.", "ii", "iii", "iv"].contains(part.lowercased())
    }

    /// Returns the name without the full stop that ends an entry; that of an initial or of "Jr." stays.
    private static func withoutStop(_ part: String) -> String {
        let word = part.dropLast().reversed().prefix { $0.isLetter }
        return part.last == "." && word.count > 2 ? String(part.dropLast()) : part
    }

    private static func isEastAsian(_ name: String) -> Bool {
        name.unicodeScalars.contains { scalar in
            // Kana, the unified ideographs with their extensions, and Hangul.
            (0x3040...0x30FF).contains(scalar.value) || (0x3400...0x9FFF).contains(scalar.value)
                || (0xAC00...0xD7AF).contains(scalar.value) || (0x20000...0x3FFFF).contains(scalar.value)
        }
    }
}

extension [Contributor] {
    /// Appends a contributor, unless the person is listed already in the same role, or is an author already and their
    /// role here is unknown.
    mutating func add(_ name: String?, _ role: Contributor.Role?) {
        guard let name, let role, count < FieldLimits.items else { return }
        let new = Contributor(name: name, role: role)
        guard !contains(new), role != .other || !contains(where: { $0.name == name }) else { return }
        append(new)
    }
}
