import Bookplate
import FoundationEssentials
import GRDB
import Synchronization

/// Keeps the last answers to questions for which much of the library is read. An answer is right until anything in the
/// library changes, so that pages are fast while a person only looks around.
final class KeptAnswers: Sendable {
    /// A question, with what its answer consists of.
    enum Question: Sendable, Equatable {
        case facets(BookQuery, countsAuthors: Bool)
        case names(NamedFacet, BookQuery, limit: Int)
        case readBooks(Period, monthsOf: Int, TimeZone)
        case memories(of: CalendarDay, limit: Int, TimeZone)
        case duplicates
        case authors
    }

    private struct Kept: Sendable {
        var question: Question
        var access: Access
        var answer: any Sendable
    }

    /// The reader who asks, and whether the reader's private notes and quotes are seen.
    struct Access: Sendable, Equatable {
        fileprivate var reader: Int64
        fileprivate var seesPrivate: Bool
    }

    private struct State {
        var watcher: FileWatcher?
        /// The number of changes that ``watcher`` has noticed.
        var version = 0
        /// The answers in this version, the latest last.
        var kept: [Kept] = []
    }

    private let state: Mutex<State>
    /// The maximum number of answers. An answer takes a few kilobytes, and the list of all authors a few megabytes.
    private static let limit = 24

    /// - Parameter path: the library's file; `nil` if nothing is to be kept, because the file cannot be watched.
    init(path: String?, _ connections: WatchConnections) {
        state = Mutex(State(watcher: path.map { FileWatcher(path: $0, connections: connections) }))
    }

    /// Returns the number of changes so far; `nil` if they are not counted. What is read after this call is at least as
    /// new.
    fileprivate func version() throws -> Int? {
        try state.withLock { state in
            guard state.watcher != nil else { return nil }
            do {
                guard try state.watcher?.hasChanged() == true else { return state.version }
            } catch {
                state.watcher?.close()
                throw error
            }
            state.version += 1
            state.kept = []
            return state.version
        }
    }

    fileprivate func answer<Answer>(_ question: Question, _ access: Access, _ version: Int?) -> Answer? {
        state.withLock { state in
            guard version == state.version else { return nil }
            return state.kept.first { $0.access == access && $0.question == question }?.answer as? Answer
        }
    }

    fileprivate func keep(_ answer: some Sendable, _ question: Question, _ access: Access, _ version: Int?) {
        state.withLock { state in
            guard version == state.version else { return }
            state.kept.append(Kept(question: question, access: access, answer: answer))
            state.kept.removeFirst(max(0, state.kept.count - Self.limit))
        }
    }
}

extension LibraryFile {
    /// Returns the answer to a question, and computes it if the library has changed since it was computed last.
    func kept<Answer: Sendable>(
        _ question: KeptAnswers.Question, compute: @Sendable () async throws -> Answer
    ) async throws -> Answer {
        let version: Int?
        do { version = try answers.version() } catch { throw LibraryError.translated(error, path: path ?? ":memory:") }
        let access = try await read { db in
            let row = try db.row("SELECT reader(), seesPrivate()")
            return KeptAnswers.Access(reader: row?[0] ?? CurrentReader.everybody, seesPrivate: row?[1] ?? false)
        }
        if let known: Answer = answers.answer(question, access, version) { return known }
        let answer = try await compute()
        answers.keep(answer, question, access, version)
        return answer
    }
}
