import Bookplate

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
    init(_ node: any VideoNode, of device: CameraDevice, for settings: CaptureSettings) throws(CameraError) {
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
    ) throws(CameraError) -> Outcome {
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
