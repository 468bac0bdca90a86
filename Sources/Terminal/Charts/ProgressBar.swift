import Bookplate
import Foundation
import Synchronization

/// A progress bar on the status line. It appears after a second, even during a step that reports no progress.
package final class ProgressBar: Sendable {
    private struct State {
        var done = 0
        var total: Int
        /// True after a second of work, until the work is finished.
        var isShown = false
        var isFinished = false
    }

    private let state: Mutex<State>
    private let noun: String
    private let open: OpenRequests?

    /// - Parameters:
    ///   - noun: the word for the things that are counted, in the plural ("photos").
    ///   - total: the total number of things; 0 if it is not known.
    ///   - open: the requests that the work waits for. Their sources are shown beside the bar.
    package init(_ noun: String, total: Int, waitingFor open: OpenRequests? = nil) {
        (self.noun, self.open) = (noun, open)
        state = Mutex(State(total: total))
        guard Output.shared.showsStatus else { return }
        Task { [weak self] in
            // Work of less than a second needs no bar, which would only flicker.
            try await Task.sleep(for: .seconds(1))
            self?.update { $0.isShown = true }
            // Other sources may be asked although nothing has advanced.
            while open != nil, self?.isFinished == false {
                try await Task.sleep(for: .seconds(1))
                self?.update { _ in }
            }
        }
    }

    package func advance(by count: Int = 1) { update { $0.done += count } }

    /// Sets the number of things done and the total number, for a caller that counts them itself.
    package func set(_ done: Int, of total: Int) { update { ($0.done, $0.total) = (done, total) } }

    private func update(_ change: (inout State) -> Void) {
        state.withLock { state in
            change(&state)
            guard state.isShown, !state.isFinished else { return }
            let text = Self.text(done: state.done, total: state.total, noun: noun)
            Output.shared.showStatus(text + (open?.asking.map { "; \($0)" } ?? ""))
        }
    }

    private var isFinished: Bool { state.withLock(\.isFinished) }

    package func finish() {
        state.withLock { state in
            state.isFinished = true
            Output.shared.showStatus("")
        }
    }

    static func text(done: Int, total: Int, noun: String, isASCII: Bool = Output.shared.isASCII) -> String {
        guard total > 0 else { return "\(done) \(noun)" }
        let track = Track(Double(done) / Double(total), width: 30).text(isASCII: isASCII)
        return "\(track) \(min(100, done * 100 / total))%  \(done) of \(total) \(noun)"
    }
}

extension OpenRequests {
    /// The sources for a status line: "asking Open Library, Google Books"; nil if none is being asked.
    var asking: String? {
        let sources = sources
        return sources.isEmpty ? nil : "asking " + sources.map(\.displayName).joined(separator: ", ")
    }
}
