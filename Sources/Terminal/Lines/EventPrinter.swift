import Bookplate
import Foundation
import Station
import Synchronization

/// A reason why a run ends with an exit status other than 0.
package enum RunIssue: Sendable {
    /// An error ended the run, or made an act fail.
    case error(any Error)
    /// An input could not be read.
    case unreadable
    /// A source or the camera is unavailable, and something was left undone because of it.
    case unavailable
    /// Books stayed in the queue without an answer.
    case unconfirmed
    /// No ISBN was found, or a number was refused.
    case nothingFound
}

/// Prints a run's events as JSON lines or as lines for a person, counts them for the summary, and reports issues for
/// the exit status.
package final class EventPrinter: Sendable {
    private struct State {
        /// The name of the most recent event of each item of this run.
        var lastEvents: [ID<QueueItem>: CaptureEvent.Name] = [:]
        var refused = 0
        var unreadable = 0
        /// The events that are held back until the card on the screen is answered; nil while no card is shown.
        var held: [CaptureEvent]?
    }

    private let json: Bool
    private let undoHint: String
    let describe: @Sendable (any Error) -> String
    let report: @Sendable (RunIssue) -> Void
    private let onSaved: (@Sendable (ID<Copy>) -> Void)?
    private let state = Mutex(State())

    /// - Parameters:
    ///   - undoHint: the advice on undoing saves and skips, which is printed at the end of the run.
    ///   - describe: returns the message to print for an error.
    ///   - report: receives the issues of the run, which determine the exit status.
    ///   - onSaved: called with each copy that was saved; must not block.
    package init(
        json: Bool, undoHint: String, describe: @escaping @Sendable (any Error) -> String,
        report: @escaping @Sendable (RunIssue) -> Void, onSaved: (@Sendable (ID<Copy>) -> Void)? = nil
    ) {
        (self.json, self.undoHint, self.describe, self.report) = (json, undoHint, describe, report)
        self.onSaved = onSaved
    }

    /// Reports an issue if any of these candidates was left in the queue because a source could not answer.
    package func reportMissingSources(of left: [Candidate]) {
        if left.contains(where: \.lacksASource) { report(.unavailable) }
    }

    /// Returns the number of items whose last event has one of the given names.
    package func count(_ names: CaptureEvent.Name...) -> Int {
        state.withLock { state in state.lastEvents.values.count { names.contains($0) } }
    }

    /// The number of items in this run: the captured items, and the items that were already in the queue and have to be
    /// answered.
    package var total: Int { state.withLock { $0.lastEvents.count } }

    /// Counts items from the queue that have to be answered in this run.
    func expect(_ items: [QueueItem]) {
        state.withLock { state in for item in items { state.lastEvents[item.id] = .captured } }
    }

    /// Starts or stops holding back background events. While a card is open, they would scroll it away, so they are
    /// printed afterwards.
    func hold(_ isOpen: Bool) {
        let held = state.withLock { state in
            defer { state.held = isOpen ? state.held ?? [] : nil }
            return isOpen ? [] : state.held ?? []
        }
        for event in held { printLine(event) }
    }

    /// Prints and counts events.
    ///
    /// - Parameter inBackground: true to hold back the lines for a person while a card is open.
    package func show(_ events: [CaptureEvent], inBackground: Bool = false) {
        record(events)
        if json {
            if !events.isEmpty { Output.shared.printData(events.map { $0.json.text + "\n" }.joined()) }
            return
        }
        let isHeld =
            inBackground
            && state.withLock { state in
                state.held?.append(contentsOf: events)
                return state.held != nil
            }
        if !isHeld { for event in events { printLine(event) } }
    }

    private func printLine(_ event: CaptureEvent) {
        if let line = line(for: event) { Output.shared.printLine(line) }
    }

    /// Counts events without printing them.
    func record(_ events: [CaptureEvent]) { for event in events { record(event) } }

    private func record(_ event: CaptureEvent) {
        state.withLock { state in
            switch event.name {
            case .refused: state.refused += 1
            case .unreadable: state.unreadable += 1
            case .edited: break
            case .captured, .found, .notFound, .temporary, .blocked, .badData, .queued, .owned, .saved, .skipped,
                .undone:
                if let item = event.item { state.lastEvents[item] = event.name }
            }
        }
        if event.name == .saved, event.change != nil, let copy = event.copy { onSaved?(copy) }
        switch event.name {
        case .unreadable: report(.unreadable)
        // Another code on a cover or in front of the camera does not count as a wrong number.
        case .refused where event.origin != .photo && event.origin != .camera: report(.nothingFound)
        default: break
        }
    }

    /// Returns the line that describes an event to a person; nil for events that are not printed.
    private func line(for event: CaptureEvent) -> String? {
        let style = Output.shared.style
        let raw = event.raw.map { $0.isEmpty ? "\"\"" : $0.oneLine }
        let number = event.isbn?.hyphenated ?? raw ?? event.image?.oneLine ?? ""
        let title = event.title.map { "  \($0.oneLine)" } ?? ""
        let why = event.reason.map { " (\($0.oneLine))" } ?? ""
        switch event.name {
        case .saved: return style.new("✓ saved") + "   \(number)\(title)\(why)"
        case .owned: return style.owned("● owned") + "   \(number)\(title)\(why)"
        case .queued: return style.attention("▲ waiting") + " \(number)\(title)\(why)"
        case .refused:
            let photo = event.raw != nil ? event.image.map { " in \($0.oneLine)" } ?? "" : ""
            return style.problem("✕ refused") + " \(number)\(photo): \(event.reason?.oneLine ?? "")"
        case .unreadable:
            Output.shared.printError(event.reason?.oneLine ?? "\(number) cannot be read.")
            return nil
        case .skipped: return style.faint("– skipped \(number)\(title)")
        case .undone: return style.attention("↶ undone") + "  \(number)\(title)"
        case .edited, .captured, .found, .notFound, .temporary, .blocked, .badData: return nil
        }
    }

    /// Prints one line at the end of the run, such as "2 saved, 1 already owned, 1 refused.", and reports an issue if
    /// books were left unanswered.
    func conclude() {
        let settled: [(CaptureEvent.Name, String)] = [
            (.saved, "saved"), (.owned, "already owned"), (.skipped, "skipped"),
        ]
        var parts = settled.map { (count($0.0), $0.1) }
        let left = total - parts.reduce(0) { $0 + $1.0 }
        if left > 0 { report(.unconfirmed) }
        guard !json else { return }
        let (refused, unreadable) = state.withLock { ($0.refused, $0.unreadable) }
        parts += [(left, "waiting in the queue"), (refused, "refused"), (unreadable, "unreadable")]
        let words = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        guard !words.isEmpty else { return }
        Output.shared.printNotice(
            words.joined(separator: ", ") + "."
                + (count(.saved, .skipped) > 0 ? " \(undoHint)" : ""))
    }
}

/// The messages about the hub, for the full screen and for output in lines.
package enum HubMessages {
    package static let unpaired =
        "the hub no longer knows this station. Captures wait in the outbox until you pair the station again with 'scan hub pair'."
}

extension HubNews {
    /// The message for a person; nil if none is needed.
    package var message: String? {
        switch self {
        case .answered: nil
        case .owned(_, let reason): "The book waits in the hub's queue: \(reason.printable)."
        case .kept(_, let reason): "Undone on this device, but the hub kept the book: \(reason.printable)."
        case .refused(_, let reason): "The hub refused the book: \(reason.printable)."
        case .otherLibrary(let count):
            "The hub now has another library. \(counted(count, "capture")) that its earlier library received \(count == 1 ? "is" : "are") not sent to this one. "
                + "To send \(count == 1 ? "it" : "them") as well, run 'scan hub send --all'."
        }
    }
}
