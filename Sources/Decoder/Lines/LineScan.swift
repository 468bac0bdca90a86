import Bookplate
import Glibc

/// Reads rows, columns or oblique lines of a frame and collects what they show. Its memory is kept from one scan to the next.
struct LineScan {
    private let reader: LineReader
    /// Forgets all before each line.
    private let singleReader: LineReader
    private(set) var lineEnds: [LineEnd] = []
    private var lines = 0
    /// Of one grey level in ``samples``.
    static let unitsPerLevel = 3
    /// One resampled line.
    private(set) var samples: [Int16] = []
    /// The one before it, where lines are compared.
    var before: [Int16] = []

    init() throws(DecoderError) { (reader, singleReader) = (try LineReader(), try LineReader()) }

    /// Forgets what was seen.
    mutating func begin() {
        lineEnds.removeAll(keepingCapacity: true)
        lines = 0
    }

    /// Reads every `density`-th row and column.
    ///
    /// - Parameter offset: the first of them, less than `density`; `nil` for what leaves as much out at either edge.
    mutating func scan(_ frame: Frame, density: Int, offset: Int? = nil) {
        frame.withLuma { luma in
            guard let base = luma.baseAddress else { return }
            reader.forget()
            for y in stride(from: offset ?? (frame.height - 1) % density / 2, to: frame.height, by: density) {
                read(
                    base + y * frame.bytesPerLine, count: frame.width, stride: 1,
                    from: (0, Float(y)), step: (1, 0))
            }
            reader.forget()
            for x in stride(from: offset ?? (frame.width - 1) % density / 2, to: frame.width, by: density) {
                read(
                    base + x, count: frame.height, stride: frame.bytesPerLine,
                    from: (Float(x), 0), step: (0, 1))
            }
        }
    }

    /// Reads a region along its length, at most `most` lines of it. Each is the mean of three lines beside each other, which
    /// takes noise away and keeps the bars.
    mutating func scan(_ frame: Frame, region: Region, enlargement: Double, most: Int) {
        // Quiet zones and what the blocks missed on both sides.
        var wide = region
        wide.length += max(32, region.length * 0.5)
        guard let path = Path(wide, in: frame, enlargement: enlargement) else { return }
        let lines = max(2, min(most, Int(region.height)))
        reader.forget()
        for line in 0..<lines {
            // Along the bars, closer towards their ends: where these are is told by the last lines that cross them.
            let offset = -cos(.pi * (Double(line) + 0.5) / Double(lines)) * region.height / 2
            let start = sample(frame, path, beside: offset)
            withSamples { scan, values in
                scan.read(values, count: path.count, stride: 1, from: start, step: path.step)
            }
        }
    }

    /// Reads a place where an add-on may stand, from its left: zbar knows none the other way round.
    mutating func scan(_ frame: Frame, addon place: Region, enlargement: Double, lines: Int) {
        guard let path = Path(place, in: frame, enlargement: enlargement) else { return }
        for line in 0..<lines {
            let start = sample(frame, path, beside: ((Double(line) + 0.5) / Double(lines) - 0.5) * place.height)
            withSamples { scan, values in
                scan.singleReader.forget()
                scan.singleReader.read(values, count: path.count, stride: 1, coarseness: line.isMultiple(of: 2) ? 3 : 1)
                {
                    scan.note($0, from: start, step: path.step, isWhole: true)
                }
                scan.lines += 1
            }
        }
    }

    /// How lines go through a region.
    private struct Path {
        let region: Region
        /// From one sample to the next, in pixels.
        let step: (Float, Float)
        let count: Int

        /// - Returns: nil where there is too little to read, or more than any picture has.
        init?(_ region: Region, in frame: Frame, enlargement: Double) {
            let count = region.length * enlargement
            guard count > 40, count < 16_384, frame.width > 1, frame.height > 1 else { return nil }
            (self.region, self.count) = (region, Int(count))
            step = (Float(region.across.x / enlargement), Float(region.across.y / enlargement))
        }
    }

    /// - Returns: where the line begins.
    private mutating func sample(_ frame: Frame, _ path: Path, beside: Double) -> (Float, Float) {
        let start = path.region.point(along: -path.region.length / 2, beside: beside)
        sample(
            frame, from: (start.x, start.y), step: (Double(path.step.0), Double(path.step.1)), count: path.count,
            beside: path.region.across)
        return (Float(start.x), Float(start.y))
    }

