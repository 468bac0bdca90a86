import Bookplate
import CTurboJPEG
import Glibc

/// Decodes JPEG frames to grey levels, and reuses its memory.
///
/// The colour planes are not decoded. Two threads must not use the same decoder at once.
package final class JPEGFrameDecoder {
    /// The maximum frame size, in pixels (8K is 33 megapixels).
    package static let maxPixels = 40_000_000

    private var handle: tjhandle

    /// - Returns: `nil` if memory runs out.
    package init?() {
        guard let handle = tjInitDecompress() else { return nil }
        self.handle = handle
    }

    deinit { tjDestroy(handle) }

    /// - Parameters:
    ///   - bytes: the bytes from the SOI marker on. Padding after the EOI marker, which some drivers add, is ignored.
    ///   - maxPixels: the maximum size of the frame, in pixels.
    /// - Returns: true if the JPEG was complete and undamaged. If not, the content of `frame` is undefined.
    package func decode(
        _ bytes: UnsafeBufferPointer<UInt8>, into frame: inout Frame, maxPixels: Int = maxPixels
    ) -> Bool {
        guard Self.isWhole(bytes) else { return false }
        var (width, height, sampling, colour): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
        guard
            tjDecompressHeader3(handle, bytes.baseAddress, UInt(bytes.count), &width, &height, &sampling, &colour) == 0
        else {
            renew()
            return false
        }
        guard
            width > 0, height > 0, Int(width) * Int(height) <= maxPixels,
            colour == Int32(TJCS_YCbCr.rawValue) || colour == Int32(TJCS_GRAY.rawValue)
        else { return false }
        frame.resize(width: Int(width), height: Int(height))
        return frame.withMutableLuma { luma in
            tjDecompress2(
                handle, bytes.baseAddress, UInt(bytes.count), luma.baseAddress, width, width, height,
                Int32(TJPF_GRAY.rawValue), TJFLAG_LIMITSCANS) == 0 || isMerelyPadded
        }
    }

    /// True if the only warning is about stray bytes before the EOI marker (libjpeg: "2 extraneous bytes before marker
    /// 0xd9"), which many webcams send in every frame. The picture is then complete. Only the text of TurboJPEG's
    /// warning distinguishes this case from a torn picture. The text is searched without being copied, because this
    /// check runs once per frame.
    private var isMerelyPadded: Bool {
        tjGetErrorCode(handle) == TJERR_WARNING.rawValue && strstr(tjGetErrorStr2(handle), "extraneous bytes") != nil
    }

    /// Replaces the decompressor. After a frame with a truncated header, TurboJPEG 2.1 refuses all further frames.
    private func renew() {
        guard let fresh = tjInitDecompress() else { return }
        tjDestroy(handle)
        handle = fresh
    }

    /// Returns true if the bytes begin with SOI and end with EOI (ITU-T T.81, B.1.1.3). Zeros after EOI, with which
    /// some drivers pad a frame, are ignored.
    static func isWhole(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard bytes.count >= 4, bytes[0] == 0xFF, bytes[1] == 0xD8 else { return false }
        var at = bytes.count - 1
        while at > 2, bytes[at] == 0 { at -= 1 }
        return bytes[at] == 0xD9 && bytes[at - 1] == 0xFF
    }
}

extension Frame {
    /// Returns a small grey JPEG of a code's surroundings, from which a person can recognise the book.
    ///
    /// - Returns: the JPEG's bytes, about 10 kB; `nil` if memory runs out.
    public func thumbnail(around corners: Corners, longSide: Int = 320) -> [UInt8]? {
        let area = corners.surroundings(width: width, height: height)
        let cut = cropped(x: area.x, y: area.y, width: area.width, height: area.height)
        do {
            return try cut.areaAveraged(longSide: longSide).jpeg(quality: 80, name: "frame")
        } catch {
            // The encoder fails only if memory runs out, and a capture without a picture is better than no capture.
            return nil
        }
    }
}

extension Corners {
    /// Returns the area around a code in a picture of the given size. The area is three times as long as the code,
    /// which is about the size of a book's cover, and it is never empty.
    func surroundings(width: Int, height: Int) -> (x: Int, y: Int, width: Int, height: Int) {
        let xs = all.map(\.x)
        let ys = all.map(\.y)
        let length = max(xs.max()! - xs.min()!, ys.max()! - ys.min()!)
        func range(_ middle: Double, _ limit: Int) -> Range<Int> {
            let low = Int(max(0, min(middle - length * 1.5, Double(limit - 1))))
            let high = Int(min(Double(limit), max(middle + length * 1.5, Double(low + 1))))
            return low..<high
        }
        let (across, down) = (range(centre.x, width), range(centre.y, height))
        return (across.lowerBound, down.lowerBound, across.count, down.count)
    }
}

