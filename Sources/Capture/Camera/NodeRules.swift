import CV4L2
import Foundation

/// A node and, where it is no camera to use, why.
struct ListedNode: Equatable {
    var device: CameraDevice
    var obstacle: NodeObstacle?

    /// - Parameter device: its refusal is set here.
    init(_ device: CameraDevice, obstacle: NodeObstacle?) {
        self.device = device
        self.device.refusal = obstacle?.description
        self.obstacle = obstacle
    }
}

/// Why a V4L2 node is not used as a camera.
enum NodeObstacle: Equatable {
    /// Data about frames, not frames: the second node of every UVC camera.
    case metadata
    /// Memory to memory: a codec or scaler.
    case codec
    case output
    /// Vertical blanking, radio, touch: no pictures.
    case noPictures
    /// Only the multi-planar interface.
    case multiplanar
    case noStreaming
    /// Part of a pipeline that another program must set up (Raspberry Pi camera modules and their image processors).
    case pipeline
    /// What it lists instead, FourCCs.
    case noFormat([String])
    case denied(path: String)
    /// Open elsewhere, with a driver that lets in one at a time.
    case busy
    case failing(CameraError)
    case libraryMissing(String)

    init(_ error: CameraError, path: String) {
        self =
            switch error {
            case .libraryMissing(let cause): .libraryMissing(cause)
            case _ where error.isDenied: .denied(path: path)
            case _ where error.isBusy: .busy
            default: .failing(error)
            }
    }
}

extension NodeObstacle: CustomStringConvertible {
    /// Half a sentence.
    var description: String {
        switch self {
        case .metadata: "metadata node, no pictures"
        case .codec: "codec or converter, no camera"
        case .output: "output, no camera"
        case .noPictures: "gives no pictures"
        case .multiplanar: "multi-planar only, which is not read here"
        case .noStreaming: "does not stream"
        case .pipeline:
            "camera module (libcamera): rpicam-vid --codec mjpeg -t 0 -o - | scan --frames -"
        case .noFormat(let others):
            others.isEmpty
                ? "lists no format" : "none of its formats is read here (\(others.prefix(6).joined(separator: ", ")))"
        case .denied: "permission denied; join the group 'video' or install udev/70-bookplate.rules"
        case .busy: "in use by another program"
        case .failing(let error): "\(error)"
        case .libraryMissing(let cause): "libv4l2 is missing (\(cause)); apt-get install libv4l-0"
        }
    }
}

/// What the capabilities say of a node.
enum NodeRules {
    /// A camera's name as it is shown: one line, and once. uvcvideo says "Cam: Cam" where the USB interface is called as the device
    /// is, cut to the 31 bytes that a name may have.
    static func name(_ given: String) -> String {
        let name = given.withoutControls
        guard let colon = name.range(of: ": ") else { return name }
        let (first, second) = (name[..<colon.lowerBound], name[colon.upperBound...])
        let isCut = name.utf8.count >= 31 && !second.isEmpty && first.hasPrefix(second)
        return first == second || isCut ? String(first) : name
    }

    /// Drivers of image processors that say VIDEO_CAPTURE but only hand back what another program fed them (Raspberry Pi).
    static let processors = ["bcm2835-isp", "pispbe"]

    /// - Parameters:
    ///   - capabilities: `v4l2_capability.device_caps`, those of this node; `capabilities` are of the whole device, so that a UVC
    ///     camera's metadata node claims VIDEO_CAPTURE there.
    /// - Returns: `nil` for a camera, whose formats are still to be seen.
    static func obstacle(capabilities: UInt32, driver: String) -> NodeObstacle? {
        func has(_ flag: Int32) -> Bool { capabilities & UInt32(bitPattern: flag) != 0 }
        if has(V4L2_CAP_VIDEO_M2M) || has(V4L2_CAP_VIDEO_M2M_MPLANE) { return .codec }
        if has(V4L2_CAP_META_CAPTURE) || has(V4L2_CAP_META_OUTPUT) { return .metadata }
        if !has(V4L2_CAP_VIDEO_CAPTURE) {
            if has(V4L2_CAP_VIDEO_CAPTURE_MPLANE) { return .multiplanar }
            return has(V4L2_CAP_VIDEO_OUTPUT) || has(V4L2_CAP_VIDEO_OUTPUT_MPLANE) ? .output : .noPictures
        }
        if has(V4L2_CAP_TOUCH) { return .noPictures }
        if has(V4L2_CAP_IO_MC) || processors.contains(where: driver.hasPrefix) { return .pipeline }
        return has(V4L2_CAP_STREAMING) ? nil : .noStreaming
    }
}
