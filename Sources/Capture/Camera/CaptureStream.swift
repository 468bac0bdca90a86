import Bookplate
import CV4L2
import Glibc
import SystemCalls
import SystemPackage

/// One run of a camera's stream, from requesting the format to delivering grey frames.
struct CaptureStream {
    static let bufferCount = 4
    /// The number of frames to drop at the start. A camera's first frames may be dark, torn or left over from an
    /// earlier run.
    static let firstFrames = 3
    /// The longest time between two reads. After a longer gap, the driver's full queue holds only old frames, so all of
    /// them are skipped and the next frame is used.
    static let staleAfter: Duration = .milliseconds(150)

    /// The format of the frames. Its size is corrected when a frame is read, because a camera's JPEGs may differ from
    /// the announced size.
    private(set) var format: CaptureFormat
    private let node: any VideoNode
    private let layout: LumaLayout
    private let lengths: [Int]
    private let decoder: JPEGFrameDecoder
    private var framesToDrop = CaptureStream.firstFrames
    private var lastSequence: UInt32?
    private var lastRead: Duration?
    private var skippedStale = false

    /// Requests the best mode, accepts the driver's choice, and starts the stream.
    ///
    /// The caller must stop the stream even if this initialiser throws an error.
    init(_ node: any VideoNode, of device: CameraDevice, for settings: CaptureSettings) throws(V4L2Error) {
        guard let mode = ModeChoice.best(of: device.modes, for: settings) else {
            throw .unusable("it lists no picture format")
        }
        guard let decoder = JPEGFrameDecoder() else { throw .unusable("memory ran out") }
        let requested = PictureFormat(
            pixelFormat: mode.pixelFormat.fourCC, width: mode.width, height: mode.height, bytesPerLine: 0, sizeImage: 0)
        let layout = try LumaLayout(try node.setFormat(requested))
        let rate = try node.setRate(settings.rate)
        let lengths = try node.requestBuffers(Self.bufferCount)
        guard lengths.count >= 2 else {
            throw .unusable("it offers \(lengths.count) buffers, but at least two are needed")
        }
        guard let shortest = lengths.min(), shortest >= layout.byteCount, shortest > 0 else {
            throw .unusable(
                "its buffers are too short for \(layout.width)x\(layout.height) pixels of \(layout.pixelFormat.rawValue)"
            )
        }
        for index in lengths.indices { try node.enqueue(index) }
        try node.streamOn()
        (self.node, self.layout, self.lengths, self.decoder) = (node, layout, lengths, decoder)
        format = CaptureFormat(
            width: layout.width, height: layout.height, pixelFormat: layout.pixelFormat, framesPerSecond: rate,
            isConverted: mode.isConverted)
    }

    enum Outcome {
        case frame
        /// Undamaged frames arrived, but all of them were skipped.
        case skipped
        /// No frame arrived, or all frames that arrived were damaged.
        case nothing
    }

    /// Reads the newest filled buffer, and gives all filled buffers back to the driver.
    ///
    /// - Parameters:
    ///   - now: the current time, on the clock of the frames' time stamps.
    ///   - frame: receives the picture if the outcome is ``Outcome/frame``; otherwise its content is undefined.
    ///   - preview: receives the frame's JPEG, if it has one.
    mutating func readNewest(
        into frame: inout Frame, _ counts: inout FrameCounts, now: Duration, for preview: PreviewWriter
    ) throws(V4L2Error) -> Outcome {
        var newest: FilledBuffer?
        var dequeued = 0
        // Dequeue each buffer at most once, because a driver that fills buffers faster than they are read must not keep
        // the loop running.
        while dequeued < lengths.count, let buffer = try node.dequeue() {
            dequeued += 1
            countGap(before: buffer, &counts)
            guard isSound(buffer) else {
                counts.dropped += 1
                if lengths.indices.contains(buffer.index) { try node.enqueue(buffer.index) }
                continue
            }
            if let older = newest {
                try node.enqueue(older.index)
                counts.skipped += 1
            }
            newest = buffer
        }
        defer { lastRead = now }
        guard let newest else { return .nothing }
        if dequeued == lengths.count, let lastRead, now - lastRead > Self.staleAfter, !skippedStale, framesToDrop == 0 {
            skippedStale = true
            try node.enqueue(newest.index)
            counts.skipped += 1
            return .skipped
        }
        skippedStale = false
        if framesToDrop > 0 {
            framesToDrop -= 1
            try node.enqueue(newest.index)
            counts.dropped += 1
            return .skipped
        }
        // Reading does not throw, so the buffer is given back even if its bytes are damaged.
        let isRead = read(newest, into: &frame, for: preview)
        try node.enqueue(newest.index)
        guard isRead else {
            counts.dropped += 1
            return .nothing
        }
        (format.width, format.height) = (frame.width, frame.height)
        (frame.sequence, frame.timestamp) = (newest.sequence, Self.timestamp(of: newest, now: now))
        return .frame
    }

    /// Returns true if the driver's description of the buffer is plausible. Does not examine the buffer's bytes.
    private func isSound(_ buffer: FilledBuffer) -> Bool {
        guard lengths.indices.contains(buffer.index), !buffer.isDamaged else { return false }
        return buffer.bytesUsed > 0 && buffer.bytesUsed <= lengths[buffer.index] && buffer.bytesUsed >= layout.byteCount
    }

