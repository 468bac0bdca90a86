import Bookplate
import Foundation
import Station

/// The source of a person's answers.
package enum PromptInput: Sendable {
    /// Single keys from the terminal.
    case keyboard(Keyboard)
    /// Lines from the terminal. A line with a single letter is an answer, and any other line is a number to capture.
    case lines(InputLines)

    enum Event: Sendable {
        case news(Station.News)
        case press(Keyboard.Press)
        /// A line, and the time when it was read, on the monotonic clock.
        case line(String, at: Duration)
        /// Reading the lines failed before their end.
        case unreadable(any Error)
        /// No more answers will arrive.
        case answersEnded
        /// The card has been on the screen long enough to be read.
        case cardIsReadable
        /// Another second has passed, so the status line may have to say whom the lookups wait for.
        case second
    }

    /// Passes on the station's news and the person's answers, in the order in which they arrive, and reports each
    /// second that passes. All this ends with the events.
    func send(beside station: Station, to events: AsyncStream<Event>.Continuation) {
        let listening = Task { for await item in station.news { events.yield(.news(item)) } }
        let answers = Task {
            switch self {
            case .keyboard(let keyboard):
                for await press in keyboard.presses { events.yield(.press(press)) }
            case .lines(let lines):
                do {
                    for try await batch in lines.batches {
                        lines.release()
                        for line in batch { events.yield(.line(line, at: .monotonicNow)) }
                    }
                } catch {
                    events.yield(.unreadable(error))
                }
            }
            events.yield(.answersEnded)
        }
        let seconds = Task {
            while true {
                try await Task.sleep(for: .seconds(1))
                events.yield(.second)
            }
        }
        events.onTermination = { _ in
            listening.cancel()
            answers.cancel()
            seconds.cancel()
        }
    }
}

/// Asks a person whether to save each book: shows one card at a time, and takes a key as the answer. Meanwhile, more
/// books arrive, also from numbers that the person types or scans at the prompt.
struct Prompt {
    private let run: CaptureRun
    private let input: PromptInput
    private let expected: Int?
    private let style = Output.shared.style

    /// The row that the card shows; nil if there is no card.
    private var open: Station.Row?
    /// The rows that the person will be asked about after the row on the card, in this order.
    private var waiting: [ID<QueueItem>] = []
    private var form: EditForm?
    /// The editions that the person chooses from, for the book on the card; nil if there are none.
    private var editions: EditionList?
    /// The number that the person is typing; nil if none is being typed.
    private var entry: NumberInput?
    /// The items of the numbers from the prompt that have no card yet.
    private var entered: Set<ID<QueueItem>> = []
    private var cards = ReadingGuard<ID<QueueItem>>()
    /// True if the keys below the card on the screen are shown.
    private var areKeysShown = false
    private let events = AsyncStream.makeStream(of: PromptInput.Event.self)
    private var answered = 0
    private var hasActs = false
    private var hasUndone = false
    /// True after the key `a` (save all) was pressed.
    private var savesAll = false
    /// The change that records all saves after the key `a`, so that one undo reverts them; nil before the first of
    /// them.
    private var change: ID<Change>?
    private var hasQuit = false
    private var isInputOver = false
    /// The error of the last act, if it failed. The next act that succeeds clears it.
    private var failure: (any Error)?

    private var station: Station { run.station }

    init(run: CaptureRun, input: PromptInput, expected: Int?) {
        self.run = run
        self.input = input
        self.expected = expected
    }

    mutating func run() async throws {
        input.send(beside: station, to: events.continuation)
        defer { events.continuation.finish() }
        for await event in events.stream {
            switch event {
            case .news(let news): guard try await handle(news) else { continue }
            case .press(let press): await handle(press)
            case .line(let line, let time): await handle(line, at: time)
            case .unreadable(let error): run.events.show([.unreadableInput(error)])
            case .answersEnded: hasQuit = true
            case .cardIsReadable: showKeys()
            case .second: guard run.events.count(.captured) > 0 else { continue }
            }
            await showNext()
            if hasQuit || isDone { break }
            if open == nil, entry == nil {
                let keys = hasActs ? "[u] undo last  [q] quit" : "[q] quit"
                Output.shared.showStatus("  \(run.open.asking ?? "looking up") …  \(keys)")
            }
        }
        Output.shared.showStatus("")
        run.events.hold(false)
        run.leave(await rows([open?.id].compactMap(\.self) + waiting).map(\.candidate))
        if let failure { run.events.report(.error(failure)) }
    }

