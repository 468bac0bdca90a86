import Async
import Bookplate

/// The acts of people on the batch: saving, skipping, editing, ticking, clearing and undoing.
extension Station {
    /// Sets or clears the tick of a row. The tick stays as the person left it, even if later lookups find something
    /// else.
    ///
    /// - Throws: ``Refusal/gone``, or ``Batch/TickRefusal``.
    @discardableResult
    public func tick(_ id: ID<QueueItem>, _ isTicked: Bool) throws -> Row {
        guard batch[id] != nil else { throw Refusal.gone }
        try batch.tick(id, isTicked)
        batchChanged()
        guard let now = row(id) else { throw Refusal.gone }
        return now
    }

    /// Toggles the tick of a row.
    public func toggle(_ id: ID<QueueItem>) throws(Batch.TickRefusal) {
        try batch.toggle(id)
        batchChanged()
    }

    /// Removes the saved rows from the list. Their books stay in the library, and the saves can still be undone.
    public func clearSaved() {
        batch.clearSaved()
        batchChanged()
    }

    /// Leaves a row in the queue for later.
    public func postpone(_ id: ID<QueueItem>) {
        batch.postpone(id)
        batchChanged()
    }

    /// Saves rows in one change, whether they are ticked or not. If several rows are given, the rows without a title
    /// stay open.
    ///
    /// - Parameters:
    ///   - anotherCopy: true to save another copy of books that are already owned.
    ///   - change: an earlier change to which this save is added.
    /// - Throws: ``Refusal`` if none of the rows is open, ``ConfirmRefusal`` if none has a title.
    public func save(
        _ ids: [ID<QueueItem>], anotherCopy: Bool = false, continuing change: ID<Change>? = nil
    ) async throws -> Saved {
        try await act { station in
            let open = try station.open(ids)
            let complete = open.filter(\.candidate.isComplete)
            guard !complete.isEmpty else { throw ConfirmRefusal.needsTitle(open[0].candidate.item.isbn) }
            return try await station.save(complete, by: .person, continuing: change) { row in
                anotherCopy || (row.choice == true && station.batch.isAnotherCopy(row))
            }
        }
    }

    /// Saves all ticked rows in one change.
    ///
    /// - Returns: nil if no row is ticked.
    public func saveTicked() async throws -> Saved? {
        try await act { station in
            let ticked = station.batch.ticked
            guard !ticked.isEmpty else { return nil }
            return try await station.save(ticked, by: .person, continuing: nil) { station.batch.isAnotherCopy($0) }
        }
    }

    /// Skips rows: removes their items from the queue without saving them.
    public func skip(_ ids: [ID<QueueItem>]) async throws -> Skipped {
        try await act { station in
            let open = try station.open(ids)
            guard let change = try await station.flow.skip(open.map(\.candidate)) else {
                // All the rows were answered on other devices a moment ago.
                station.batch.forget(open.map(\.id))
                throw Refusal.answered
            }
            station.batch.applySkip(open.map(\.id), change: change)
            return Skipped(change: change, events: open.map { .skipped($0.candidate) })
        }
    }

    /// Queries the sources about rows again.
    public func lookUpAgain(_ ids: [ID<QueueItem>]) throws {
        let open = try open(ids).map(\.id)
        batch.markLookingUp(open)
        lookUp(.again(open))
        batchChanged()
    }

    /// Edits the metadata of an open row and the preset with which it is saved, and stores what was edited in the
    /// queue.
    ///
    /// - Throws: ``TextRefusal`` or ``InputRefusal`` if a value is not valid for a book.
    public func edit(
        _ id: ID<QueueItem>, _ edit: MetadataEdit, preset: PresetEdit = PresetEdit()
    ) async throws -> Row {
        try await act { station in
            guard var candidate = try station.open([id]).first?.candidate else { throw Refusal.gone }
            let fields = try edit.apply(to: &candidate.metadata)
            if !fields.isEmpty || preset != PresetEdit() {
                let edited = try await station.flow.keepEdits(of: candidate, fields: fields, preset: preset)
                station.batch.replace([edited])
                if preset.isOfBatch { station.ownPreset.insert(id) }
            }
            guard let now = station.row(id) else { throw Refusal.gone }
            return now
        }
    }

