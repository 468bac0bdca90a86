import Bookplate
import Station

/// Where the person's answers come from.
enum PromptInput: Sendable {
    /// Single keys from the terminal.
    case keyboard(Keyboard)
    /// Lines of a terminal: one letter answers, anything else is a number for `capture`; `finish` tells that no more will come.
    case lines(InputLines, capture: @Sendable (String) -> Void, finish: @Sendable () -> Void)

    enum Event: Sendable {
        case candidate(Candidate)
        case noMoreCandidates((any Error)?)
        case key(Keyboard.Key)
        case line(String)
        /// Nobody can answer any more.
        case noMoreAnswers
    }

    /// Candidates and answers in the order in which they come; who stops listening ends both.
    func events(beside candidates: AsyncThrowingStream<Candidate, any Error>) -> AsyncStream<Event> {
        AsyncStream { events in
            let candidates = Task {
                do {
                    for try await candidate in candidates { events.yield(.candidate(candidate)) }
                    events.yield(.noMoreCandidates(nil))
                } catch {
                    events.yield(.noMoreCandidates(error))
                }
            }
            let answers = Task {
                switch self {
                case .keyboard(let keyboard):
                    for await key in keyboard.keys { events.yield(.key(key)) }
                case .lines(let lines, _, let finish):
                    for await burst in lines.bursts {
                        lines.take()
                        for line in burst { events.yield(.line(line)) }
                    }
                    finish()
                }
                events.yield(.noMoreAnswers)
            }
            events.onTermination = { _ in
                candidates.cancel()
                answers.cancel()
            }
        }
    }
}
