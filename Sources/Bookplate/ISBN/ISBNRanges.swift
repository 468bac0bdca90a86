extension ISBN {
    /// The number with its hyphens, such as `978-0-441-47812-5`.
    ///
    /// Group and registrant lengths come from the ranges of the International ISBN Agency (``isbnRangeSource``). A number
    /// in a range that is not given out yet keeps only the hyphens that are sure.
    public var hyphenated: String {
        let (prefix, body, check) = (digits.prefix(3), digits.dropFirst(3).dropLast(), digits.suffix(1))
        guard let group = RegistrationGroup(of: digits) else { return "\(prefix)-\(body)-\(check)" }
        let rest = body.dropFirst(group.length)
        guard let length = group.registrantLength, length < rest.count else {
            return "\(prefix)-\(body.prefix(group.length))-\(rest)-\(check)"
        }
        return "\(prefix)-\(body.prefix(group.length))-\(rest.prefix(length))-\(rest.dropFirst(length))-\(check)"
    }
}

/// What the ranges say of one number. The text of ``isbnRangeData`` is read where it stands: a table of it would take longer
/// to make at every start than the few numbers of a run take to look up.
private struct RegistrationGroup {
    /// How many digits of the number behind the prefix name the group.
    let length: Int
    /// How many digits after these name the registrant; `nil` in a range that is not given out.
    private(set) var registrantLength: Int?

    /// - Parameter digits: thirteen.
    init?(of digits: String) {
        let number = Array(digits.utf8)
        let lines = isbnRangeData.utf8.split(separator: UInt8(ascii: "\n"))
        // A prefix at the margin, a group with its agency after one space, the ranges of either one level deeper.
        guard let start = lines.firstIndex(where: { $0.elementsEqual(number[0..<3]) }) else { return nil }
        let groups = lines[(start + 1)...].prefix { $0.first == UInt8(ascii: " ") }
        let isGroup = { (line: Substring.UTF8View) in
            line.dropFirst().first != UInt8(ascii: " ") && line.contains(UInt8(ascii: "="))
        }
        let head = groups.firstIndex { line in
            isGroup(line) && number[3...].starts(with: line.dropFirst().prefix { $0 != UInt8(ascii: " ") })
        }
        guard let head else { return nil }
        let name = groups[head].dropFirst().prefix { $0 != UInt8(ascii: " ") }
        length = name.count
        let rest = number[(3 + length)...]
        for line in groups[(head + 1)...].prefix(while: { !isGroup($0) }) {
            for range in line.drop(while: { $0 == UInt8(ascii: " ") }).split(separator: UInt8(ascii: ",")) {
                let bounds = range.split(separator: UInt8(ascii: "-"))
                guard bounds.count == 2 else { continue }
                let start = Array(rest.prefix(bounds[0].count))
                if !start.lexicographicallyPrecedes(bounds[0]), !bounds[1].lexicographicallyPrecedes(start) {
                    registrantLength = start.count
                    return
                }
            }
        }
    }
}
