import Bookplate

extension Station {
    /// One row of the batch as screens show it.
    public struct Row: Sendable, Equatable {
        public let candidate: Candidate
        public let status: Batch.Status
        public let isTicked: Bool
        /// True if the library or the batch already has a copy, so that saving the row adds another.
        public let isAnotherCopy: Bool
        /// True if a small picture of the place where the code was seen is stored.
        public let hasThumbnail: Bool
        /// True if the row may be removed because the library holds its book; see ``Batch/isClearable(_:)``.
        public let isClearable: Bool
        /// True if the row was saved and then removed from the list; see ``Station/clearSaved()``.
        public var isCleared = false

        public var id: ID<QueueItem> { candidate.item.id }
    }

    /// The state of the station at one moment.
    public struct Snapshot: Sendable {
        /// The camera's state; nil for a station without a camera.
        public var camera: CameraState?
        /// The codes and the hint that a page draws over the camera's picture.
        public var view: CameraView
        public var isOffline: Bool
        /// The preset with which the station itself captures books from now on.
        public var preset: Preset
        public var counts: Counts
        /// The rows to show, newest first.
        public var rows: [Row]
        /// The act that ``Station/undo(_:)`` undoes next; nil if there is none.
        public var nextUndo: Batch.Act?
        /// Detections that are not on disk yet, oldest first.
        public var pending: [Detection]
        /// The error that currently prevents detections from being stored; nil if there is none.
        public var captureError: (any Error)?
    }

    public struct Counts: Sendable, Equatable {
        /// The number of rows that wait in the queue, open or postponed.
        public var waiting = 0
        public var lookingUp = 0
        public var ticked = 0
        /// The number of rows that still await a person's decision.
        public var open = 0
        /// The number of rows that have no title because no source has answered yet.
        public var untitled = 0
    }

    /// The codes and hint that a page draws over the camera's picture.
    public struct CameraView: Sendable, Equatable {
        /// A point of the frame, in pixels.
        public struct Spot: Sendable, Equatable {
            public var x: Int
            public var y: Int
        }

        /// The width of the frames in pixels; 0 while there are no frames.
        public var width = 0
        /// The height of the frames in pixels; 0 while there are no frames.
        public var height = 0
        /// The four corners of every code in the most recent frame, clockwise from the code's own top left corner, in
        /// pixels of the frame.
        public var symbols: [[Spot]] = []
        public var hint: Hint?
        public var framesPerSecond = 0

        public init() {}

        init(_ snapshot: LiveScan.Snapshot) {
            guard case .streaming(_, let format) = snapshot.camera else { return }
            (width, height) = (format.width, format.height)
            symbols = snapshot.symbols.map { symbol in
                symbol.corners.all.map { Spot(x: Int($0.x.rounded()), y: Int($0.y.rounded())) }
            }
            hint = snapshot.hint
            framesPerSecond = Int(snapshot.framesPerSecond.rounded())
        }
    }

    /// An event that the station reports to the listener of ``Station/news``.
    public enum News: Sendable {
        /// A book was captured: its row is on disk, and no source has been queried about it yet.
        case captured(Row)
        /// A lookup, or a change in the library, changed a row.
        ///
        /// - Parameter isFirst: true for the first answer of the lookup.
        case known(Row, isFirst: Bool)
        /// A code or number was refused because it does not belong to a book, or a photo was refused because no code
        /// was found in it.
        case refused(CaptureEvent, ISBNRefusal?)
        /// Because of this error, the library cannot store captures at the moment. The station tries again every
        /// second.
        case captureWaits(any Error)
        /// The station could not capture these detections and has given up. It also adds them to ``Station/lost``.
        case notCaptured([Detection], any Error)
        /// Books were saved because of `--yes`.
        case saved(Saved)
        /// An unattended run with `--yes` has dealt with some books. The events say what happened to each book.
        case settled([CaptureEvent])
        /// A lookup or an automatic save failed; the books wait in the queue.
        case failed(any Error)
        /// The rows, their ticks, the preset or the counts changed.
        case batch
        /// The camera's state changed.
        case camera(CameraState?)
        /// No more frames will arrive. The error is nil unless the frames could not be read at all.
        case sourceEnded((any Error)?)
        /// No more books will arrive from the run's input, and all that have arrived are looked up.
        case inputEnded
        /// The handheld scanner can be used, for the first time or again.
        case scannerReady(name: String)
        /// The handheld scanner cannot be used now, or a line from it was lost. The message gives the reason; the
        /// station tries again automatically.
        case scannerFailed(String)
        /// The codes or the hint over the camera's picture changed.
        case view(CameraView)
    }

