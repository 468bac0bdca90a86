import Bookplate

// What goes on beside the pages, until the service ends.
extension Desk {
    /// Between two rounds of the queue.
    static let roundsOfQueue: Duration = .seconds(60)
    /// Between two glances at the camera.
    static let glances: Duration = .milliseconds(100)
    /// Between two looks at the library, however often it changes.
    static let looksApart: Duration = .milliseconds(300)
    /// Covers a round.
    static let mostCovers = 50
    /// So many answered rows stay in the batch.
    static let mostAnswered = 1000

    /// What is on the way to the disk when the service ends has so long to get there, however long the library is locked.
    static let lastTry: Duration = .seconds(1)

    /// Until the task is cancelled: captures with the camera, asks the sources, follows the library.
    ///
    /// It ends soon then: what does not come to its end within ``lastTry`` is left behind.
    ///
    /// - Parameter tell: called in the order of what happens; it must not wait.
    public func run(_ tell: @escaping @Sendable (News) -> Void) async {
        self.tell = tell
        await beginAgain()
        let watching = Task { await watchCamera() }
        let capturing = Task { await captureSeen() }
        let others = Task { await goOn() }
        for await _ in end.stream {}
        watching.cancel()
        capturing.cancel()
        others.cancel()
        let last = Task {
            await watching.value
            await capturing.value
            await captureLast()
            await others.value
        }
        guard await !isOver(last, within: Self.lastTry) else { return }
        hasEnded = true
        for sighting in seen.all {
            report(
                "not captured in time: \(sighting.isbn.digits); see whether it is in the queue, else hold it up again")
        }
    }

