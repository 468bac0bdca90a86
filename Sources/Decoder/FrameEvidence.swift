import Bookplate

/// Collects the grey levels of bar-like regions over several frames. Two or three frames together may show a code that
/// one frame does not, because noise, glare and the movement of the hand differ between frames.
struct FrameEvidence {
    /// A region, with the brightness along a line across its code in the most recent frames, and the position of the
    /// code on each of these lines.
    private struct TrackedRegion {
        var corners: Corners
        var lines: [GreyReader.LineFit] = []
        var digits: [Digits] = []
        var last: Duration
    }

    private var reader = GreyReader()
    private var regions: [TrackedRegion] = []

    /// The time for which a region is remembered after it was last added.
    private static let memory: Duration = .seconds(1)
    /// The maximum number of frames that are remembered for a region.
    private static let maxLines = 5
    /// The maximum number of regions that are remembered.
    private static let maxRegions = 6
    /// The minimum number of frames that must agree on an ISBN.
    private static let minLines = 2
    /// The minimum ratio between the cost (mean squared difference) of the next best digits and the cost of the best
    /// digits. A test with 6,000 computer-drawn frame sequences had 5,654 findings. The ratio was at most 1.42 for the
    /// 1,230 wrong findings, and more than 1.5 for 97 of 100 correct ones.
    private static let minRatio: Float = 1.5
    /// The maximum cost (mean squared difference) of a frame that is kept. A code that can be read in the end has a
    /// lower cost in every frame.
    private static let maxCost: Float = 0.03

    /// Adds one region of a frame.
    ///
    /// - Parameters:
    ///   - hints: payloads that were read in the region.
    ///   - slack: see ``GreyReader/read(_:region:slack:hints:)``.
    /// - Returns: the ISBN that this frame and earlier frames show together; `nil` if they show none.
    mutating func add(
        _ frame: Frame, at region: Region, slack: Double, hints: [Digits]
    ) -> RawSymbol? {
        regions.removeAll { frame.timestamp - $0.last >= Self.memory || frame.timestamp < $0.last }
        guard let bars = BarRun(frame, region: region, slack: slack) else { return nil }
        let profile = bars.profile(frame, at: 0, thickness: 0.3, lines: 9)
        let index = index(of: region, at: frame.timestamp)
        let known = regions[index].digits + hints.filter { !regions[index].digits.contains($0) }
        guard
            let found = reader.find(on: profile, spans: bars.spans(frame), hints: known, isThorough: false),
            found.sequence.cost < Self.maxCost
        else { return nil }
        regions[index].lines += found.lines
        regions[index].digits.removeAll { $0 == found.sequence.digits }
        regions[index].digits.append(found.sequence.digits)
        if regions[index].lines.count > Self.maxLines { regions[index].lines.removeFirst() }
        if regions[index].digits.count > 3 { regions[index].digits.removeFirst() }
        guard let all = readTogether(regions[index]) else { return nil }
        return RawSymbol(
            digits: all.sequence.digits, lines: all.lines.count, wholeLines: all.lines.count,
            pointsPerEnd: all.lines.count, corners: bars.corners(of: found.lines[0]))
    }

    /// Returns the index of a region in ``regions``, and adds the region if it is new.
    private mutating func index(of region: Region, at time: Duration) -> Int {
        let corners = region.corners
        if let index = regions.firstIndex(where: { $0.corners.isSamePlace(corners) }) {
            (regions[index].corners, regions[index].last) = (corners, time)
            return index
        }
        if regions.count == Self.maxRegions { regions.removeFirst() }
        regions.append(TrackedRegion(corners: corners, last: time))
        return regions.count - 1
    }

    private mutating func readTogether(_ region: TrackedRegion) -> GreyReader.Finding? {
        guard region.lines.count >= Self.minLines else { return nil }
        var best: GreyReader.Finding?
        for digits in region.digits.reversed() {
            guard let all = reader.settle(region.lines, digits), all.lines.count >= Self.minLines else { continue }
            if all.sequence.cost < best?.sequence.cost ?? .infinity { best = all }
        }
        guard let best, best.isClear, best.sequence.ratio > Self.minRatio, reader.isBook(best) else { return nil }
        return best
    }
}

extension Frame {
    /// Measures the brightness of the frame, using every eighth pixel of every eighth row.
    func light(offset: Int) -> FrameResult.Light {
        var (sum, clipped, count) = (0, 0, 0)
        withLuma { luma in
            guard let base = luma.baseAddress else { return }
            for y in stride(from: min(offset, height - 1), to: height, by: 8) {
                let row = base + y * bytesPerLine
                for x in stride(from: min(offset, width - 1), to: width, by: 8) {
                    sum += Int(row[x])
                    if row[x] >= 250 { clipped += 1 }
                    count += 1
                }
            }
        }
        return FrameResult.Light(mean: Double(sum) / Double(count), clipped: Double(clipped) / Double(count))
    }
}

