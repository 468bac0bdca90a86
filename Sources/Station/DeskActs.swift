import Bookplate

// What people do at the pages. Each act is on the disk when it returns, and done or not done whatever becomes of the page that
// asked for it.
extension Desk {
    /// What is captured from now on is saved with it, and what is open: of what others captured, only what had the same preset.
    public func give(_ preset: Preset) async throws {
        let preset = try preset.checked()
        try await inTurn { desk in
            let (old, here) = (desk.batch.preset, desk.capturedHere)
            let ids = desk.batch.open.filter { here.contains($0.id) || $0.candidate.item.preset == old }.map(\.id)
            let candidates = ids.isEmpty ? [] : try await desk.flow.give(preset, to: ids)
            desk.batch.preset = preset
            desk.batch.renew(candidates)
            // Captured while this went on.
            let known = Set(ids)
            let late = desk.batch.open.filter { row in
                desk.capturedHere.contains(row.id) && row.candidate.item.preset == old && !known.contains(row.id)
            }.map(\.id)
            if !late.isEmpty, old != preset { Task { await desk.catchUp(late) } }
        }
    }

    /// What was captured with the preset before, while that was being changed, gets the new one.
    func catchUp(_ ids: [ID<IntakeItem>]) async {
        do {
            try await inTurn { desk in
                let late = ids.filter { id in
                    desk.batch[id].map { $0.end == nil && $0.candidate.item.preset != desk.batch.preset } ?? false
                }
                guard !late.isEmpty else { return }
                desk.batch.renew(try await desk.flow.give(desk.batch.preset, to: late))
            }
        } catch {
            report("captured while the preset was changed, and kept with the one before: \(error)")
        }
    }

    /// - Throws: ``Refusal``, or ``Batch/TickRefusal`` when it has no title.
    public func tick(_ id: ID<IntakeItem>, _ isTicked: Bool) throws -> Row {
        guard batch[id] != nil else { throw Refusal.gone }
        // Said by a person it stays, whatever the sources say later.
        try batch.tick(id, isTicked)
        batchChanged()
        guard let now = self.row(id) else { throw Refusal.gone }
        return now
    }

    /// Saves these, ticked or not, in one change; those of several that have no title are passed over.
    ///
    /// - Parameter anotherCopy: a further copy of what the library holds already.
    /// - Throws: ``Refusal`` when none of them waits, ``ConfirmRefusal`` when none has a title.
    public func save(_ ids: [ID<IntakeItem>], anotherCopy: Bool) async throws -> Saved {
        try await inTurn { desk in
            let open = try desk.open(ids)
            let complete = open.filter(\.candidate.isComplete)
            guard !complete.isEmpty else { throw ConfirmRefusal.needsTitle(open[0].candidate.item.isbn) }
            return try await desk.save(
                complete.map { ($0, anotherCopy || ($0.choice == true && desk.batch.isAnotherCopy($0))) })
        }
    }

    /// Takes these out of the queue, unsaved.
    ///
    /// - Returns: how many, and the change that undo takes back.
    public func skip(_ ids: [ID<IntakeItem>]) async throws -> (count: Int, change: ID<Change>) {
        try await inTurn { desk in
            let open = try desk.open(ids)
            let change = try await desk.flow.dismiss(open.map(\.candidate))
            desk.batch.noteSkipped(open.map(\.id), change: change)
            return (open.count, change)
        }
    }

    /// Asks the sources once more.
    public func lookUpAgain(_ ids: [ID<IntakeItem>]) throws {
        let open = try open(ids).map(\.id)
        batch.lookUpAgain(open)
        lookups.put(.again(open))
        batchChanged()
    }

    /// Keeps what a person said of a book.
    ///
    /// - Throws: ``TextRefusal``, ``EntryRefusal``.
    public func edit(_ id: ID<IntakeItem>, _ edit: Edit) async throws -> Row {
        try await inTurn { desk in
            guard var candidate = try desk.open([id]).first?.candidate else { throw Refusal.gone }
            let fields = try edit.apply(to: &candidate.metadata)
            if !fields.isEmpty { desk.batch.renew([try await desk.flow.keepEdits(of: candidate, fields: fields)]) }
            guard let now = desk.row(id) else { throw Refusal.gone }
            return now
        }
    }

    /// Takes the batch's newest act back.
    ///
    /// - Parameter change: of the act that the person means; `nil` for whichever is the newest.
    /// - Returns: the act that was.
    /// - Throws: ``Refusal/nothingToUndo``, ``Refusal/notNewest`` when the newest is another one, or ``UndoRefusal`` when it cannot
    ///   be; then the one before it is next.
    public func undo(_ change: ID<Change>? = nil) async throws -> Batch.Act {
        try await inTurn { desk in
            guard let act = desk.batch.nextToUndo else { throw Refusal.nothingToUndo }
            guard change == nil || change == act.change else { throw Refusal.notNewest }
            let undoing = await desk.flow.undo([act], in: desk.history)
            desk.batch.note(undoing)
            if let failure = undoing.failure, undoing.undone.isEmpty { throw failure }
            return act
        }
    }

    // MARK: -

    /// Rows that are to be answered; those that are not open any more are passed over as long as others are.
    private func open(_ ids: [ID<IntakeItem>]) throws(Refusal) -> [Batch.Row] {
        let rows = ids.uniqued().compactMap { batch[$0] }
        let open = rows.filter { $0.end == nil }
        if open.isEmpty { throw rows.isEmpty ? .gone : .answered }
        return open
    }

    private func save(_ wanted: [(row: Batch.Row, isAnotherCopy: Bool)]) async throws -> Saved {
        let confirmed = try wanted.map { try $0.row.candidate.confirm(by: .person, anotherCopy: $0.isAnotherCopy) }
        let results = try await flow.save(confirmed)
        batch.note(zip(wanted, results).map { ($0.row.id, $1) })
        saves.put(())
        var saved = Saved()
        for result in results {
            if case .owned = result { saved.owned += 1 } else { saved.saved += 1 }
            saved.change = saved.change ?? result.change
        }
        return saved
    }

    /// Does one act after the other, in the order of asking, each whole: it goes on when the page that asked goes.
    ///
    /// - Parameter isNews: whether pages are told that something may be other now.
    func inTurn<Result: Sendable>(
        isNews: Bool = true, _ act: @escaping @Sendable (isolated Desk) async throws -> Result
    ) async throws -> Result {
        try await outcome(of: Task { try await takeTurn(isNews, act) })
    }

    private func takeTurn<Result: Sendable>(
        _ isNews: Bool, _ act: @Sendable (isolated Desk) async throws -> Result
    ) async throws -> Result {
        if isActing { await withCheckedContinuation { turns.append($0) } }
        isActing = true
        defer {
            if turns.isEmpty { isActing = false } else { turns.removeFirst().resume() }
            if isNews { batchChanged() }
        }
        return try await act(self)
    }
}
