import Bookplate
import CV4L2
import Glibc

/// One run of a camera's stream, from asking for a format to luma.
struct CaptureStream {
    static let bufferCount = 4
    /// Cameras begin with frames that are dark, torn or left over.
    static let firstFrames = 3
    /// When nobody looked for so long and the queue is full, its newest frame is an old one: the next is waited for.
    static let staleAfter: Duration = .milliseconds(150)

    /// Of the frames, once one came: a camera's JPEGs need not have the size that its driver announces.
    private(set) var format: CaptureFormat
    private let node: any VideoNode
    private let layout: LumaLayout
    private let lengths: [Int]
    private let decoder: JPEGFrameDecoder
    private var toDrop = CaptureStream.firstFrames
    private var lastSequence: UInt32?
    private var lastVisit: Duration?
    private var passedStale = false

    /// Asks for what fits best, takes what the driver gives, and begins.
    ///
    /// Whoever calls ends the stream also when this fails half way.
    init(_ node: any VideoNode, of device: CameraDevice, for settings: CaptureSettings) throws(V4L2Error) {
        guard let mode = ModeChoice.best(of: device.modes, for: settings) else { throw .unusable("it lists no format") }
        guard let decoder = JPEGFrameDecoder() else { throw .unusable("memory ran out") }
        let asked = PictureFormat(
            pixelFormat: mode.pixelFormat.fourCC, width: mode.width, height: mode.height, bytesPerLine: 0, sizeImage: 0)
        let layout = try LumaLayout(try node.setFormat(asked))
        let rate = try node.setRate(settings.rate)
        let lengths = try node.requestBuffers(Self.bufferCount)
        guard lengths.count >= 2 else { throw .unusable("it gives \(lengths.count) buffers, and two are needed") }
        guard let shortest = lengths.min(), shortest >= layout.byteCount, shortest > 0 else {
            throw .unusable(
                "its buffers are too short for \(layout.width)x\(layout.height) \(layout.pixelFormat.rawValue)")
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
        /// Sound ones came, none to hand on.
        case passed
        /// Nothing, or damaged ones only.
        case nothing
    }

    /// Takes the newest of the filled buffers; all of them go back to the driver.
    ///
    /// - Parameters:
    ///   - now: on the clock of the time stamps.
    ///   - frame: filled when the outcome is a frame, else undefined.
    ///   - preview: gets the JPEG of a frame where there is one.
    mutating func takeNewest(
        into frame: inout Frame, _ counts: inout FrameCounts, now: Duration, for preview: PreviewPictures
    ) throws(V4L2Error) -> Outcome {
        var newest: FilledBuffer?
        var taken = 0
        // Not more than there are: a driver that fills them faster than they are looked at must not keep the loop here.
        while taken < lengths.count, let buffer = try node.dequeue() {
            taken += 1
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
        defer { lastVisit = now }
        guard let newest else { return .nothing }
        if taken == lengths.count, let lastVisit, now - lastVisit > Self.staleAfter, !passedStale, toDrop == 0 {
            passedStale = true
            try node.enqueue(newest.index)
            counts.skipped += 1
            return .passed
        }
        passedStale = false
        if toDrop > 0 {
            toDrop -= 1
            try node.enqueue(newest.index)
            counts.dropped += 1
            return .passed
        }
        // Nothing in between throws: the buffer goes back whatever its bytes are.
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

    /// What can be said without looking at the bytes.
    private func isSound(_ buffer: FilledBuffer) -> Bool {
        guard lengths.indices.contains(buffer.index), !buffer.isDamaged else { return false }
        return buffer.bytesUsed > 0 && buffer.bytesUsed <= lengths[buffer.index] && buffer.bytesUsed >= layout.byteCount
    }

    private func read(_ buffer: FilledBuffer, into frame: inout Frame, for preview: PreviewPictures) -> Bool {
        node.withBytes(of: buffer.index, count: buffer.bytesUsed) { bytes in
            if layout.pixelFormat == .mjpg {
                guard decoder.decode(bytes, into: &frame) else { return false }
                preview.pass(bytes)
                return true
            }
            layout.copy(bytes, into: &frame)
            return true
        }
    }

    /// Frames that the driver had no buffer for, as its count tells. A leap is no count.
    private mutating func countGap(before buffer: FilledBuffer, _ counts: inout FrameCounts) {
        if let last = lastSequence {
            let gap = buffer.sequence &- last &- 1
            if gap < 300 { counts.skipped += Int(gap) }
        }
        lastSequence = buffer.sequence
    }

    /// The driver's time, where it is one: on the monotonic clock and about now.
    private static func timestamp(of buffer: FilledBuffer, now: Duration) -> Duration {
        guard let time = buffer.timestamp, time <= now, now - time < .seconds(5) else { return now }
        return time
    }
}

/// The driver's buffers in this process's memory, unmapped when their owner goes.
struct MappedBuffers: ~Copyable {
    private let library: V4L2Library
    private var areas: [UnsafeMutableRawBufferPointer] = []

    init(library: V4L2Library) { self.library = library }

    deinit {
        for area in areas { _ = library.table.pointee.munmap(area.baseAddress, area.count) }
    }

    var lengths: [Int] { areas.map(\.count) }

    /// Maps one more, for reading and writing as libv4l2 asks. The function of libv4l2 is v4l2_mmap().
    mutating func map(_ descriptor: Int32, length: Int, offset: Int64) throws(V4L2Error) {
        let address = library.table.pointee.mmap(
            nil, length, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, offset)
        guard let address, address != MAP_FAILED else { throw .failed("mmap", errno: errno) }
        areas.append(UnsafeMutableRawBufferPointer(start: address, count: length))
    }

    func withBytes<Result>(of index: Int, count: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        let area = areas[index]
        precondition(count <= area.count)
        return body(UnsafeBufferPointer(start: area.baseAddress!.assumingMemoryBound(to: UInt8.self), count: count))
    }
}

/// Where the luma lies in a buffer: what the driver gave, checked before anything is read by it.
struct LumaLayout: Equatable {
    let pixelFormat: PixelFormat
    let width: Int
    let height: Int
    /// Stride of the rows that hold the luma; not used for MJPG.
    let bytesPerLine: Int
    /// What a buffer must hold for the whole luma, the last row without padding; 0 for MJPG.
    let byteCount: Int

    init(_ given: PictureFormat) throws(V4L2Error) {
        guard let format = PixelFormat(fourCC: given.pixelFormat) else {
            throw .unusable("it gives \(fourCCText(given.pixelFormat)), which is not read here")
        }
        let (width, height) = (given.width, given.height)
        guard PictureSize(width: width, height: height).isPlausible,
            width * height <= JPEGFrameDecoder.mostPixels
        else { throw .unusable("it gives frames of \(width)x\(height), which no camera has") }
        let rowBytes = format == .yuyv ? width * 2 : width
        // Some drivers leave the stride out.
        let stride = given.bytesPerLine == 0 ? rowBytes : given.bytesPerLine
        guard format == .mjpg || (rowBytes...rowBytes * 16).contains(stride) else {
            throw .unusable("it gives rows of \(stride) bytes for \(width) pixels of \(format.rawValue)")
        }
        (self.pixelFormat, self.width, self.height, bytesPerLine) = (format, width, height, stride)
        byteCount = format == .mjpg ? 0 : stride * (height - 1) + rowBytes
    }

    /// Copies the luma of a raw picture.
    ///
    /// - Precondition: `bytes` holds at least ``byteCount``.
    func copy(_ bytes: UnsafeBufferPointer<UInt8>, into frame: inout Frame) {
        precondition(pixelFormat != .mjpg && bytes.count >= byteCount)
        frame.resize(width: width, height: height)
        let (width, height, stride) = (width, height, bytesPerLine)
        let isPacked = pixelFormat == .yuyv
        frame.withMutableLuma { luma in
            guard let from = bytes.baseAddress, let to = luma.baseAddress else { return }
            if isPacked {
                for y in 0..<height { everySecond(from + y * stride, to + y * width, count: width) }
            } else if stride == width {
                to.update(from: from, count: width * height)
            } else {
                for y in 0..<height { (to + y * width).update(from: from + y * stride, count: width) }
            }
        }
    }
}

/// Plain pointers and one stride, so that the optimiser makes vectors of it.
@inline(__always)
private func everySecond(_ from: UnsafePointer<UInt8>, _ to: UnsafeMutablePointer<UInt8>, count: Int) {
    for x in 0..<count { to[x] = from[2 &* x] }
}
