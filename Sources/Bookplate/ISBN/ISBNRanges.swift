extension ISBN {
    /// The number with hyphens, such as `978-0-441-47812-5`.
    ///
    /// The lengths of the group and the registrant come from the ranges of the International ISBN Agency
    /// (``isbnRangeSource``). In a range that is not assigned yet, some lengths are unknown, and the hyphens that
    /// depend on them are left out.
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

/// The lengths of the registration group and the registrant in an ISBN.
private struct RegistrationGroup {
    /// A range of registrant numbers with the same number of digits.
    private struct Registrants {
        var length: Int
        var numbers: ClosedRange<Int>
    }

    /// The number of digits of the group, which follows the prefix.
    let length: Int
    /// The number of digits of the registrant, which follows the group; `nil` in a range that is not assigned.
    private(set) var registrantLength: Int?

    /// - Parameter digits: thirteen digits.
    init?(of digits: String) {
        let values = digits.utf8.map { Int($0 &- UInt8(ascii: "0")) }
        func number(_ positions: Range<Int>) -> Int { values[positions].reduce(0) { $0 * 10 + $1 } }
        let end = (4..<12).first { Self.groups[number(0..<$0)] != nil }
        guard let end, let registrants = Self.groups[number(0..<end)] else { return nil }
        length = end - 3
        registrantLength =
            registrants.first {
                end + $0.length <= values.count && $0.numbers.contains(number(end..<end + $0.length))
            }?.length
    }

    /// The ranges of registrants. The key is the prefix and the group joined into one number, such as 9780. The text of
    /// ``isbnRangeData`` is parsed only once, because a page of a list hyphenates fifty numbers. It is parsed when it
    /// is first needed, so a program that hyphenates nothing never parses it.
    private static let groups: [Int: [Registrants]] = {
        var groups: [Int: [Registrants]] = [:]
        var (prefix, group): (ArraySlice<UInt8>, Int?) = ([], nil)
        func number(_ digits: ArraySlice<UInt8>) -> Int {
            digits.reduce(0) { $0 * 10 + Int($1 &- UInt8(ascii: "0")) }
        }
        // A prefix is not indented, a group with its agency is indented by one space, and the ranges of each are
        // indented by one space more.
        for line in Array(isbnRangeData.utf8).split(separator: UInt8(ascii: "\n")) {
            let words = line.drop { $0 == UInt8(ascii: " ") }
            if words.count == line.count {
                (prefix, group) = (line, nil)
            } else if words.contains(UInt8(ascii: "=")) {
                let named = number(prefix + words.prefix { $0 != UInt8(ascii: " ") })
                group = named
                groups[named] = []
            } else if let group {
                for range in words.split(separator: UInt8(ascii: ",")) {
                    let bounds = range.split(separator: UInt8(ascii: "-"))
                    guard bounds.count == 2, number(bounds[0]) <= number(bounds[1]) else { continue }
                    groups[group]?.append(
                        Registrants(length: bounds[0].count, numbers: number(bounds[0])...number(bounds[1])))
                }
            }
        }
        return groups
    }()
}
