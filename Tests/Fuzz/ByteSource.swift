import Bookplate

/// Reads numbers from the bytes of an input, in order; 0 behind its end.
struct ByteSource {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

    var isEmpty: Bool { bytes.isEmpty }

    mutating func next() -> Int { Int(bytes.popFirst() ?? 0) }

    /// Returns a number of two bytes.
    mutating func wide() -> Int { next() << 8 | next() }

    /// Returns a uniformly distributed number from a range, by two bytes.
    mutating func number(_ range: ClosedRange<Double>) -> Double {
        range.lowerBound + (range.upperBound - range.lowerBound) * Double(wide()) / 65_535
    }

    mutating func number(_ range: ClosedRange<Int>) -> Int { range.lowerBound + wide() % range.count }

    mutating func rest() -> [UInt8] {
        defer { bytes = [] }
        return Array(bytes)
    }

    /// Returns a frame of any size up to these, with padded rows or not, from all remaining bytes: each is a pixel or a
    /// block of pixels, repeated as needed.
    mutating func frame(maxWidth: Int, maxHeight: Int) -> Frame {
        let (width, height) = (number(1...maxWidth), number(1...maxHeight))
        let (padding, blocks) = (next() % 9, next())
        let (across, down) = (1 + blocks % 8, 1 + blocks / 8 % 32)
        let levels = rest()
        var frame = Frame(width: width, height: height, bytesPerLine: width + padding)
        guard !levels.isEmpty else { return frame }
        let columns = (width + across - 1) / across
        frame.withMutableLuma { luma in
            for at in luma.indices {
                let (x, y) = (at % (width + padding), at / (width + padding))
                luma[at] = x < width ? levels[(y / down * columns + x / across) % levels.count] : 255
            }
        }
        return frame
    }
}
