import Bookplate
import Station

/// The library that a run captures into: this station's own, or a hub's.
struct CaptureTarget: Sendable {
    let flow: CaptureFlow
    let history: any History
    /// nil for the station's own library.
    var hub: HubRun?
    /// Called at the end of a run with the number of books saved in it.
    let finish: @Sendable (Int, ExitReport) async throws -> Void

    /// How to undo after the run.
    var undoHint: String {
        hub == nil ? "scan undo takes back the last change." : "scan undo at the hub takes back the last change."
    }

    var wayToConfirm: String {
        hub == nil ? "scan intake confirm goes through it" : "The hub's intake shows them"
    }

    var interrupted: String {
        hub == nil
            ? "Interrupted. What was captured is in the queue (scan intake list); what was saved is in the library."
            : "Interrupted. What was captured and confirmed is safe; scan hub send brings the hub what it does not have yet."
    }
}
