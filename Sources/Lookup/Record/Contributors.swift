import Bookplate

/// Reads the people of a book from catalogue texts such as "Parks, Tim, translator", "Hugh Laurie (Narrator)" and
/// "edited by A and B ; illustrated by C".
enum Contributors {
    /// Reads one entry of a list of contributors.
    ///
    /// - Parameter text: a name in either order, perhaps with years of life, and with a role in brackets or behind a
    ///   comma.
    /// - Returns: the name in its usual order, with the role ``Contributor/Role/other`` if none is given; `nil` if
    ///   there is no name.
    static func contributor(in text: String) -> Contributor? {
        var text = String(text.prefix(TextLimit.name)).cleaned[...]
        var role: Contributor.Role?
        if text.hasSuffix(")"), let bracket = text.lastIndex(of: "(") {
            role = Contributor.Role(word: String(text[text.index(after: bracket)...].dropLast()))
            text = text[..<bracket]
        }
        var parts = text.split(separator: ",").map { String($0).cleaned }.filter { !$0.isEmpty }
        // The last part is a role behind a whole name, and may be one if it is written in small letters. In
        // "Smith, Ed.", it is a first name.
        if role == nil, let last = parts.last, parts.count > 2 || (parts.count > 1 && last.first?.isLowercase == true),
            let found = Contributor.Role(word: last)
        {
            role = found
            parts.removeLast()
        }
        guard let name = PersonName.displayed(parts) else { return nil }
        return Contributor(name: name, role: role ?? .other)
    }

    /// Reads a statement of responsibility, such as "Giacomo Leopardi ; translated by Tim Parks". What does not look
    /// like a person's name ends a list, because these statements are free text.
    static func statement(_ text: String) -> [Contributor] {
        var people: [Contributor] = []
        for (number, part) in text.prefix(1000).split(separator: ";").prefix(10).enumerated() {
            let (role, names) = responsibility(in: String(part).cleaned)
            // Only the first part names authors without a verb.
            guard let role = role ?? (number == 0 ? .author : nil) else { continue }
            for name in list(names) where !people.contains(where: { $0.name == name }) {
                people.append(Contributor(name: name, role: role))
            }
        }
        return people
    }

    /// Splits "translated from the Russian by Constance Garnett" into the role and the names.
    ///
    /// - Returns: no role if the part begins with a name or with "by".
    private static func responsibility(in part: String) -> (Contributor.Role?, Substring) {
        let words = part.lowercased()
        for (beginning, role) in verbs where words.utf8.starts(with: beginning.utf8) {
            for by in [" by ", " von ", " par ", " por ", " di "] {
                if let range = part.firstRange(of: by) { return (role, part[range.upperBound...]) }
            }
            return (role, "")
        }
        for by in ["by ", "von ", "par ", "por ", "di ", "door "] where words.utf8.starts(with: by.utf8) {
            return (nil, part.dropFirst(by.count))
        }
        return (nil, part[...])
    }

    private static let verbs: [(String, Contributor.Role)] = [
        ("translated", .translator), ("übersetzt", .translator), ("aus dem", .translator), ("traduit", .translator),
        ("edited", .editor), ("herausgegeben", .editor), ("hrsg. von", .editor), ("illustrated", .illustrator),
        ("illustrations", .illustrator), ("pictures", .illustrator), ("illustriert", .illustrator),
        ("narrated", .narrator), ("read by", .narrator), ("foreword", .other), ("introduction", .other),
    ]

    private static func list(_ names: Substring) -> [String] {
        var found: [String] = []
        var rest = names
        for word in [" and ", " und ", " et ", " & ", " y "] where rest.hasASCII(word) {
            rest = Substring(rest.replacing(word, with: ","))
        }
        for candidate in rest.split(separator: ",") {
            guard let name = FieldLimits.text(candidate.withoutFullStop), looksLikePerson(name) else { break }
            found.append(name)
        }
        return found
    }

    /// Returns true for two to five words, of which the first and the last begin with a capital letter and the others
    /// are at most particles such as "de la".
    private static func looksLikePerson(_ name: String) -> Bool {
        let words = name.split(separator: " ")
        guard (2...5).contains(words.count), !name.contains(where: \.isNumber) else { return false }
        let isCapital = { (word: Substring) in word.first?.isUppercase == true }
        return isCapital(words[0]) && isCapital(words[words.count - 1])
            && words.allSatisfy { isCapital($0) || $0.count <= 3 }
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

    /// Adds people whose names are not in the list. Names are compared without regard to case and full stops, and a
    /// person without a role is the one with a role whose name is the same but for middle names and initials.
    ///
    /// A person who is listed without a role gets the role that `people` knows.
    mutating func add(_ people: [Contributor]) {
        for person in people {
            let key = person.name.comparable
            if let index = firstIndex(where: { other in
                other.name.comparable == key
                    || ((other.role == .other || person.role == .other) && other.name.isSamePerson(as: person.name))
            }) {
                if self[index].role == .other { self[index].role = person.role }
            } else if count < FieldLimits.items {
                append(person)
            }
        }
    }
}

extension String {
    /// The letters of a name in lower case, without full stops.
    fileprivate var comparable: String { lowercased().filter { $0.isLetter || $0 == " " } }

    /// Returns true if the last names and the first names are the same, and only one of the names has more in between:
    /// "Constance Garnett" is "Constance Black Garnett" and "C. Garnett", but not "Clara Garnett".
    fileprivate func isSamePerson(as other: String) -> Bool {
        let names = [comparable, other.comparable].map { $0.split(separator: " ") }.sorted { $0.count < $1.count }
        guard names[0].count > 1, names[0].last == names[1].last else { return false }
        func agree(_ first: Substring, _ second: Substring) -> Bool {
            first == second || (first.count == 1 && second.hasPrefix(first))
                || (second.count == 1 && first.hasPrefix(second))
        }
        guard agree(names[0][0], names[1][0]) else { return false }
        var longer = names[1].dropFirst()
        return names[0].dropFirst().allSatisfy { name in
            guard let place = longer.firstIndex(where: { agree($0, name) }) else { return false }
            longer = longer[(place + 1)...]
            return true
        }
    }
}

extension StringProtocol {
    /// The text without a full stop at its end, unless it ends an initial or "Jr.".
    var withoutFullStop: String {
        let text = String(self).cleaned
        guard text.hasSuffix("."), let word = text.split(separator: " ").last else { return text }
        return word.filter(\.isLetter).count <= 2 ? text : String(text.dropLast())
    }
}
