import Synchronization

/// The books that screens and commands have shown as captured or saved. At the end, all of them must be in the library.
final class Ledger: Sendable {
    private struct State {
        var captured: Set<String> = []
        var saved: Set<String> = []
        var counts: [String: Int] = [:]
    }

    private let state = Mutex(State())

    /// The ISBNs that a screen has shown as captured.
    var captured: Set<String> { state.withLock(\.captured) }
    /// The ISBNs that a screen has shown as saved, without those whose save was undone later.
    var saved: Set<String> { state.withLock(\.saved) }
    /// The numbers of events by name, for the report.
    var counts: [String: Int] { state.withLock(\.counts) }

    func addCaptured(_ isbns: some Sequence<String>) { state.withLock { $0.captured.formUnion(isbns) } }
    func addSaved(_ isbns: some Sequence<String>) { state.withLock { $0.saved.formUnion(isbns) } }
    func removeSaved(_ isbns: some Sequence<String>) { state.withLock { $0.saved.subtract(isbns) } }
    func count(_ event: String, _ number: Int = 1) { state.withLock { $0.counts[event, default: 0] += number } }
}

/// The signal at which the members of the household stop working.
final class Closing: Sendable {
    private let closed = Mutex(false)

    var isOver: Bool { closed.withLock(\.self) }
    func close() { closed.withLock { $0 = true } }
}
