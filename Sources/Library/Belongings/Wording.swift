import Bookplate

// The words in which a change is told to a person.

/// A name or title in quotes, cut where it is long.
func quoted(_ name: String?) -> String { "\"\(name?.storable(80) ?? "Untitled")\"" }

/// The first title and how many more.
func quoted(_ titles: [String]) -> String {
    guard let first = titles.first else { return "no book" }
    return titles.count > 1 ? "\(quoted(first)) and \(titles.count - 1) more" : quoted(first)
}

/// "no book", "1 book", "12 books".
func bookCount(_ count: Int) -> String {
    switch count {
    case 0: "no book"
    case 1: "1 book"
    default: "\(count) books"
    }
}
