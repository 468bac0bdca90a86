import Bookplate
import Station

/// Where what is captured goes: this station's own library, or a hub's.
struct CaptureTarget: Sendable {
    let flow: CaptureFlow
    let history: any History
    /// `nil` for the station's own library.
    var hub: HubRun?
    /// What is done at the end of a run, told how many were saved in it.
    let finish: @Sendable (Int, ExitReport) async throws -> Void

    /// How what was saved is taken back after the run.
    var wayBack: String {
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
