import Bookplate
import CTurboJPEG

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
