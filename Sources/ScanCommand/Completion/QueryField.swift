import Bookplate

extension QueryField {
    /// The values that are completed after the colon.
    enum Values {
        /// Any text or number.
        case free
        case list([String])
        case library(CompletedValue)
    }

    var values: Values {
        switch self {
        case .author: .library(.author)
        case .tag: .library(.tag)
        case .shelf: .library(.shelf)
        case .status: .list(Copy.Status.allCases.map(\.rawValue))
        case .language: .library(.language)
        case .format: .list(Metadata.Format.allCases.map(\.rawValue))
        case .rating: .list(RatingBand.all.map(\.text))
        case .added, .started, .finished, .read: .library(.day)
        case .missing, .has: .list(MissingField.allCases.map(\.rawValue))
        case .is: .list(["owned", "wishlist", "favourite"])
        case .readby: .library(.reader)
        case .filter: .library(.filter)
        case .title, .subtitle, .series, .publisher, .genre, .isbn, .id, .note, .quote, .pages, .year, .times: .free
        }
    }

    /// Returns a value as it is written after the colon. The shell quotes the spaces in it, so that field and value
    /// stay one argument. If the typed text begins with a quotation mark, the value is quoted within the argument too.
    static func written(_ value: String, after typed: Substring) -> String {
        typed.hasPrefix("\"") ? "\"\(value)\"" : value
    }
}
