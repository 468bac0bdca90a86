/// How a camera packs its pixels, of the ways that are read here. Raw values are V4L2's FourCC.
public enum PixelFormat: String, Sendable, CaseIterable {
    /// One byte a pixel, luma alone.
    case grey = "GREY"
    /// Luma and chroma by turns, 4:2:2.
    case yuyv = "YUYV"
    /// A plane of luma, then one of chroma pairs, 4:2:0.
    case nv12 = "NV12"
    /// Three planes, 4:2:0; other programs call it I420.
    case yu12 = "YU12"
    /// A JPEG for every frame.
    case mjpg = "MJPG"
}

/// What a source of frames really gives, which need not be what it was asked for.
public struct CaptureFormat: Sendable, Equatable {
    public var width: Int
    public var height: Int
    public var pixelFormat: PixelFormat
    /// Frames a second as the driver announces them, `nil` where it does not say.
    public var framesPerSecond: Double?
    /// libv4l converts it from something that is not read here: slower, and the doctor says so.
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
    /// "1280x720 MJPG, 30 fps"
    public var description: String {
        let rate = framesPerSecond.map { rate -> String in
            let tenths = Int((rate * 10).rounded())
            return tenths % 10 == 0 ? ", \(tenths / 10) fps" : ", \(tenths / 10).\(tenths % 10) fps"
        }
        return "\(width)x\(height) \(pixelFormat.rawValue)\(rate ?? "")\(isConverted ? ", converted by libv4l" : "")"
    }
}
