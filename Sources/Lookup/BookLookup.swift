import Bookplate

/// The lookup of one book at the sources that are asked one after another. The next source is asked as soon as the one
/// before it has answered without a result that is enough, or keeps the lookup waiting: a source that hangs costs
/// the ``RequestPolicy/patience``, and not the time of those after it.
final class BookLookup: Sendable {
    private let draft: LookupDraft
    private let awaited: Set<SourceName>
    private let remainder: Deadline.Remainder
    private let events: AsyncStream<Event>
    private let report: AsyncStream<Event>.Continuation

    private enum Event: Sendable {
        /// The source has answered, or will not answer.
        case answer(SourceName, SourceAnswer?)
        case completed(SourceName, Metadata)
        /// The step with this number is no longer waited for.
        case late(Int)
    }

    /// One request, or a few that belong together.
    private enum Step {
        /// Requests the fields that a source has at another address, such as the names of authors.
        case complete(any OnlineSource)
        case ask(any OnlineSource)
    }

    /// - Parameters:
    ///   - draft: what is known of the book.
    ///   - awaited: sources that have been asked, whose answers ``add(_:from:)`` will bring.
    ///   - remainder: the time that is left for the book.
    init(_ draft: LookupDraft, awaited: Set<SourceName>, _ remainder: Deadline.Remainder) {
        self.draft = draft
        self.awaited = awaited
        self.remainder = remainder
        (events, report) = AsyncStream.makeStream(of: Event.self)
    }

    /// Adds the answer of a source that was asked before; it is ignored if the lookup is over.
    ///
    /// - Parameter answer: `nil` if the source will not answer.
    func add(_ answer: SourceAnswer?, from source: SourceName) { report.yield(.answer(source, answer)) }

    /// Asks the sources. Must be called once.
    ///
    /// - Parameter client: returns the client for a source. `isLast` is true if no source is asked after it.
    /// - Returns: the draft, once the goal is reached or every source has answered. A source whose answer was no longer
    ///   needed is not in it.
    func run(
        _ sources: LookupSources, for goal: LookupGoal, _ policy: RequestPolicy,
        client: (any OnlineSource, Deadline, _ isLast: Bool) -> SourceClient
    ) async -> LookupDraft {
        var (draft, awaited) = (draft, awaited)
        let deadline = Deadline(remainder, policy.time)
        var steps = (goal == .record ? sources.available.map(Step.complete) : [])[...]
        steps += sources.available.filter { !$0.isAskedAtOnce }.map(Step.ask)
        var number = 0
        var last: SourceName?
        await withTaskGroup(of: Void.self) { group in
            /// Begins the next step that may add something, and returns false if there is none.
            func begin() -> Bool {
                while let step = steps.popFirst() {
                    let source: any OnlineSource
                    switch step {
                    case .complete(let one):
                        guard !awaited.contains(one.name), let record = draft.incompleteRecord(of: one) else {
                            continue
                        }
                        source = one
                        let client = client(one, deadline, false)
                        group.addTask { await self.complete(record, at: one, client) }
                    case .ask(let one):
                        guard draft.isAsked(of: one) else { continue }
                        source = one
                        let client = client(one, deadline, !steps.contains { isNeeded($0, draft) })
                        group.addTask { [isbn = draft.isbn] in
                            self.add(await one.lookUp([isbn], through: client)[isbn] ?? .notFound, from: one.name)
                        }
                    }
                    awaited.insert(source.name)
                    last = source.name
                    number += 1
                    group.addTask { [number] in
                        if await policy.losesPatience() { self.report.yield(.late(number)) }
                    }
                    return true
                }
                return false
            }
            // Answers that came while the book waited for its turn are read first.
            report.yield(.late(number))
            for await event in events {
                let goesOn: Bool
                switch event {
                case .answer(let source, let answer):
                    if let answer { draft.add(answer, from: source) }
                    awaited.remove(source)
                    goesOn = source == last
                case .completed(let source, let metadata):
                    draft.complete(with: metadata, from: source)
                    awaited.remove(source)
                    goesOn = source == last
                case .late(let step): goesOn = step == number
                }
                if goal == .title ? draft.hasTitle : !draft.needsMore { break }
                if goesOn, begin() { continue }
                if awaited.isEmpty, !begin() { break }
            }
            group.cancelAll()
        }
        return draft
    }

    private func complete(_ record: Metadata, at source: any OnlineSource, _ client: SourceClient) async {
        do throws(LookupError) {
            report.yield(
                .completed(source.name, try await source.complete(record, of: draft.isbn, through: client)))
        } catch {
            // The record can be used as it is. The source stays pending.
            report.yield(.answer(source.name, error.answer))
        }
    }

    private func isNeeded(_ step: Step, _ draft: LookupDraft) -> Bool {
        if case .ask(let source) = step { draft.isAsked(of: source) } else { false }
    }
}
