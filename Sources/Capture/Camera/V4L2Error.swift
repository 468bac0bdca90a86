import Bookplate
import Glibc

/// What the camera's driver, or the way to it, refuses.
enum V4L2Error: Error, Equatable {
    /// A call failed; the name is that of the ioctl or function.
    case failed(String, errno: Int32)
    /// libv4l2 is not installed, with the loader's words.
    case libraryMissing(String)
    /// The driver gives what is not read here: why.
    case unusable(String)
    /// No new frame for so long, though the camera is there.
    case silent(Duration)
}

extension V4L2Error: CustomStringConvertible {
    var description: String {
        switch self {
        case .failed(let call, let code): "\(call): \(String(cString: strerror(code))) (errno \(code))"
        case .libraryMissing(let cause): "libv4l2 is missing (\(cause))"
        case .unusable(let reason): reason
        case .silent(let time): "no new frame for \(time.components.seconds) s"
        }
    }

    /// The camera was pulled out: the node is gone, or the driver let go of the device.
    var isGone: Bool {
        guard case .failed(_, let code) = self else { return false }
        return [ENODEV, ENXIO, ENOENT].contains(code)
    }
    var isBusy: Bool {
        if case .failed(_, EBUSY) = self { true } else { false }
    }
    var isUnusable: Bool {
        if case .unusable = self { true } else { false }
    }
    var isDenied: Bool {
        guard case .failed("open", let code) = self else { return false }
        return code == EACCES || code == EPERM
    }
}

/// What a person is told for each trouble: what, where, what next.
enum CameraTroubles {
    static let noCamera = CameraError(
        .noCamera,
        """
        no camera is connected. Plug one in; it is taken by itself, and typed numbers go on meanwhile. A Raspberry Pi camera \
        module is no V4L2 camera: rpicam-vid --codec mjpeg -t 0 -o - | scan --frames -
        """)

    static func notThere(_ asked: String, others: [CameraDevice]) -> CameraError {
        let there =
            others.isEmpty
            ? "No camera is connected."
            : "There is: " + others.map { "\($0.name) (\($0.path))" }.joined(separator: ", ") + "."
        return CameraError(
            .noCamera, "no camera \(asked). \(there) See scan devices; it is taken as soon as it is there.")
    }

    static func unplugged(_ device: CameraDevice) -> CameraError {
        CameraError(
            .unplugged, "\(device.name) (\(device.path)) was unplugged. Plug it in again; scanning goes on by itself.")
    }

    static func busy(_ device: CameraDevice, holder: String?) -> CameraError {
        CameraError(
            .busy,
            "\(device.name) (\(device.path)) is in use by \(holder ?? "another program"). Close it there; it is tried again by itself."
        )
    }

    static func denied(path: String) -> CameraError {
        CameraError(
            .denied,
            """
            cannot open \(path): permission denied. Add yourself to the group 'video' and sign in anew, or install \
            udev/70-bookplate.rules.
            """)
    }

    static func frozen(_ device: CameraDevice) -> CameraError {
        CameraError(
            .frozen,
            """
            \(device.name) (\(device.path)) gives no new picture. It is started again by itself; if that does not help, \
            unplug it and plug it in again.
            """)
    }

    static func failing(_ device: CameraDevice, _ error: V4L2Error) -> CameraError {
        switch error {
        case .libraryMissing: refused(device, .libraryMissing("\(error)"))
        case .unusable(let reason):
            CameraError(
                .unusable,
                "\(device.name) (\(device.path)) cannot be used: \(reason). Try another --format or --size, or another camera."
            )
        case .failed(_, ENOSPC):
            CameraError(
                .failing,
                """
                \(device.name) (\(device.path)) gets too little of its USB bus. Plug it in at another port, without a hub, or ask \
                for less with --size 640x480.
                """)
        case .failed, .silent:
            CameraError(
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
    static func refused(_ device: CameraDevice, _ obstacle: NodeObstacle, holder: String? = nil) -> CameraError {
        switch obstacle {
        case .denied(let path): denied(path: path)
        case .busy: busy(device, holder: holder)
        case .libraryMissing:
            CameraError(
                .unusable, "cannot use \(device.path): \(obstacle). Other ways in go on meanwhile.")
        case .failing(let error): failing(device, error)
        default:
            CameraError(.unusable, "\(device.name) (\(device.path)) is not used: \(obstacle). See scan devices.")
        }
    }
}
