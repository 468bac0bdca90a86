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
        case newsEnded
        case key(Keyboard.Key)
        case line(String)
        /// Reading the lines failed before their end.
        case unreadable(any Error)
        /// No more answers will arrive.
        case answersEnded
    }

    /// Returns the station's news and the person's answers, in the order in which they arrive. Both are read until the
    /// iteration ends.
    func events(beside station: Station) -> AsyncStream<Event> {
        AsyncStream { events in
            let listening = Task {
                for await item in station.news { events.yield(.news(item)) }
                events.yield(.newsEnded)
            }
            let answers = Task {
                switch self {
                case .keyboard(let keyboard):
                    for await key in keyboard.keys { events.yield(.key(key)) }
                case .lines(let lines):
                    do {
                        for try await batch in lines.batches {
                            lines.release()
                            for line in batch { events.yield(.line(line)) }
                        }
                    } catch {
                        events.yield(.unreadable(error))
                    }
                }
                events.yield(.answersEnded)
            }
            events.onTermination = { _ in
                listening.cancel()
                answers.cancel()
            }
        }
    }

}

/// Asks a person whether to save each book: shows one card at a time, and takes a key as the answer. Meanwhile, more
/// books arrive.
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
    private var answered = 0
    private var hasActs = false
    /// True after the key `a` (save all) was pressed.
    private var savesAll = false
    /// The change that records all saves after the key `a`, so that one undo reverts them; nil before the first of
    /// them.
    private var change: ID<Change>?
    private var hasQuit = false
    private var haveNewsEnded = false
    /// The error of the last act, if it failed. The next act that succeeds clears it.
    private var failure: (any Error)?

    private var station: Station { run.station }

    init(run: CaptureRun, input: PromptInput, expected: Int?) {
        self.run = run
        self.input = input
        self.expected = expected
    }

    mutating func run() async throws {
        for await event in input.events(beside: station) {
            switch event {
            case .news(let news):
                try await run.show(news)
                guard case .known(let row, let isFirst) = news else { continue }
                if isFirst || !isAsked(row.id) { waiting.append(row.id) }
            case .newsEnded: haveNewsEnded = true
            case .key(let key): await press(key)
            case .line(let line): await handle(line)
            case .unreadable(let error): run.events.show([.unreadableInput(error)])
            case .answersEnded: hasQuit = true
            }
            await showNext()
            if hasQuit || (haveNewsEnded && open == nil && waiting.isEmpty) { break }
            if open == nil { Output.shared.showStatus("  looking up …  \(hasActs ? "[u] undo last  " : "")[q] quit") }
        }
        Output.shared.showStatus("")
        run.events.hold(false)
        run.leave(await rows([open?.id].compactMap(\.self) + waiting).map(\.candidate))
        if let failure { run.events.report(.error(failure)) }
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
    }

    private func show() {
        guard let open else { return }
        run.events.hold(true)
        let position = expected.map { "\(answered + 1) of \($0)" } ?? "\(answered + 1)"
        for line in Card(row: open, position: position, style: style).lines() { Output.shared.printLine(line) }
        var keys = ["[k] skip", "[a] save all", hasActs ? "[u] undo last" : "", "[q] quit"].filter { !$0.isEmpty }
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

    /// Handles a line from the terminal: an answer of one letter, a field of the form, or a number.
    private mutating func handle(_ line: String) async {
        let number = TypedNumber(text: line, origin: .stdin)
        if form != nil, !number.isBook {
            await advance { form in form.enter(line) }
        } else if form == nil, line.count == 1, let letter = line.first, letter.isLetter {
            await press(.character(letter))
        } else if !line.isEmpty {
            station.enqueue(number)
        }
    }

    private mutating func press(_ key: Keyboard.Key) async {
        if form != nil { return await advance { form in form.press(key) } }
        switch (key, open) {
        case (.character("q"), _), (.end, _): hasQuit = true
        case (.character("u"), _): await undo()
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
            show()
        } catch Station.Refusal.nothingToUndo {
            Output.shared.printLine("  There is nothing to undo in this run. To undo earlier changes, run 'scan undo'.")
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
        form = EditForm(metadata: row.candidate.metadata)
        if case .lines = input {
            Output.shared.printLine(
                style.faint("  An empty line keeps the value, '-' clears it, and '.' cancels the form."))
        } else {
            Output.shared.printLine(style.faint("  Press Enter to accept the value, or Esc to cancel the form."))
        }
        showField()
    }

    private func showField() { Output.shared.printRaw(form?.line(width: terminalSize().columns) ?? "") }

    private mutating func advance(_ step: (inout EditForm) -> EditForm.Step) async {
        guard var form, let row = open else { return }
        let result = step(&form)
        self.form = form
        switch result {
        case .editing: showField()
        case .nextField:
            Output.shared.printLine("")
            showField()
        case .refused(let reason):
            Output.shared.printRaw("\n  \(style.attention(reason))\n")
            showField()
        case .cancelled:
            self.form = nil
            Output.shared.printLine("")
            show()
        case .done:
            do {
                let edited = try await station.edit(row.id, form.edit)
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
