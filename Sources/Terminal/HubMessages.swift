import Bookplate

/// Messages about the hub, on the screen and as lines.
package enum HubMessages {
    package static let unpaired =
        "the hub no longer knows this station. Captures wait in the outbox until you pair it again with scan hub pair."
}

extension HubNews {
    /// The message for a person; nil if none is needed.
    package var message: String? {
        switch self {
        case .answered: nil
        case .owned(_, let reason): "It waits in the hub's intake: \(reason.printable)."
        case .kept(_, let reason): "Undone only on this device: \(reason.printable)."
        case .refused(_, let reason): "The hub refused it: \(reason.printable)."
        }
    }
}
