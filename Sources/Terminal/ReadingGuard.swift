/// Decides whether a person can have read something that the screen shows, such as the card. A key that was pressed
/// before that was not meant for it.
struct ReadingGuard<Shown: Equatable> {
    /// The shortest time in which a person can read a card and answer it.
    private static var reaction: Duration { .milliseconds(350) }

    private var shown: Shown?
    /// The thing that was shown before; nil if there was none.
    private(set) var before: Shown?
    /// The time from which it has been shown; nil if the person knows it without reading.
    private var since: Duration?

    /// Records what the screen shows now; nil if it shows nothing.
    ///
    /// - Parameter time: the present time; nil if the person's own key changed what is shown.
    mutating func show(_ shown: Shown?, at time: Duration?) {
        guard shown != self.shown else { return }
        (before, self.shown, since) = (self.shown, shown, time)
    }

    /// Records that the person chose what is shown, and so knows it.
    mutating func accept(_ shown: Shown?) { (before, self.shown, since) = (nil, shown, nil) }

    /// Returns the time until a person can have read what is shown; zero if that time has passed.
    ///
    /// - Parameter time: the time when a key was read, or the present time.
    func timeLeft(at time: Duration) -> Duration { since.map { max(.zero, $0 + Self.reaction - time) } ?? .zero }

    /// - Parameter time: the time when the key was read.
    func isReadable(at time: Duration) -> Bool { timeLeft(at: time) == .zero }
}
