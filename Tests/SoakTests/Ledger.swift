import Synchronization

/// The books that screens and commands have shown as captured or saved. At the end, all of them must be in the library.
final class Ledger: Sendable {
    private struct State {
        var captured: Set<String> = []
        var saved: Set<String> = []
        /// The books that each change has saved.
        var changes: [String: Set<String>] = [:]
        /// The number of times that somebody was about to undo the save of a book.
        var undos: [String: Int] = [:]
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

    /// - Parameter change: the change that saved the books; `nil` if it is never undone.
    func addSaved(_ isbns: some Sequence<String>, by change: String? = nil) {
        state.withLock { state in
            state.saved.formUnion(isbns)
            if let change { state.changes[change, default: []].formUnion(isbns) }
        }
    }

    /// Forgets that these books were saved, because they leave the library.
    func clear(_ isbns: some Sequence<String>) { state.withLock { $0.saved.subtract(isbns) } }

    /// Removes the books whose save somebody is about to undo.
    ///
    /// - Parameters:
    ///   - shown: the books that the screen shows as saved. The change may have saved more, because a screen shows a
    ///     limited number of rows.
    ///   - change: the change that is undone.
    /// - Returns: a function that adds books again that were not undone. It leaves out those that somebody else is
    ///   undoing, because a screen shows them as saved until it has heard of it.
    func removeSaved(_ shown: Set<String>, undoing change: String) -> @Sendable (Set<String>) -> Void {
        let (removed, undos) = state.withLock { state in
            let isbns = shown.union(state.changes[change] ?? [])
            let removed = state.saved.intersection(isbns)
            state.saved.subtract(removed)
            for isbn in isbns { state.undos[isbn, default: 0] += 1 }
            return (removed, state.undos)
        }
        return { kept in
            self.state.withLock { state in
                let current = state.undos
                state.saved.formUnion(kept.intersection(removed).filter { current[$0] == undos[$0] })
            }
        }
    }

    func count(_ event: String, _ number: Int = 1) { state.withLock { $0.counts[event, default: 0] += number } }
}

/// The signal at which the members of the household stop working.
final class Closing: Sendable {
    private let closed = Mutex(false)

    var isOver: Bool { closed.withLock(\.self) }
    func close() { closed.withLock { $0 = true } }
}
