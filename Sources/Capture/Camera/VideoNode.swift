import Bookplate
import CV4L2
import Foundation

/// The operations on an open V4L2 node (a device such as /dev/video0) that a stream needs, with one method for each
/// operation of the driver. Tests use a scripted node instead of a real one.
protocol VideoNode: AnyObject {
    /// Requests a format, which the driver may change to one that it supports. The corresponding ioctl is VIDIOC_S_FMT.
    func setFormat(_ requested: PictureFormat) throws(V4L2Error) -> PictureFormat
    /// Requests a frame rate. The corresponding ioctl is VIDIOC_S_PARM.
    /// - Returns: the frame rate that the driver chose, in frames per second; `nil` if the driver does not support
    ///   frame rates.
    func setRate(_ framesPerSecond: Int) throws(V4L2Error) -> Double?
    /// Allocates buffers with VIDIOC_REQBUFS, then queries each with VIDIOC_QUERYBUF and maps it.
    /// - Returns: the buffers' lengths in bytes; the driver may allocate more or fewer buffers than requested.
    func requestBuffers(_ count: Int) throws(V4L2Error) -> [Int]
    /// Unmaps the buffers and releases them with VIDIOC_REQBUFS and a count of 0. Does nothing if the camera was
    /// unplugged.
    func releaseBuffers()
    /// Starts the stream. The corresponding ioctl is VIDIOC_STREAMON.
    func streamOn() throws(V4L2Error)
    /// Stops the stream and removes every buffer from the queues, with VIDIOC_STREAMOFF. Does nothing if the camera was
    /// unplugged.
    func streamOff()
    /// Gives a buffer to the driver. The corresponding ioctl is VIDIOC_QBUF.
    func enqueue(_ index: Int) throws(V4L2Error)
    /// Dequeues the oldest filled buffer. The corresponding ioctl is VIDIOC_DQBUF.
    /// - Returns: `nil` if no buffer is filled.
    func dequeue() throws(V4L2Error) -> FilledBuffer?
    /// Waits with poll() until a buffer is filled, the camera signals an error, the time is up, or the capture is
    /// stopped.
    /// - Returns: true if the caller should call ``dequeue()``, which throws an error if the camera signalled one.
    func wait(atMost time: Duration) throws(V4L2Error) -> Bool
    /// Calls `body` with the first `count` bytes of a dequeued buffer, which are valid only during the call.
    /// - Precondition: `index` is the index of a buffer, and `count` is at most the buffer's length.
    func withBytes<Result>(of index: Int, count: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result
    /// Reads a control. The corresponding ioctls are VIDIOC_QUERYCTRL, VIDIOC_QUERYMENU and VIDIOC_G_CTRL.
    /// - Returns: `nil` if the camera has no such control, or the control cannot be set.
    func control(_ id: UInt32, offers value: Int32) -> ControlValue?
    /// Sets a control. The corresponding ioctl is VIDIOC_S_CTRL.
    func setControl(_ id: UInt32, to value: Int32) throws(V4L2Error)
    /// Releases the buffers and closes the descriptor. As long as the descriptor of an unplugged camera is open, the
    /// camera gets another device number when it is plugged in again.
    func close()
}

/// The layout of a picture in memory, in the form that VIDIOC_S_FMT expects and returns (`v4l2_pix_format`).
struct PictureFormat: Equatable {
    /// The FourCC of the pixel format.
    var pixelFormat: UInt32
    var width: Int
    var height: Int
    /// The distance from one row to the next, in bytes; 0 if the driver does not report it.
    var bytesPerLine: Int
    /// The number of bytes that a buffer needs for one picture.
    var sizeImage: Int
}

/// The driver's description of a dequeued buffer (`v4l2_buffer`). None of its values can be trusted.
struct FilledBuffer: Equatable {
    var index: Int
    var bytesUsed: Int
    /// True if the driver marked the picture as damaged, with `V4L2_BUF_FLAG_ERROR`.
    var isDamaged: Bool
    var sequence: UInt32
    /// The time of the picture; `nil` if the driver does not use the monotonic clock
    /// (`V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC`).
    var timestamp: Duration?
}

/// The identity of a device node, obtained with stat(). A camera that is plugged in again gets a new node, perhaps at
/// the same path.
struct NodeIdentity: Equatable {
    var device: UInt64
    var inode: UInt64
}

/// The current value of a control.
struct ControlValue: Equatable {
    var current: Int32
    /// True if the control can be set to the value that ``VideoNode/control(_:offers:)`` was asked about.
    var isOffered: Bool
}

/// The machine that the cameras are connected to, with its devices and its clock.
protocol CameraHost {
    /// Returns all V4L2 nodes, sorted by number.
    func nodes() -> [ListedNode]
    /// Returns the target of a link such as /dev/bookplate, or the path itself if it is not a link.
    func resolve(_ path: String) -> String
    /// Returns the identity of the node at the path; `nil` if there is no node.
    func identity(of path: String) -> NodeIdentity?
    func open(_ device: CameraDevice) throws(V4L2Error) -> any VideoNode
    /// Returns the processes that have the node open, such as "zoom (process 1234)"; `nil` if none can be seen.
    func holder(of path: String) -> String?
    /// The time on CLOCK_MONOTONIC.
    var now: Duration { get }
    /// Waits for the given time, or until the capture is stopped.
    func pause(_ time: Duration)
    var isStopped: Bool { get }
}

extension PixelFormat {
    /// The FourCC as a number: the four letters with the first one in the lowest byte, in the form that `v4l2_fourcc()`
    /// produces.
    var fourCC: UInt32 {
        rawValue.utf8.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    init?(fourCC: UInt32) {
        guard let format = Self.allCases.first(where: { $0.fourCC == fourCC }) else { return nil }
        self = format
    }
}

/// A V4L2 node and, if it cannot be used as a camera, the reason.
struct ListedNode: Equatable {
    var device: CameraDevice
    var error: NodeError?

