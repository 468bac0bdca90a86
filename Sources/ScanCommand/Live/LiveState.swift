import Bookplate
import Hub
import Station

/// What the live screen shows: everything, and nothing of how it is drawn.
struct LiveState {
    var batch: Batch
    /// The row that a person went to; `nil` follows the newest.
    var selected: ID<IntakeItem>?
    var mode = Mode.list
    var message: Message?

    var camera = CameraState.starting
    var framesPerSecond = 0.0
    var hint: Hint?
    /// Frames come from standard input and end some time.
    var isStream = false
    /// No more frames will come.
    var isSourceOver = false
    var isOffline = false
    var isMuted = false
    /// What is found is saved at once (`--yes`).
    var savesFound = false
    /// How the hub stands that is captured into; `nil` for the station's own library.
    var hub: HubView?
    /// Items of earlier runs that wait in the queue.
    var earlier = 0
    /// Sightings on their way to the disk, in their order.
    var pending: [Detection] = []
    /// Why they are not there yet, as long as it lasts.
    var captureError: String?

    enum Mode {
        case list, help
        case number(NumberEntry)
        case edit(ID<IntakeItem>, EditForm)
        case preset(PresetForm)
    }

    struct HubView: Equatable {
        var status = HubLink.Status.unknown
        /// What the hub does not have yet.
        var waiting: Int

        /// As the top of the screen shows it.
        var words: (text: String, ink: Ink) {
            let rest = waiting == 0 ? "" : ", \(waiting) \(waiting == 1 ? "waits" : "wait") for it"
            return switch status {
            case .unknown, .up: ("● hub" + rest, .new)
            case .away: ("○ hub away" + rest, .attention)
            case .unpaired: ("▲ not paired any more" + rest, .problem)
            }
        }
    }

    struct Message: Equatable {
        var text: String
        var ink: Ink
        /// On the monotonic clock.
        var until: Duration
    }

    init(batch: Batch) { self.batch = batch }

    /// The row on the card, which the keys are about.
    var current: Batch.Row? { selected.flatMap { batch[$0] } ?? batch.rows.last }

    /// Puts a row on the card; the newest means to follow.
    mutating func select(_ id: ID<IntakeItem>) { selected = id == batch.rows.last?.id ? nil : id }

    /// A person who goes through the list finds the next older open row on the card when the one there is answered.
    mutating func goOn(from answered: [ID<IntakeItem>]) {
        guard let selected, answered.contains(selected),
            let place = batch.rows.firstIndex(where: { $0.id == selected }),
            let next = batch.rows[..<place].last(where: { $0.end == nil })
        else { return }
        select(next.id)
    }

    /// Whether a capture is seen on the card at once; else it is told.
    var showsNewest: Bool {
        switch mode {
        case .list, .number: selected == nil
        case .help, .edit, .preset: false
        }
    }

    /// Moves the selection in the list, newest first; at its top the newest is followed again.
    mutating func move(by steps: Int) {
        guard let current, let place = batch.rows.firstIndex(where: { $0.id == current.id }) else { return }
        let target = min(max(0, place - steps), batch.rows.count - 1)
        selected = target == batch.rows.count - 1 ? nil : batch.rows[target].id
    }
}
