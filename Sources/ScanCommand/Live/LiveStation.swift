import Bookplate
import Capture
import Foundation
import Library
import Station

/// `scan` at a terminal: the camera, handheld scanners and typed numbers fill a batch on a screen of its own, and the person answers
/// whenever a hand is free.
///
/// Capturing, the sources and acts each go their own way; none waits for another. What was seen passes the loop that draws: a
/// terminal that takes nothing any more holds it up.
struct LiveStation: Sendable {
    let run: CaptureRun
    let live: LiveScan
    /// A handheld scanner for this program alone, below /dev/input.
    let scanner: String?
    let keyboard: Keyboard
    let sounds: Sounds
    let isStream: Bool
    let isOffline: Bool
    let savesAtOnce: Bool
    /// The hub that is captured into; `nil` for the station's own library.
    var hub: HubRun?
    /// What was seen and is not on the disk yet: to be named, should the program be ended now.
    let onTheWay = SharedValue<[String]>([])

    private static let frame: Duration = .milliseconds(200)
    private static let roundsOfQueue: Duration = .seconds(60)

    /// Whether a screen can be drawn here.
    static var isPossible: Bool {
        Output.shared.isTerminal
            && ProcessInfo.processInfo.environment["TERM"].map { $0 != "dumb" && !$0.isEmpty } == true
    }

    /// Until the person quits, or a stream is over and everything is answered.
    func run() async throws {
        let (events, inbox) = AsyncStream.makeStream(of: LiveEvent.self)
        let (detections, sight) = AsyncStream.makeStream(of: [Detection].self)
        let (lookups, ask) = AsyncStream.makeStream(of: LookupRequest.self)
        let (acts, act) = AsyncStream.makeStream(of: LiveAct.self)
        let outlets = LiveOutlets(
            detections: sight, lookups: ask, acts: act, sounds: sounds, preset: SharedValue(run.preset))
        var state = LiveState(batch: Batch(preset: run.preset))
        (state.isStream, state.isOffline, state.savesAtOnce) = (isStream, isOffline, savesAtOnce)
        state.earlier = try await run.flow.waitingCount()
        if let hub {
            state.hub = LiveState.HubView(waiting: try await hub.outbox.undeliveredCount())
            hub.tell { inbox.yield(.hub($0)) }
        }
        let loop = LiveLoop(state: state, run: run, outlets: outlets)

        let open: @Sendable () -> Void = { Output.shared.openScreen { inbox.yield(.told($0)) } }
        open()
        Interrupts.onLeaving { Output.shared.closeScreen() }
        defer {
            Interrupts.onLeaving(nil)
            Output.shared.closeScreen()
        }
        let ended = try await withThrowingTaskGroup(of: LiveLoop?.self) { group in
            defer { group.cancelAll() }
            for task in [
                { await watchCamera(inbox) }, { await listenToScanner(inbox) }, { await readKeys(inbox) },
                { await capture(detections, outlets, inbox) }, { await answer(lookups, inbox) },
                { await perform(acts, inbox) }, { await tick(inbox) }, { await goRound(inbox) },
            ] as [@Sendable () async -> Void] {
                group.addTask {
                    await task()
                    return nil
                }
            }
            group.addTask { try await show(events, loop, open: open) }
            while let done = try await group.next() { if let done { return done } }
            return loop
        }
        Interrupts.onLeaving(nil)
        Output.shared.closeScreen()
        hub?.tell(nil)
        await conclude(ended)
    }

    /// Takes the events and draws what they came to, until it is over.
    private func show(_ events: AsyncStream<LiveEvent>, _ first: LiveLoop, open: () -> Void) async throws -> LiveLoop {
        var loop = first
        var painter = ScreenPainter(style: Output.shared.style, isASCII: !localeIsUTF8())
        func draw() {
            loop.glance(live.glance)
            onTheWay.withLock { $0 = loop.state.pending.map(\.isbn.digits) }
            let size = terminalSize()
            let screen = LiveScreen(state: loop.state, columns: max(20, size.columns), rows: max(4, size.rows))
            let update = painter.update(to: screen.lines(), columns: screen.columns)
            if !update.isEmpty { Output.shared.draw(update) }
        }
        draw()
        do {
            try await forEachBurst(of: events) { burst in
                for event in burst {
                    if case .key(.resumed, _) = event {
                        open()
                        painter.forget()
                    }
                    loop.take(event, at: .monotonicNow)
                    if loop.isOver { throw Over() }
                }
                draw()
            }
        } catch is Over {}
        return loop
    }

    private struct Over: Error {}