    /// Gives an open row the record of an edition that a person chose by its title. If this is an edition with another
    /// number, the row gets only what both editions have in common. A person's earlier edits stay.
    public func take(_ offer: EditionOffer, for id: ID<QueueItem>) async throws -> Row {
        try await act { station in
            guard let candidate = try station.open([id]).first?.candidate else { throw Refusal.gone }
            station.batch.replace([try await station.flow.keep(offer, for: candidate)])
            guard let now = station.row(id) else { throw Refusal.gone }
            return now
        }
    }

    /// Undoes changes in the library's history, and reopens the rows of the batch that had been answered by these
    /// changes.
    ///
    /// - Parameter scope: the changes to undo.
    /// - Returns: the changes that were undone. A change whose books have been changed since is left as it is and
    ///   reported as `failure`.
    /// - Throws: ``Refusal/nothingToUndo``, ``Refusal/notNewest``, or the error if nothing was undone. After an
    ///   ``UndoRefusal`` the next undo concerns the act before the refused one.
    @discardableResult
    public func undo(_ scope: UndoScope = .newest) async throws -> Undone {
        try await act { station in
            let newest = station.batch.nextToUndo
            let changes: [ID<Change>]
            switch scope {
            case .newest: changes = newest.map { [$0.change] } ?? []
            case .act(let change):
                if let newest, newest.change != change { throw Refusal.notNewest }
                changes = newest == nil ? [] : [change]
            case .allSaves: changes = station.batch.acts.filter { $0.kind == .saved }.map(\.change).reversed()
            case .change(let change): changes = [change]
            }
            guard !changes.isEmpty else { throw Refusal.nothingToUndo }
            let undone = await station.undo(changes)
            if let failure = undone.failure, undone.changes.isEmpty { throw failure }
            station.applyPresetToStale()
            return undone
        }
    }

    /// Undoes the changes in the given order. An act of the batch that was already undone elsewhere counts as undone.
    private func undo(_ changes: [ID<Change>]) async -> Undone {
        var undone = Undone()
        for id in changes {
            let act = batch.acts.first { $0.change == id }
            do {
                undone.changes.append(try await history.undo(id, at: flow.now()))
            } catch UndoRefusal.alreadyUndone(let change) where act != nil {
                // The rows of the act must still be reopened.
                undone.changes.append(change)
            } catch let refusal as UndoRefusal {
                batch.markRefused(id)
                undone.failure = refusal
                continue
            } catch {
                undone.failure = error
                return undone
            }
            guard let act else { continue }
            undone.acts.append(act)
            do {
                var now: [Candidate] = []
                for item in act.items { if let candidate = try await flow.candidate(item) { now.append(candidate) } }
                batch.applyUndo(of: id, now: now)
            } catch {
                batch.applyUndo(of: id, now: nil)
                undone.failure = error
            }
            // Otherwise `--yes` would save these rows again at once.
            if options.saving != nil { batch.untick(act.items) }
            undone.events += act.items.compactMap { batch[$0]?.candidate }.map { .undone($0, change: id) }
            if undone.failure != nil, !(undone.failure is UndoRefusal) { return undone }
        }
        return undone
    }

    /// Redoes a change of the library's history that was undone, and closes the rows of the batch that the undo had
    /// reopened.
    ///
    /// - Parameter change: the change to redo; nil for the most recently undone act of the batch.
    /// - Throws: ``RedoRefusal``, or the library's error. After a refusal, the next redo concerns the act undone before
    ///   this one.
    @discardableResult
    public func redo(_ change: ID<Change>? = nil) async throws -> Redone {
        try await act { station in
            guard let id = change ?? station.batch.undoneActs.last?.act.change else { throw RedoRefusal.noSuchChange }
            var redone: Redone
            do {
                redone = Redone(change: try await station.history.redo(id, at: station.flow.now()))
            } catch RedoRefusal.notUndone(let change)
                where station.batch.undoneActs.contains(where: { $0.act.change == id })
            {
                // The change was redone elsewhere, so the rows of the act must be closed.
                redone = Redone(change: change)
            } catch let refusal as RedoRefusal {
                station.batch.forgetUndone(id)
                throw refusal
            }
            guard let undone = station.batch.undoneActs.last(where: { $0.act.change == id }) else { return redone }
            station.batch.applyRedo(of: id)
            redone.act = undone.act
            redone.events = undone.act.items.compactMap { item -> CaptureEvent? in
                guard let row = station.batch[item] else { return nil }
                switch row.end {
                case .saved(let result): return .saved(row.candidate, result)
                case .skipped: return .skipped(row.candidate)
                case .postponed, nil: return nil
                }
            }
            return redone
        }
    }

