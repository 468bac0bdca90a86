import Bookplate
import Synchronization

/// The latest answers of sources that pages show. A request to take something from one names its place in the answer,
/// so that no page sends metadata.
final class RecentAnswers<Answer: Sendable>: Sendable {
    /// The number of answers that are kept, which is more than a household has open.
    private static var limit: Int { 32 }
    private let answers = Mutex<[(id: String, answer: Answer)]>([])

    /// - Returns: the id that names the answer.
    func keep(_ answer: Answer) -> String {
        let id = ID<Answer>().rawValue
        answers.withLock { answers in
            answers.append((id, answer))
            answers.removeFirst(max(0, answers.count - Self.limit))
        }
        return id
    }

    /// - Returns: `nil` if there is no such answer, or no longer.
    subscript(_ id: String) -> Answer? { answers.withLock { $0.first { $0.id == id }?.answer } }
}
