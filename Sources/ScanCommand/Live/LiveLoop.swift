import Bookplate
import Foundation
import Station

/// The live station's heart: takes one event after the other, never waits for any, and says what is to be done.
///
/// Acts go one by one: a key that comes while one is under way waits for it, so that *undo* after *save* takes back that save.
struct LiveLoop {
    var state: LiveState
    private(set) var isClosing = false
    /// The screen may go: nothing is on its way any more.
    var isOver: Bool { isCapturingOver && !isActing }
    /// What is told when the screen is closed.
    private(set) var lastWords: [String] = []
    let run: CaptureRun
    let outlets: LiveOutlets

    var isActing = false
    private var isCapturingOver = false
    /// Items that were given the batch's preset, or were not there any more to take it.
    var given: Set<ID<IntakeItem>> = []
    /// Items that somebody dismissed at the hub.
    var answeredElsewhere: Set<ID<IntakeItem>> = []
    var heldKeys: [HeldKey] = []
    var cardChange: CardChange?
    var burst = KeyBurst()
    private var lastKey: Duration = .zero
    /// The act under way gives what the form says: it closes when that is done.
    var isFormGiven = false
    /// The last act's failure; the next that succeeds clears it.
    var failure: CommandError?
    /// After a failure nothing is saved by itself until then.
    var savesFrom: Duration = .zero
    var now: Duration = .zero

    /// A person who has not touched a key for so long has both hands at the books: the card follows them again.
    private static let handsFree: Duration = .seconds(10)
    private static let messageStays: Duration = .seconds(8)

    init(state: LiveState, run: CaptureRun, outlets: LiveOutlets) {
        (self.state, self.run, self.outlets) = (state, run, outlets)
    }

    mutating func take(_ event: LiveEvent, at time: Duration) {
        now = time
        switch event {
        case .key(let key, let time):
            lastKey = now
            let row = row(meantBy: key, at: time)
            if isActing {
                heldKeys.append(HeldKey(key: key, row: row, time: time))
            } else {
                press(key, for: row, at: time)
            }
        case .keysOver: close()
        case .live(let event): take(event)
        case .sourceOver(let error):
            if let error {
                lastWords.append(CommandError(describing: error).description)
                run.report.note(.unavailable)
                close()
            } else {
                state.isSourceOver = true
            }
        case .scanner(.line(let text)): capture(TypedNumber(text: text, origin: .scanner))
        case .scanner(.trouble(let text)): tell(text, .attention)
        case .scanner(.ready(let name)): tell("\(name) is ready.", .new)
        case .captured(let candidates): takeCaptured(candidates)
        case .captureWaits(let error): state.captureTrouble = error.description
        case .notCaptured(let detections, let error):
            hasArrived(detections.count)
            lastWords += ["\(error)"] + detections.map { "not captured: \($0.raw)" }
            run.report.note(error.status)
            tell(
                "not captured: \(detections.map(\.isbn.hyphenated).joined(separator: ", ")). \(error)", .problem)
        case .known(let candidate): takeKnown(candidate)
        case .lookupOver(let items, let error):
            state.batch.stopLookingUp(items)
            if let error { tell(error.description, .attention) }
        case .acted(let result):
            isActing = false
            take(result)
            isFormGiven = false
            if case .failed = result {} else { giveStale() }
            pressHeldKeys()
        case .told(let text): tell(text, .attention)
        case .tick:
            if let message = state.message, now >= message.until { state.message = nil }
            if !isClosing, now >= savesFrom { giveStale() }
        case .waiting(let count):
            state.earlier = max(0, count - state.batch.rows.count { $0.end == nil || $0.end == .left })
        case .capturingOver: isCapturingOver = true
        case .hub(let event): take(event)
        }
        saveTheSure()
        closeWhenDone()
    }

    /// Takes what the camera's thread knows at this moment.
    mutating func glance(_ glance: LiveScan.Glance) {
        show(glance.camera)
        state.hint = glance.hint
        state.framesPerSecond = glance.framesPerSecond
        state.isMuted = outlets.sounds.isMuted
    }

    /// A trouble says more than that nothing comes any more.
    private mutating func show(_ camera: CameraState) {
        if case .trouble = state.camera, camera == .ended { return }
        state.camera = camera
    }

    mutating func tell(_ text: String, _ ink: Ink) {
        state.message = LiveState.Message(text: text, ink: ink, until: now + Self.messageStays)
    }

    // MARK: What comes in

    private mutating func take(_ event: LiveScan.Event) {
        switch event {
        case .camera(let camera): show(camera)
        case .captured(let detection): capture(detection)
        case .refused(let symbol, let refusal): tell("✕ not a book: \(symbol.payload) (\(refusal))", .problem)
        }
    }