    /// - Parameter device: the device, whose `refusal` is set to the description of the error.
    init(_ device: CameraDevice, error: NodeError?) {
        self.device = device
        self.device.refusal = error?.description
        self.error = error
    }
}

/// The reason why a V4L2 node is not used as a camera.
enum NodeError: Equatable {
    /// The node delivers data about frames instead of frames. The second node of every UVC camera is of this kind.
    case metadata
    /// The node is a codec or scaler that works from memory to memory.
    case codec
    case output
    /// The node delivers no pictures, only vertical blanking, radio or touch data.
    case noPictures
    /// The node has only the multi-planar interface.
    case multiplanar
    case noStreaming
    /// The node is part of a pipeline that another program must set up (Raspberry Pi camera modules and their image
    /// processors).
    case pipeline
    /// The node lists only formats that Bookplate cannot read; carries their FourCCs.
    case noFormat([String])
    case denied(path: String)
    /// The node is open in another program, and its driver allows only one program at a time.
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
        case .output: "output device, not a camera"
        case .noPictures: "delivers no pictures"
        case .multiplanar: "has only a multi-planar interface, which Bookplate cannot read"
        case .noStreaming: "does not support streaming"
        case .pipeline:
            "camera module (libcamera); start it with: rpicam-vid --codec mjpeg -t 0 -o - | scan --frames -"
        case .noFormat(let others):
            others.isEmpty
                ? "lists no picture format"
                : "has no format that Bookplate can read (\(others.prefix(6).joined(separator: ", ")))"
        case .denied: "permission denied; join the group 'video' or install udev/70-bookplate.rules"
        case .busy: "in use by another program"
        case .failing(let error): "\(error)"
        case .libraryMissing(let cause): "libv4l2 is missing (\(cause)); install it with: apt-get install libv4l-0"
        }
    }
}

/// The rules that decide whether a node can be a camera, and under which name it is shown.
enum NodeRules {
    /// Returns a camera's name for display, on one line. Shortens a doubled name: if the USB interface has the same
    /// name as the device, the driver uvcvideo reports "Cam: Cam", cut to the 31 bytes that a name may have.
    static func name(_ given: String) -> String {
        let name = given.withoutControls
        guard let colon = name.range(of: ": ") else { return name }
        let (first, second) = (name[..<colon.lowerBound], name[colon.upperBound...])
        let isCut = name.utf8.count >= 31 && !second.isEmpty && first.hasPrefix(second)
        return first == second || isCut ? String(first) : name
    }

    /// The drivers of image processors (Raspberry Pi) that claim VIDEO_CAPTURE but only process pictures that another
    /// program gives them.
    static let processors = ["bcm2835-isp", "pispbe"]

    /// Returns the reason why a node with these capabilities cannot be a camera.
    ///
    /// - Parameter capabilities: `v4l2_capability.device_caps`, the capabilities of this node. The capabilities of the
    ///   whole device are of no use, because they include VIDEO_CAPTURE even for a UVC camera's metadata node.
    /// - Returns: `nil` if the node may be a camera; its formats must still be checked.
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
