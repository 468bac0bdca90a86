import Bookplate
import Foundation
import Station

/// Asks for each candidate, one card and one key at a time, while more of them come in.
struct PromptLoop {
    private let run: CaptureRun
    private let input: PromptInput
    private let expected: Int?
    private let style = Output.shared.style

    private var open: Candidate?
    private var waiting: [Candidate] = []
    private var form: EditForm?
    private var answered = 0
    /// What undo takes back, newest last.
    private var done: [(candidates: [Candidate], change: ID<Change>)] = []
    /// After `a`: the change that everything goes into, once there is one.
    private var savesAll = false
    private var batch: ID<Change>?
    private var hasQuit = false
    private var areCandidatesOver = false
    /// The last act's failure; the next that succeeds clears it.
    private var failure: ExitStatus?

    init(run: CaptureRun, input: PromptInput, expected: Int?) {
        self.run = run
        self.input = input
        self.expected = expected
    }

    mutating func run(_ candidates: AsyncThrowingStream<Candidate, any Error>) async throws {
        for await event in input.events(beside: candidates) {
            switch event {
            case .candidate(let candidate):
                run.told([candidate])
                waiting.append(candidate)
            case .noMoreCandidates(let error):
                if let error { throw error }
                areCandidatesOver = true
            case .key(let key): await press(key)
            case .line(let line): await take(line)
            case .noMoreAnswers: hasQuit = true
            }
            await showNext()
            if hasQuit || (areCandidatesOver && open == nil && waiting.isEmpty) { break }
            if open == nil { Output.shared.status("  looking up …  \(done.isEmpty ? "" : "[u] undo last  ")[q] quit") }
        }
        Output.shared.status("")
        run.events.hold(false)
        run.leave([open].compactMap { $0 } + waiting)
        if let failure { run.report.note(failure) }
    }

    private mutating func showNext() async {
        if savesAll, open == nil { await saveTheSure() }
        guard open == nil, !waiting.isEmpty, !hasQuit else { return }
        run.events.hold(false)
        let next = waiting.removeFirst()
        open = next
        // What was saved since it was looked up may be the same edition.
        if !done.isEmpty {
            do {
                open = try await run.flow.candidate(next.item.id) ?? next
            } catch {
                return failed(error)
            }
        }
        show()
    }

    private func show() {
        guard let open else { return }
        run.events.hold(true)
        let place = expected.map { "\(answered + 1) of \($0)" } ?? "\(answered + 1)"
        for line in Card(candidate: open, place: place, style: style).lines() { Output.shared.line(line) }
        var keys = ["[k] skip", "[a] save all", done.isEmpty ? "" : "[u] undo last", "[q] quit"].filter { !$0.isEmpty }
        if open.owned != nil {
            keys.insert("[c] another copy", at: 0)
        } else if open.isComplete {
            keys.insert(contentsOf: ["[s] save", "[e] edit"], at: 0)
        } else {
            keys.insert(contentsOf: ["[e] enter it by hand", "[l] later"], at: 0)
        }
        for line in keys.joined(separator: "  ").wrapped(terminalSize().columns - 3) {
            Output.shared.line(style.faint("  " + line))
        }
    }

    /// A line of a terminal: an answer of one letter, a field of the form, or a number.
    private mutating func take(_ line: String) async {
        guard case .lines(_, let capture, _) = input else { return }
        if form != nil, (try? ISBN(line)) == nil {
            await advance { form in form.enter(line) }
        } else if form == nil, line.count == 1, let letter = line.first, letter.isLetter {
            await press(.character(letter))
        } else if !line.isEmpty {
            capture(line)
        }
    }

    private mutating func press(_ key: Keyboard.Key) async {
        if form != nil { return await advance { form in form.press(key) } }
        switch (key, open) {
        case (.character("q"), _), (.end, _): hasQuit = true
        case (.character("u"), _): await undo()
        // Not Enter: a handheld scanner that types into the prompt would confirm a book with it.
        case (.character("s"), let candidate?):
            if candidate.owned != nil {
                Output.shared.line("  You have it already: c adds another copy, k skips it.")
            } else if candidate.isComplete {
                await save([candidate])
            } else {
                beginForm(candidate)
            }
        case (.character("a"), let candidate?):
            savesAll = true
            if candidate.owned == nil, candidate.isSureEnough {
                waiting.insert(candidate, at: 0)
                open = nil
            }
        case (.resumed, _): show()
        case (.character("c"), let candidate?) where candidate.owned != nil && candidate.isComplete:
            await save([candidate], anotherCopy: true)
        case (.character("e"), let candidate?): beginForm(candidate)
        case (.character("l"), let candidate?):
            run.leave([candidate])
            answered += 1
            open = nil
        case (.character("k"), let candidate?): await skip(candidate)
        default: break
        }
    }