    /// Fills ``samples`` by bilinear interpolation; outside the frame its edge goes on.
    mutating func sample(
        _ frame: Frame, from origin: (Double, Double), step: (Double, Double), count: Int, beside across: Point
    ) {
        if samples.count < count { samples = [Int16](repeating: 0, count: count) }
        let (width, height, stride) = (frame.width, frame.height, frame.bytesPerLine)
        // 16.16 fixed point.
        let one = 65_536.0
        let (stepX, stepY) = (Int(step.0 * one), Int(step.1 * one))
        frame.withLuma { luma in
            samples.withUnsafeMutableBufferPointer { samples in
                guard let base = luma.baseAddress else { return }
                for index in 0..<count { samples[index] = 0 }
                for side in -1...1 {
                    var x = Int((origin.0 - across.y * Double(side)) * one)
                    var y = Int((origin.1 + across.x * Double(side)) * one)
                    for index in 0..<count {
                        let px = min(max(x >> 16, 0), width - 2)
                        let py = min(max(y >> 16, 0), height - 2)
                        let (fx, fy) = ((x >> 8) & 255, (y >> 8) & 255)
                        let at = base + py * stride + px
                        let top = Int(at[0]) * (256 - fx) + Int(at[1]) * fx
                        let bottom = Int(at[stride]) * (256 - fx) + Int(at[stride + 1]) * fx
                        // Each of the three lines brings its grey level.
                        samples[index] &+= Int16(truncatingIfNeeded: (top * (256 - fy) + bottom * fy) >> 16)
                        x &+= stepX
                        y &+= stepY
                    }
                }
            }
        }
    }

    private mutating func withSamples(_ body: (inout LineScan, UnsafePointer<Int16>) -> Void) {
        // Taken out while it is lent: the lineEnds are written meanwhile.
        let line = samples
        line.withUnsafeBufferPointer { buffer in
            if let base = buffer.baseAddress { body(&self, base) }
        }
    }

    /// Reads a line. When that shows something, it is read once more, either way and on its own: for both ends of the code, and for
    /// its add-on.
    ///
    /// Lines are begun from either side in turn, and two of four are read coarsely. The line scanner adapts its threshold as it
    /// goes, so what is lost one way can be seen the other way, and halves of a code that neighbouring lines saw are put
    /// together (106 ISBNs instead of 102). A code put together so ends wherever its second half did; its corners are known from
    /// the lines that show it whole.
    private mutating func read<Value: FixedWidthInteger>(
        _ values: UnsafePointer<Value>, count: Int, stride: Int, from origin: (Float, Float), step: (Float, Float)
    ) {
        let seen = lineEnds.count
        let last = Float(count - 1)
        let end = (origin.0 + step.0 * last, origin.1 + step.1 * last)
        func read(_ reader: LineReader, backwards: Bool, coarseness: Int32, isWhole: Bool) {
            if backwards {
                reader.read(values + (count - 1) * stride, count: count, stride: -stride, coarseness: coarseness) {
                    note($0, from: end, step: (-step.0, -step.1), isWhole: isWhole)
                }
            } else {
                reader.read(values, count: count, stride: stride, coarseness: coarseness) {
                    note($0, from: origin, step: step, isWhole: isWhole)
                }
            }
        }
        read(reader, backwards: !lines.isMultiple(of: 2), coarseness: lines / 2 % 2 == 0 ? 1 : 3, isWhole: false)
        let known = lineEnds.count
        if known > seen {
            for turn in 0..<4 where turn < 2 || lineEnds.count == known {
                singleReader.forget()
                read(singleReader, backwards: turn % 2 == 1, coarseness: turn < 2 ? 3 : 1, isWhole: true)
            }
        }
        lines += 1
    }

    private mutating func note(_ code: LineCode, from origin: (Float, Float), step: (Float, Float), isWhole: Bool) {
        if code.digits.count == 13, !code.digits.hasRightCheckDigit { return }
        let end = Float(code.end)
        let length = (step.0 * step.0 + step.1 * step.1).squareRoot()
        let way: Float = code.isForward ? 1 / length : -1 / length
        lineEnds.append(
            LineEnd(
                digits: code.digits, x: origin.0 + step.0 * end, y: origin.1 + step.1 * end, dx: step.0 * way,
                dy: step.1 * way,
                isRightEnd: code.isForward, line: lines, isWhole: isWhole))
    }
}
