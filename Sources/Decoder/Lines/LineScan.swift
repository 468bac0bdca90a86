import Bookplate
import Glibc

/// Reads rows, columns or oblique lines of a frame, and collects the ends of the codes on these lines. Its memory is
/// reused for the next scan.
struct LineScan {
    private let reader: LineReader
    /// A reader that is reset before each line.
    private let singleReader: LineReader
    private(set) var lineEnds: [LineEnd] = []
    private var lines = 0
    /// The difference in ``samples`` that corresponds to one grey level.
    static let unitsPerLevel = 3
    /// The values of one line, resampled from a frame.
    private(set) var samples: [Int16] = []
    /// The values of the previous line, if lines are compared.
    var before: [Int16] = []

    init() throws(DecoderError) { (reader, singleReader) = (try LineReader(), try LineReader()) }

    /// Starts a new scan, and removes the line ends of the previous scan.
    mutating func begin() {
        lineEnds.removeAll(keepingCapacity: true)
        lines = 0
    }

    /// A choice of lines for a frame in which the places of codes are known.
    struct Focus {
        /// Positions from the first to the last, in pixels.
        struct Span {
            private var first = Double.infinity
            private var last = -Double.infinity

            mutating func include(_ centre: Double, within distance: Double) {
                (first, last) = (min(first, centre - distance), max(last, centre + distance))
            }

            fileprivate func contains(_ line: Int) -> Bool { first <= Double(line) && Double(line) <= last }
        }

        /// The rows and the columns that cross the codes, with all between two codes. All of them are read, and every
        /// third of the others.
        var rows = Span()
        var columns = Span()
        /// Changes from frame to frame, and with it which third is read.
        var turn: Int

        func includesRow(_ y: Int, density: Int) -> Bool { rows.contains(y) || isDue(y / density) }
        func includesColumn(_ x: Int, density: Int) -> Bool { columns.contains(x) || isDue(x / density) }

        private func isDue(_ line: Int) -> Bool { (line + turn).isMultiple(of: 3) }
    }

    /// Reads every `density`-th row and column.
    ///
    /// - Parameters:
    ///   - offset: the index of the first row and of the first column, less than `density`; `nil` for equal distances
    ///     from both edges.
    ///   - focus: the rows and columns that matter most; `nil` if all of them matter.
    mutating func scan(_ frame: Frame, density: Int, offset: Int? = nil, focus: Focus? = nil) {
        frame.withLuma { luma in
            guard let base = luma.baseAddress else { return }
            reader.reset()
            for y in stride(from: offset ?? (frame.height - 1) % density / 2, to: frame.height, by: density) {
                guard focus?.includesRow(y, density: density) ?? true else {
                    // Halves are not joined across lines that were left out.
                    reader.reset()
                    continue
                }
                read(
                    base + y * frame.bytesPerLine, count: frame.width, stride: 1,
                    from: (0, Float(y)), step: (1, 0))
            }
            reader.reset()
            for x in stride(from: offset ?? (frame.width - 1) % density / 2, to: frame.width, by: density) {
                guard focus?.includesColumn(x, density: density) ?? true else {
                    reader.reset()
                    continue
                }
                read(
                    base + x, count: frame.height, stride: frame.bytesPerLine,
                    from: (Float(x), 0), step: (0, 1))
            }
        }
    }

    /// Reads at most `most` lines along the length of a region. Each line is the mean of three adjacent lines of the
    /// frame, which reduces noise without blurring the bars.
    mutating func scan(_ frame: Frame, region: Region, enlargement: Double, most: Int) {
        // Add the quiet zones, and the parts of the code that the blocks missed at both ends.
        var wide = region
        wide.length += max(32, region.length * 0.5)
        guard let path = Path(wide, in: frame, enlargement: enlargement) else { return }
        let lines = max(2, min(most, Int(region.height)))
        reader.reset()
        for line in 0..<lines {
            // The lines are closer together towards the ends of the bars, because the outermost lines that cross the
            // bars show where the bars end.
            let offset = -cos(.pi * (Double(line) + 0.5) / Double(lines)) * region.height / 2
            let start = sample(frame, path, beside: offset)
            withSamples { scan, values in
                scan.read(values, count: path.count, stride: 1, from: start, step: path.step)
            }
        }
    }

    /// Reads a region where an add-on may stand. The region is read from left to right, because zbar does not read
    /// add-ons backwards.
    mutating func scan(_ frame: Frame, addon region: Region, enlargement: Double, lines: Int) {
        guard let path = Path(region, in: frame, enlargement: enlargement) else { return }
        for line in 0..<lines {
            let start = sample(frame, path, beside: ((Double(line) + 0.5) / Double(lines) - 0.5) * region.height)
            withSamples { scan, values in
                scan.singleReader.reset()
                scan.singleReader.read(values, count: path.count, stride: 1, isCoarse: line.isMultiple(of: 2)) {
                    scan.record($0, from: start, step: path.step, isWhole: true)
                }
                scan.lines += 1
            }
        }
    }