    /// True if every book has been answered and no more will arrive.
    private var isDone: Bool {
        isInputOver && open == nil && waiting.isEmpty && entered.isEmpty && entry == nil
    }

    /// - Returns: true if there may be a card to show, or if the prompt may be done.
    private mutating func handle(_ news: Station.News) async throws -> Bool {
        try await run.show(news)
        switch news {
        case .known(let row, let isFirst):
            entered.remove(row.id)
            if isFirst || !isAsked(row.id) { waiting.append(row.id) }
            return true
        case .captured(let row) where entered.contains(row.id) && open != nil && !hasField:
            Output.shared.printLine("  \(row.candidate.item.isbn.hyphenated) is in the queue. Its card comes later.")
        case .inputEnded:
            isInputOver = true
            return true
        default: break
        }
        return false
    }

    private func isAsked(_ id: ID<QueueItem>) -> Bool {
        open?.id == id || waiting.contains(id)
    }

    /// Returns the station's current rows with these ids. Ids that are not in the batch are left out.
    private func rows(_ ids: [ID<QueueItem>]) async -> [Station.Row] {
        var rows: [Station.Row] = []
        for id in ids { if let row = await station.row(id) { rows.append(row) } }
        return rows
    }

    private mutating func showNext() async {
        if savesAll, open == nil { await saveTicked() }
        while open == nil, !waiting.isEmpty, !hasQuit {
            run.events.hold(false)
            let next = waiting.removeFirst()
            open = await station.row(next)
            // A book that was saved after the lookup may be the same edition, so the row is read again.
            if hasActs {
                do {
                    open = try await station.reload(next)
                } catch {
                    return showFailure(error)
                }
            }
            show()
        }
        if open == nil { cards.show(nil, at: .monotonicNow) }
    }

    private mutating func show() {
        guard let open else { return }
        run.events.hold(true)
        let position = expected.map { "\(answered + 1) of \($0)" } ?? "\(answered + 1)"
        for line in Card(row: open, position: position, style: style).lines() { Output.shared.printLine(line) }
        cards.show(open.id, at: .monotonicNow)
        areKeysShown = false
        showKeys()
    }

    /// Shows the keys below the card as soon as they act, which is when the person can have read the card.
    private mutating func showKeys() {
        guard let open, !areKeysShown, !hasField else { return }
        let timeLeft = cards.timeLeft(at: .monotonicNow)
        guard timeLeft == .zero else {
            let continuation = events.continuation
            Task {
                // Nothing reports that a person has read a card, so this waits as long as reading takes.
                try await Task.sleep(for: timeLeft)
                continuation.yield(.cardIsReadable)
            }
            return
        }
        areKeysShown = true
        var keys = [
            "[k] skip", "[a] save all", hasActs ? "[u] undo last" : "", hasUndone ? "[y] redo" : "", "[q] quit",
        ]
        .filter { !$0.isEmpty }
        if open.isAnotherCopy, open.candidate.isComplete {
            keys.insert("[c] another copy", at: 0)
        } else if open.candidate.isComplete {
            keys.insert(contentsOf: ["[s] save", "[e] edit"], at: 0)
        } else {
            keys.insert(contentsOf: ["[e] enter it by hand", "[l] later"], at: 0)
        }
        for line in keys.joined(separator: "  ").wrapped(terminalSize().columns - 3) {
            Output.shared.printLine(style.faint("  " + line))
        }
    }

    /// True if a field has the focus, so that keys are text.
    private var hasField: Bool { form != nil || entry != nil }

    /// Handles a line from the terminal: an answer of one letter, a field of the form, or a number.
    private mutating func handle(_ line: String, at time: Duration) async {
        let number = TypedNumber(text: line, origin: .stdin)
        // A scanner types into the form too. How fast a line was typed is not known here.
        if form != nil, !number.isBook, !KeyBurst.hasScheme(line) {
            if let step = form?.enter(line) { await advance(step) }
        } else if form == nil, line.count == 1, let letter = line.first, letter.isLetter {
            await press(.character(letter), at: time)
        } else if !line.isEmpty {
            capture(number)
        }
    }

    private mutating func handle(_ press: Keyboard.Press) async {
        guard case .burst(var burst) = press.key else { return await self.press(press.key, at: press.time) }
        while let part = burst.next(inField: hasField) {
            switch part {
            case .code(let text): capture(TypedNumber(text: text, origin: .scanner))
            case .keys(let keys): for key in keys { await self.press(key.inBurst, at: press.time) }
            }
        }
    }

