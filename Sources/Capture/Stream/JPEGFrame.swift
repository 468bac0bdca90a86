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
