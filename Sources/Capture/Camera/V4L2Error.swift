import Bookplate
import SystemPackage

/// An error of the camera's driver, or of the way to it.
enum V4L2Error: Error, Equatable {
    /// A call failed; the name is that of the ioctl or function.
    case failed(String, errno: Errno)
    /// libv4l2 is not installed; carries the loader's message.
    case libraryMissing(String)
    /// The driver offers nothing that Bookplate can read; carries the reason.
    case unusable(String)
    /// The camera is there and has delivered no new frame for this time.
    case silent(Duration)
}

extension V4L2Error: CustomStringConvertible {
    var description: String {
        switch self {
        case .failed(let call, let code): "\(call): \(code) (errno \(code.rawValue))"
        case .libraryMissing(let cause): "libv4l2 is missing (\(cause))"
        case .unusable(let reason): reason
        case .silent(let time): "no new frame for \(time.components.seconds) s"
        }
    }

    /// True if the camera was unplugged: the node is gone, or the driver released the device.
    var isGone: Bool {
        guard case .failed(_, let code) = self else { return false }
        return code.isDeviceGone
    }
    var isBusy: Bool {
        if case .failed(_, .resourceBusy) = self { true } else { false }
    }
    var isUnusable: Bool {
        if case .unusable = self { true } else { false }
    }
    var isDenied: Bool {
        guard case .failed("open", let code) = self else { return false }
        return code == .permissionDenied || code == .notPermitted
    }
}

/// The messages for each camera error: what happened, where, what to do.
extension CameraError {
    static let noCamera = CameraError(
        .noCamera,
        """
        no camera connected. Plug one in and it is picked up automatically; you can type ISBNs meanwhile. A Raspberry Pi \
        camera module is not a V4L2 camera; start it with: rpicam-vid --codec mjpeg -t 0 -o - | scan --frames -
        """)

    static func notFound(_ requested: String, others: [CameraDevice]) -> CameraError {
        let connected =
            others.isEmpty
            ? "No camera is connected."
            : "Connected: " + others.map { "\($0.name) (\($0.path))" }.joined(separator: ", ") + "."
        return CameraError(
            .noCamera,
            "no camera \(requested). \(connected) See scan devices; the camera is picked up as soon as it is connected."
        )
    }

    static func unplugged(_ device: CameraDevice) -> CameraError {
        CameraError(
            .unplugged,
            "\(device.name) (\(device.path)) was unplugged. Plug it in again and scanning continues automatically.")
    }

    static func busy(_ device: CameraDevice, holder: String?) -> CameraError {
        CameraError(
            .busy,
            """
            \(device.name) (\(device.path)) is in use by \(holder ?? "another program"). Close it there; Bookplate retries \
            automatically.
            """)
    }

    static func denied(path: String) -> CameraError {
        CameraError(
            .denied,
            """
            cannot open \(path): permission denied. Add yourself to the group 'video' and sign in again, or install \
            udev/70-bookplate.rules.
            """)
    }

    static func frozen(_ device: CameraDevice) -> CameraError {
        CameraError(
            .frozen,
            """
            \(device.name) (\(device.path)) delivers no new picture. Bookplate restarts it automatically; if that does not \
            help, unplug it and plug it in again.
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
        case .failed(_, .noSpace):
            CameraError(
                .failing,
                """
                \(device.name) (\(device.path)) does not get enough bandwidth on its USB bus. Plug it in at another port, \
                without a hub, or request a smaller picture with --size 640x480.
                """)
        case .failed, .silent:
            CameraError(
                .failing,
                """
                \(device.name) (\(device.path)) fails: \(error). Bookplate retries automatically; if that does not help, \
                unplug it and plug it in again, at another port and without a hub.
                """)
        }
    }

    /// Returns the error for a requested node that cannot be used as a camera.
    ///
    /// - Parameter holder: the program that uses a busy node.
    static func refused(_ device: CameraDevice, _ error: NodeError, holder: String? = nil) -> CameraError {
        switch error {
        case .denied(let path): denied(path: path)
        case .busy: busy(device, holder: holder)
        case .libraryMissing:
            CameraError(
                .unusable, "cannot use \(device.path): \(error). You can scan in other ways meanwhile.")
        case .failing(let error): failing(device, error)
        default:
            CameraError(.unusable, "\(device.name) (\(device.path)) is not used: \(error). See scan devices.")
        }
    }
}
