import Bookplate

/// Where the luma lies in a buffer: what the driver gave, checked before anything is read by it.
struct LumaLayout: Equatable {
    let pixelFormat: PixelFormat
    let width: Int
    let height: Int
    /// Stride of the rows that hold the luma; not used for MJPG.
    let bytesPerLine: Int
    /// What a buffer must hold for the whole luma, the last row without padding; 0 for MJPG.
    let byteCount: Int

    init(_ given: PictureFormat) throws(CameraError) {
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
