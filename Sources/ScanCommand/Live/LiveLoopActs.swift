import Bookplate
import Station

/// What a person wants done, one act at a time, and what came of it.
extension LiveLoop {
    mutating func begin(_ act: LiveAct) {
        isActing = true
        outlets.acts.yield(act)
    }

    /// With `--yes`, what is found is saved as soon as it is known.
    mutating func saveTheSure() {
        guard state.savesAtOnce, !isActing, !isClosing, now >= savesFrom else { return }
        let sure = state.batch.sure(anotherCopy: run.anotherCopy)
        if !sure.isEmpty { save(sure, by: .advance) }
    }

    /// What a person ticked is saved on the person's word in any case.
    mutating func save(_ rows: [Batch.Row], by confirmer: Confirmer) {
        begin(
            .save(
                rows.map { row in
                    LiveAct.Wanted(
                        candidate: row.candidate, isAnotherCopy: state.batch.isAnotherCopy(row),
                        confirmer: row.choice == true ? .person : confirmer)
                }))
    }

    mutating func take(_ result: LiveAct.Result) {
        if case .failed = result {} else { failure = nil }
        switch result {
        case .saved(let results):
            state.batch.note(results.map { ($0.candidate.item.id, $0.result) })
            run.events.note(results.map { .saved($0.candidate, $0.result) })
            state.goOn(from: results.map(\.candidate.item.id))
            let saved = results.filter { if case .owned = $0.result { false } else { true } }
            if saved.count == 1, results.count == 1 {
                tell("✓ saved: \(saved[0].candidate.metadata.title ?? "")", .new)
            } else {
                let rest = results.count - saved.count
                tell("✓ \(counted(saved.count, "book")) saved" + (rest > 0 ? ", \(rest) owned by now" : ""), .new)
            }
        case .skipped(let candidate, let change):
            state.batch.noteSkipped([candidate.item.id], change: change)
            run.events.note([.skipped(candidate)])
            state.goOn(from: [candidate.item.id])
            tell("– skipped: \(candidate.metadata.title ?? candidate.item.isbn.hyphenated)", .faint)
        case .undone(let undoing):
            takeUndone(undoing)
            if let failure = undoing.failure { failed(CommandError(describing: failure)) }
        case .edited(let candidate):
            state.batch.renew([candidate])
            run.events.note([.edited(candidate)])
            if case .edit = state.mode { state.mode = .list }
        case .given(let preset, let asked, let candidates):
            if preset != state.batch.preset { given = [] }
            given.formUnion(asked)
            state.batch.preset = preset
            outlets.preset.withLock { $0 = preset }
            state.batch.renew(candidates)
            if isFormGiven { state.mode = .list }
        case .failed(let error): failed(error)
        }
    }

    private mutating func takeUndone(_ undoing: BatchUndoing) {
        state.batch.note(undoing)
        let undone = undoing.undone
        for each in undone {
            if state.savesAtOnce { state.batch.untick(each.act.items) }
            let candidates = each.now ?? each.act.items.compactMap { state.batch[$0]?.candidate }
            run.events.note(candidates.map { .undone($0, change: each.act.change) })
        }
        if let item = undone.last?.act.items.last, state.selected != nil { state.select(item) }
        let count = undone.reduce(0) { $0 + $1.act.items.count }
        if count > 0 { tell("↶ undone: \(counted(count, "book"))", .attention) }
    }

    /// The book stays where it was; the next key tries again.
    mutating func failed(_ error: CommandError) {
        failure = error
        savesFrom = now + .seconds(5)
        tell(error.description, .problem)
    }
}
