import Dispatch

/// One grey picture: a camera's frame, or a photo at some scale.
///
/// `luma` holds `height` rows of `bytesPerLine` bytes (the stride), from 0 for black to 255 for white; only the first
/// `width` bytes of a row belong to the picture. The owner of a frame may fill it again and again, so that no memory is
/// allocated after the first frames.
public struct Frame: Sendable {
    public private(set) var width: Int
    public private(set) var height: Int
    public private(set) var bytesPerLine: Int
    public private(set) var luma: [UInt8]
    /// The number that the driver gave this frame; a gap means that frames were skipped. 0 for a photo.
    public var sequence: UInt32 = 0
    /// The time at which the driver filled the frame, on the monotonic clock. Zero for a photo.
    public var timestamp: Duration = .zero

    /// Creates a black frame. Its rows are padded only if `bytesPerLine` is greater than `width`.
    ///
    /// - Precondition: `width` and `height` are positive, and `bytesPerLine` is at least `width`. Callers must first
    ///   check sizes from external sources, such as files, against their limits.
    public init(width: Int, height: Int, bytesPerLine: Int? = nil) {
        precondition(width > 0 && height > 0 && (bytesPerLine ?? width) >= width)
        self.width = width
        self.height = height
        self.bytesPerLine = bytesPerLine ?? width
        luma = [UInt8](repeating: 0, count: self.bytesPerLine * height)
    }

    /// Changes the size, reusing the memory if it is large enough. The contents of the rows are undefined afterwards.
    public mutating func resize(width: Int, height: Int, bytesPerLine: Int? = nil) {
        precondition(width > 0 && height > 0 && (bytesPerLine ?? width) >= width)
        let stride = bytesPerLine ?? width
        if luma.count < stride * height {
            luma = [UInt8](repeating: 0, count: stride * height)
        }
        self.width = width
        self.height = height
        self.bytesPerLine = stride
    }

    /// Calls `body` with the rows, for writing.
    public mutating func withMutableLuma<Result, Failure: Error>(
        _ body: (UnsafeMutableBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let count = bytesPerLine * height
        var result: Swift.Result<Result, Failure>?
        luma.withUnsafeMutableBufferPointer { buffer in
            let rows = UnsafeMutableBufferPointer(rebasing: buffer[0..<count])
            do throws(Failure) { result = .success(try body(rows)) } catch { result = .failure(error) }
        }
        return try result!.get()
    }

    /// Calls `body` with the rows, for reading.
    public func withLuma<Result, Failure: Error>(
        _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let count = bytesPerLine * height
        var result: Swift.Result<Result, Failure>?
        luma.withUnsafeBufferPointer { buffer in
            let rows = UnsafeBufferPointer(rebasing: buffer[0..<count])
            do throws(Failure) { result = .success(try body(rows)) } catch { result = .failure(error) }
        }
        return try result!.get()
    }
}

/// The supported pixel formats of cameras. Raw values are V4L2's FourCC.
public enum PixelFormat: String, Sendable, CaseIterable {
    /// One byte per pixel, only the brightness (luma).
    case grey = "GREY"
    /// Bytes of luma (brightness) and chroma (colour) alternate, 4:2:2.
    case yuyv = "YUYV"
    /// A plane of luma (brightness), then a plane of chroma (colour) pairs, 4:2:0.
    case nv12 = "NV12"
    /// Three planes, one of luma (brightness) and two of chroma (colour), 4:2:0; other programs call this format I420.
    case yu12 = "YU12"
    /// A JPEG for every frame.
    case mjpg = "MJPG"
}

/// The format that a frame source actually delivers, which may differ from the format that was requested.
public struct CaptureFormat: Sendable, Equatable {
    public var width: Int
    public var height: Int
    public var pixelFormat: PixelFormat
    /// The frames per second that the driver announces; `nil` if it announces none.
    public var framesPerSecond: Double?
    /// True if libv4l converts the frames from an unsupported format. This is slower, and `scan doctor` reports it.
    public var isConverted: Bool

    public init(
        width: Int, height: Int, pixelFormat: PixelFormat, framesPerSecond: Double? = nil, isConverted: Bool = false
    ) {
        self.width = width
        self.height = height
        self.pixelFormat = pixelFormat
        self.framesPerSecond = framesPerSecond
        self.isConverted = isConverted
    }
}

extension CaptureFormat: CustomStringConvertible {
    /// The format as text, such as "1280x720 MJPG, 30 fps".
    public var description: String {
        let rate = framesPerSecond.map { rate -> String in
            let tenths = Int((rate * 10).rounded())
            return tenths % 10 == 0 ? ", \(tenths / 10) fps" : ", \(tenths / 10).\(tenths % 10) fps"
        }
        return "\(width)x\(height) \(pixelFormat.rawValue)\(rate ?? "")\(isConverted ? ", converted by libv4l" : "")"
    }
}

extension Duration {
    /// The time since the machine started, without the time for which it slept: CLOCK_MONOTONIC, the clock of V4L2's
    /// timestamps (V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC). Setting the system clock does not change it. DispatchTime reads
    /// this clock; SuspendingClock has an epoch only since Swift 6.3, and arm64 is built with 6.2.
    public static var monotonicNow: Duration { .nanoseconds(DispatchTime.now().uptimeNanoseconds) }
}
