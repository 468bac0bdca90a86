import Bookplate
import Station

/// The library into which a run captures books: the library of this station or of a hub.
struct CaptureTarget: Sendable {
    let flow: CaptureFlow
    let history: any History
    /// The hub; nil if the run captures into the station's own library.
    var hub: HubRun?
    /// Called at the end of a run, with the number of books that were saved.
    let finish: @Sendable (Int, ExitReport) async throws -> Void

    /// The advice on undoing a change after the run.
    var undoHint: String {
        hub == nil
            ? "To undo the last change, run 'scan undo'." : "To undo the last change, run 'scan undo' at the hub."
    }

    /// The advice on confirming the captured books, without a full stop.
    var confirmHint: String {
        hub == nil ? "To confirm them, run 'scan intake confirm'" : "To confirm them, open the intake queue of the hub"
    }

    /// The message that is printed if a signal ends the run.
    var interruptedMessage: String {
        hub == nil
            ? "Interrupted. Captured books are in the queue (see 'scan intake list'), and saved books are in the library."
            : "Interrupted. Captured and confirmed books are safe. To send the hub the books that it does not have, run 'scan hub send'."
    }
}
