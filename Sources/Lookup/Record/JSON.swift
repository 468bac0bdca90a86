import Bookplate

/// A JSON value of a stranger: read with bounds, looked at without trust. A member that is not what was hoped for is simply absent.
enum JSON: Sendable, Equatable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    /// The member of an object.
    subscript(_ key: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members[key]
    }

    var string: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// Whole numbers, also those that stand in quotes.
    var integer: Int? {
        switch self {
        case .number(let number): Int(exactly: number)
        case .string(let text): Int(text.cleaned)
        default: nil
        }
    }

    /// The items of an array; none for anything else.
    var items: [JSON] {
        guard case .array(let items) = self else { return [] }
        return items
    }

    /// The members of an object; none for anything else.
    var members: [String: JSON] {
        guard case .object(let members) = self else { return [:] }
        return members
    }
}
