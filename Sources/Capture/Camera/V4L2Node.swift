import Bookplate
import CV4L2
import Glibc

/// An open camera through libv4l2. For one thread.
final class V4L2Node: VideoNode {
    private var descriptor: NodeDescriptor
    private var buffers: MappedBuffers?
    private let wake: Wake

    /// - Parameter converting: libv4l2 makes a format that the camera has not.
    init(path: String, converting: Bool, wake: Wake) throws(CameraError) {
        descriptor = try NodeDescriptor.open(path)
        self.wake = wake
        try descriptor.adopt(converting: converting)
    }

    func close() {
        buffers = nil
        descriptor.close()
    }

    private func request<Argument>(_ request: UInt, _ name: StaticString, _ argument: inout Argument)
        throws(CameraError)
    {
        try descriptor.request(request, name, &argument)
    }

    // MARK: format

    func setFormat(_ asked: PictureFormat) throws(CameraError) -> PictureFormat {
        var format = v4l2_format()
        format.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        format.fmt.pix.pixelformat = asked.pixelFormat
        format.fmt.pix.width = UInt32(clamping: asked.width)
        format.fmt.pix.height = UInt32(clamping: asked.height)
        format.fmt.pix.field = V4L2_FIELD_NONE.rawValue
        try request(CV4L2_VIDIOC_S_FMT, "VIDIOC_S_FMT", &format)
        let given = format.fmt.pix
        return PictureFormat(
            pixelFormat: given.pixelformat, width: Int(given.width), height: Int(given.height),
            bytesPerLine: Int(given.bytesperline), sizeImage: Int(given.sizeimage))
    }

    func setRate(_ framesPerSecond: Int) throws(CameraError) -> Double? {
        var parameters = v4l2_streamparm()
        parameters.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        parameters.parm.capture.timeperframe = v4l2_fract(numerator: 1, denominator: UInt32(clamping: framesPerSecond))
        do throws(CameraError) {
            try request(CV4L2_VIDIOC_S_PARM, "VIDIOC_S_PARM", &parameters)
        } catch {
            // Drivers without rates answer ENOTTY or EINVAL, some cameras EIO: it goes on at the rate they have.
            if error.isGone || error.isBusy { throw error }
            return nil
        }
        guard parameters.parm.capture.capability & UInt32(V4L2_CAP_TIMEPERFRAME) != 0 else { return nil }
        return parameters.parm.capture.timeperframe.rate
    }

    // MARK: buffers

    func requestBuffers(_ count: Int) throws(CameraError) -> [Int] {
        var asked = v4l2_requestbuffers()
        asked.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        asked.memory = V4L2_MEMORY_MMAP.rawValue
        asked.count = UInt32(count)
        try request(CV4L2_VIDIOC_REQBUFS, "VIDIOC_REQBUFS", &asked)
        var mapped = MappedBuffers(library: descriptor.library)
        for index in 0..<min(asked.count, UInt32(VIDEO_MAX_FRAME)) {
            var buffer = Self.buffer(index)
            try request(CV4L2_VIDIOC_QUERYBUF, "VIDIOC_QUERYBUF", &buffer)
            try mapped.map(descriptor.value, length: Int(buffer.length), offset: Int64(buffer.m.offset))
        }
        let lengths = mapped.lengths
        buffers = consume mapped
        return lengths
    }

    func releaseBuffers() {
        buffers = nil
        var none = v4l2_requestbuffers()
        none.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        none.memory = V4L2_MEMORY_MMAP.rawValue
        // Fails where the camera is gone, and then closing gives them back.
        do { try request(CV4L2_VIDIOC_REQBUFS, "VIDIOC_REQBUFS", &none) } catch { return }
    }

    private static func buffer(_ index: UInt32 = 0) -> v4l2_buffer {
        var buffer = v4l2_buffer()
        buffer.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        buffer.memory = V4L2_MEMORY_MMAP.rawValue
        buffer.index = index
        return buffer
    }

