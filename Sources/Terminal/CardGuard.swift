import Bookplate

/// Decides whether a person can have read the card on the screen. A key that was pressed before that was not meant for
/// this card.
struct CardGuard {
    /// The shortest time in which a person can read a card and answer it.
    static let reaction: Duration = .milliseconds(350)

    private var card: ID<QueueItem>?
    /// The card before this one; nil if there was none.
    private(set) var before: ID<QueueItem>?
    private var since: Duration?

    /// Records the card that is on the screen now; nil if there is none.
    mutating func show(_ card: ID<QueueItem>?, at time: Duration) {
        guard card != self.card else { return }
        (before, self.card, since) = (self.card, card, time)
    }

    /// Records that the person chose this card, and so knows it.
    mutating func accept(_ card: ID<QueueItem>?) { (before, self.card, since) = (nil, card, nil) }

    /// - Parameter time: the time when the key was read.
    func isReadable(at time: Duration) -> Bool { since.map { time - $0 >= Self.reaction } ?? true }
}