    /// The outcome of a save.
    public struct Saved: Sendable {
        /// The number of books that were saved, including books that an earlier attempt of the same request had already
        /// saved.
        public var saved = 0
        /// The number of books that were not saved because the library already holds them.
        public var owned = 0
        /// The change in the library's history; nil if nothing was changed.
        public var change: ID<Change>?
        public var results: [(candidate: Candidate, result: SaveResult)] = []

        public init() {}

        public var events: [CaptureEvent] { results.map { .saved($0.candidate, $0.result) } }
    }

    /// The outcome of a skip.
    public struct Skipped: Sendable {
        /// The change in the library's history.
        public let change: ID<Change>
        public let events: [CaptureEvent]
        public var count: Int { events.count }
    }

    /// The acts that an undo concerns.
    public enum UndoScope: Sendable {
        /// The newest act of the batch.
        case newest
        /// The newest act of the batch, but only if it made this change, which is the change that the person saw on the
        /// screen.
        case act(ID<Change>)
        /// All saves of the batch.
        case allSaves
        /// The given change of the library, which may have been made on any screen or device.
        case change(ID<Change>)
    }

    /// The outcome of an undo.
    public struct Undone: Sendable {
        /// The changes that were undone, newest first, as recorded in the library's history.
        public var changes: [Change] = []
        /// The undone acts of the batch.
        public var acts: [Batch.Act] = []
        /// One event for each book whose row was reopened.
        public var events: [CaptureEvent] = []
        /// The error that prevented some changes from being undone; nil if all changes were undone.
        public var failure: (any Error)?

        public init() {}
    }

    /// The outcome of a redo.
    public struct Redone: Sendable {
        /// The change, which applies again.
        public let change: Change
        /// The act of the batch that was redone; nil if the change is not an act of the batch.
        public var act: Batch.Act?
        /// One event for each book whose row was closed.
        public var events: [CaptureEvent] = []

        init(change: Change) { self.change = change }
    }

    /// The reason why an act is not carried out.
    public enum Refusal: Error, Sendable, Equatable, CustomStringConvertible {
        /// The row is not in the batch, perhaps because it was answered on another device.
        case gone
        /// The row is already saved, skipped or postponed.
        case answered
        /// The batch has no act that could be undone.
        case nothingToUndo
        /// The change that the person saw is no longer the newest, or is already undone.
        case notNewest

        public var description: String {
            switch self {
            case .gone: "the book is no longer in the queue"
            case .answered: "the book has already been saved, skipped or postponed"
            case .nothingToUndo: "there is nothing to undo"
            case .notNewest:
                "this change is no longer the newest, or it has already been undone; check which change the next undo would revert"
            }
        }
    }
}

extension Station.Refusal: Bookplate.Refusal {
    public var kind: RefusalKind { self == .gone ? .notFound : .refused }
    public var apiCode: String { self == .gone ? kind.apiCode : code }

    public var code: String {
        switch self {
        case .gone: "gone"
        case .answered: "answered"
        case .nothingToUndo: "nothingToUndo"
        case .notNewest: "notNewest"
        }
    }
}

extension Preset {
    /// Returns the preset with its shelf and tags in the cleaned form that the library stores.
    ///
    /// - Throws: ``TextRefusal`` if a name is too long or contains characters that are not allowed in a name.
    public func checked() throws(TextRefusal) -> Preset {
        var preset = self
        preset.shelf = try shelf.map { text throws(TextRefusal) in try text.checked(as: "shelf", limit: TextLimit.name)
        }
        preset.tags = []
        for tag in tags { preset.tags.append(try tag.checked(as: "tag", limit: TextLimit.name)) }
        return preset
    }
}

extension CameraState {
    /// The state as a line for the log.
    var logLine: String {
        switch self {
        case .starting: "looking for a camera"
        case .streaming(let name, let format): "\(name.cleanedLine), \(format)"
        case .failed(let error): "\(error)"
        case .ended: "the stream of frames ended"
        }
    }
}

/// Wakes the one task that iterates over ``values``. Signals sent while the task is busy are merged into one.
struct Signal: Sendable {
    let values: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (values, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1)) }

    func send() { continuation.yield() }
}
