import Foundation
import Synchronization

/// A progress bar on the status line. It appears if the work takes more than a second.
package final class ProgressBar: Sendable {
    private let state: Mutex<(done: Int, total: Int)>
    private let started = ContinuousClock.now
    private let noun: String

    /// - Parameters:
    ///   - noun: the word for the things that are counted, in the plural ("photos").
    ///   - total: the total number of things; 0 if it is not known.
    package init(_ noun: String, total: Int) {
        self.noun = noun
        state = Mutex((0, total))
    }

    package func advance(by count: Int = 1) {
        let now = state.withLock { state in
            state.done += count
            return state
        }
        show(now)
    }

    /// Sets the number of things done and the total number, for a caller that counts them itself.
    package func set(_ done: Int, of total: Int) {
        state.withLock { $0 = (done, total) }
        show((done, total))
    }

    private func show(_ now: (done: Int, total: Int)) {
        guard Output.shared.showsStatus, ContinuousClock.now - started > .seconds(1) else { return }
        Output.shared.showStatus(Self.text(done: now.done, total: now.total, noun: noun))
    }

    package func finish() { Output.shared.showStatus("") }

    static func text(done: Int, total: Int, noun: String, isASCII: Bool = !localeIsUTF8()) -> String {
        guard total > 0 else { return "\(done) \(noun)" }
        let track = Track(Double(done) / Double(total), width: 30).text(isASCII: isASCII)
        return "\(track) \(min(100, done * 100 / total))%  \(done) of \(total) \(noun)"
    }
}
