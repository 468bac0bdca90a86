import Bookplate
import Station

/// The appearance of a status. It always has a shape and a word, not only a colour.
struct StatusStyle {
    /// The shape: ✓ for a new or saved book, ● for an owned book, ▲ for a book that needs attention, – for a skipped or
    /// postponed book.
    let mark: String
    /// The status in words, for the card.
    let word: String
    /// The detail in the list: the reason why the book is not ready to be saved, or an empty string.
    let detail: String
    let ink: Ink

    private init(_ mark: String, _ word: String, _ detail: String, _ ink: Ink) {
        (self.mark, self.word, self.detail, self.ink) = (mark, word, detail, ink)
    }

    init(_ status: Batch.Status, hasTitle: Bool) {
        self =
            switch status {
            case .lookingUp: StatusStyle("✓", "CAPTURED, LOOKING UP …", "looking up", .new)
            case .found: StatusStyle("✓", "NEW", "", .new)
            case .owned(let book):
                StatusStyle("●", "OWNED ALREADY", "owned\(book.copy.shelf.map { ", \($0)" } ?? "")", .owned)
            case .again: StatusStyle("●", "CAPTURED AGAIN", "again: another copy?", .owned)
            case .notFound: StatusStyle("▲", "NOT FOUND", "no source knows it", .attention)
            case .unavailable:
                StatusStyle(
                    "▲", "SOURCE UNAVAILABLE", hasTitle ? "source unavailable" : "waits for a source", .attention)
            case .needsTitle: StatusStyle("▲", "NO TITLE", "no title", .attention)
            case .weakMatch: StatusStyle("▲", "POSSIBLY ANOTHER BOOK", "possibly another book", .attention)
            case .saved(.wishFulfilled): StatusStyle("✓", "SAVED, A WISH FULFILLED", "saved (was a wish)", .faint)
            case .saved(.restored): StatusStyle("✓", "SAVED, BACK FROM THE TRASH", "saved (was in trash)", .faint)
            case .saved: StatusStyle("✓", "SAVED", "saved", .faint)
            case .skipped: StatusStyle("–", "SKIPPED", "skipped", .faint)
            case .postponed: StatusStyle("–", "LATER", "later", .faint)
            }
    }
}

extension StatusStyle {
    /// The advice on a book that was captured twice.
    static let shownAgain = "Already captured. Press c to add another copy, or k to skip it."
}

extension CameraError.Kind {
    /// The error in a few words, for the top line of the screen. The whole message is shown below it.
    var word: String {
        switch self {
        case .noCamera: "no camera"
        case .unplugged: "camera unplugged"
        case .busy: "camera busy"
        case .denied: "camera not allowed"
        case .unusable: "camera not usable"
        case .frozen: "camera frozen"
        case .failing: "camera failing"
        case .stuck: "camera stuck"
        case .noFrames: "no frames"
        }
    }
}

extension Preset {
    /// The preset on one line: "Shelf: Attic · Tags: sf · To Read · owned".
    var line: String {
        [
            "Shelf: \(shelf ?? "none")", tags.isEmpty ? nil : "Tags: \(tags.joined(separator: ", "))",
            status.displayName,
            isWishlist ? "wishlist" : "owned",
        ].compactMap { $0 }.joined(separator: " · ")
    }
}

extension Batch.Counts {
    /// The counts on one line: "24 found, 2 owned, 1 not found · 21 ticked · 5 saved".
    var line: String {
        let status = [
            (found, "found"), (lookingUp, "looking up"), (owned, "owned"), (again, "again"), (notFound, "not found"),
            (unavailable, "waiting for a source"), (unsure, "unsure"),
        ]
        let groups = [status, [(ticked, "ticked")], [(saved, "saved"), (skipped, "skipped"), (postponed, "later")]]
        return groups.map { group in group.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ") }
            .filter { !$0.isEmpty }.joined(separator: " · ")
    }
}