/// Measurements of lines across a region. The region need not contain a readable code.
struct Stripes {
    /// The largest step between two neighbouring pixels of a line, as a fraction of the range between ink and paper;
    /// averaged over the lines.
    var sharpness: Double
    /// The number of changes between light and dark along the line that has the fewest changes.
    var changes: Int
    /// The similarity of lines that are a sixth of the region's height apart, from -1 to 1.
    var likeness: Double
    /// The number of grey levels between ink and paper on the line where the two differ least.
    var range: Double

    /// True if the lines look like a code. A line across a code changes between light and dark 60 times, or 16 times if
    /// blur has merged the narrow bars. In print and most textures, neighbouring lines differ.
    var areBars: Bool { likeness > 0.6 && changes >= 14 && range > 20 }
}

extension LineScan {
    private static let offsets = [-0.32, -0.16, 0, 0.16, 0.32]

    /// Measures five lines across a region.
    ///
    /// - Returns: `nil` if the region is too small.
    mutating func stripes(of frame: Frame, in region: Region) -> Stripes? {
        let count = Int(region.length)
        guard count > 40, count < 16_384, frame.width > 1, frame.height > 1 else { return nil }
        var stripes = Stripes(sharpness: 0, changes: .max, likeness: 0, range: .infinity)
        if before.count < count { before = [Int16](repeating: 0, count: count) }
        for offset in Self.offsets {
            let (along, beside) = (-region.length / 2, offset * region.height)
            let x = region.centre.x + region.across.x * along - region.across.y * beside
            let y = region.centre.y + region.across.y * along + region.across.x * beside
            sample(frame, from: (x, y), step: (region.across.x, region.across.y), count: count, beside: region.across)
            samples.withUnsafeBufferPointer { line in
                let line = UnsafeBufferPointer(rebasing: line[0..<count])
                let (low, high) = (Int(line.min() ?? 0), Int(line.max() ?? 0))
                var step = 0
                for at in 1..<count { step = max(step, abs(Int(line[at]) - Int(line[at - 1]))) }
                stripes.sharpness += high > low ? Double(step) / Double(high - low) / 5 : 0
                stripes.range = min(stripes.range, Double(high - low) / Double(Self.unitsPerLevel))
                stripes.changes = min(stripes.changes, line.changes(hysteresis: (high - low) / 10))
                before.withUnsafeMutableBufferPointer { before in
                    let before = UnsafeMutableBufferPointer(rebasing: before[0..<count])
                    if offset != Self.offsets[0] {
                        stripes.likeness += line.likeness(to: UnsafeBufferPointer(before)) / 4
                    }
                    _ = before.update(fromContentsOf: line)
                }
            }
        }
        return stripes
    }
}

extension UnsafeBufferPointer<Int16> {
    /// Counts how often the values turn from rising to falling or back by more than `hysteresis`.
    fileprivate func changes(hysteresis: Int) -> Int {
        var (changes, isRising, extreme) = (0, true, Int(self[0]))
        for value in self {
            let value = Int(value)
            if isRising ? value > extreme : value < extreme {
                extreme = value
            } else if abs(value - extreme) > hysteresis {
                (isRising, extreme) = (!isRising, value)
                changes += 1
            }
        }
        return changes
    }

    /// Returns the correlation with another line of the same length. Tries a few shifts and uses the best one, because
    /// a region's direction is known only to within some degrees.
    fileprivate func likeness(to other: UnsafeBufferPointer<Int16>) -> Double {
        var best = -1.0
        for shift in -4...4 {
            var (x, y, xx, yy, xy) = (0, 0, 0, 0, 0)
            let overlap = Swift.max(0, shift)..<Swift.min(count, count + shift)
            for at in overlap {
                let (a, b) = (Int(self[at]), Int(other[at - shift]))
                (x, y, xx, yy, xy) = (x &+ a, y &+ b, xx &+ a &* a, yy &+ b &* b, xy &+ a &* b)
            }
            let n = Double(overlap.count)
            let (mx, my) = (Double(x) / n, Double(y) / n)
            let variances = (Double(xx) / n - mx * mx) * (Double(yy) / n - my * my)
            if variances > 1 { best = Swift.max(best, (Double(xy) / n - mx * my) / variances.squareRoot()) }
        }
        return best
    }
}
