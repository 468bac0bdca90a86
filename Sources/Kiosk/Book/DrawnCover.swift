import Bookplate

/// The cover that pages draw for a book without a picture: its title and author, or on a small cover only a letter, on
/// a colour that depends on the title.
struct DrawnCover {
    let title: String
    /// The code of the book's language; `nil` if it is not known.
    let language: String?

    init(of edition: Edition, titled title: String) {
        self.init(title: title, language: edition.metadata.language)
    }

    init(title: String, language: String?) { (self.title, self.language) = (title, language) }

    /// The letter under which a list would have the title: the first one that belongs to no article.
    var initial: String {
        let rest = SortTitle(title, language: language).rest
        return (rest.first { $0.isLetter || $0.isNumber } ?? rest.first).map { String($0).uppercased() } ?? ""
    }

    /// The number of the colour, as in the class `colour-1`. A title always has the same one.
    var colour: String {
        // FNV-1a (RFC 9923), because Swift's own hashes differ from run to run.
        let hash = title.utf8.reduce(0x811c_9dc5 as UInt32) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
        return String(hash % Self.colours + 1)
    }

    /// The number of colours in base.css.
    private static let colours: UInt32 = 8

    /// The values that templates use.
    var view: View { ["initial": initial, "tint": colour] }
}
