import Bookplate

/// What a stream needs of an open V4L2 node, one method an operation of the driver; a scripted node stands in for it in tests.
protocol VideoNode: AnyObject {
    /// VIDIOC_S_FMT. The driver changes what it cannot do.
    func setFormat(_ asked: PictureFormat) throws(CameraError) -> PictureFormat
    /// VIDIOC_S_PARM.
    /// - Returns: frames a second as the driver took it, `nil` where it knows no rates.
    func setRate(_ framesPerSecond: Int) throws(CameraError) -> Double?
    /// VIDIOC_REQBUFS, then VIDIOC_QUERYBUF and a mapping for each.
    /// - Returns: the buffers' lengths in bytes; the driver may give more or fewer than asked.
    func requestBuffers(_ count: Int) throws(CameraError) -> [Int]
    /// Unmaps the buffers and gives them back, VIDIOC_REQBUFS with 0. Where the camera is gone, nothing is left to do.
    func releaseBuffers()
    /// VIDIOC_STREAMON.
    func streamOn() throws(CameraError)
    /// VIDIOC_STREAMOFF; takes every buffer out of the queues. Where the camera is gone, nothing is left to do.
    func streamOff()
    /// VIDIOC_QBUF.
    func enqueue(_ index: Int) throws(CameraError)
    /// VIDIOC_DQBUF.
    /// - Returns: `nil` when none is filled.
    func dequeue() throws(CameraError) -> FilledBuffer?
    /// poll(): until a buffer is filled, the camera reports an error, the time is up or the wait is ended from outside.
    /// - Returns: whether to dequeue, which also tells the error.
    func wait(atMost time: Duration) throws(CameraError) -> Bool
    /// Lends the first `count` bytes of a buffer that is dequeued.
    /// - Precondition: `index` is a buffer's, `count` is at most its length.
    func withBytes<Result>(of index: Int, count: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result
    /// VIDIOC_QUERYCTRL, VIDIOC_QUERYMENU and VIDIOC_G_CTRL.
    /// - Returns: `nil` where the camera has no such control, or it cannot be set.
    func control(_ id: UInt32, offers value: Int32) -> ControlValue?
    /// VIDIOC_S_CTRL.
    func setControl(_ id: UInt32, to value: Int32) throws(CameraError)
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
    func open(_ device: CameraDevice) throws(CameraError) -> any VideoNode
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