    /// Captures a number that was typed or scanned at the prompt, or says why it is none.
    private mutating func capture(_ number: TypedNumber) {
        do throws(ISBNRefusal) {
            var detection = try number.detection()
            let item = ID<QueueItem>()
            detection.item = item
            entered.insert(item)
            station.enqueue(detection)
        } catch {
            if hasField { Output.shared.printLine("") }
            run.events.show([CaptureEvent(refused: number, error)])
            showField()
        }
    }

    /// - Parameter time: the time when the key was read.
    private mutating func press(_ key: Keyboard.Key, at time: Duration) async {
        if editions == nil, var form {
            let step = await form.press(key, names: station.names)
            self.form = form
            return await advance(step)
        }
        if entry != nil { return pressInEntry(key) }
        if editions != nil { return await pressInEditions(key) }
        if case .character(let character) = key, NumberInput.begins(with: character) {
            entry = NumberInput()
            return pressInEntry(key)
        }
        if case .character(let letter) = key, open != nil, "sacelk".contains(letter), !cards.isReadable(at: time) {
            Output.shared.printLine("  The card appeared just before this key. Read the card, and press the key again.")
            return
        }
        switch (key, open) {
        case (.character("q"), _), (.end, _), (.control("d"), _): hasQuit = true
        case (.character("u"), _): await undo()
        case (.character("y"), _): await redo()
        // Enter does nothing, because a handheld scanner that types into the prompt would confirm a book with it.
        case (.character("s"), let row?):
            if !row.candidate.isComplete {
                beginForm(row)
            } else if row.isAnotherCopy {
                Output.shared.printLine("  You already have this book. Press c to add another copy, or k to skip it.")
            } else {
                await save([row.id])
            }
        case (.character("a"), let row?):
            savesAll = true
            if row.isTicked {
                waiting.insert(row.id, at: 0)
                open = nil
            }
        case (.resumed, _): show()
        case (.paste(let text), _):
            let numbers = TypedNumber.all(inPasted: text)
            if numbers.isEmpty { Output.shared.printLine("  The pasted text contains no ISBN.") }
            for number in numbers { capture(number) }
        case (.character("c"), let row?) where row.isAnotherCopy && row.candidate.isComplete:
            await save([row.id], anotherCopy: true)
        case (.character("e"), let row?): beginForm(row)
        case (.character("l"), let row?):
            await station.postpone(row.id)
            run.leave([row.candidate])
            answered += 1
            open = nil
        case (.character("k"), let row?): await skip(row.id)
        default: break
        }
    }

    // MARK: Acts

    // If an act fails, the book stays on the screen and in the queue, and the person can try again with the next key.

    private mutating func save(_ ids: [ID<QueueItem>], anotherCopy: Bool = false) async {
        do {
            let saved = try await station.save(
                ids, anotherCopy: anotherCopy, continuing: savesAll ? change : nil)
            failure = nil
            open = nil
            run.events.hold(false)
            if savesAll { change = change ?? saved.change }
            for (candidate, result) in saved.results {
                if case .owned = result {
                    // Another process saved the book after the lookup, so the person is asked again.
                    waiting.insert(candidate.item.id, at: 0)
                    continue
                }
                run.events.show([.saved(candidate, result)])
                answered += 1
                if result.change != nil { hasActs = true }
            }
        } catch {
            savesAll = false
            if open == nil { waiting = ids + waiting }
            showFailure(error)
        }
    }

    /// Saves the ticked books, after the key `a` (save all) was pressed. Books that are ticked later are added to the
    /// same change. The person is asked about all other books one by one.
    private mutating func saveTicked() async {
        let ticked = await rows(waiting).filter(\.isTicked).map(\.id)
        guard !ticked.isEmpty else { return }
        waiting.removeAll { ticked.contains($0) }
        await save(ticked)
    }

    private mutating func skip(_ id: ID<QueueItem>) async {
        do {
            let skipped = try await station.skip([id])
            failure = nil
            run.events.hold(false)
            run.events.show(skipped.events)
            hasActs = true
            answered += 1
            open = nil
        } catch {
            showFailure(error)
        }
    }

    private mutating func undo() async {
        do {
            let undone = try await station.undo()
            failure = nil
            (savesAll, change) = (false, nil)
            run.events.show(undone.events)
            let ids = undone.acts.flatMap(\.items)
            answered -= ids.count
            let reopened = await rows(ids)
            waiting = reopened.dropFirst().map(\.id) + [open?.id].compactMap(\.self) + waiting
            open = reopened.first
            hasActs = await station.snapshot(limit: 0).nextUndo != nil
            hasUndone = hasUndone || !ids.isEmpty
            show()
        } catch Station.Refusal.nothingToUndo {
            Output.shared.printLine("  There is nothing to undo in this run. To undo earlier changes, run 'scan undo'.")
        } catch {
            showFailure(error)
        }
    }

