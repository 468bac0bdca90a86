import Bookplate
import Foundation
import Library
import Station

/// One run of `scan` as a way in: what arrives is captured, looked up, and answered by a person, in advance, or not at all.
///
/// Capturing goes on while the sources are asked and while the person answers.
struct CaptureRun: Sendable {
    let flow: CaptureFlow
    let history: any History
    let preset: Preset
    let anotherCopy: Bool
    let answer: Answer
    let events: EventPrinter
    let report: ExitReport

    /// Who says yes.
    enum Answer: Sendable {
        /// `--yes`: the person, in advance.
        case advance
        /// The person, at the terminal.
        case prompt(PromptInput)
        /// Nobody: everything stays in the queue.
        case leave
    }

    private enum Part { case capturing, answering, watching }

    /// So long a full disk or a lock is waited for, where somebody waits for the end of the command.
    private static let patience: Duration = .seconds(120)

    /// Captures what arrives, and answers it.
    ///
    /// - Parameter isLive: a lock or a full disk is waited for until somebody ends the run.
    func run(_ arrivals: AsyncStream<ArrivalBurst>, expected: Int? = nil, isLive: Bool = false) async throws {
        let (items, captured) = AsyncStream.makeStream(of: IntakeItem.self)
        try await run(answering: items, areCaptured: true, expected: expected) {
            defer { captured.finish() }
            do {
                for await burst in arrivals { try await capture(burst, isLive: isLive, into: captured) }
            } catch {
                await nameRest(of: arrivals)
                throw error
            }
        }
    }

    /// Answers items that are in the queue already; what is not found yet is looked up first.
    func answer(_ items: [IntakeItem]) async throws {
        let (stream, queue) = AsyncStream.makeStream(of: IntakeItem.self)
        events.expect(items)
        for item in items { queue.yield(item) }
        queue.finish()
        try await run(answering: stream, areCaptured: false, expected: items.count) {}
    }

    private func run(
        answering items: AsyncStream<IntakeItem>, areCaptured: Bool, expected: Int?,
        capturing: @escaping @Sendable () async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Part.self) { group in
            // The first that fails, or an answer that ends the run, ends the others.
            defer { group.cancelAll() }
            group.addTask {
                try await capturing()
                return .capturing
            }
            group.addTask {
                try await settle(flow.candidates(following: items, areCaptured: areCaptured), expected: expected)
                return .answering
            }
            group.addTask {
                await watch()
                return .watching
            }
            for try await part in group where part == .answering { break }
        }
        Output.shared.status("")
        events.conclude()
    }

    /// Tells on the status line what is going on, for whatever takes more than a second.
    private func watch() async {
        if case .prompt = answer { return }
        while !Task.isCancelled {
            do { try await Task.sleep(for: .seconds(1)) } catch { return }
            let open = events.count(.captured)
            if open > 0 { Output.shared.status("looking up \(open) of \(events.total) …") }
        }
    }

    /// What came while the last was waiting for the disk, and will not be captured either.
    private func nameRest(of arrivals: AsyncStream<ArrivalBurst>) async {
        let naming = Task {
            for await burst in arrivals { Self.name(burst.arrivals.compactMap(\.detection)) }
        }
        // Ends the stream, which then gives what it holds and no more.
        naming.cancel()
        await naming.value
    }

    private static func name(_ lost: [Detection]) {
        for detection in lost { Output.shared.complain("not captured: \(detection.raw.printable)") }
    }

    private func capture(
        _ burst: ArrivalBurst, isLive: Bool, into captured: AsyncStream<IntakeItem>.Continuation
    ) async throws {
        defer { burst.taken() }
        let detections = burst.arrivals.compactMap(\.detection)
        events.show(burst.arrivals.compactMap(\.event), inBackground: true)
        guard !detections.isEmpty else { return }
        let limit = ContinuousClock.now + Self.patience
        let isTold = SharedValue(false)
        let items: [IntakeItem]
        do {
            items = try await flow.captureUntilPossible(
                detections, preset: { preset }, mayWait: { isLive || ContinuousClock.now < limit },
                waits: { error in
                    guard isTold.exchange(true) == false else { return }
                    Output.shared.complain(
                        "\(CommandError(describing: error)) \(detections.count) to be captured; trying on.")
                })
        } catch {
            Self.name(detections)
            throw error
        }
        events.show(items.map { .captured($0) }, inBackground: true)
        for item in items { captured.yield(item) }
    }

    private func settle(_ candidates: AsyncThrowingStream<Candidate, any Error>, expected: Int?) async throws {
        switch answer {
        case .advance:
            var batch: ID<Change>?
            try await forEachBurst(of: candidates) { burst in
                told(burst)
                let settled = try await flow.settle(burst, anotherCopy: anotherCopy, continuing: batch)
                batch = batch ?? settled.compactMap(\.change).first
                let left = Set(settled.filter { $0.name == .queued }.compactMap(\.item))
                noteSources(burst.filter { left.contains($0.item.id) })
                events.show(settled)
            }
        case .leave:
            try await forEachBurst(of: candidates) { burst in
                told(burst)
                leave(burst)
            }
        case .prompt(let input):
            var loop = PromptLoop(run: self, input: input, expected: expected)
            try await loop.run(candidates)
        }
    }

    /// Reports what the sources said.
    func told(_ candidates: [Candidate]) { events.show(candidates.compactMap { .lookedUp($0.item) }) }

    /// Candidates stay in the queue.
    func leave(_ candidates: [Candidate]) {
        noteSources(candidates)
        events.show(candidates.map { .queued($0) })
    }

    func noteSources(_ left: [Candidate]) {
        if left.contains(where: \.lacksASource) { report.note(.unavailable) }
    }
}

extension Candidate {
    /// Whether a source was unavailable, blocked or talked nonsense, and nothing else has filled the gap.
    var lacksASource: Bool {
        guard let outcome = item.outcome, !isComplete else { return false }
        return outcome != .found && outcome != .notFound
    }
}
