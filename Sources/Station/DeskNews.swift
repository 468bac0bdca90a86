import Bookplate

extension Desk {
    /// One row of the batch as pages show it.
    public struct Row: Sendable, Equatable {
        public let candidate: Candidate
        public let standing: Batch.Standing
        public let isTicked: Bool
        /// Whether a picture of where it was seen is kept with the item.
        public let hasThumbnail: Bool
        /// As ``Batch/isClearable(_:)`` says.
        public let isClearable: Bool

        public var id: ID<IntakeItem> { candidate.item.id }
    }

    /// How everything stands at one moment.
    public struct Outlook: Sendable {
        /// `nil` for a service that has none.
        public var camera: CameraState?
        public var glance: Glance
        public var isOffline: Bool
        /// For what is captured from now on.
        public var preset: Preset
        public var counts: Counts
        /// Newest first. Where there are more than were asked for, open ones go before answered ones.
        public var rows: [Row]
        /// What undo takes back next.
        public var undo: Batch.Act?
        /// What was seen and is not on the disk yet, oldest first, and what stands in the way.
        public var pending: [Sighting]
        public var captureTrouble: (any Error)?
    }

    public struct Counts: Sendable, Equatable {
        /// In the whole queue, whoever captured it.
        public var waiting = 0
        public var lookingUp = 0
        public var ticked = 0
        /// Rows that nobody has answered.
        public var open = 0
    }

    /// What the camera sees, as far as a page draws it.
    public struct Glance: Sendable, Equatable {
        public struct Spot: Sendable, Equatable {
            public var x: Int
            public var y: Int
        }

        /// Of the frames, in pixels; 0 without frames.
        public var width = 0
        public var height = 0
        /// The four corners of every code in the last frame, clockwise from its own top left, in pixels of the frame.
        public var symbols: [[Spot]] = []
        public var hint: Hint?
        public var framesPerSecond = 0
    }

    /// Why a code that was held up or scanned is not captured.
    public enum Miss: Sendable, CustomStringConvertible {
        case noBook(ISBNRefusal)
        /// The library did not take it.
        case notCaptured(any Error)

        public var description: String {
            switch self {
            case .noBook(let refusal): refusal.description
            case .notCaptured(let error): "not captured: \(error)"
            }
        }
    }

    /// What happens, in the order in which it does.
    public enum News: Sendable {
        /// On the disk, before any source was asked.
        case captured(Row)
        /// A lookup, or the library, said something of it.
        case known(Row)
        /// A code that is no book was held up or scanned.
        case refused(payload: String, kind: CodeKind?, reason: Miss)
        /// Rows, ticks, preset or counts are others now.
        case batch
        /// `nil` for a service without one.
        case camera(CameraState?)
        case glance(Glance)
    }

    /// What saving came to.
    public struct Saved: Sendable, Equatable {
        /// How many are in the library now.
        public var saved = 0
        /// How many were not saved, because the library holds the book.
        public var owned = 0
        /// What undo takes back; `nil` when nothing was changed.
        public var change: ID<Change>?
    }

    /// What a person said of a book that is not saved yet; what is `nil` is left as it is, and what is empty is emptied.
    public struct Edit: Sendable, Equatable {
        public var title: String?
        public var subtitle: String?
        /// Names, in the order of the title page; other contributors stay.
        public var authors: [String]?
        public var publisher: String?
        /// As a person writes it: "March 2009".
        public var publishedDate: String?
        public var pageCount: Int??

        public init(title: String? = nil) { self.title = title }
    }

    /// Why an act is not done.
    public enum Refusal: Error, Sendable, Equatable, CustomStringConvertible {
        /// No such row, or none any more: somebody answered it elsewhere.
        case gone
        case answered
        case nothingToUndo
        /// Somebody did something since, or took it back already.
        case notNewest

        public var description: String {
            switch self {
            case .gone: "it is not in the queue any more"
            case .answered: "it is answered already"
            case .nothingToUndo: "there is nothing to take back here"
            case .notNewest: "something else was done since, or it is taken back already; see what undo takes back now"
            }
        }
    }
}