    /// The region whose lines are sampled, with the distance between two samples and the number of samples per line.
    private struct Path {
        let region: Region
        /// The distance from one sample to the next, in pixels.
        let step: (Float, Float)
        let count: Int

        /// - Returns: `nil` if the lines would have too few samples to read, or more than any picture has.
        init?(_ region: Region, in frame: Frame, enlargement: Double) {
            let count = region.length * enlargement
            guard count > 40, count < 16_384, frame.width > 1, frame.height > 1 else { return nil }
            (self.region, self.count) = (region, Int(count))
            step = (Float(region.across.x / enlargement), Float(region.across.y / enlargement))
        }
    }

    /// Fills ``samples`` with a line through a region.
    ///
    /// - Returns: the start of the line.
    private mutating func sample(_ frame: Frame, _ path: Path, beside: Double) -> (Float, Float) {
        let start = path.region.point(along: -path.region.length / 2, beside: beside)
        sample(
            frame, from: (start.x, start.y), step: (Double(path.step.0), Double(path.step.1)), count: path.count,
            beside: path.region.across)
        return (Float(start.x), Float(start.y))
    }

    /// Fills ``samples`` with a line of a frame by bilinear interpolation. Outside the frame, the pixels at its edge
    /// are repeated.
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
                        // The sample is the sum of three lines, which is why `unitsPerLevel` is 3.
                        samples[index] &+= Int16(truncatingIfNeeded: (top * (256 - fy) + bottom * fy) >> 16)
                        x &+= stepX
                        y &+= stepY
                    }
                }
            }
        }
    }

    private mutating func withSamples(_ body: (inout LineScan, UnsafePointer<Int16>) -> Void) {
        // Keep a second reference to the array, because `body` needs exclusive access to the scan.
        let line = samples
        line.withUnsafeBufferPointer { buffer in
            if let base = buffer.baseAddress { body(&self, base) }
        }
    }

    /// Reads a line. If a code is found, the line is read again on its own, in both directions, to find both ends of
    /// the code and its add-on.
    ///
    /// Lines are read from alternating sides, and two of every four are read coarsely, with fine brightness steps
    /// ignored. The line scanner adapts its threshold as it proceeds, so a code that is missed in one direction may be
    /// found in the other, and halves from neighbouring lines are joined (in the test photos, this finds 106 ISBNs
    /// instead of 102). For a joined code, only the end of the second half is known, so the corners of a code are
    /// computed from the lines that show it whole.
    private mutating func read<Value: FixedWidthInteger>(
        _ values: UnsafePointer<Value>, count: Int, stride: Int, from origin: (Float, Float), step: (Float, Float)
    ) {
        let seen = lineEnds.count
        let last = Float(count - 1)
        let end = (origin.0 + step.0 * last, origin.1 + step.1 * last)
        func read(_ reader: LineReader, backwards: Bool, isCoarse: Bool, isWhole: Bool) {
            if backwards {
                reader.read(values + (count - 1) * stride, count: count, stride: -stride, isCoarse: isCoarse) {
                    record($0, from: end, step: (-step.0, -step.1), isWhole: isWhole)
                }
            } else {
                reader.read(values, count: count, stride: stride, isCoarse: isCoarse) {
                    record($0, from: origin, step: step, isWhole: isWhole)
                }
            }
        }
        read(reader, backwards: !lines.isMultiple(of: 2), isCoarse: lines / 2 % 2 != 0, isWhole: false)
        let known = lineEnds.count
        if known > seen {
            for attempt in 0..<4 where attempt < 2 || lineEnds.count == known {
                singleReader.reset()
                read(singleReader, backwards: attempt % 2 == 1, isCoarse: attempt < 2, isWhole: true)
            }
        }
        lines += 1
    }

    private mutating func record(_ code: LineCode, from origin: (Float, Float), step: (Float, Float), isWhole: Bool) {
        if code.digits.count == 13, !code.digits.hasCorrectCheckDigit { return }
        let end = Float(code.end)
        let length = (step.0 * step.0 + step.1 * step.1).squareRoot()
        let scale: Float = code.isForward ? 1 / length : -1 / length
        lineEnds.append(
            LineEnd(
                digits: code.digits, x: origin.0 + step.0 * end, y: origin.1 + step.1 * end, dx: step.0 * scale,
                dy: step.1 * scale,
                isRightEnd: code.isForward, line: lines, isWhole: isWhole))
    }
}
