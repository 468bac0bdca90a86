import Bookplate
import Capture
import Hub
import Station

/// Everything that can happen at the live station, in the order in which it comes.
enum LiveEvent: Sendable {
    /// With the time when it was read.
    case key(Keyboard.Key, at: Duration)
    /// The terminal is gone, or its keys cannot be read any more.
    case keysOver
    case live(LiveScan.Event)
    /// No more frames will come; an error when they could not be read at all.
    case sourceOver((any Error)?)
    case scanner(HandheldScanner.Event)
    /// On the disk, with what the library says of them.
    case captured([Candidate])
    /// Tried on: what stands in the way may pass.
    case captureWaits(CommandError)
    /// Given up, because it cannot pass or the person left: these are nowhere.
    case notCaptured([Detection], CommandError)
    /// What a lookup found out.
    case known(Candidate)
    case lookupOver([ID<IntakeItem>], CommandError?)
    case acted(LiveAct.Result)
    /// What would have been printed.
    case told(String)
    /// A fifth of a second has passed.
    case tick
    /// How many items wait in the queue in all.
    case waiting(Int)
    /// All that was on its way to the disk is there, or was given up.
    case capturingOver
    case hub(HubEvent)
}

/// What the sources are asked for.
enum LookupRequest: Sendable {
    case captured([IntakeItem])
    /// Asked once more, by a person.
    case again(ID<IntakeItem>)
}

/// Something that a person wants done to the library or the queue. One is under way at a time.
enum LiveAct: Sendable {
    case save([Wanted])
    case skip(Candidate)
    /// Takes acts back, newest first, and goes on past those that cannot be.
    case undo([Batch.Act])
    case keepEdits(Candidate, Set<Metadata.Field>)
    case give(Preset, [ID<IntakeItem>])

    /// A book to be saved, and on whose word.
    struct Wanted: Sendable {
        var candidate: Candidate
        var isAnotherCopy: Bool
        var confirmer: Confirmer
    }

    enum Result: Sendable {
        case saved([(candidate: Candidate, result: SaveResult)])
        case skipped(Candidate, ID<Change>)
        case undone(BatchUndoing)
        case edited(Candidate)
        /// Asked for all of these; some may have left the queue.
        case given(Preset, [ID<IntakeItem>], [Candidate])
        /// Nothing was done.
        case failed(CommandError)
    }
}

extension CaptureRun {
    /// Does it, durably, and tells what came of it; never throws.
    func perform(_ act: LiveAct) async -> LiveAct.Result {
        do {
            switch act {
            case .save(let wanted):
                let confirmed = try wanted.map {
                    try $0.candidate.confirm(by: $0.confirmer, anotherCopy: $0.isAnotherCopy)
                }
                return .saved(Array(zip(wanted.map(\.candidate), try await flow.save(confirmed))))
            case .skip(let candidate): return .skipped(candidate, try await flow.dismiss([candidate]))
            case .undo(let acts): return .undone(await flow.undo(acts, in: history))
            case .keepEdits(let candidate, let fields):
                return .edited(try await flow.keepEdits(of: candidate, fields: fields))
            case .give(let preset, let items):
                return .given(preset, items, try await flow.give(preset, to: items))
            }
        } catch {
            return .failed(CommandError(describing: error))
        }
    }
}
