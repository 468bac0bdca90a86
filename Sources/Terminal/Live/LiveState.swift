import Bookplate
import Station

/// The state of the live screen, independent of how it is drawn.
struct LiveState {
    var batch: Batch
    /// The row that a person selected. If it is nil, the card always shows the newest row.
    var selected: ID<QueueItem>?
    var mode = Mode.list
    var message: Message?

    var camera = CameraState.starting
    var framesPerSecond = 0.0
    var hint: Hint?
    /// True if the frames come from standard input. Unlike a camera, standard input comes to an end.
    var isStream = false
    /// False for a moment after another card appeared. Keys that are about a book do not act on it yet.
    var isCardReadable = true
    /// False for a moment after a book was ticked. The key that saves all ticked books does not act yet.
    var areTicksReadable = true
    /// False for a moment after books were saved automatically. The keys that undo acts do not act yet.
    var isActReadable = true
    /// True if no more frames will arrive.
    var isSourceOver = false
    var isOffline = false
    var isMuted = false
    /// True if books that are found are saved at once (`--yes`).
    var savesFound = false
    /// The hub whose library receives the captured books; nil if the station's own library receives them.
    var hub: HubView?
    /// The number of items from earlier runs that wait in the queue.
    var earlier = 0
    /// Detections that are not on disk yet, oldest first.
    var pending: [Detection] = []
    /// The error that prevents pending detections from being written to disk; nil if there is none.
    var captureError: String?

    enum Mode {
        case list, help
        case number(NumberInput)
        case edit(ID<QueueItem>, EditForm)
        /// The person chooses an edition for a row. The form is the one to go back to.
        case editions(ID<QueueItem>, EditForm, EditionList)
        case preset(PresetForm)
    }

    struct HubView: Equatable {
        var status = HubStatus.unknown
        /// The number of captures that the hub does not have yet.
        var waiting: Int

        /// The text for the top line of the screen, such as "● hub, 3 waiting".
        var summary: (text: String, ink: Ink) {
            let rest = waiting == 0 ? "" : ", \(waiting) waiting"
            return switch status {
            case .unknown, .up: ("● hub" + rest, .new)
            case .away: ("○ hub unreachable" + rest, .attention)
            case .unpaired: ("▲ no longer paired" + rest, .problem)
            }
        }
    }

    struct Message: Equatable {
        var text: String
        var ink: Ink
        /// The time when the message disappears, on the monotonic clock.
        var until: Duration
    }

    init(batch: Batch) { self.batch = batch }

    /// The row that the card shows and the keys act on.
    var current: Batch.Row? { selected.flatMap { batch[$0] } ?? batch.rows.last }

    /// Shows a row on the card. If it is the newest row, the card also shows every new row from then on.
    mutating func select(_ id: ID<QueueItem>) { selected = id == batch.rows.last?.id ? nil : id }

    /// If the selected row was answered, selects the next older row that still awaits an answer, so that a person can
    /// work through the list.
    mutating func advance(from answered: [ID<QueueItem>]) {
        guard let selected, answered.contains(selected),
            let position = batch.rows.firstIndex(where: { $0.id == selected }),
            let next = batch.rows[..<position].last(where: { $0.end == nil })
        else { return }
        select(next.id)
    }

    /// True if the screen has a card, and false if a form or the help covers it.
    var showsCard: Bool {
        switch mode {
        case .list, .number: true
        case .help, .edit, .editions, .preset: false
        }
    }

    /// True if a field has the focus, so that keys are text.
    var hasField: Bool {
        switch mode {
        case .list, .help, .editions: false
        case .number, .edit, .preset: true
        }
    }

    /// True if the card shows a new capture at once; otherwise a message reports the capture.
    var showsNewest: Bool { showsCard && selected == nil }

    /// Moves the selection down the list by `steps` rows, or up if `steps` is negative. The list begins with the newest
    /// row. When the selection reaches that row, the card also shows every new row from then on.
    mutating func move(by steps: Int) {
        guard let current, let position = batch.rows.firstIndex(where: { $0.id == current.id }) else { return }
        let target = min(max(0, position - steps), batch.rows.count - 1)
        selected = target == batch.rows.count - 1 ? nil : batch.rows[target].id
    }
}
