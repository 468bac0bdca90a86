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
        // Who is told holds the desk, and would be held by it for ever.
        defer { self.tell = { _ in } }
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