    mutating func capture(_ detection: Detection) {
        if case .terminated = outlets.detections.yield([detection]) {
            lastWords.append("not captured, as it came after the end: \(detection.isbn.hyphenated)")
        } else {
            state.pending.append(detection)
        }
    }

    /// The oldest of what was on the way is there, or nowhere.
    private mutating func hasArrived(_ count: Int) {
        state.pending.removeFirst(min(count, state.pending.count))
        state.captureTrouble = nil
    }

    mutating func capture(_ number: TypedNumber) {
        switch number.arrival {
        case .detection(let detection): capture(detection)
        case .event(let event): tell("✕ \(event.raw ?? ""): \(event.reason ?? "")", .problem)
        }
    }

    private mutating func takeCaptured(_ candidates: [Candidate]) {
        hasArrived(candidates.count)
        let before = state.current?.id
        state.batch.add(candidates)
        run.events.note(candidates.map { .captured($0.item) })
        outlets.lookups.yield(.captured(candidates.map(\.item)))
        if state.selected != nil, now - lastKey > Self.handsFree { state.selected = nil }
        if let before, before != state.current?.id { cardChange = CardChange(before: before, time: now) }
        // What was told of something before is old news; what stands in the way of an act is not.
        if failure == nil { state.message = nil }
        for candidate in candidates {
            guard let row = state.batch[candidate.item.id] else { continue }
            let status = state.batch.status(of: row)
            let look = StatusStyle(status, hasTitle: row.candidate.isComplete)
            switch status {
            case .owned, .again: outlets.sounds.play(.owned)
            default: outlets.sounds.play(.new)
            }
            if !state.showsNewest {
                tell("\(look.mark) taken: \(candidate.metadata.title ?? candidate.item.isbn.hyphenated)", look.ink)
            }
        }
        giveStale()
    }

    /// The presets were changed while some were on their way to the disk, or saved and taken back.
    mutating func giveStale() {
        guard !isActing else { return }
        let stale = state.batch.open.filter { $0.candidate.item.preset != state.batch.preset }.map(\.id)
            .filter { !given.contains($0) }
        if !stale.isEmpty { begin(.give(state.batch.preset, stale)) }
    }

    private mutating func takeKnown(_ candidate: Candidate) {
        let wasLookingUp = state.batch[candidate.item.id]?.isLookingUp == true
        guard state.batch.take(candidate), let row = state.batch[candidate.item.id] else { return }
        if let event = CaptureEvent.lookedUp(candidate.item) { run.events.note([event]) }
        switch state.batch.status(of: row) {
        case .notFound, .needsTitle, .weakMatch: if wasLookingUp { outlets.sounds.play(.attention) }
        default: break
        }
    }

    // MARK: The end

    mutating func close() {
        guard !isClosing else { return }
        isClosing = true
        if !state.pending.isEmpty { tell("\(state.pending.count) on the way to the disk …", .attention) }
        outlets.close()
    }

    /// A stream that is over, with nothing left to answer, needs nobody to quit.
    private mutating func closeWhenDone() {
        guard state.isStream, state.isSourceOver, state.pending.isEmpty, !isActing, case .list = state.mode,
            state.savesAtOnce
                ? state.batch.counts.lookingUp == 0 && state.batch.ticked.isEmpty : state.batch.open.isEmpty
        else { return }
        close()
    }

    /// What has been told of the end so far is told.
    mutating func takeLastWords() -> [String] {
        defer { lastWords = [] }
        return lastWords
    }

    /// What stays in the queue.
    var left: [Candidate] {
        state.batch.rows.filter { ($0.end == nil || $0.end == .left) && !answeredElsewhere.contains($0.id) }
            .map(\.candidate)
    }

    /// Counts for the summary and the exit code.
    ///
    /// - Parameter owned: rows that left the queue because nothing is left to do for them.
    mutating func conclude(owned: [Batch.Row]) {
        if let failure {
            lastWords.append(failure.description)
            run.report.note(failure.status)
        }
        if state.isStream, state.isSourceOver {
            if case .trouble(let trouble) = state.camera {
                lastWords.append(trouble.description)
                run.report.note(.unreadable)
            } else if state.batch.rows.isEmpty {
                lastWords.append("no ISBN was read in the stream.")
                run.report.note(.nothing)
            }
        }
        for row in owned {
            guard let book = row.candidate.owned else { continue }
            state.batch.leave(row.id)
            run.events.note([.saved(row.candidate, .owned(book))])
        }
        let closed = Set(owned.map(\.id))
        let left = left.filter { !closed.contains($0.item.id) }
        run.noteSources(left)
        run.events.note(left.map { .queued($0) })
        unconfirmed = left.count
    }

    /// How many stay in the queue, once it is concluded.
    private(set) var unconfirmed = 0
}
