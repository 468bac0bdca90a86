import Bookplate
import SystemPackage

/// The reason why a camera cannot be used: an error of its driver, a missing library, or a lack of usable pictures.
enum V4L2Error: Error, Equatable {
    /// A call to an ioctl or a function failed; carries the name of what was called, and the error.
    case failed(String, errno: Errno)
    /// libv4l2 is not installed; carries the loader's message.
    case libraryMissing(String)
    /// The driver offers nothing that Bookplate can read; carries the reason.
    case unusable(String)
    /// The camera is connected but has delivered no new frame for this long.
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

/// The messages for camera errors. Each message says what happened, where it happened, and what to do.
extension CameraError {
    static let noCamera = CameraError(
        .noCamera,
        """
        no camera is connected. Plug one in, and Bookplate uses it automatically; until then, you can type ISBNs. A Raspberry Pi \
        camera module is not a V4L2 camera; start it with: rpicam-vid --codec mjpeg -t 0 -o - | scan --frames -
        """)

    static func notFound(_ requested: String, others: [CameraDevice]) -> CameraError {
        let connected =
            others.isEmpty
            ? "No camera is connected."
            : "Connected cameras: " + others.map { "\($0.name) (\($0.path))" }.joined(separator: ", ") + "."
        return CameraError(
            .noCamera,
            """
            no camera matches \(requested). \(connected) To list all cameras, run 'scan devices'. Bookplate uses the camera as soon as \
            it is connected.
            """)
    }

    static func unplugged(_ device: CameraDevice) -> CameraError {
        CameraError(
            .unplugged,
            "\(device.name) (\(device.path)) was unplugged. Plug it in again, and scanning continues automatically.")
    }

    static func busy(_ device: CameraDevice, holder: String?) -> CameraError {
        CameraError(
            .busy,
            """
            \(device.name) (\(device.path)) is in use by \(holder ?? "another program"). Close that program; Bookplate \
            retries automatically.
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
            \(device.name) (\(device.path)) delivers no new pictures. Bookplate restarts it automatically; if that does not \
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
                \(device.name) (\(device.path)) does not get enough bandwidth on its USB bus. Plug it into another port, \
                without a hub, or request a smaller picture with --size 640x480.
                """)
        case .failed, .silent:
            CameraError(
                .failing,
                """
                \(device.name) (\(device.path)) fails: \(error). Bookplate retries automatically; if that does not help, \
                unplug it and plug it into another port, without a hub.
                """)
        }
    }

    /// Returns the error for a requested node that cannot be used as a camera.
    ///
    /// - Parameter holder: the program that is using the node, if the node is busy.
    static func refused(_ device: CameraDevice, _ error: NodeError, holder: String? = nil) -> CameraError {
        switch error {
        case .denied(let path): denied(path: path)
        case .busy: busy(device, holder: holder)
        case .libraryMissing:
            CameraError(
                .unusable,
                "cannot use \(device.path): \(error). Until then, you can type ISBNs or use a handheld scanner.")
        case .failing(let error): failing(device, error)
        default:
            CameraError(
                .unusable,
                "\(device.name) (\(device.path)) cannot be used: \(error). To list all cameras, run 'scan devices'.")
        }
    }
}