    private func read(_ buffer: FilledBuffer, into frame: inout Frame, for preview: PreviewWriter) -> Bool {
        node.withBytes(of: buffer.index, count: buffer.bytesUsed) { bytes in
            if layout.pixelFormat == .mjpg {
                guard decoder.decode(bytes, into: &frame) else { return false }
                preview.forward(bytes)
                return true
            }
            layout.copy(bytes, into: &frame)
            return true
        }
    }

    /// Counts the frames for which the driver had no buffer, using the gap in its sequence numbers. A large jump does
    /// not count as a gap.
    private mutating func countGap(before buffer: FilledBuffer, _ counts: inout FrameCounts) {
        if let last = lastSequence {
            let gap = buffer.sequence &- last &- 1
            if gap < 300 { counts.skipped += Int(gap) }
        }
        lastSequence = buffer.sequence
    }

    /// Returns the driver's time stamp if it is plausible, that is, monotonic and recent; otherwise returns `now`.
    private static func timestamp(of buffer: FilledBuffer, now: Duration) -> Duration {
        guard let time = buffer.timestamp, time <= now, now - time < .seconds(5) else { return now }
        return time
    }
}

/// The driver's buffers, mapped into this process's memory and unmapped when this value is destroyed.
struct MappedBuffers: ~Copyable {
    private let library: V4L2Library
    private var areas: [UnsafeMutableRawBufferPointer] = []

    init(library: V4L2Library) { self.library = library }

    deinit {
        for area in areas { _ = library.table.pointee.munmap(area.baseAddress, area.count) }
    }

    var lengths: [Int] { areas.map(\.count) }

    /// Maps one more buffer with v4l2_mmap(), readable and writable because libv4l2 requires both.
    mutating func map(_ descriptor: Int32, length: Int, offset: Int64) throws(V4L2Error) {
        let address = library.table.pointee.mmap(
            nil, length, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, offset)
        guard let address, address != MAP_FAILED else { throw .failed("mmap", errno: .current) }
        areas.append(UnsafeMutableRawBufferPointer(start: address, count: length))
    }

    func withBytes<Result>(of index: Int, count: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        let area = areas[index]
        precondition(count <= area.count)
        return body(UnsafeBufferPointer(start: area.baseAddress!.assumingMemoryBound(to: UInt8.self), count: count))
    }
}

/// The layout of the grey levels (luma) in a buffer, made from the driver's format after it has been validated.
struct LumaLayout: Equatable {
    let pixelFormat: PixelFormat
    let width: Int
    let height: Int
    /// The distance from one row of luma to the next, in bytes; unused for MJPG.
    let bytesPerLine: Int
    /// The number of bytes from the first luma value to the last, without padding after the last row; 0 for MJPG.
    let byteCount: Int

    init(_ given: PictureFormat) throws(V4L2Error) {
        guard let format = PixelFormat(fourCC: given.pixelFormat) else {
            throw .unusable("it delivers \(fourCCText(given.pixelFormat)), which Bookplate cannot read")
        }
        let (width, height) = (given.width, given.height)
        guard PictureSize(width: width, height: height).isPlausible,
            width * height <= JPEGFrameDecoder.maxPixels
        else { throw .unusable("it reports frames of \(width)x\(height), which is not a camera's frame size") }
        let rowBytes = format == .yuyv ? width * 2 : width
        // Some drivers do not report the stride.
        let stride = given.bytesPerLine == 0 ? rowBytes : given.bytesPerLine
        guard format == .mjpg || (rowBytes...rowBytes * 16).contains(stride) else {
            throw .unusable(
                "it reports rows of \(stride) bytes, which cannot be right for \(width) pixels of \(format.rawValue)")
        }
        (self.pixelFormat, self.width, self.height, bytesPerLine) = (format, width, height, stride)
        byteCount = format == .mjpg ? 0 : stride * (height - 1) + rowBytes
    }

    /// Copies the luma of a raw picture into a frame.
    ///
    /// - Precondition: `bytes` contains at least ``byteCount`` bytes.
    func copy(_ bytes: UnsafeBufferPointer<UInt8>, into frame: inout Frame) {
        precondition(pixelFormat != .mjpg && bytes.count >= byteCount)
        frame.resize(width: width, height: height)
        let (width, height, stride) = (width, height, bytesPerLine)
        let isPacked = pixelFormat == .yuyv
        frame.withMutableLuma { luma in
            guard let from = bytes.baseAddress, let to = luma.baseAddress else { return }
            if isPacked {
                for y in 0..<height { copyEverySecond(from + y * stride, to + y * width, count: width) }
            } else if stride == width {
                to.update(from: from, count: width * height)
            } else {
                for y in 0..<height { (to + y * width).update(from: from + y * stride, count: width) }
            }
        }
    }
}

/// Copies every second byte. Plain pointers and a constant stride enable the optimiser to vectorise the loop.
@inline(__always)
private func copyEverySecond(_ from: UnsafePointer<UInt8>, _ to: UnsafeMutablePointer<UInt8>, count: Int) {
    for x in 0..<count { to[x] = from[2 &* x] }
}
