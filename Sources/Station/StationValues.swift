import Bookplate

extension Station {
    /// One row of the batch as screens show it.
    public struct Row: Sendable, Equatable {
        public let candidate: Candidate
        public let status: Batch.Status
        public let isTicked: Bool
        /// True if saving it makes another copy.
        public let isAnotherCopy: Bool
        /// True if a picture of where it was seen is kept.
        public let hasThumbnail: Bool
        /// See ``Batch/isClearable(_:)``.
        public let isClearable: Bool

        public var id: ID<IntakeItem> { candidate.item.id }
    }

    /// The state of the station at one moment.
    public struct Snapshot: Sendable {
        /// nil for a station without a camera.
        public var camera: CameraState?
        /// The camera's picture as a page draws it.
        public var view: CameraView
        public var isOffline: Bool
        /// The preset of later captures.
        public var preset: Preset
        public var counts: Counts
        /// Newest first.
        public var rows: [Row]
        /// The act that undo takes back next.
        public var nextUndo: Batch.Act?
        /// Detections that are not on disk yet, oldest first, and the error that keeps them from it.
        public var pending: [Detection]
        public var captureError: (any Error)?
    }

    public struct Counts: Sendable, Equatable {
        /// Rows in the queue: open and postponed ones.
        public var waiting = 0
        public var lookingUp = 0
        public var ticked = 0
        /// Rows without an answer.
        public var open = 0
    }

    /// The codes and hint that a page draws over the camera's picture.
    public struct CameraView: Sendable, Equatable {
        /// A point of the frame, in pixels.
        public struct Spot: Sendable, Equatable {
            public var x: Int
            public var y: Int
        }

        /// The size of the frames in pixels; 0 without frames.
        public var width = 0
        public var height = 0
        /// The four corners of every code in the last frame, clockwise from its own top left, in pixels of the frame.
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

    /// Something that happened, for the listener of ``Station/news``.
    public enum News: Sendable {
        /// The row is on disk; no source has been asked yet.
        case captured(Row)
        /// A lookup or the library changed a row.
        ///
        /// - Parameter isFirst: true for the first answer of the lookup.
        case known(Row, isFirst: Bool)
        /// A code or number that names no book, or a photo without one.
        case refused(CaptureEvent, ISBNRefusal?)
        /// The library cannot store captures now; it is tried again every second.
        case captureWaits(any Error)
        /// These detections were given up.
        case notCaptured([Detection], any Error)
        /// `--yes` saved books.
        case saved(Saved)
        /// An unattended `--yes` has finished with these.
        case settled([CaptureEvent])
        /// A lookup or an automatic save failed; the books wait in the queue.
        case failed(any Error)
        /// Rows, ticks, preset or counts changed.
        case batch
        case camera(CameraState?)
        /// No more frames will arrive; an error if they could not be read at all.
        case sourceEnded((any Error)?)
        /// The handheld scanner is ready (again).
        case scannerReady(name: String)
        /// The handheld scanner cannot be used now, or a line was lost; it is retried automatically.
        case scannerTrouble(String)
        case view(CameraView)
    }

    /// The outcome of a save.
    public struct Saved: Sendable {
        /// The number of books that are in the library now.
        public var saved = 0
        /// The number of books that were not saved because the library already holds them.
        public var owned = 0
        /// The change that undo takes back; nil when nothing was changed.
        public var change: ID<Change>?
        public var results: [(candidate: Candidate, result: SaveResult)] = []

        public init() {}

        public var events: [CaptureEvent] { results.map { .saved($0.candidate, $0.result) } }
    }

    /// The outcome of a skip.
    public struct Skipped: Sendable {
        /// The change that undo takes back.
        public let change: ID<Change>
        public let events: [CaptureEvent]
        public var count: Int { events.count }
    }

    /// The acts that undo takes back.
    public enum UndoScope: Sendable {
        case newest
        /// The newest act, provided that it is this change.
        case act(ID<Change>)
        case allSaves
    }

    /// The outcome of an undo.
    public struct Undone: Sendable {
        /// The acts that were undone, newest first.
        public var acts: [Batch.Act] = []
        /// One event for each book.
        public var events: [CaptureEvent] = []
        /// The error that prevented undoing the others.
        public var failure: (any Error)?

        public init() {}
    }

    /// The reason that an act is not carried out.
    public enum Refusal: Error, Sendable, Equatable, CustomStringConvertible {
        /// There is no such row, or no longer: it was answered elsewhere.
        case gone
        case answered
        case nothingToUndo
        /// The change is not the newest one, or is already undone.
        case notNewest

        public var description: String {
            switch self {
            case .gone: "it is no longer in the queue"
            case .answered: "it is already answered"
            case .nothingToUndo: "there is nothing to undo here"
            case .notNewest: "there is a newer change, or it is already undone; check what undo takes back now"
            }
        }
    }
}

extension Preset {
    /// Returns the preset with its names as they are stored.
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
    /// One line for the log.
    var logLine: String {
        switch self {
        case .starting: "looking for one"
        case .streaming(let name, let format): "\(name.cleanedLine), \(format)"
        case .trouble(let error): "\(error)"
        case .ended: "the stream ended"
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
