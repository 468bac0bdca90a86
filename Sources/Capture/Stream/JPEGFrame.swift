import Bookplate
import CTurboJPEG
import Glibc

/// Decodes the JPEG of one frame to grey levels, again and again with the same memory.
///
/// The colour planes stay undecoded. Not for two threads at once.
package final class JPEGFrameDecoder {
    /// A frame larger than this is none of a camera's (8K is 33 megapixels).
    static let mostPixels = 40_000_000

    private var handle: tjhandle

    /// - Returns: `nil` when memory runs out.
    package init?() {
        guard let handle = tjInitDecompress() else { return nil }
        self.handle = handle
    }

    deinit { tjDestroy(handle) }

    /// - Parameter bytes: from SOI on; what follows EOI, as some drivers pad, is not looked at.
    /// - Returns: whether all of it was there and sound. If not, what `frame` holds is undefined.
    package func decode(_ bytes: UnsafeBufferPointer<UInt8>, into frame: inout Frame) -> Bool {
        guard Self.isWhole(bytes) else { return false }
        var (width, height, sampling, colour): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
        guard
            tjDecompressHeader3(handle, bytes.baseAddress, UInt(bytes.count), &width, &height, &sampling, &colour) == 0
        else {
            renew()
            return false
        }
        guard
            width > 0, height > 0, Int(width) * Int(height) <= Self.mostPixels,
            colour == Int32(TJCS_YCbCr.rawValue) || colour == Int32(TJCS_GRAY.rawValue)
        else { return false }
        frame.resize(width: Int(width), height: Int(height))
        return frame.withMutableLuma { luma in
            tjDecompress2(
                handle, bytes.baseAddress, UInt(bytes.count), luma.baseAddress, width, width, height,
                Int32(TJPF_GRAY.rawValue), TJFLAG_LIMITSCANS) == 0 || isMerelyPadded
        }
    }

    /// Many webcams put stray bytes before the EOI of every frame (libjpeg: "2 extraneous bytes before marker 0xd9"); the picture is
    /// whole. TurboJPEG tells this from a torn picture by its text alone, which is looked at where it lies: this is once a frame.
    private var isMerelyPadded: Bool {
        tjGetErrorCode(handle) == TJERR_WARNING.rawValue && strstr(tjGetErrorStr2(handle), "extraneous bytes") != nil
    }

    /// TurboJPEG 2.1 stays in the middle of a header that broke off and refuses every later frame.
    private func renew() {
        guard let fresh = tjInitDecompress() else { return }
        tjDestroy(handle)
        handle = fresh
    }

    /// Begins with SOI and holds an EOI near its end (ITU-T T.81, B.1.1.3); drivers pad with zeros behind it.
    static func isWhole(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard bytes.count >= 4, bytes[0] == 0xFF, bytes[1] == 0xD8 else { return false }
        var at = bytes.count - 1
        while at > 2, bytes[at] == 0 { at -= 1 }
        return bytes[at] == 0xD9 && bytes[at - 1] == 0xFF
    }
}

extension Frame {
    /// A small grey JPEG of a code's surroundings, for a person to recognise the book by.
    ///
    /// - Returns: JPEG bytes, about 10 kB; `nil` when memory runs out.
    public func thumbnail(around corners: Corners, longSide: Int = 320) -> [UInt8]? {
        let area = corners.surroundings(width: width, height: height)
        let cut = cropped(x: area.x, y: area.y, width: area.width, height: area.height)
        do {
            return try cut.areaAveraged(longSide: longSide).jpeg(quality: 80, name: "frame")
        } catch {
            // The encoder fails in no other way, and a capture without a picture is worth more than none.
            return nil
        }
    }
}

extension Corners {
    /// Three times a code's length around it, about a book's cover, within a picture of that size; never empty.
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

/// Hands a source's frames to whoever watches: a camera's JPEGs as they are, grey ones made of raw pixels.
///
/// On the source's thread. While nobody watches it costs one look at a flag.
struct PreviewPictures {
    /// The widest picture that is made here, in pixels.
    static let mostWidth = 640
    /// Between two pictures that are made here: fifteen a second, of a camera that gives thirty, every second one.
    static let apart: Duration = .milliseconds(66)

    private let tap: (any PreviewTap)?
    private var encoder: JPEGEncoder?
    private var small = Frame(width: 1, height: 1)
    private var lastMade: Duration?

    init(_ tap: (any PreviewTap)?) { self.tap = tap }

    var isWatched: Bool { tap?.isWatched == true }

    /// Hands on a frame as the camera packed it.
    func pass(_ jpeg: UnsafeBufferPointer<UInt8>) {
        guard let tap, tap.isWatched else { return }
        tap.take(jpeg: jpeg)
    }

    /// Hands on a frame of raw pixels.
    mutating func make(from frame: Frame) {
        guard let tap, tap.isWatched else { return }
        // Up to a tick early, so that a camera of thirty frames is not held to ten.
        if let lastMade, frame.timestamp >= lastMade, frame.timestamp - lastMade < Self.apart - .milliseconds(16) {
            return
        }
        lastMade = frame.timestamp
        guard let encoder = encoder ?? JPEGEncoder() else { return }
        self.encoder = encoder
        if frame.width > Self.mostWidth {
            frame.thin(by: (frame.width + Self.mostWidth - 1) / Self.mostWidth, into: &small)
            encoder.encode(small, tap.take)
        } else {
            encoder.encode(frame, tap.take)
        }
    }
}

/// Makes grey JPEGs, again and again with the same memory. Not for two threads at once.
final class JPEGEncoder {
    /// What a preview needs: codes stay legible, and a picture has about 20 kB.
    static let quality: Int32 = 70

    private let handle: tjhandle
    private var memory: UnsafeMutablePointer<UInt8>?
    private var room: UInt = 0

    /// - Returns: `nil` when memory runs out.
    init?() {
        guard let handle = tjInitCompress() else { return nil }
        self.handle = handle
    }

    deinit {
        tjFree(memory)
        tjDestroy(handle)
    }

    /// - Parameter body: gets the JPEG, which is lent; not called when memory runs out.
    func encode(_ frame: Frame, _ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        var count = room
        let status = frame.withLuma { luma in
            tjCompress2(
                handle, luma.baseAddress, Int32(frame.width), Int32(frame.bytesPerLine), Int32(frame.height),
                Int32(TJPF_GRAY.rawValue), &memory, &count, Int32(TJSAMP_GRAY.rawValue), Self.quality,
                TJFLAG_FASTDCT)
        }
        room = max(room, count)
        guard status == 0, let memory else { return }
        body(UnsafeBufferPointer(start: memory, count: Int(count)))
    }
}

extension Frame {
    /// A smaller picture, each pixel the mean of `step` times `step`.
    ///
    /// - Precondition: the frame is at least `step` wide and high.
    func thin(by step: Int, into small: inout Frame) {
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
