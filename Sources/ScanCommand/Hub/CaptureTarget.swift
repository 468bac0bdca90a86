import Bookplate
import Station

/// The library into which a run captures: this station's own, or a hub's.
struct CaptureTarget: Sendable {
    let flow: CaptureFlow
    let history: any History
    /// nil for the station's own library.
    var hub: HubRun?
    /// Called at the end of a run with the number of books saved in it.
    let finish: @Sendable (Int, ExitReport) async throws -> Void

    /// The advice on undoing after the run.
    var undoHint: String {
        hub == nil ? "scan undo takes back the last change." : "scan undo at the hub takes back the last change."
    }

    /// The advice on confirming what was captured.
    var confirmHint: String {
        hub == nil ? "To confirm them, run 'scan intake confirm'" : "To confirm them, open the intake queue of the hub"
    }

    /// The message after a signal.
    var interruptedMessage: String {
        hub == nil
            ? "Interrupted. What was captured is in the queue (scan intake list); what was saved is in the library."
            : "Interrupted. What was captured and confirmed is safe; scan hub send sends the hub what it does not have yet."
    }
}
