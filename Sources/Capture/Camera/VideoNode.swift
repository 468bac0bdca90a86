import Bookplate
import CV4L2
import Foundation

/// The operations of an open V4L2 node that a stream needs, one method per operation of the driver. Tests use a
/// scripted node instead.
protocol VideoNode: AnyObject {
    /// Requests a format; the driver changes it to one it supports. The corresponding ioctl is VIDIOC_S_FMT.
    func setFormat(_ requested: PictureFormat) throws(V4L2Error) -> PictureFormat
    /// Requests a frame rate. The corresponding ioctl is VIDIOC_S_PARM.
    /// - Returns: the frames per second that the driver chose; `nil` if it does not know rates.
    func setRate(_ framesPerSecond: Int) throws(V4L2Error) -> Double?
    /// Allocates and maps buffers: VIDIOC_REQBUFS, then VIDIOC_QUERYBUF and a mapping for each.
    /// - Returns: the buffers' lengths in bytes; the driver may allocate more or fewer than requested.
    func requestBuffers(_ count: Int) throws(V4L2Error) -> [Int]
    /// Unmaps the buffers and releases them, VIDIOC_REQBUFS with 0. Does nothing if the camera is gone.
    func releaseBuffers()
    /// Starts the stream. The corresponding ioctl is VIDIOC_STREAMON.
    func streamOn() throws(V4L2Error)
    /// Stops the stream and removes every buffer from the queues, VIDIOC_STREAMOFF. Does nothing if the camera is gone.
    func streamOff()
    /// Gives a buffer to the driver. The corresponding ioctl is VIDIOC_QBUF.
    func enqueue(_ index: Int) throws(V4L2Error)
    /// Dequeues the oldest filled buffer. The corresponding ioctl is VIDIOC_DQBUF.
    /// - Returns: `nil` if none is filled.
    func dequeue() throws(V4L2Error) -> FilledBuffer?
    /// Waits with poll() until a buffer is filled, the camera signals an error, the time is up or the source is
    /// stopped.
    /// - Returns: true if the caller should dequeue, which also throws the camera's error.
    func wait(atMost time: Duration) throws(V4L2Error) -> Bool
    /// Lends the first `count` bytes of a dequeued buffer.
    /// - Precondition: `index` is a buffer's, `count` is at most its length.
    func withBytes<Result>(of index: Int, count: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result
    /// Reads a control: VIDIOC_QUERYCTRL, VIDIOC_QUERYMENU and VIDIOC_G_CTRL.
    /// - Returns: `nil` if the camera has no such control, or it cannot be set.
    func control(_ id: UInt32, offers value: Int32) -> ControlValue?
    /// Sets a control. The corresponding ioctl is VIDIOC_S_CTRL.
    func setControl(_ id: UInt32, to value: Int32) throws(V4L2Error)
    /// Releases the buffers and closes the descriptor: while it is open, a camera that returns gets another number.
    func close()
}

/// The layout of a picture in memory, as VIDIOC_S_FMT expects and returns it (`v4l2_pix_format`).
struct PictureFormat: Equatable {
    /// The FourCC.
    var pixelFormat: UInt32
    var width: Int
    var height: Int
    /// The stride; 0 if the driver does not report it.
    var bytesPerLine: Int
    /// The number of bytes a buffer must hold for one picture.
    var sizeImage: Int
}

/// A dequeued buffer, as the driver describes it (`v4l2_buffer`). None of its values can be trusted.
struct FilledBuffer: Equatable {
    var index: Int
    var bytesUsed: Int
    /// True if the driver marked the picture as damaged, with `V4L2_BUF_FLAG_ERROR`.
    var isDamaged: Bool
    var sequence: UInt32
    /// The time of the picture; `nil` if it is not on the monotonic clock (`V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC`).
    var timestamp: Duration?
}

/// The identity of a device node, from stat(): a camera that is plugged in again gets a new node, perhaps at the same
/// path.
struct NodeIdentity: Equatable {
    var device: UInt64
    var inode: UInt64
}

/// The current value of a control.
struct ControlValue: Equatable {
    var current: Int32
    /// True if the control offers the value that was asked about.
    var isOffered: Bool
}

/// The machine that the cameras are connected to: devices come and go, time passes.
protocol CameraHost {
    /// Returns all nodes by number.
    func nodes() -> [ListedNode]
    /// Returns the target of a path such as /dev/bookplate, or the path itself if it is not a link.
    func resolve(_ path: String) -> String
    /// Returns the identity of the node at the path; `nil` if there is none.
    func identity(of path: String) -> NodeIdentity?
    func open(_ device: CameraDevice) throws(V4L2Error) -> any VideoNode
    /// Returns the processes that have the node open, such as "zoom (process 1234)"; `nil` if they cannot be seen.
    func holder(of path: String) -> String?
    /// The time on CLOCK_MONOTONIC.
    var now: Duration { get }
    /// Waits; returns early if the camera is stopped.
    func pause(_ time: Duration)
    var isStopped: Bool { get }
}

extension PixelFormat {
    /// The FourCC as a number: the four letters, the first in the lowest byte, as `v4l2_fourcc()` packs them.
    var fourCC: UInt32 {
        rawValue.utf8.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    init?(fourCC: UInt32) {
        guard let format = Self.allCases.first(where: { $0.fourCC == fourCC }) else { return nil }
        self = format
    }
}

/// A node and, if it cannot be used as a camera, the reason.
struct ListedNode: Equatable {
    var device: CameraDevice
    var error: NodeError?

