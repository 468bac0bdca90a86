import Bookplate
import CV4L2

/// Sets what helps to read a book held up, where the camera has it, and puts the old values back.
struct CameraControls {
    private var old: [(id: UInt32, value: Int32)] = []

    mutating func set(on node: any VideoNode) throws(V4L2Error) {
        // Continuous autofocus: a book is nearer than a face.
        try set(CV4L2_CID_FOCUS_AUTO, to: 1, on: node)
        // Lamps flicker with the mains. Automatic where there is that choice; else a person's choice stays, and "off" becomes 50 Hz.
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
        // exposure_dynamic_framerate: no longer exposure than the rate allows, for a hand moves.
        try set(CV4L2_CID_EXPOSURE_AUTO_PRIORITY, to: 0, on: node)
    }

    private mutating func set(_ id: UInt32, to value: Int32, on node: any VideoNode) throws(V4L2Error) {
        guard let now = node.control(id, offers: value), now.isOffered, now.current != value else { return }
        do throws(V4L2Error) {
            try node.setControl(id, to: value)
            old.append((id, now.current))
        } catch {
            // The camera works without; only one that is gone needs to be known.
            if error.isGone { throw error }
        }
    }

    /// The last change first.
    mutating func restore(on node: any VideoNode) {
        for (id, value) in old.reversed() {
            // Fails where the camera is gone, which forgets the value by itself.
            do { try node.setControl(id, to: value) } catch { continue }
        }
        old = []
    }
}
