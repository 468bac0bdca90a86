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
    /// A stream without elements, which ends when no more frames will arrive.
    private let sourceEnd = AsyncStream.makeStream(of: Never.self)

    package init(station: Station, answer: Answer, events: EventPrinter) {
        (self.station, self.answer, self.events) = (station, answer, events)
    }

    /// The way in which the run gets an answer for each book.
    package enum Answer: Sendable {
        /// The person answered all books in advance (`--yes`).
        case advance
        /// The person answers each book at the terminal.
        case prompt(PromptInput)
        /// Nobody answers, so all books stay in the queue.
        case leave

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

    /// The longest time that a run keeps trying to write to a full disk or a locked library before it ends with an
    /// error.
    private static let patience: Duration = .seconds(120)

    /// Captures all batches of a source, and gets an answer for each book.
    package func run(_ source: InputSource) async throws {
        try await run(expected: source.expected) { try await capture(source.batches) }
    }

    /// Captures books with the station's camera and handheld scanner, or from numbers typed at the prompt. The run
    /// lasts until the frames or lines end, or until a signal ends the program.
    package func run() async throws { try await run(expected: nil) { for await _ in sourceEnd.stream {} } }

    /// Gets answers for items that are already in the queue. Items that were not found before are looked up first.
    package func answer(_ items: [QueueItem]) async throws {
        events.expect(items)
        try await run(expected: items.count) { try await station.adopt(items) }
    }

    private func run(expected: Int?, input: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Part.self) { group in
            // When a part fails, or an answer ends the run, the other parts are cancelled.
            defer { group.cancelAll() }
            group.addTask {
                await station.run()
                return .station
            }
            group.addTask {
                try await input()
                await station.settled()
                station.endNews()
                return .input
            }
            group.addTask {
                try await listen(expected: expected)
                return .answers
            }
            group.addTask {
                await showProgress()
                return .progress
            }
            for try await part in group where part == .answers { break }
        }
        Output.shared.showStatus("")
        events.conclude()
    }

    // MARK: Capturing

    private func capture(_ batches: AsyncStream<InputBatch>) async throws {
        do {
            for await batch in batches { try await capture(batch) }
        } catch {
            // Batches that arrived while this one waited for the disk are not captured either.
            let rest = Task { for await batch in batches { Self.reportLost(batch.detections) } }
            // This ends the stream after the batches that it already holds.
            rest.cancel()
            await rest.value
            throw error
        }
    }

    private func capture(_ batch: InputBatch) async throws {
        defer { batch.onCaptured() }
        events.show(batch.refused, inBackground: true)
        do {
            try await station.capture(batch.detections, patience: Self.patience)
        } catch {
            Self.reportLost(batch.detections)
            throw error
        }
    }

    private static func reportLost(_ detections: [Detection]) {
        for detection in detections { Output.shared.printError("not captured: \(detection.raw.printable)") }
    }

    // MARK: Listening

    private func listen(expected: Int?) async throws {
        if case .prompt(let input) = answer {
            var prompt = Prompt(run: self, input: input, expected: expected)
            return try await prompt.run()
        }
        for await news in station.news {
            try await show(news)
            if case .known(let row, _) = news, case .leave = answer { leave([row.candidate]) }
        }
    }

    /// Prints one piece of news from the station.
    ///
    /// - Throws: the error that ends the run.
    func show(_ news: Station.News) async throws {
        switch news {
        case .captured(let row): events.show([.captured(row.candidate.item)], inBackground: true)
        case .known(let row, _): events.show([.lookedUp(row.candidate.item)].compactMap { $0 })
        case .settled(let settled):
            let batch = await station.contents.batch
            events.reportMissingSources(
                of: settled.filter { $0.name == .queued }.compactMap { $0.item.flatMap { batch[$0]?.candidate } })
            events.show(settled)
        case .refused(let event, _): events.show([event], inBackground: true)
        case .captureWaits(let error):
            Output.shared.printError("\(events.describe(error)) Trying again every second.")
        case .notCaptured(let detections, let error):
            Self.reportLost(detections)
            throw error
        case .failed(let error): throw error
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
        case .batch, .view: break
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
            let open = events.count(.captured)
            if open > 0 { Output.shared.showStatus("looking up \(open) of \(events.total) …") }
        }
    }
}

extension Candidate {
    /// True if a source was unavailable, was blocked or sent bad data, and no other source provided a title.
    var lacksASource: Bool {
        guard let outcome = item.outcome, !isComplete else { return false }
        return outcome != .found && outcome != .notFound
    }
}
