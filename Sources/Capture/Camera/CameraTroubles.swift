import Bookplate
import Glibc

/// What a person is told for each trouble: what, where, what next.
enum CameraTroubles {
    static let noCamera = CameraTrouble(
        .noCamera,
        """
        no camera is connected. Plug one in; it is taken by itself, and typed numbers go on meanwhile. A Raspberry Pi camera \
        module is no V4L2 camera: rpicam-vid --codec mjpeg -t 0 -o - | scan --frames -
        """)

    static func notThere(_ asked: String, others: [CameraDevice]) -> CameraTrouble {
        let there =
            others.isEmpty
            ? "No camera is connected."
            : "There is: " + others.map { "\($0.name) (\($0.path))" }.joined(separator: ", ") + "."
        return CameraTrouble(
            .noCamera, "no camera \(asked). \(there) See scan devices; it is taken as soon as it is there.")
    }

    static func unplugged(_ device: CameraDevice) -> CameraTrouble {
        CameraTrouble(
            .unplugged, "\(device.name) (\(device.path)) was unplugged. Plug it in again; scanning goes on by itself.")
    }

    static func busy(_ device: CameraDevice, holder: String?) -> CameraTrouble {
        CameraTrouble(
            .busy,
            "\(device.name) (\(device.path)) is in use by \(holder ?? "another program"). Close it there; it is tried again by itself."
        )
    }

    static func denied(path: String) -> CameraTrouble {
        CameraTrouble(
            .denied,
            """
            cannot open \(path): permission denied. Add yourself to the group 'video' and sign in anew, or install \
            udev/70-bookplate.rules.
            """)
    }

    static func frozen(_ device: CameraDevice) -> CameraTrouble {
        CameraTrouble(
            .frozen,
            """
            \(device.name) (\(device.path)) gives no new picture. It is started again by itself; if that does not help, \
            unplug it and plug it in again.
            """)
    }

    static func failing(_ device: CameraDevice, _ error: CameraError) -> CameraTrouble {
        switch error {
        case .libraryMissing: refused(device, .libraryMissing("\(error)"))
        case .unusable(let reason):
            CameraTrouble(
                .unusable,
                "\(device.name) (\(device.path)) cannot be used: \(reason). Try another --format or --size, or another camera."
            )
        case .failed(_, ENOSPC):
            CameraTrouble(
                .failing,
                """
                \(device.name) (\(device.path)) gets too little of its USB bus. Plug it in at another port, without a hub, or ask \
                for less with --size 640x480.
                """)
        case .failed, .silent:
            CameraTrouble(
                .failing,
                """
                \(device.name) (\(device.path)) fails: \(error). It is tried again by itself; if that does not help, unplug \
                it and plug it in again, at another port and without a hub.
                """)
        }
    }

    /// For a node that is meant and is no camera to use.
    ///
    /// - Parameter holder: for one that is busy.
    static func refused(_ device: CameraDevice, _ obstacle: NodeObstacle, holder: String? = nil) -> CameraTrouble {
        switch obstacle {
        case .denied(let path): denied(path: path)
        case .busy: busy(device, holder: holder)
        case .libraryMissing:
            CameraTrouble(
                .unusable, "cannot use \(device.path): \(obstacle). Other ways in go on meanwhile.")
        case .failing(let error): failing(device, error)
        default:
            CameraTrouble(.unusable, "\(device.name) (\(device.path)) is not used: \(obstacle). See scan devices.")
        }
    }
}
