/// An edit of an optional field.
public enum Edit<Value: Sendable & Equatable>: Sendable, Equatable {
    case keep
    case clear
    case set(Value)

    /// Returns the value of the field after the edit.
    public func applied(to value: Value?) -> Value? {
        switch self {
        case .keep: value
        case .clear: nil
        case .set(let new): new
        }
    }
}

extension Metadata {
    /// Parses a publication date that a person entered. Any text is allowed, as printed in the book, but a text that
    /// looks like a date must be one.
    ///
    /// - Returns: the text, and the day as far as the text gives it.
    /// - Throws: ``TextRefusal``, ``InputRefusal/noDay(what:text:)``.
    public static func published(_ entered: String) throws -> (text: String, day: CalendarDay?) {
        let text = try entered.checked(as: "date of publication", limit: TextLimit.name)
        let day = CalendarDay(text)
        if day == nil, text.wholeMatch(of: /[0-9]{4}(-[0-9]{1,2}){0,2}/) != nil {
            throw InputRefusal.noDay(what: "date of publication", text: text)
        }
        return (text, day)
    }
}
