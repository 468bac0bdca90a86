import Bookplate
import Glibc

/// One frame of a stream in grey levels. Its memory is used for the next.
struct StreamPicture {
    private let jpeg: JPEGFrameDecoder
    var frame = Frame(width: 1, height: 1)
    /// What was taken last could be decoded; else what `frame` holds is undefined.
    private(set) var isSound = false
    private var pixelFormat = PixelFormat.mjpg
    private var preview: PreviewPictures

    /// - Returns: `nil` when memory runs out.
    init?(preview: (any PreviewTap)? = nil) {
        guard let jpeg = JPEGFrameDecoder() else { return nil }
        self.jpeg = jpeg
        self.preview = PreviewPictures(preview)
    }

    func format(rate: Double?) -> CaptureFormat {
        CaptureFormat(width: frame.width, height: frame.height, pixelFormat: pixelFormat, framesPerSecond: rate)
    }

    mutating func take(_ cut: FrameCutter.Cut, from cutter: FrameCutter) {
        switch cut {
        case .jpeg(let range):
            pixelFormat = .mjpg
            isSound = cutter.withBytes(range) { bytes in
                guard jpeg.decode(bytes, into: &frame) else { return false }
                preview.pass(bytes)
                return true
            }
        case .pgm(let header, let rows):
            pixelFormat = .grey
            frame.resize(width: header.width, height: header.height)
            cutter.withBytes(rows) { rows in
                frame.withMutableLuma { luma in
                    guard let base = rows.baseAddress, rows.count == luma.count else { return }
                    luma.baseAddress?.update(from: base, count: rows.count)
                }
            }
            isSound = true
            preview.make(from: frame)
        case .damaged, .more:
            isSound = false
        }
    }
}