    // MARK: Acts. What fails leaves the book on the screen and in the queue; the next key tries again.

    private mutating func save(_ candidates: [Candidate], anotherCopy: Bool = false) async {
        do {
            let confirmed = try candidates.map { try $0.confirm(by: .person, anotherCopy: anotherCopy) }
            let results = try await run.flow.save(confirmed, continuing: savesAll ? batch : nil)
            failure = nil
            open = nil
            run.events.hold(false)
            for (candidate, result) in zip(candidates, results) {
                if case .owned = result, let now = try await run.flow.candidate(candidate.item.id) {
                    // Another process saved it since it was looked up: asked anew.
                    waiting.insert(now, at: 0)
                    continue
                }
                run.events.show([.saved(candidate, result)])
                answered += 1
                guard let change = result.change else { continue }
                if savesAll { batch = batch ?? change }
                if let last = done.indices.last, done[last].change == change {
                    done[last].candidates.append(candidate)
                } else {
                    done.append(([candidate], change))
                }
            }
        } catch {
            savesAll = false
            if open == nil { waiting = candidates + waiting }
            failed(error)
        }
    }

    /// Saves what a yes to all covers; the rest is asked for one by one.
    private mutating func saveTheSure() async {
        let sure = waiting.filter { $0.owned == nil && $0.isSureEnough }
        guard !sure.isEmpty else { return }
        waiting.removeAll { $0.owned == nil && $0.isSureEnough }
        await save(sure)
    }

    private mutating func skip(_ candidate: Candidate) async {
        do {
            let change = try await run.flow.dismiss([candidate])
            failure = nil
            run.events.hold(false)
            run.events.show([.skipped(candidate)])
            done.append(([candidate], change))
            answered += 1
            open = nil
        } catch {
            failed(error)
        }
    }

    private mutating func undo() async {
        guard let last = done.last else {
            Output.shared.line("  Nothing to undo in this run; scan undo goes further back.")
            return
        }
        do {
            _ = try await run.history.undo(last.change, at: Date())
            failure = nil
            done.removeLast()
            savesAll = false
            batch = nil
            run.events.show(last.candidates.map { .undone($0, change: last.change) })
            answered -= last.candidates.count
            waiting = last.candidates.dropFirst() + [open].compactMap { $0 } + waiting
            open = last.candidates.first
            show()
        } catch {
            failed(error)
        }
    }

    private mutating func failed(_ error: any Error) {
        let error = CommandError(describing: error)
        failure = error.status
        Output.shared.complain(error.description)
        show()
    }

    private mutating func beginForm(_ candidate: Candidate) {
        form = EditForm(metadata: candidate.metadata)
        if case .lines = input {
            Output.shared.line(
                style.faint("  An empty line keeps a field, - clears it, . leaves everything as it was."))
        } else {
            Output.shared.line(style.faint("  Enter keeps a field, Esc leaves everything as it was."))
        }
        showField()
    }

    private func showField() { Output.shared.raw(form?.shown(width: terminalSize().columns) ?? "") }

    private mutating func advance(_ step: (inout EditForm) -> EditForm.Step) async {
        guard var form, var candidate = open else { return }
        let result = step(&form)
        self.form = form
        switch result {
        case .editing: showField()
        case .nextField:
            Output.shared.line("")
            showField()
        case .refused(let reason):
            Output.shared.raw("\n  \(style.attention(reason))\n")
            showField()
        case .cancelled:
            self.form = nil
            Output.shared.line("")
            show()
        case .done:
            let fields = form.apply(to: &candidate.metadata)
            do {
                open = try await run.flow.keepEdits(of: candidate, fields: fields)
                failure = nil
                self.form = nil
                Output.shared.line("")
                run.events.show([.edited(candidate)])
                show()
            } catch {
                // The form stays as it is: Enter tries again.
                Output.shared.line("")
                failed(error)
                showField()
            }
        }
    }
}
