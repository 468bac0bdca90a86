import Async
import Bookplate
import Station

/// One run of `scan` without a full screen. It passes the input to the station and prints the events as lines. For each
/// book, a person decides at the terminal whether to save it, or has decided in advance with `--yes`, or nobody
/// decides.
///
/// Capturing continues while the sources are queried and while the person decides.
package struct CaptureRun: Sendable {
    let station: Station
    let answer: Answer
    let events: EventPrinter
    /// The requests that the lookups of this run wait for.
    let open: OpenRequests
    /// A stream without elements, which ends when no more frames will arrive.
    private let sourceEnd = AsyncStream.makeStream(of: Never.self)
    /// The detections that have arrived from the input and are not on disk yet.
    private let arrived = SharedValue<[Detection]>([])

    package init(station: Station, answer: Answer, events: EventPrinter, open: OpenRequests = OpenRequests()) {
        (self.station, self.answer, self.events, self.open) = (station, answer, events, open)
    }

    /// The way in which the run gets an answer for each book.
    package enum Answer: Sendable {
        /// The person answered all books in advance (`--yes`).
        case advance
        /// The person answers each book at the terminal.
        case prompt(PromptInput)
        /// Nobody answers, so all books stay in the queue.
        case leave

        /// True if the person is asked about each book.
        package var asks: Bool { if case .prompt = self { true } else { false } }

        package func restoreTerminal() {
            if case .prompt(.keyboard(let keyboard)) = self { keyboard.close() }
        }

        /// Returns the station's options for saving books automatically; nil unless all books were answered in advance.
        package func saving(anotherCopy: Bool) -> Station.AutomaticSaving? {
            guard case .advance = self else { return nil }
            return Station.AutomaticSaving(anotherCopy: anotherCopy, isUnattended: true)
        }
    }

    private enum Part { case station, input, answers, progress }

    /// Reported if the run ended before some books were captured, and nothing else is known to have failed.
    private struct EndedEarly: Error, CustomStringConvertible {
        let description = "the run ended before these books were captured"
    }

    /// The longest time that a run keeps trying to write to a full disk or a locked library before it ends with an
    /// error.
    private static let patience: Duration = .seconds(120)

    /// Captures all batches of a source, and gets an answer for each book.
    package func run(_ source: InputSource) async throws {
        try await run(expected: source.expected) { try await capture(source.batches) }
    }

    /// Captures books with the station's camera and handheld scanner, and from typed numbers. The run lasts until the
    /// frames or lines end, or until a signal ends the program.
    ///
    /// - Parameter numbers: the lines of the terminal, if no prompt reads them.
    package func run(numbers: InputLines? = nil) async throws {
        try await run(expected: nil) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                defer { group.cancelAll() }
                group.addTask { for await _ in sourceEnd.stream {} }
                if let numbers { group.addTask { try await capture(numbers) } }
                try await group.next()
            }
        }
    }

    /// Gets answers for items that are already in the queue. Items that were not found before are looked up first.
    package func answer(_ items: [QueueItem]) async throws {
        events.expect(items)
        try await run(expected: items.count) { try await station.adopt(items) }
    }

    private func run(expected: Int?, input: @escaping @Sendable () async throws -> Void) async throws {
        var failure: (any Error)?
        await withTaskGroup(of: Result<Part, any Error>.self) { group in
            func add(_ part: Part, _ body: @escaping @Sendable () async throws -> Void) {
                group.addTask { await resultOf(body).map { part } }
            }
            add(.station) { await station.run() }
            add(.input) {
                try await input()
                await station.endInput()
            }
            add(.answers) { try await listen(expected: expected) }
            add(.progress) { await showProgress() }
            // The other parts are cancelled when a part fails, or when an answer ends the run. All of them are awaited,
            // because a part may still fail then.
            for await result in group {
                switch result {
                case .success(.answers): group.cancelAll()
                case .success(.station), .success(.input), .success(.progress): break
                case .failure(let error):
                    if !(error is CancellationError) { failure = failure ?? error }
                    group.cancelAll()
                }
            }
        }
        Output.shared.showStatus("")
        let lost = await station.lost
        let texts = lost.texts + arrived.value.map(\.raw)
        for text in texts { Output.shared.printError("not captured: \(text.printable)") }
        if failure == nil, !texts.isEmpty {
            let captureError = await station.contents.captureError
            failure = lost.error ?? captureError ?? EndedEarly()
        }
        if let failure { throw failure }
        events.conclude()
    }

    // MARK: Capturing

    /// The detections that have arrived and are not on disk yet. May be called from any thread.
    package var notCaptured: [Detection] { arrived.value + station.pendingDetections }

    /// Captures all batches. Batches that arrive while an earlier one waits for the disk are noted at once, so that
    /// none is forgotten if the run ends before.
    private func capture(_ batches: AsyncStream<InputBatch>) async throws {
        let (noted, notes) = AsyncStream.makeStream(of: InputBatch.self)
        let reading = Task {
            for await batch in batches {
                arrived.withLock { $0 += batch.detections }
                notes.yield(batch)
            }
            notes.finish()
        }
        let result = await resultOf { for await batch in noted { try await capture(batch) } }
        // This ends the stream after the batches that it already holds.
        reading.cancel()
        await reading.value
        try result.get()
    }

    private func capture(_ batch: InputBatch) async throws {
        defer { batch.onCaptured() }
        events.show(batch.refused, inBackground: true)
        try await station.capture(batch.detections, patience: Self.patience)
        arrived.withLock { $0.removeFirst(batch.detections.count) }
    }

    private func capture(_ numbers: InputLines) async throws {
        do {
            for try await lines in numbers.batches {
                numbers.release()
                for line in lines where !line.isEmpty { station.enqueue(TypedNumber(text: line, origin: .typed)) }
            }
        } catch {
            events.show([.unreadableInput(error)])
        }
    }

    // MARK: Listening

    private func listen(expected: Int?) async throws {
        if case .prompt(let input) = answer {
            var prompt = Prompt(run: self, input: input, expected: expected)
            return try await prompt.run()
        }
        for await news in station.news {
            try await show(news)
            if case .known(let row, isFirst: true) = news, case .leave = answer { leave([row.candidate]) }
            if case .inputEnded = news { return }
        }
    }

    /// Prints one piece of news from the station.
    ///
    /// - Throws: the error that ends the run.
    func show(_ news: Station.News) async throws {
        switch news {
        case .captured(let row): events.show([.captured(row.candidate.item)], inBackground: true)
        case .known(let row, isFirst: true): events.show([.lookedUp(row.candidate.item)].compactMap { $0 })
        // What further sources add is not an event of its own.
        case .known: break
        case .settled(let settled):
            let batch = await station.contents.batch
            events.reportMissingSources(
                of: settled.filter { $0.name == .queued }.compactMap { $0.item.flatMap { batch[$0]?.candidate } })
            events.show(settled)
        case .refused(let event, _): events.show([event], inBackground: true)
        case .captureWaits(let error):
            Output.shared.printError("\(events.describe(error)) Trying again every second.")
        case .notCaptured(_, let error), .failed(let error): throw error
        case .camera(let state): if let state { show(state) }
        case .sourceEnded:
            if case .failed(let error) = await station.snapshot(limit: 0).camera {
                events.report(error.kind == .noFrames ? .unreadable : .unavailable)
            }
            // A handheld scanner works without a camera.
            if !station.hasScanner { sourceEnd.continuation.finish() }
        case .scannerReady(let name): Output.shared.printNotice("The handheld scanner \(name.printable) is ready.")
        case .scannerFailed(let message): Output.shared.printError(message)
        case .saved(let saved): events.show(saved.events)
        case .inputEnded, .batch, .view: break
        }
    }

    private func show(_ camera: CameraState) {
        switch camera {
        case .starting, .ended: break
        case .streaming(let name, let format): Output.shared.printNotice("\(name.printable): \(format)")
        case .failed(let error): Output.shared.printError(error.description)
        }
    }

    /// Reports that these candidates stay in the queue.
    func leave(_ candidates: [Candidate]) {
        events.reportMissingSources(of: candidates)
        events.show(candidates.map { .queued($0) })
    }

    /// Shows the progress of the lookups on the status line, if they take more than a second.
    private func showProgress() async {
        if case .prompt = answer { return }
        while !Task.isCancelled {
            do { try await Task.sleep(for: .seconds(1)) } catch { return }
            let count = events.count(.captured)
            guard count > 0 else { continue }
            Output.shared.showStatus("looking up \(count) of \(events.total)\(open.asking.map { "; \($0)" } ?? "") …")
        }
    }
}

private func resultOf(_ body: () async throws -> Void) async -> Result<Void, any Error> {
    do { return .success(try await body()) } catch { return .failure(error) }
}

extension Candidate {
    /// True if a source was unavailable, was blocked or sent bad data, and no other source provided a title.
    var lacksASource: Bool {
        guard let outcome = item.outcome, !isComplete else { return false }
        return outcome != .found && outcome != .notFound
    }
}