    private mutating func redo() async {
        do {
            let redone = try await station.redo()
            failure = nil
            let ids = redone.act?.items ?? []
            answered += ids.count
            hasActs = true
            hasUndone = await !station.contents.batch.undoneActs.isEmpty
            waiting.removeAll(where: ids.contains)
            run.events.hold(false)
            run.events.show(redone.events)
            // If the book on the card was answered again, the next one is shown.
            if let row = open, ids.contains(row.id) { open = nil } else { show() }
        } catch RedoRefusal.noSuchChange {
            Output.shared.printLine("  There is nothing to redo in this run. To redo earlier changes, run 'scan redo'.")
        } catch {
            showFailure(error)
        }
    }

    private mutating func showFailure(_ error: any Error) {
        failure = error
        Output.shared.printError(run.events.describe(error))
        show()
    }

    // MARK: The form

    private mutating func beginForm(_ row: Station.Row) {
        form = EditForm(metadata: row.candidate.metadata, preset: row.candidate.item.preset)
        let keys =
            if case .lines = input {
                "An empty line keeps the value, '-' clears it, '<' goes back to the field before, '>' keeps all "
                    + "changes, and '.' cancels the form."
            } else {
                EditForm.keys(hasFind: station.titles != nil)
            }
        for line in keys.wrapped(max(20, terminalSize().columns - 3)) {
            Output.shared.printLine(style.faint("  " + line))
        }
        showField()
    }

    private func showField() {
        let width = terminalSize().columns
        if let form { Output.shared.printRaw(form.line(width: width)) }
        if let entry { Output.shared.printRaw(entry.line(width: width)) }
    }

    private mutating func pressInEntry(_ key: Keyboard.Key) {
        guard var entry else { return }
        let step = entry.press(key)
        if step == .editing, !entry.text.isEmpty {
            self.entry = entry
            run.events.hold(true)
            return showField()
        }
        self.entry = nil
        Output.shared.printLine("")
        run.events.hold(open != nil)
        if step == .done { capture(TypedNumber(text: entry.text, origin: .typed)) }
        showKeys()
    }

    // MARK: Finding by title

    /// Shows the editions with the title in the form. The form stays open behind them.
    private mutating func find(_ query: TitleQuery) async {
        guard let titles = station.titles else { return }
        Output.shared.printLine("")
        Output.shared.showStatus("  searching …")
        do {
            let (answer, choices) = try await titles.find(query)
            Output.shared.showStatus("")
            if choices.isEmpty {
                Output.shared.printLine("  " + style.attention((answer.reason ?? "no edition found").oneLine))
                return showField()
            }
            let list = EditionList(choices, rows: terminalSize().rows)
            editions = list
            list.draw()
        } catch {
            Output.shared.showStatus("")
            showFailure(error)
            showField()
        }
    }

    private mutating func pressInEditions(_ key: Keyboard.Key) async {
        guard var list = editions, let row = open else {
            editions = nil
            return
        }
        let step = list.press(key)
        editions = step == .choosing || step == .turned ? list : nil
        switch step {
        case .choosing: if key == .resumed { list.draw() }
        case .turned: list.draw()
        case .cancelled: showField()
        case .taken(let place):
            do {
                let taken = try await station.take(list.choices[place].offer, for: row.id)
                (open, form, failure) = (taken, nil, nil)
                run.events.show([.edited(taken.candidate)])
                show()
            } catch {
                showFailure(error)
                showField()
            }
        }
    }

    private mutating func advance(_ step: EditForm.Step) async {
        guard let form, let row = open else { return }
        switch step {
        case .editing, .complete:
            if let note = form.note { Output.shared.printRaw("\n  \(style.faint(note))\n") }
            showField()
        case .otherField:
            Output.shared.printLine("")
            showField()
        case .refused(let reason):
            Output.shared.printRaw("\n  \(style.attention(reason))\n")
            showField()
        case .cancelled:
            self.form = nil
            Output.shared.printLine("")
            show()
        case .find(let query): await find(query)
        case .done:
            do {
                let edit = try form.edit
                let edited = try await station.edit(row.id, edit.metadata, preset: edit.preset)
                open = edited
                failure = nil
                self.form = nil
                Output.shared.printLine("")
                run.events.show([.edited(edited.candidate)])
                show()
            } catch {
                // The form stays open, so that the person can try again with Enter.
                Output.shared.printLine("")
                showFailure(error)
                showField()
            }
        }
    }
}