    private nonisolated func goOn() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.takeGlances() }
            group.addTask { await self.answer() }
            group.addTask { await self.followLibrary() }
            group.addTask { await self.goRound() }
            group.addTask { await self.fetchCovers() }
            await group.waitForAll()
        }
    }

    /// Whether it ends within the time, which counts in a task that is cancelled, too; if not, it goes on all the same.
    private nonisolated func isOver(_ work: Task<Void, Never>, within limit: Duration) async -> Bool {
        await Task { [clock] in
            let (answers, continuation) = AsyncStream.makeStream(of: Bool.self)
            let timer = Task {
                // Cancelled it has nothing to say any more.
                _ = try? await clock.sleep(for: limit)
                continuation.yield(false)
            }
            Task {
                await work.value
                continuation.yield(true)
            }
            defer { timer.cancel() }
            return await answers.first { _ in true } ?? false
        }.value
    }

    // MARK: The camera

    private func watchCamera() async {
        guard let live else { return }
        do {
            for try await event in live.events() {
                switch event {
                case .camera(let state): show(state)
                case .captured(let sighting): seen.put(sighting)
                case .refused(let symbol, let refusal): refused(symbol.payload, symbol.kind, .noBook(refusal))
                }
            }
            if !Task.isCancelled { show(.ended) }
        } catch {
            show(.trouble(CameraTrouble(.failing, "frames cannot be read here: \(error). Restart the service.")))
        }
    }

    private func show(_ state: CameraState) {
        // A trouble says more than that nothing comes any more.
        if case .trouble = camera, state == .ended { return }
        guard state != camera else { return }
        camera = state
        report("camera: \(state.line)")
        tell(.camera(state))
    }

    private func takeGlances() async {
        guard let live else { return }
        while await pause(Self.glances) {
            let now = live.glance
            // The thread may hang in the driver, and then tells nothing.
            if case .trouble(let trouble) = now.camera, trouble.kind == .stuck { show(now.camera) }
            let glance = Glance(now)
            if glance != self.glance {
                self.glance = glance
                tell(.glance(glance))
            }
        }
    }

    /// Brings what was seen to the disk, however long it takes.
    private func captureSeen() async {
        for await _ in seen.news.stream {
            while !Task.isCancelled, let sighting = seen.oldest { await capture(sighting) }
        }
    }

    private func capture(_ sighting: Sighting) async {
        do {
            let items = try await flow.captureUntilPossible(
                [sighting], clock: clock, preset: { await self.batch.preset }, mayWait: { !Task.isCancelled },
                waits: { await self.captureWaits($0) })
            hasArrived()
            _ = await takeCaptured(items, of: [sighting])
        } catch {
            // It is tried once more with all that is left.
            if Task.isCancelled { return }
            hasArrived()
            report("not captured: \(sighting.isbn.digits): \(error)")
            refused(sighting.raw, .isbn, .notCaptured(words(error)))
        }
    }

    /// What is on the way when the service ends is tried once more; then whoever held it up must hold it up again.
    private func captureLast() async {
        let last = seen.all
        guard !last.isEmpty, !hasEnded else { return }
        do {
            _ = try await captureNow(last)
        } catch {
            // It was told as not captured in time.
            guard !hasEnded else { return }
            for sighting in last { report("not captured: \(sighting.isbn.digits): \(error)") }
        }
        seen.remove(oldest: last.count)
    }

    private func captureWaits(_ error: any Error) {
        let reason = words(error)
        guard reason != captureTrouble else { return }
        captureTrouble = reason
        report("capturing waits, tried again every second: \(error)")
        batchChanged()
    }

    private func hasArrived() {
        seen.remove(oldest: 1)
        if captureTrouble != nil { report("capturing goes on") }
        captureTrouble = nil
    }

    // MARK: The sources

    /// Asks them for what came in. What goes wrong is told, and does not end the asking: the items wait in the queue.
    private nonisolated func answer() async {
        do {
            try await forEachBurst(of: lookups.stream) { burst in
                var (captured, waiting, again): ([IntakeItem], [IntakeItem], [ID<IntakeItem>]) = ([], [], [])
                for request in burst {
                    switch request {
                    case .captured(let items): captured += items
                    case .waiting(let items): waiting += items
                    case .again(let ids): again += ids
                    }
                }
                if !captured.isEmpty { await follow(flow.candidates(captured), captured.map(\.id)) }
                if !waiting.isEmpty {
                    await follow(flow.candidates(waiting, areCaptured: false), waiting.map(\.id))
                }
                if !again.isEmpty { await follow(flow.refresh(again), again) }
            }
        } catch {
            if !Task.isCancelled { report("the sources are not asked any more: \(error)") }
        }
    }

    /// What waits in the queue for a source is asked for when it is due, from the start on.
    private func goRound() async {
        repeat {
            if !isOffline { await follow(flow.refreshQueue(), []) }
            looks.put(())
        } while await pause(Self.roundsOfQueue)
    }

    private func follow(
        _ candidates: AsyncThrowingStream<Candidate, any Error>, _ asked: [ID<IntakeItem>]
    ) async {
        var asked = Set(asked)
        do {
            for try await candidate in candidates {
                // Another process is just asking for it: what it finds out is seen in the library, and what it leaves open is taken
                // up by the next round.
                if candidate.item.outcome == nil, !isOffline, asked.remove(candidate.item.id) != nil { continue }
                if batch.take(candidate), let row = row(candidate.item.id) { tell(.known(row)) }
                batchChanged()
            }
        } catch {
            if !Task.isCancelled { report("asking the sources failed, the books wait in the queue: \(error)") }
        }
        guard !asked.isEmpty else { return }
        batch.stopLookingUp(Array(asked))
        batchChanged()
    }

    /// Covers of what was saved, and with every round those that could not be had before.
    private func fetchCovers() async {
        guard let covers, !isOffline else { return }
        saves.put(())
        await withTaskGroup(of: Void.self) { group in
            group.addTask { while await self.pause(Self.roundsOfQueue) { self.saves.put(()) } }
            group.addTask { [saves] in
                for await _ in saves.stream {
                    do {
                        _ = try await covers.fetchMissing(limit: Self.mostCovers, patience: Self.roundsOfQueue)
                    } catch {
                        if !Task.isCancelled { self.report("covers are fetched later: \(error)") }
                    }
                }
            }
        }
    }

    // MARK: The library

    /// The preset of what was captured last goes on: whoever was at a shelf when the service was restarted still is.
    private func beginAgain() async {
        await look()
        if let last = batch.rows.last(where: { $0.candidate.item.origin != .hub }), batch.preset == Preset() {
            batch.preset = last.candidate.item.preset
        }
        batchChanged()
    }

    private func followLibrary() async {
        for await _ in looks.stream {
            await look()
            guard await pause(Self.looksApart) else { return }
        }
    }

    /// Takes in what others did to the queue and the library, and asks the sources for what is new there.
    func look() async {
        do {
            try await inTurn(isNews: false) { desk in
                let before = desk.batch.open
                let waiting = try await desk.flow.recognise(desk.flow.intake.items(in: [.waiting]))
                desk.pictured.formUnion(try await desk.flow.intake.pictured(in: [.waiting]))
                let difference = desk.batch.follow(waiting, openBefore: before)
                desk.forgetAnswered(beyond: Self.mostAnswered)
                desk.takeIn(difference)
            }
            lookTrouble = nil
        } catch {
            let words = "\(error)"
            if words != lookTrouble, !Task.isCancelled {
                report("the queue cannot be read, and is looked at again: \(words)")
            }
            lookTrouble = words
        }
    }

    /// So that a service that runs for months stays small.
    func forgetAnswered(beyond limit: Int = 0) {
        batch.forgetAnswered(beyond: limit)
        pictured = pictured.filter { batch[$0] != nil }
        capturedHere = capturedHere.filter { batch[$0] != nil }
    }

    private func takeIn(_ difference: Batch.Difference) {
        let unknown = difference.new.compactMap { batch[$0]?.candidate.item }.filter { $0.outcome == nil }
        if !unknown.isEmpty { lookups.put(.waiting(unknown)) }
        for row in difference.changed.compactMap({ self.row($0) }) { tell(.known(row)) }
        if !difference.isNothing { batchChanged() }
    }

    /// - Returns: `false` when the task was cancelled.
    func pause(_ time: Duration) async -> Bool {
        do {
            try await clock.sleep(for: time)
            return !Task.isCancelled
        } catch {
            return false
        }
    }
}

extension Desk.Glance {
    init(_ glance: LiveScan.Glance) {
        guard case .streaming(_, let format) = glance.camera else { return }
        (width, height) = (format.width, format.height)
        symbols = glance.symbols.map { symbol in
            symbol.corners.all.map { Spot(x: Int($0.x.rounded()), y: Int($0.y.rounded())) }
        }
        hint = glance.hint
        framesPerSecond = Int(glance.framesPerSecond.rounded())
    }
}

extension CameraState {
    /// For the log.
    fileprivate var line: String {
        switch self {
        case .starting: "looking for one"
        case .streaming(let name, let format): "\(name.cleanedLine), \(format)"
        case .trouble(let trouble): "\(trouble)"
        case .ended: "the stream is over"
        }
    }
}