/// Sends a source's frames to the live preview: a camera's JPEGs unchanged, raw pixels as grey JPEGs.
///
/// Runs on the source's thread. While nobody watches, each frame costs only the check of a flag.
struct PreviewWriter {
    /// The maximum width of an encoded picture, in pixels.
    static let maxWidth = 640
    /// The shortest time between two encoded pictures. It allows fifteen pictures per second, which is every second
    /// frame if the camera delivers thirty.
    static let interval: Duration = .milliseconds(66)

    private let tap: (any PreviewTap)?
    private var encoder: JPEGEncoder?
    private var small = Frame(width: 1, height: 1)
    private var lastSent: Duration?

    init(_ tap: (any PreviewTap)?) { self.tap = tap }

    var isWatched: Bool { tap?.isWatched == true }

    /// Forwards a frame that the camera has already encoded as a JPEG.
    func forward(_ jpeg: UnsafeBufferPointer<UInt8>) {
        guard let tap, tap.isWatched else { return }
        tap.receive(jpeg: jpeg)
    }

    /// Encodes a frame of raw pixels as a JPEG, and sends the JPEG to the preview.
    mutating func encode(_ frame: Frame) {
        guard let tap, tap.isWatched else { return }
        // Accept a frame that is up to 16 ms early, so that a camera with thirty frames per second is not slowed to
        // ten.
        if let lastSent, frame.timestamp >= lastSent, frame.timestamp - lastSent < Self.interval - .milliseconds(16) {
            return
        }
        lastSent = frame.timestamp
        guard let encoder = encoder ?? JPEGEncoder() else { return }
        self.encoder = encoder
        if frame.width > Self.maxWidth {
            frame.downsample(by: (frame.width + Self.maxWidth - 1) / Self.maxWidth, into: &small)
            encoder.encode(small, tap.receive)
        } else {
            encoder.encode(frame, tap.receive)
        }
    }
}

/// Encodes grey JPEGs and reuses its memory. Two threads must not use the same encoder at once.
final class JPEGEncoder {
    /// The JPEG quality of a preview, at which codes stay legible and a picture takes about 20 kB.
    static let quality: Int32 = 70

    private let handle: tjhandle
    private var memory: UnsafeMutablePointer<UInt8>?
    private var capacity: UInt = 0

    /// - Returns: `nil` if memory runs out.
    init?() {
        guard let handle = tjInitCompress() else { return nil }
        self.handle = handle
    }

    deinit {
        tjFree(memory)
        tjDestroy(handle)
    }

    /// - Parameter body: receives the JPEG, which is valid only during the call. It is not called if memory runs out.
    func encode(_ frame: Frame, _ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        var count = capacity
        let status = frame.withLuma { luma in
            tjCompress2(
                handle, luma.baseAddress, Int32(frame.width), Int32(frame.bytesPerLine), Int32(frame.height),
                Int32(TJPF_GRAY.rawValue), &memory, &count, Int32(TJSAMP_GRAY.rawValue), Self.quality,
                TJFLAG_FASTDCT)
        }
        capacity = max(capacity, count)
        guard status == 0, let memory else { return }
        body(UnsafeBufferPointer(start: memory, count: Int(count)))
    }
}

extension Frame {
    /// Fills `small` with a smaller picture, in which each pixel is the mean of `step` by `step` pixels.
    ///
    /// - Precondition: the frame is at least `step` pixels wide and high.
    func downsample(by step: Int, into small: inout Frame) {
        let (columns, rows, stride) = (width / step, height / step, bytesPerLine)
        small.resize(width: columns, height: rows)
        let area = UInt32(step * step)
        withLuma { source in
            small.withMutableLuma { target in
                for row in 0..<rows {
                    for column in 0..<columns {
                        var sum: UInt32 = area / 2
                        for y in 0..<step {
                            let begin = (row * step + y) * stride + column * step
                            for x in begin..<(begin + step) { sum &+= UInt32(source[x]) }
                        }
                        target[row * columns + column] = UInt8(truncatingIfNeeded: sum / area)
                    }
                }
            }
        }
    }
}