    /// Removes from the queue the rows whose books were already in the library when they were captured, and still are.
    ///
    /// - Returns: one event for each row.
    public func closeOwned() async throws -> [CaptureEvent] {
        try await act { station in
            let rows = station.batch.settledRows
            guard !rows.isEmpty else { return [] }
            let owned = try await station.flow.recognise(rows.map(\.candidate.item)).compactMap { candidate in
                candidate.owned.map { (candidate, $0) }
            }
            try await station.flow.close(owned.map { $0.0.item.id })
            station.batch.close(owned.map { ($0.0.item.id, $0.1) })
            return owned.map { .saved($0.0, .owned($0.1)) }
        }
    }

    /// Records that a row was answered on another device.
    ///
    /// - Parameter copy: the copy that was saved; nil if the row was skipped.
    public func answeredElsewhere(_ id: ID<QueueItem>, copy: ID<Copy>?) -> CaptureEvent? {
        guard let row = batch[id], row.end == nil || row.end == .postponed else { return nil }
        defer { batchChanged() }
        guard let copy else {
            batch.forget([id])
            return .skipped(row.candidate)
        }
        batch.applySave([(id, .alreadySaved(copy))])
        return .saved(row.candidate, .alreadySaved(copy))
    }

    /// Saves a book that a person entered in a form. If the book belongs to an item of the batch, the item's row is
    /// marked as saved, and this save can be undone like any other.
    ///
    /// - Parameter save: the function that saves the book in the library.
    public func enter(
        _ book: Confirmed, by save: @escaping @Sendable () async throws -> SaveResult
    ) async throws -> SaveResult {
        try await act { station in
            let result = try await save()
            station.saves.send()
            guard let id = book.item, let row = station.batch[id] else { return result }
            if result.change != nil {
                var item = row.candidate.item
                item.preset = book.preset
                var candidate = Candidate(
                    item: item, existing: row.candidate.existing, otherEditions: row.candidate.otherEditions)
                candidate.metadata = book.metadata
                station.batch.replace([candidate])
            }
            station.batch.applySave([(id, result)])
            return result
        }
    }

    /// Returns the rows with these ids that are open.
    ///
    /// - Throws: ``Refusal`` if none of them is open.
    private func open(_ ids: [ID<QueueItem>]) throws(Refusal) -> [Batch.Row] {
        let rows = ids.uniqued().compactMap { batch[$0] }
        let open = rows.filter { $0.end == nil }
        if open.isEmpty { throw rows.isEmpty ? .gone : .answered }
        return open
    }

    func save(
        _ rows: [Batch.Row], by confirmer: Confirmer, continuing change: ID<Change>?,
        isAnotherCopy: (Batch.Row) -> Bool
    ) async throws -> Saved {
        let confirmed = try rows.map { row in
            // A row that a person ticked counts as confirmed by that person.
            try row.candidate.confirm(by: row.choice == true ? .person : confirmer, anotherCopy: isAnotherCopy(row))
        }
        let results = try await flow.save(confirmed, continuing: change)
        batch.applySave(zip(rows, results).map { ($0.id, $1) })
        saves.send()
        var saved = Saved()
        for (row, result) in zip(rows, results) {
            if case .owned = result { saved.owned += 1 } else { saved.saved += 1 }
            saved.change = saved.change ?? result.change
            saved.results.append((row.candidate, result))
        }
        return saved
    }

    /// Runs acts one after another, in the order of the calls. Each act is completed even if the caller is cancelled.
    ///
    /// - Parameter isNews: false if the act posts its own events. Reading the queue is one such act.
    func act<Result: Sendable>(
        isNews: Bool = true, _ body: @escaping @Sendable (isolated Station) async throws -> Result
    ) async throws -> Result {
        try await resultOrCancellation(
            of: Task {
                try await acts.withPermit {
                    defer { if isNews { self.batchChanged() } }
                    return try await body(self)
                }
            })
    }
}