    /// - Parameter device: its `refusal` is set from the error.
    init(_ device: CameraDevice, error: NodeError?) {
        self.device = device
        self.device.refusal = error?.description
        self.error = error
    }
}

/// The reason why a V4L2 node is not used as a camera.
enum NodeError: Equatable {
    /// It delivers data about frames instead of frames, as the second node of every UVC camera does.
    case metadata
    /// It is a codec or scaler, from memory to memory.
    case codec
    case output
    /// It delivers no pictures, but vertical blanking, radio or touch data.
    case noPictures
    /// It has only the multi-planar interface.
    case multiplanar
    case noStreaming
    /// It is part of a pipeline that another program must set up (Raspberry Pi camera modules and their image
    /// processors).
    case pipeline
    /// It lists only formats that Bookplate cannot read, given as FourCCs.
    case noFormat([String])
    case denied(path: String)
    /// It is open in another program, and its driver allows only one.
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

extension NodeError: CustomStringConvertible {
    /// The reason as a phrase, without a full stop.
    var description: String {
        switch self {
        case .metadata: "metadata node, no pictures"
        case .codec: "codec or converter, not a camera"
        case .output: "output, not a camera"
        case .noPictures: "delivers no pictures"
        case .multiplanar: "multi-planar only, which Bookplate cannot read"
        case .noStreaming: "does not stream"
        case .pipeline:
            "camera module (libcamera): rpicam-vid --codec mjpeg -t 0 -o - | scan --frames -"
        case .noFormat(let others):
            others.isEmpty
                ? "lists no format"
                : "has no format that Bookplate can read (\(others.prefix(6).joined(separator: ", ")))"
        case .denied: "permission denied; join the group 'video' or install udev/70-bookplate.rules"
        case .busy: "in use by another program"
        case .failing(let error): "\(error)"
        case .libraryMissing(let cause): "libv4l2 is missing (\(cause)); apt-get install libv4l-0"
        }
    }
}

/// Judges nodes by their capabilities.
enum NodeRules {
    /// Returns a camera's name for display: one line, not doubled. uvcvideo says "Cam: Cam" if the USB interface has
    /// the name of the device, cut to the 31 bytes that a name may have.
    static func name(_ given: String) -> String {
        let name = given.withoutControls
        guard let colon = name.range(of: ": ") else { return name }
        let (first, second) = (name[..<colon.lowerBound], name[colon.upperBound...])
        let isCut = name.utf8.count >= 31 && !second.isEmpty && first.hasPrefix(second)
        return first == second || isCut ? String(first) : name
    }

    /// The drivers of image processors that claim VIDEO_CAPTURE but only return what another program fed them
    /// (Raspberry Pi).
    static let processors = ["bcm2835-isp", "pispbe"]

    /// Returns the reason why a node with these capabilities cannot be a camera.
    ///
    /// - Parameter capabilities: `v4l2_capability.device_caps`, the capabilities of this node. Those of the whole
    ///   device do not help: a UVC camera's metadata node claims VIDEO_CAPTURE there.
    /// - Returns: `nil` for a camera; its formats are still to be checked.
    static func error(capabilities: UInt32, driver: String) -> NodeError? {
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
