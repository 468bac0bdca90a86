import Bookplate

/// What taking acts back came to.
public struct BatchUndoing: Sendable {
    /// An act that was taken back, and its items as the queue has them now; `nil` when that could not be read.
    public struct Undone: Sendable {
        public let act: Batch.Act
        public let now: [Candidate]?
    }

    public fileprivate(set) var undone: [Undone] = []
    /// What was changed since, and stays done.
    public fileprivate(set) var refused: [Batch.Act] = []
    /// What went wrong last.
    public fileprivate(set) var failure: (any Error)?
}

extension CaptureFlow {
    /// Takes acts of a batch back, the last first; goes on past what was changed since, and takes what was undone elsewhere as undone.
    public func undo(_ acts: [Batch.Act], in history: any History) async -> BatchUndoing {
        var result = BatchUndoing()
        for act in acts.reversed() {
            do {
                _ = try await history.undo(act.change, at: now())
            } catch UndoRefusal.alreadyUndone {
                // As good as done here.
            } catch let refusal as UndoRefusal {
                result.refused.append(act)
                result.failure = refusal
                continue
            } catch {
                result.failure = error
                return result
            }
            do {
                var now: [Candidate] = []
                for item in act.items { if let candidate = try await candidate(item) { now.append(candidate) } }
                result.undone.append(BatchUndoing.Undone(act: act, now: now))
            } catch {
                result.undone.append(BatchUndoing.Undone(act: act, now: nil))
                result.failure = error
                return result
            }
        }
        return result
    }

    /// Of rows whose book the library held, those for which it still does: only they may leave the queue as owned.
    public func stillOwned(_ rows: [Batch.Row]) async throws -> [Batch.Row] {
        guard !rows.isEmpty else { return [] }
        let now = try await recognise(rows.map(\.candidate.item))
        return zip(rows, now).filter { $0.1.owned != nil }.map(\.0)
    }

    /// Puts sightings into the queue; what may pass by itself is waited for, with a try every second.
    ///
    /// - Parameters:
    ///   - preset: asked for anew with every try.
    ///   - mayWait: asked after a try that failed, whether to go on.
    ///   - waits: told what stands in the way, with every try.
    public func captureUntilPossible(
        _ sightings: [Sighting], clock: any Clock<Duration> = ContinuousClock(),
        preset: @Sendable () async -> Preset, mayWait: @Sendable () -> Bool,
        waits: @Sendable (any Error) async -> Void
    ) async throws -> [IntakeItem] {
        while true {
            do {
                // A task of its own: a try is not given up half way, so that nothing is captured twice or told as lost.
                let preset = await preset()
                return try await Task { try await capture(sightings, preset: preset) }.value
            } catch let error where mayPass(error) && mayWait() {
                await waits(error)
                try await clock.sleep(for: .seconds(1))
            }
        }
    }
}

extension Batch {
    /// What taking acts back came to.
    public mutating func note(_ undoing: BatchUndoing) {
        for each in undoing.undone { noteUndone(each.act.change, now: each.now) }
        for act in undoing.refused { noteRefused(act.change) }
    }
}
