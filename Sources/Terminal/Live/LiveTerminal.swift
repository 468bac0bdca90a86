import AsyncAlgorithms
import Bookplate
import Foundation
import Station

/// Runs `scan` on a full screen: shows the station's batch, and turns keys into acts of the station.
///
/// Captures, lookups and acts continue in the station while a key is handled or the terminal is slow.
package actor LiveTerminal {
    let station: Station
    private let keyboard: Keyboard?
    private let sounds: Sounds
    private let events: EventPrinter
    /// The monotonic clock, by which the times of keys are measured.
    private let now: @Sendable () -> Duration

    private(set) var state: LiveState
    private(set) var isClosing = false
    /// The messages that are printed after the screen is closed.
    private(set) var closingMessages: [String] = []
    private var painter: ScreenPainter?

    private var heldKeys: [HeldKey] = []
    private var keyTask: Task<Void, Never>?
    private var cards = ReadingGuard<ID<QueueItem>>()
    /// The ticked rows, which the key `a` saves.
    private var ticks = ReadingGuard<[ID<QueueItem>]>()
    /// The newest act, which the key `u` undoes.
    private var acts = ReadingGuard<ID<Change>>()
    private var lastKey: Duration = .zero
    /// The error of the last act, if it failed. The next act that succeeds clears it.
    private var failure: (any Error)?
    private let closing = AsyncChannel<Void>()

    /// A key, and the object that it is meant for.
    private struct HeldKey {
        var key: Keyboard.Key
        var target: Target
        var time: Duration
    }

    /// The object that a key is meant for.
    private enum Target {
        /// The row, for a key about a book; nil if there is no book yet.
        case row(ID<QueueItem>?)
        /// Nothing, because what the key would act on appeared just before the key was pressed.
        case unread
    }

    /// The time without a key press after which the card shows new captures again, even if a row was selected. By then,
    /// the person is assumed to be busy with books, not with the keyboard.
    private static let handsFree: Duration = .seconds(10)
    private static let messageLifetime: Duration = .seconds(8)
    private static let drawInterval: Duration = .milliseconds(200)

    /// - Parameters:
    ///   - keyboard: the keyboard; nil if there is no person at the terminal, as in a test.
    ///   - isStream: true if the station's frames come from standard input, which comes to an end.
    ///   - hubBacklog: the number of captures that the hub does not have yet; nil if books are captured into the
    ///     station's own library.
    package init(
        station: Station, keyboard: Keyboard?, sounds: Sounds, events: EventPrinter, isStream: Bool = false,
        hubBacklog: Int? = nil, now: @escaping @Sendable () -> Duration = { .monotonicNow }
    ) {
        (self.station, self.keyboard, self.sounds, self.events, self.now) = (station, keyboard, sounds, events, now)
        state = LiveState(batch: Batch(preset: station.options.preset))
        (state.isStream, state.isOffline) = (isStream, station.options.isOffline)
        state.savesFound = station.options.saving != nil
        state.hub = hubBacklog.map { LiveState.HubView(waiting: $0) }
    }

    /// True if a full screen can be drawn on this terminal.
    package static var isPossible: Bool {
        Output.shared.isTerminal
            && ProcessInfo.processInfo.environment["TERM"].map { $0 != "dumb" && !$0.isEmpty } == true
    }

    // MARK: - Running

    /// Runs until the person quits, or until a stream has ended and all its books are answered.
    ///
    /// - Parameter hub: the events from the hub whose library receives the captured books; nil without a hub.
    package func run(hub: AsyncStream<HubEvent>?) async {
        painter = ScreenPainter(style: Output.shared.style, isASCII: Output.shared.isASCII)
        openScreen()
        Interrupts.onLeaving { Output.shared.closeScreen() }
        draw()
        let running = Task { await station.run() }
        let news = Task { for await item in station.news { await handle(item) } }
        let listening = Task {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.readKeys() }
                group.addTask {
                    for await _ in AsyncTimerSequence(interval: Self.drawInterval, clock: .continuous) {
                        await self.tick()
                    }
                }
                if let hub { group.addTask { for await event in hub { await self.handle(event) } } }
            }
        }
        for await _ in closing { break }
        // The screen stays open until all pending detections are on disk or given up.
        running.cancel()
        await running.value
        await keyTask?.value
        station.endNews()
        await news.value
        listening.cancel()
        Interrupts.onLeaving(nil)
        Output.shared.closeScreen()
    }

    private nonisolated func openScreen() {
        Output.shared.openScreen { text in Task { await self.show(text, .attention) } }
    }

    private func readKeys() async {
        guard let keyboard else { return }
        for await press in keyboard.presses { receive(press.key, at: press.time) }
        if !Task.isCancelled { close() }
    }

    private func tick() async {
        if let message = state.message, now() >= message.until { state.message = nil }
        await refresh()
    }

    private func draw() {
        guard painter != nil else { return }
        if let snapshot = station.liveSnapshot {
            show(snapshot.camera)
            (state.hint, state.framesPerSecond) = (snapshot.hint, snapshot.framesPerSecond)
        }
        state.isMuted = sounds.isMuted
        let size = terminalSize()
        let screen = LiveScreen(state: state, columns: max(20, size.columns), rows: max(4, size.rows))
        if let update = painter?.update(to: screen.lines(), columns: screen.columns), !update.isEmpty {
            Output.shared.draw(update)
        }
    }

    /// Reads the station's batch again and draws the screen.
    func refresh() async {
        // Contents that were read before the source was over may lack its last books.
        let isSourceOver = state.isSourceOver
        let contents = await station.contents
        let isNew = contents.batch.rows.count > state.batch.rows.count
        state.batch = contents.batch
        state.pending = contents.pending
        state.captureError = contents.captureError.map(events.describe)
        state.earlier = contents.waitingElsewhere
        if isNew, state.selected != nil, now() - lastKey > Self.handsFree { state.selected = nil }
        showToReader()
        draw()
        if isSourceOver, !contents.isCapturing { closeWhenDone() }
    }

    /// Records what the screen shows from now on, and which keys already act on it.
    private func showToReader() {
        let time = now()
        if state.showsCard { cards.show(state.current?.id, at: time) }
        // While a key is handled, it is this key that ticks, saves and undoes.
        let changed = keyTask == nil ? time : nil
        let ticked = state.batch.ticked.map(\.id)
        ticks.show(ticked.isEmpty ? nil : ticked, at: changed)
        acts.show(state.batch.nextToUndo?.change, at: changed)
        state.isCardReadable = cards.isReadable(at: time)
        state.areTicksReadable = ticks.isReadable(at: time)
        state.isActReadable = acts.isReadable(at: time)
    }

    func show(_ text: String, _ ink: Ink) {
        state.message = LiveState.Message(text: text, ink: ink, until: now() + Self.messageLifetime)
    }

    /// Shows the camera's state. If the camera has failed, the state *ended* that follows is not shown, because the
    /// error says more.
    private func show(_ camera: CameraState) {
        if case .failed = state.camera, camera == .ended { return }
        state.camera = camera
    }

    // MARK: - News

    func handle(_ news: Station.News) async {
        switch news {
        case .captured(let row): await showCaptured(row)
        case .known(let row, let isFirst): showKnown(row, isFirst)
        case .refused(let event, _):
            let text = event.raw?.oneLine ?? ""
            let reason = event.reason ?? ""
            show(
                event.origin == .camera
                    ? "✕ not a book: \(text) (\(reason))" : "✕ \(text.fitted(40)): \(reason)", .problem)
        case .captureWaits, .inputEnded, .batch, .view: break
        case .notCaptured(let detections, let error): showLost(detections, error)
        case .saved(let saved): showSaved(saved)
        case .settled(let events): self.events.record(events)
        case .failed(let error): show(events.describe(error), .attention)
        case .camera(let camera): if let camera { show(camera) }
        case .sourceEnded(let error?):
            closingMessages.append(events.describe(error))
            events.report(.unavailable)
            close()
        case .sourceEnded(nil): state.isSourceOver = true
        case .scannerReady(let name): show("The handheld scanner \(name) is ready.", .new)
        case .scannerFailed(let message): show(message, .attention)
        }
        await refresh()
    }

    private func showCaptured(_ row: Station.Row) async {
        await refresh()
        events.record([.captured(row.candidate.item)])
        // A message about an earlier book is outdated now, but a message about a failed act is not.
        if failure == nil { state.message = nil }
        let style = StatusStyle(row.status, hasTitle: row.candidate.isComplete)
        switch row.status {
        case .owned, .again: sounds.play(.owned)
        default: sounds.play(.new)
        }
        if !state.showsNewest {
            show(
                "\(style.mark) captured: \(row.candidate.metadata.title ?? row.candidate.item.isbn.hyphenated)",
                style.ink)
        }
    }

    private func showKnown(_ row: Station.Row, _ isFirst: Bool) {
        if let event = CaptureEvent.lookedUp(row.candidate.item) { events.record([event]) }
        switch row.status {
        case .notFound, .needsTitle, .weakMatch: if isFirst { sounds.play(.attention) }
        default: break
        }
    }

    private func showLost(_ detections: [Detection], _ error: any Error) {
        let reason = events.describe(error)
        closingMessages += [reason] + detections.map { "not captured: \($0.raw)" }
        events.report(.error(error))
        show("not captured: \(detections.map(\.isbn.hyphenated).joined(separator: ", ")). \(reason)", .problem)
    }

    /// Shows an event from the hub.
    func handle(_ event: HubEvent) async {
        switch event {
        case .status(let status):
            guard status != state.hub?.status else { return }
            state.hub?.status = status
            switch status {
            case .away(let reason): show("\(reason). You can go on scanning; captures wait in the outbox.", .attention)
            case .unpaired: show(HubMessages.unpaired, .problem)
            case .unknown, .up: break
            }
        case .waiting(let count): state.hub?.waiting = count
        case .news(let news): for each in news { await handle(each) }
        case .error(let message): show(message, .problem)
        }
        await refresh()
    }

    private func handle(_ news: HubNews) async {
        switch news {
        case .answered(let id, let answer, let copy):
            let title = state.batch[id]?.candidate.metadata.title ?? state.batch[id]?.candidate.item.isbn.hyphenated
            guard let event = await station.answeredElsewhere(id, copy: answer == .confirmed ? copy : nil) else {
                return
            }
            events.record([event])
            show("\(answer == .confirmed ? "confirmed" : "skipped") at the hub: \(title ?? "")", .faint)
        case .owned, .kept, .refused, .otherLibrary:
            if let message = news.message { show(message, .attention) }
        }
    }

    // MARK: - Keys

    /// Queues a key together with the object that it is meant for. Keys are handled one after another, so that *undo*
    /// after *save* undoes that save.
    ///
    /// - Parameter time: the time when the key was read.
    func receive(_ key: Keyboard.Key, at time: Duration) {
        lastKey = now()
        heldKeys.append(HeldKey(key: key, target: target(of: key, at: time), time: time))
        if keyTask == nil { keyTask = Task { await handleKeys() } }
    }

    /// Waits until all keys that were received so far are handled.
    func handledKeys() async { while let task = keyTask { await task.value } }

    /// Returns what a key is meant for: normally the row on the card. If another card was there just before the key was
    /// pressed, the key is meant for that row, as long as it still awaits an answer.
    ///
    /// The key `a` is meant for all ticked rows, and `u` and `U` for the newest act. An undo that waits for another key
    /// is meant for what that key does.
    private func target(of key: Keyboard.Key, at time: Duration) -> Target {
        if key.isSaveAll, !ticks.isReadable(at: time) { return .unread }
        if key.isUndo, keyTask == nil, !acts.isReadable(at: time) { return .unread }
        guard key.isAboutRow, !cards.isReadable(at: time) else { return .row(state.current?.id) }
        if let before = cards.before, let row = state.batch[before], row.end == nil { return .row(before) }
        return .unread
    }

    private func handleKeys() async {
        while !heldKeys.isEmpty, !isClosing {
            let held = heldKeys.removeFirst()
            await press(held)
            if held.key.isMove, case .list = state.mode {
                // The person chose the card, and the keys after a move are meant for the row that the move selected.
                cards.accept(state.current?.id)
                for index in heldKeys.indices where heldKeys[index].key.isAboutRow {
                    heldKeys[index].target = .row(state.current?.id)
                }
            }
        }
        heldKeys = []
        keyTask = nil
        await refresh()
    }

    private func press(_ held: HeldKey) async {
        if held.key == .resumed {
            openScreen()
            painter?.invalidate()
        }
        if case .burst(var burst) = held.key {
            while let part = burst.next(inField: state.hasField) {
                switch part {
                case .code(let text):
                    if case .help = state.mode { state.mode = .list }
                    station.enqueue(TypedNumber(text: text, origin: .scanner))
                case .keys(let keys):
                    for key in keys {
                        await press(HeldKey(key: key.inBurst, target: held.target, time: held.time))
                    }
                }
            }
            return await refresh()
        }
        let (key, target) = (held.key, held.target)
        switch state.mode {
        case .list: await pressInList(key, for: target)
        case .help:
            state.mode = .list
            // A number can also be typed while the help is open.
            if case .character(let character) = key, NumberInput.begins(with: character) {
                await pressInList(key, for: target)
            }
            if case .paste(let text) = key { capture(pasted: text) }
        case .number(var entry):
            switch entry.press(key) {
            case .editing: state.mode = entry.text.isEmpty ? .list : .number(entry)
            case .cancelled: state.mode = .list
            case .done:
                // The entry is closed even if the text is not a number, so that the next digit starts a new entry.
                state.mode = .list
                station.enqueue(TypedNumber(text: entry.text, origin: .typed))
            }
        case .edit(let id, var form):
            let step = await form.press(key, names: station.names)
            state.mode = .edit(id, form)
            await advance(id, form, step)
        case .editions(let id, let form, var list):
            switch list.press(key) {
            case .choosing, .turned: state.mode = .editions(id, form, list)
            case .cancelled: state.mode = .edit(id, form)
            case .taken(let place):
                await act {
                    let row = try await station.take(list.choices[place].offer, for: id)
                    events.record([.edited(row.candidate)])
                    state.mode = .list
                }
            }
        case .preset(var form):
            var step = form.press(key)
            if case .complete(let kind, let beginning) = step {
                var names: [String] = []
                await act { names = try await station.names?.names(kind, beginning: beginning) ?? [] }
                step = form.complete(with: names)
            }
            state.mode = .preset(form)
            switch step {
            case .editing, .complete: break
            case .cancelled: state.mode = .list
            case .refused(let reason): show("▲ \(reason)", .attention)
            case .done(let preset):
                await act {
                    try await station.setPreset(preset)
                    state.mode = .list
                }
            }
        }
        await refresh()
    }

    private func advance(_ id: ID<QueueItem>, _ form: EditForm, _ step: EditForm.Step) async {
        switch step {
        case .editing, .otherField, .complete: break
        case .cancelled: state.mode = .list
        case .refused(let reason): show("▲ \(reason)", .attention)
        case .find(let query):
            guard let titles = station.titles else { break }
            show("Searching …", .faint)
            await refresh()
            await act {
                let (answer, choices) = try await titles.find(query)
                guard !choices.isEmpty else { return show("▲ \(answer.reason ?? "no edition found")", .attention) }
                state.message = nil
                state.mode = .editions(id, form, EditionList(choices, rows: terminalSize().rows - 6))
            }
        case .done:
            await act {
                let edit = try form.edit
                let row = try await station.edit(id, edit.metadata, preset: edit.preset)
                events.record([.edited(row.candidate)])
                state.mode = .list
            }
        }
    }

    private func pressInList(_ key: Keyboard.Key, for target: Target) async {
        if case .unread = target { return await refuseUnread(key) }
        switch key {
        // Enter does nothing, because handheld scanners type it and would confirm a book with it.
        case .enter, .tab, .backTab, .escape, .backspace, .delete, .resumed, .burst: break
        case .left, .right, .wordLeft, .wordRight, .alt: break
        case .end, .control("d"), .character("q"): close()
        case .control: break
        case .up: state.move(by: -1)
        case .down: state.move(by: 1)
        case .pageUp: state.move(by: -10)
        case .pageDown: state.move(by: 10)
        case .top: state.move(by: -state.batch.rows.count)
        case .bottom: state.move(by: state.batch.rows.count)
        case .paste(let text): capture(pasted: text)
        case .character("?"): state.mode = .help
        case .character("m"): sounds.isMuted.toggle()
        case .character("p"): state.mode = .preset(PresetForm(state.batch.preset))
        case .character("a"): await saveTicked()
        case .character("u"):
            await undo(
                .newest, otherwise: "There is nothing to undo in this run. To undo earlier changes, run 'scan undo'.")
        case .character("U"): await undo(.allSaves, otherwise: "Nothing was saved in this run.")
        case .character("y"): await redo()
        case .character(let character) where NumberInput.begins(with: character):
            var entry = NumberInput()
            _ = entry.press(key)
            state.mode = .number(entry)
        case .character(let character) where key.isAboutRow: await press(character, about: target)
        case .character: break
        }
    }

    /// Says why a key did nothing.
    private func refuseUnread(_ key: Keyboard.Key) async {
        await refresh()
        let (change, place) =
            key.isSaveAll
            ? ("The ticks changed", "list") : key.isUndo ? ("A book was saved", "list") : ("The card changed", "card")
        show("\(change) just before this key. Read the \(place), and press the key again.", .attention)
    }

    /// Handles a key that is about the book on the card.
    private func press(_ key: Character, about target: Target) async {
        await refresh()
        guard case .row(let id) = target, let id, let row = state.batch[id] else {
            return show("There is no book yet.", .attention)
        }
        guard row.end == nil else {
            return show(
                "This book was already saved, skipped or postponed. Press u to undo the last action.", .attention)
        }
        let isAnotherCopy = state.batch.isAnotherCopy(row)
        switch key {
        case "s" where isAnotherCopy:
            show("You already have this book. Press c to add another copy, or k to skip it.", .attention)
        case "s" where row.candidate.isComplete: await save(id)
        case "s" where state.batch.status(of: row) == .lookingUp:
            show("Still looking up the book. Press e to enter it by hand.", .attention)
        case "s", "e":
            let candidate = row.candidate
            state.mode = .edit(id, EditForm(metadata: candidate.metadata, preset: candidate.item.preset))
        case "c" where !row.candidate.isComplete && row.isLookingUp:
            show("Still looking up the book. Press e to enter it by hand.", .attention)
        case "c" where !row.candidate.isComplete:
            show("The book has no title yet. Press e to enter it by hand.", .attention)
        case "c" where !isAnotherCopy: show("You do not have this book yet. Press s to save it.", .attention)
        case "c": await save(id, anotherCopy: true)
        case "k": await skip(id)
        case "l":
            await station.postpone(id)
            show("Postponed. The book stays in the queue.", .faint)
        case "r":
            await act {
                try await station.lookUpAgain([id])
                show("Looking up the book again …", .faint)
            }
        default:
            do throws(Batch.TickRefusal) { try await station.toggle(id) } catch { show("▲ \(error)", .attention) }
        }
    }

    // MARK: - Capturing

    private func capture(pasted text: String) {
        let numbers = TypedNumber.all(inPasted: text)
        if numbers.isEmpty { show("The pasted text contains no ISBN.", .attention) }
        for number in numbers { station.enqueue(number) }
    }

    // MARK: - Acts

    /// Runs an act of the station. If the act fails, the book stays unchanged, and the person can try again with the
    /// next key.
    private func act(_ body: () async throws -> Void) async {
        do {
            try await body()
            failure = nil
        } catch {
            show(failed: error)
        }
    }

    private func show(failed error: any Error) {
        failure = error
        show(events.describe(error), .problem)
    }

    private func save(_ id: ID<QueueItem>, anotherCopy: Bool = false) async {
        await act {
            let saved = try await station.save([id], anotherCopy: anotherCopy)
            await refresh()
            showSaved(saved)
        }
    }

    private func saveTicked() async {
        await act {
            guard let saved = try await station.saveTicked() else { return show("No book is ticked.", .attention) }
            await refresh()
            showSaved(saved)
        }
    }

    private func showSaved(_ saved: Station.Saved) {
        events.record(saved.events)
        state.advance(from: saved.results.map(\.candidate.item.id))
        if saved.saved == 1, saved.owned == 0 {
            show("✓ saved: \(saved.results.first?.candidate.metadata.title ?? "")", .new)
        } else {
            let owned = saved.owned > 0 ? ", \(saved.owned) already owned" : ""
            show("✓ \(counted(saved.saved, "book")) saved\(owned)", .new)
        }
    }

    private func skip(_ id: ID<QueueItem>) async {
        await act {
            let skipped = try await station.skip([id])
            await refresh()
            events.record(skipped.events)
            state.advance(from: [id])
            show("– skipped: \(skipped.events.first?.title ?? skipped.events.first?.isbn?.hyphenated ?? "")", .faint)
        }
    }

    private func undo(_ scope: Station.UndoScope, otherwise message: String) async {
        do {
            let undone = try await station.undo(scope)
            await refresh()
            failure = nil
            events.record(undone.events)
            if let item = undone.acts.last?.items.last, state.selected != nil { state.select(item) }
            show("↶ undone: \(counted(undone.acts.reduce(0) { $0 + $1.items.count }, "book"))", .attention)
            if let failure = undone.failure { show(failed: failure) }
        } catch Station.Refusal.nothingToUndo {
            show(message, .attention)
        } catch {
            show(failed: error)
        }
    }

    private func redo() async {
        do {
            let redone = try await station.redo()
            await refresh()
            failure = nil
            events.record(redone.events)
            show("↷ redone: \(counted(redone.act?.items.count ?? 0, "book"))", .new)
        } catch RedoRefusal.noSuchChange {
            show("There is nothing to redo in this run. To redo earlier changes, run 'scan redo'.", .attention)
        } catch {
            show(failed: error)
        }
    }

    // MARK: - The end

    func close() {
        guard !isClosing else { return }
        isClosing = true
        if !state.pending.isEmpty { show("\(state.pending.count) not on disk yet …", .attention) }
        closing.finish()
    }

    /// Ends the run automatically when a stream has ended, all its books are in the batch, and nothing is left to
    /// answer.
    private func closeWhenDone() {
        guard state.isStream, keyTask == nil, case .list = state.mode,
            state.savesFound
                ? state.batch.counts.lookingUp == 0 && state.batch.ticked.isEmpty : state.batch.open.isEmpty
        else { return }
        close()
    }

    /// Prints how many books are left unconfirmed and where to find them, and records them for the exit status. Call
    /// this after the screen is closed.
    package func conclude() async {
        await refresh()
        do {
            events.record(try await station.closeOwned())
        } catch {
            closingMessages.append(events.describe(error))
            events.report(.error(error))
        }
        await refresh()
        if let failure {
            closingMessages.append(events.describe(failure))
            events.report(.error(failure))
        }
        if state.isStream, state.isSourceOver {
            if case .failed(let error) = state.camera {
                closingMessages.append(error.description)
                events.report(.unreadable)
            } else if state.batch.rows.isEmpty {
                closingMessages.append("no ISBN was read from standard input.")
                events.report(.nothingFound)
            }
        }
        let left = state.batch.rows.filter { $0.end == nil || $0.end == .postponed }.map(\.candidate)
        events.reportMissingSources(of: left)
        events.record(left.map { .queued($0) })
        for message in closingMessages { Output.shared.printError(message) }
        events.conclude()
        if !left.isEmpty {
            let advice = state.hub == nil ? "run 'scan intake confirm'" : "open the hub's Intake page"
            Output.shared.printNotice(
                "\(counted(left.count, "book")) not confirmed. To confirm \(left.count == 1 ? "it" : "them"), \(advice)."
            )
        }
    }
}

extension Keyboard.Key {
    /// True if the key moves the selection in the list.
    fileprivate var isMove: Bool {
        switch self {
        case .up, .down, .pageUp, .pageDown, .top, .bottom: true
        default: false
        }
    }

    /// True if the key saves all ticked books.
    fileprivate var isSaveAll: Bool { self == .character("a") }

    /// True if the key undoes acts.
    fileprivate var isUndo: Bool { self == .character("u") || self == .character("U") }

    /// True if the key acts on the book on the card.
    fileprivate var isAboutRow: Bool {
        if case .character(let character) = self { "sckelr ".contains(character) } else { false }
    }
}
