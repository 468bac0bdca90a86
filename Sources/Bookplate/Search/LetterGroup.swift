/// The books of a list that begin with the same letter, in the order by title or author.
public struct LetterGroup: Sendable, Equatable {
    public var initial: Initial
    public var count: Int
    /// The position at which the list continues with this group, for ``BookQuery/after``.
    public var start: String

    public init(initial: Initial, count: Int, start: String) {
        (self.initial, self.count, self.start) = (initial, count, start)
    }

    /// The first character of a sort key, in which case and diacritics are folded.
    public enum Initial: Sendable, Hashable {
        /// A digit, or a sign.
        case digit
        /// A letter from A to Z, in upper case.
        case letter(Character)
        /// A letter of another script, or a symbol.
        case other

        /// The form in JSON: `A`, `#` for digits, or `other`.
        public var text: String {
            switch self {
            case .digit: "#"
            case .letter(let letter): String(letter)
            case .other: "other"
            }
        }
    }

    /// The group as ``JSONValue``: `{"letter", "count", "after"}`.
    public var json: JSONValue {
        ["letter": .string(initial.text), "count": .integer(count), "after": .string(start)]
    }
}
