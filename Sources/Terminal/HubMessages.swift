import Bookplate

/// The messages about the hub, for the full screen and for output in lines.
package enum HubMessages {
    package static let unpaired =
        "the hub no longer knows this station. Captures wait in the outbox until you pair the station again with 'scan hub pair'."
}

extension HubNews {
    /// The message for a person; nil if none is needed.
    package var message: String? {
        switch self {
        case .answered: nil
        case .owned(_, let reason): "The book waits in the hub's intake queue: \(reason.printable)."
        case .kept(_, let reason): "Undone only on this device: \(reason.printable)."
        case .refused(_, let reason): "The hub refused the book: \(reason.printable)."
        }
    }
}
