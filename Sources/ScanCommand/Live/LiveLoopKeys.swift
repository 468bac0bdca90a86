import Bookplate
import Station

/// What the keys do.
extension LiveLoop {
    /// - Parameter row: the one that the key is about, where it is about one.
    mutating func pressInMode(_ key: Keyboard.Key, for row: ID<IntakeItem>?) {
        switch state.mode {
        case .list: pressInList(key, for: row)
        case .help:
            state.mode = .list
            // A handheld scanner does not know that a page is open.
            if case .character(let character) = key, NumberEntry.begins(with: character) { pressInList(key, for: row) }
            if case .paste(let text) = key { capture(pasted: text) }
        case .number(var entry):
            switch entry.press(key) {
            case .editing: state.mode = entry.text.isEmpty ? .list : .number(entry)
            case .cancelled: state.mode = .list
            case .done:
                // Closed in any case: the next burst of a handheld scanner begins anew.
                state.mode = .list
                capture(TypedNumber(text: entry.text, origin: .typed))
            }
        case .edit(let id, var form):
            let step = form.press(key)
            state.mode = .edit(id, form)
            advance(id, form, step)
        case .preset(var form):
            let step = form.press(key)
            state.mode = .preset(form)
            switch step {
            case .editing: break
            case .cancelled: state.mode = .list
            case .refused(let reason): tell("▲ \(reason)", .attention)
            case .done(let preset):
                isFormGiven = true
                begin(.give(preset, state.batch.open.map(\.id)))
            }
        }
    }

    private mutating func advance(_ id: ID<IntakeItem>, _ form: EditForm, _ step: EditForm.Step) {
        switch step {
        case .editing, .nextField: break
        case .cancelled: state.mode = .list
        case .refused(let reason): tell("▲ \(reason)", .attention)
        case .done:
            guard var candidate = state.batch[id]?.candidate else {
                state.mode = .list
                return
            }
            let fields = form.apply(to: &candidate.metadata)
            begin(.keepEdits(candidate, fields))
        }
    }

    private mutating func pressInList(_ key: Keyboard.Key, for row: ID<IntakeItem>?) {
        switch key {
        // Not Enter: handheld scanners type it, and so would confirm a book.
        case .enter, .escape, .backspace: break
        case .end, .character("q"): close()
        case .up: state.move(by: -1)
        case .down: state.move(by: 1)
        case .pageUp: state.move(by: -10)
        case .pageDown: state.move(by: 10)
        case .top: state.move(by: -state.batch.rows.count)
        case .bottom: state.move(by: state.batch.rows.count)
        case .resumed: break
        case .paste(let text): capture(pasted: text)
        case .character("?"): state.mode = .help
        case .character("m"): outlets.sounds.isMuted.toggle()
        case .character("p"): state.mode = .preset(PresetForm(state.batch.preset))
        case .character("a"): saveTicked()
        case .character("u"):
            undo(
                state.batch.nextToUndo.map { [$0] } ?? [],
                nothing: "Nothing to undo in this run; scan undo goes further back."
            )
        case .character("U"):
            undo(state.batch.acts.filter { $0.kind == .saved }, nothing: "Nothing was saved in this run.")
        case .character(let character) where NumberEntry.begins(with: character):
            var entry = NumberEntry()
            _ = entry.press(key)
            state.mode = .number(entry)
        case .character(let character) where key.isAboutRow: pressForRow(character, row)
        case .character: break
        }
    }

    /// The numbers in a text that was pasted: a line that is one, else the words that are.
    private mutating func capture(pasted text: String) {
        let lines = text.split(whereSeparator: \.isNewline).map(String.init)
        let numbers = lines.flatMap { line -> [TypedNumber] in
            let whole = TypedNumber(text: line, origin: .typed)
            if whole.arrival.detection != nil { return [whole] }
            return line.split(whereSeparator: \.isWhitespace).map { TypedNumber(text: String($0), origin: .typed) }
                .filter { $0.arrival.detection != nil }
        }
        if numbers.isEmpty { tell("No ISBN is in what was pasted.", .attention) }
        for number in numbers { capture(number) }
    }

    private mutating func saveTicked() {
        let ticked = state.batch.ticked
        if ticked.isEmpty { tell("Nothing is ticked.", .attention) } else { save(ticked, by: .person) }
    }

    private mutating func undo(_ acts: [Batch.Act], nothing: String) {
        if acts.isEmpty { tell(nothing, .attention) } else { begin(.undo(acts)) }
    }

    /// Keys that are about the book on the card.
    private mutating func pressForRow(_ key: Character, _ id: ID<IntakeItem>?) {
        guard let row = id.flatMap({ state.batch[$0] }) else { return tell("There is no book yet.", .attention) }
        guard row.end == nil else { return tell("It is answered already; u takes the last answer back.", .attention) }
        switch key {
        case "s" where state.batch.isAnotherCopy(row):
            tell("You have it already: c adds another copy, k skips it.", .attention)
        case "s" where row.candidate.isComplete: save([row], by: .person)
        case "s" where state.batch.status(of: row) == .lookingUp:
            tell("Still looking it up; e enters it by hand.", .attention)
        case "s", "e": state.mode = .edit(row.id, EditForm(metadata: row.candidate.metadata))
        case "c" where !row.candidate.isComplete && row.isLookingUp:
            tell("Still looking it up; e enters it by hand.", .attention)
        case "c" where !row.candidate.isComplete: tell("It has no title yet; e enters it by hand.", .attention)
        case "c" where !state.batch.isAnotherCopy(row): tell("There is no copy of it yet: s saves it.", .attention)
        case "c": save([row], by: .person)
        case "k": begin(.skip(row.candidate))
        case "l": leave(row.id)
        case "r": lookUpAgain(row.id)
        default: toggle(row.id)
        }
    }

    private mutating func leave(_ id: ID<IntakeItem>) {
        state.batch.leave(id)
        tell("Later: it stays in the queue.", .faint)
    }

    private mutating func lookUpAgain(_ id: ID<IntakeItem>) {
        state.batch.lookUpAgain([id])
        outlets.lookups.yield(.again(id))
        tell("Asking the sources again …", .faint)
    }

    private mutating func toggle(_ id: ID<IntakeItem>) {
        do throws(Batch.TickRefusal) {
            try state.batch.toggle(id)
        } catch {
            tell("▲ \(error)", .attention)
        }
    }
}
