import Bookplate
import CV4L2

/// Sets the controls that help to read a book held up to the camera, and restores the previous values.
struct CameraControls {
    private var previous: [(id: UInt32, value: Int32)] = []

    mutating func set(on node: any VideoNode) throws(V4L2Error) {
        // Continuous autofocus: a book is nearer than a face.
        try set(CV4L2_CID_FOCUS_AUTO, to: 1, on: node)
        // Lamps flicker with the mains. Use "automatic" if the camera offers it; otherwise keep the user's choice, but
        // turn "off" into 50 Hz.
        let mains = CV4L2_CID_POWER_LINE_FREQUENCY
        let automatic = Int32(V4L2_CID_POWER_LINE_FREQUENCY_AUTO.rawValue)
        let off = Int32(V4L2_CID_POWER_LINE_FREQUENCY_DISABLED.rawValue)
        if let value = node.control(mains, offers: automatic) {
            if value.isOffered {
                try set(mains, to: automatic, on: node)
            } else if value.current == off {
                try set(mains, to: Int32(V4L2_CID_POWER_LINE_FREQUENCY_50HZ.rawValue), on: node)
            }
        }
        // exposure_dynamic_framerate: never expose longer than the frame rate allows, because a hand moves.
        try set(CV4L2_CID_EXPOSURE_AUTO_PRIORITY, to: 0, on: node)
    }

    private mutating func set(_ id: UInt32, to value: Int32, on node: any VideoNode) throws(V4L2Error) {
        guard let now = node.control(id, offers: value), now.isOffered, now.current != value else { return }
        do throws(V4L2Error) {
            try node.setControl(id, to: value)
            previous.append((id, now.current))
        } catch {
            // The camera works without the control; only the loss of the camera matters.
            if error.isGone { throw error }
        }
    }

    /// Restores the previous values, the last change first.
    mutating func restore(on node: any VideoNode) {
        for (id, value) in previous.reversed() {
            // Fails if the camera is gone; then its settings are lost anyway.
            do { try node.setControl(id, to: value) } catch { continue }
        }
        previous = []
    }
}