    /// After the screen: what stays, and where.
    private func conclude(_ ended: LiveLoop) async {
        var loop = ended
        for words in loop.takeLastWords() { Output.shared.complain(words) }
        var owned: [Batch.Row] = []
        do {
            owned = try await run.flow.stillOwned(loop.state.batch.doneWith)
            try await run.flow.close(owned.map(\.id))
        } catch {
            let error = CommandError(describing: error)
            Output.shared.complain(error.description)
            run.report.note(error.status)
            owned = []
        }
        loop.conclude(owned: owned)
        for words in loop.takeLastWords() { Output.shared.complain(words) }
        run.events.conclude()
        let left = loop.unconfirmed
        if left > 0 {
            let way = hub == nil ? "scan intake confirm goes through" : "the hub's intake shows"
            Output.shared.note("\(left) not confirmed: \(way) \(left == 1 ? "it" : "them").")
        }
    }
}

// MARK: The tasks beside the screen

extension LiveStation {
    private func watchCamera(_ inbox: AsyncStream<LiveEvent>.Continuation) async {
        do {
            for try await event in live.events() { inbox.yield(.live(event)) }
            inbox.yield(.sourceOver(nil))
        } catch {
            inbox.yield(.sourceOver(error))
        }
    }

    private func listenToScanner(_ inbox: AsyncStream<LiveEvent>.Continuation) async {
        guard let scanner else { return }
        for await event in HandheldScanner(path: scanner).events() { inbox.yield(.scanner(event)) }
    }

    private func readKeys(_ inbox: AsyncStream<LiveEvent>.Continuation) async {
        for await press in keyboard.presses { inbox.yield(.key(press.key, at: press.time)) }
        if !Task.isCancelled { inbox.yield(.keysOver) }
    }

    private func tick(_ inbox: AsyncStream<LiveEvent>.Continuation) async {
        while !Task.isCancelled {
            inbox.yield(.tick)
            do { try await Task.sleep(for: Self.frame) } catch { return }
        }
    }

    /// What waits in the queue for a source is asked for when it is due, from the start on. What goes wrong is told; the next round
    /// comes.
    private func goRound(_ inbox: AsyncStream<LiveEvent>.Continuation) async {
        while !Task.isCancelled, !isOffline {
            await follow(run.flow.refreshQueue(), [], inbox)
            do {
                inbox.yield(.waiting(try await run.flow.waitingCount()))
            } catch {
                tell(error, inbox)
            }
            do { try await Task.sleep(for: Self.roundsOfQueue) } catch { return }
        }
    }

    /// Brings detections to the disk, however long it takes; given up when the person leaves, or it cannot help to wait.
    private func capture(
        _ detections: AsyncStream<[Detection]>, _ outlets: LiveOutlets, _ inbox: AsyncStream<LiveEvent>.Continuation
    ) async {
        for await burst in detections {
            do {
                let items = try await run.flow.captureUntilPossible(
                    burst, preset: { outlets.preset.value }, mayWait: { !outlets.isClosing.value },
                    waits: { inbox.yield(.captureWaits(CommandError(describing: $0))) })
                inbox.yield(.captured(await recognise(items)))
            } catch {
                inbox.yield(.notCaptured(burst, CommandError(describing: error)))
            }
        }
        inbox.yield(.capturingOver)
    }

    /// With the library's word where it can be read; they are captured in any case.
    private func recognise(_ items: [IntakeItem]) async -> [Candidate] {
        do {
            return try await run.flow.recognise(items)
        } catch {
            Output.shared.complain(CommandError(describing: error).description)
            return items.map { Candidate(item: $0) }
        }
    }

    private func perform(_ acts: AsyncStream<LiveAct>, _ inbox: AsyncStream<LiveEvent>.Continuation) async {
        for await act in acts { inbox.yield(.acted(await run.perform(act))) }
    }

    /// Asks the sources. What goes wrong is told, and does not end the asking: the items wait in the queue.
    private func answer(_ lookups: AsyncStream<LookupRequest>, _ inbox: AsyncStream<LiveEvent>.Continuation) async {
        do {
            try await forEachBurst(of: lookups) { burst in
                let captured = burst.flatMap { if case .captured(let items) = $0 { items } else { [] as [IntakeItem] } }
                let again = burst.compactMap { if case .again(let id) = $0 { id } else { nil as ID<IntakeItem>? } }
                if !captured.isEmpty { await follow(run.flow.candidates(captured), captured.map(\.id), inbox) }
                if !again.isEmpty { await follow(run.flow.refresh(again), again, inbox) }
            }
        } catch {
            tell(error, inbox)
        }
    }

    /// That the station ends is no news.
    private func tell(_ error: any Error, _ inbox: AsyncStream<LiveEvent>.Continuation) {
        if !Task.isCancelled { inbox.yield(.told(CommandError(describing: error).description)) }
    }

    private func follow(
        _ candidates: AsyncThrowingStream<Candidate, any Error>, _ asked: [ID<IntakeItem>],
        _ inbox: AsyncStream<LiveEvent>.Continuation
    ) async {
        do {
            for try await candidate in candidates { inbox.yield(.known(candidate)) }
            inbox.yield(.lookupOver(asked, nil))
        } catch {
            inbox.yield(.lookupOver(asked, Task.isCancelled ? nil : CommandError(describing: error)))
        }
    }
}
