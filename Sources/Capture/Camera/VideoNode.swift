import Bookplate
import CV4L2
import Foundation

/// What a stream needs of an open V4L2 node, one method an operation of the driver; a scripted node stands in for it in tests.
protocol VideoNode: AnyObject {
    /// VIDIOC_S_FMT. The driver changes what it cannot do.
    func setFormat(_ asked: PictureFormat) throws(V4L2Error) -> PictureFormat
    /// VIDIOC_S_PARM.
    /// - Returns: frames a second as the driver took it, `nil` where it knows no rates.
    func setRate(_ framesPerSecond: Int) throws(V4L2Error) -> Double?
    /// VIDIOC_REQBUFS, then VIDIOC_QUERYBUF and a mapping for each.
    /// - Returns: the buffers' lengths in bytes; the driver may give more or fewer than asked.
    func requestBuffers(_ count: Int) throws(V4L2Error) -> [Int]
    /// Unmaps the buffers and gives them back, VIDIOC_REQBUFS with 0. Where the camera is gone, nothing is left to do.
    func releaseBuffers()
    /// VIDIOC_STREAMON.
    func streamOn() throws(V4L2Error)
    /// VIDIOC_STREAMOFF; takes every buffer out of the queues. Where the camera is gone, nothing is left to do.
    func streamOff()
    /// VIDIOC_QBUF.
    func enqueue(_ index: Int) throws(V4L2Error)
    /// VIDIOC_DQBUF.
    /// - Returns: `nil` when none is filled.
    func dequeue() throws(V4L2Error) -> FilledBuffer?
    /// poll(): until a buffer is filled, the camera reports an error, the time is up or the wait is ended from outside.
    /// - Returns: whether to dequeue, which also tells the error.
    func wait(atMost time: Duration) throws(V4L2Error) -> Bool
    /// Lends the first `count` bytes of a buffer that is dequeued.
    /// - Precondition: `index` is a buffer's, `count` is at most its length.
    func withBytes<Result>(of index: Int, count: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result
    /// VIDIOC_QUERYCTRL, VIDIOC_QUERYMENU and VIDIOC_G_CTRL.
    /// - Returns: `nil` where the camera has no such control, or it cannot be set.
    func control(_ id: UInt32, offers value: Int32) -> ControlValue?
    /// VIDIOC_S_CTRL.
    func setControl(_ id: UInt32, to value: Int32) throws(V4L2Error)
    /// Releases the buffers and closes the descriptor: as long as it is open, a camera that returns gets another number.
    func close()
}

/// A picture's layout in memory, as VIDIOC_S_FMT takes and gives it (`v4l2_pix_format`).
struct PictureFormat: Equatable {
    /// FourCC.
    var pixelFormat: UInt32
    var width: Int
    var height: Int
    /// Stride; 0 where the driver does not say.
    var bytesPerLine: Int
    /// Bytes a buffer must hold for one picture.
    var sizeImage: Int
}

/// A dequeued buffer, as the driver describes it (`v4l2_buffer`). None of it is to be trusted.
struct FilledBuffer: Equatable {
    var index: Int
    var bytesUsed: Int
    /// `V4L2_BUF_FLAG_ERROR`: the driver knows that the picture is damaged.
    var isDamaged: Bool
    var sequence: UInt32
    /// `nil` where it is not on the monotonic clock (`V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC`).
    var timestamp: Duration?
}

/// Tells a node from one that was made later at the same path, as stat() has it: a camera plugged in again gets a new node.
struct NodeIdentity: Equatable {
    var device: UInt64
    var inode: UInt64
}

/// A control's value, and whether it offers the one wanted.
struct ControlValue: Equatable {
    var current: Int32
    var isOffered: Bool
}

/// The machine that the cameras are connected to: devices come and go, time passes.
protocol CameraHost {
    /// All nodes in the order of their numbers.
    func nodes() -> [ListedNode]
    /// Where a path such as /dev/bookplate leads, the path itself when it is no link.
    func resolve(_ path: String) -> String
    /// What is at the path now, `nil` when nothing is.
    func identity(of path: String) -> NodeIdentity?
    func open(_ device: CameraDevice) throws(V4L2Error) -> any VideoNode
    /// Who has the node open, such as "zoom (process 1234)"; `nil` when it cannot be seen.
    func holder(of path: String) -> String?
    /// CLOCK_MONOTONIC.
    var now: Duration { get }
    /// Returns early when the camera is stopped.
    func pause(_ time: Duration)
    var isStopped: Bool { get }
}

extension PixelFormat {
    /// `v4l2_fourcc()`: the four letters, the first in the lowest byte.
    var fourCC: UInt32 {
        rawValue.utf8.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    init?(fourCC: UInt32) {
        guard let format = Self.allCases.first(where: { $0.fourCC == fourCC }) else { return nil }
        self = format
    }
}

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
    case failing(V4L2Error)
    case libraryMissing(String)

    init(_ error: V4L2Error, path: String) {
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
