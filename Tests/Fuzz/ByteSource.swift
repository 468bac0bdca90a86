import Bookplate

/// Takes an input apart: numbers from its bytes, in order; 0 behind its end.
struct ByteSource {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

    var isEmpty: Bool { bytes.isEmpty }

    mutating func next() -> Int { Int(bytes.popFirst() ?? 0) }

    /// Two bytes.
    mutating func wide() -> Int { next() << 8 | next() }

    /// Evenly from a range, by two bytes.
    mutating func number(_ range: ClosedRange<Double>) -> Double {
        range.lowerBound + (range.upperBound - range.lowerBound) * Double(wide()) / 65_535
    }

    mutating func number(_ range: ClosedRange<Int>) -> Int { range.lowerBound + wide() % range.count }

    mutating func rest() -> [UInt8] {
        defer { bytes = [] }
        return Array(bytes)
    }

    /// A frame of any size up to these whose rows are padded or not, from all that is left: every byte a pixel or a block of them, over
    /// and over.
    mutating func frame(mostWidth: Int, mostHeight: Int) -> Frame {
        let (width, height) = (number(1...mostWidth), number(1...mostHeight))
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
