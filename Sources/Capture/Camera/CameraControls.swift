import Bookplate
import CV4L2

/// Sets the camera controls that help to read a book in front of the camera, and afterwards restores their previous
/// values.
struct CameraControls {
    private var previous: [(id: UInt32, value: Int32)] = []

    mutating func set(on node: any VideoNode) throws(V4L2Error) {
        // Turn on continuous autofocus, because a book is held nearer to the camera than a face.
        try set(CV4L2_CID_FOCUS_AUTO, to: 1, on: node)
        // Compensate for lamps that flicker with the mains. Use "automatic" if the camera offers it; otherwise keep the
        // user's choice, but replace "off" with 50 Hz.
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
        // Turn off exposure_dynamic_framerate, so that a frame is never exposed for longer than the frame rate allows,
        // because the hand that holds the book moves.
        try set(CV4L2_CID_EXPOSURE_AUTO_PRIORITY, to: 0, on: node)
    }

    private mutating func set(_ id: UInt32, to value: Int32, on node: any VideoNode) throws(V4L2Error) {
        guard let now = node.control(id, offers: value), now.isOffered, now.current != value else { return }
        do throws(V4L2Error) {
            try node.setControl(id, to: value)
            previous.append((id, now.current))
        } catch {
            // The camera works without this control, so only the loss of the camera is an error.
            if error.isGone { throw error }
        }
    }

    /// Restores the previous values in the reverse order of the changes.
    mutating func restore(on node: any VideoNode) {
        for (id, value) in previous.reversed() {
            // This fails if the camera was unplugged, and then its settings are lost anyway.
            do { try node.setControl(id, to: value) } catch { continue }
        }
        previous = []
    }
}