    func enqueue(_ index: Int) throws(CameraError) {
        var buffer = Self.buffer(UInt32(index))
        try request(CV4L2_VIDIOC_QBUF, "VIDIOC_QBUF", &buffer)
    }

    func dequeue() throws(CameraError) -> FilledBuffer? {
        var buffer = Self.buffer()
        do throws(CameraError) {
            try request(CV4L2_VIDIOC_DQBUF, "VIDIOC_DQBUF", &buffer)
        } catch {
            if case .failed(_, EAGAIN) = error { return nil }
            throw error
        }
        let isMonotonic =
            buffer.flags & UInt32(V4L2_BUF_FLAG_TIMESTAMP_MASK) == UInt32(V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC)
        return FilledBuffer(
            index: Int(buffer.index), bytesUsed: Int(buffer.bytesused),
            isDamaged: buffer.flags & UInt32(V4L2_BUF_FLAG_ERROR) != 0, sequence: buffer.sequence,
            timestamp: isMonotonic
                ? .seconds(buffer.timestamp.tv_sec) + .microseconds(buffer.timestamp.tv_usec) : nil)
    }

    func withBytes<Result>(of index: Int, count: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        buffers!.withBytes(of: index, count: count, body)
    }

    // MARK: stream

    func streamOn() throws(CameraError) {
        var type = Int32(V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue)
        try request(CV4L2_VIDIOC_STREAMON, "VIDIOC_STREAMON", &type)
    }

    func streamOff() {
        var type = Int32(V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue)
        // Fails where the camera is gone or the stream never began, and then there is nothing to end.
        do { try request(CV4L2_VIDIOC_STREAMOFF, "VIDIOC_STREAMOFF", &type) } catch { return }
    }

    func wait(atMost time: Duration) throws(CameraError) -> Bool {
        switch wake.wait(for: descriptor.value, atMost: time) {
        case .ready: return true
        case .over: return false
        case .failed(let code): throw .failed("poll", errno: code)
        }
    }

    // MARK: controls

    func control(_ id: UInt32, offers value: Int32) -> ControlValue? {
        var query = v4l2_queryctrl()
        query.id = id
        var control = v4l2_control(id: id, value: 0)
        // Whatever a driver answers here, the camera works without: a control that cannot be asked for is not there.
        do {
            try request(CV4L2_VIDIOC_QUERYCTRL, "VIDIOC_QUERYCTRL", &query)
            try request(CV4L2_VIDIOC_G_CTRL, "VIDIOC_G_CTRL", &control)
        } catch { return nil }
        let unsettable = V4L2_CTRL_FLAG_DISABLED | V4L2_CTRL_FLAG_READ_ONLY | V4L2_CTRL_FLAG_INACTIVE
        guard query.flags & UInt32(unsettable) == 0 else { return nil }
        var isOffered = query.minimum <= value && value <= query.maximum
        if isOffered, query.type == V4L2_CTRL_TYPE_MENU.rawValue {
            var menu = v4l2_querymenu()
            (menu.id, menu.index) = (id, UInt32(bitPattern: value))
            // EINVAL: a menu has gaps.
            do { try request(CV4L2_VIDIOC_QUERYMENU, "VIDIOC_QUERYMENU", &menu) } catch { isOffered = false }
        }
        return ControlValue(current: control.value, isOffered: isOffered)
    }

    func setControl(_ id: UInt32, to value: Int32) throws(CameraError) {
        var control = v4l2_control(id: id, value: value)
        try request(CV4L2_VIDIOC_S_CTRL, "VIDIOC_S_CTRL", &control)
    }
}

extension v4l2_fract {
    /// Frames a second of an interval, `nil` for one that says nothing.
    var rate: Double? { numerator > 0 && denominator > 0 ? Double(denominator) / Double(numerator) : nil }
}
