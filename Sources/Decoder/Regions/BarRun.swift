import Bookplate

/// The bars in a region: how far they lean, how far up and down they extend, and which stretches along the region are
/// striped.
///
/// The region's direction is known only to within some degrees. There may be print above and below the bars, and an
/// add-on or the frame of a label beside them.
struct BarRun {
    let region: Region
    /// The lean of the bars: the distance by which they move along the region for each pixel of its height.
    private(set) var shear = 0.0
    /// The part of the region's height that the bars occupy, within -0.5 to 0.5.
    private(set) var rows = -0.5...0.5
    /// The distance from the middle of the region to either end of a profile, in pixels along the region.
    private let reach: Double
    /// The number of samples per pixel of a profile (the brightness along a line).
    private let scale: Double

    /// The number of lines that are compared.
    private static let lines = 16
    /// The distance between two lines that are compared with each other, in lines.
    private static let lineDistance = 2
    /// The number of samples of a profile over the length of its region. A code has about four samples per module, and
    /// fewer if the region includes an add-on.
    private static let samples = 420.0
    /// The correlation of two neighbouring lines above which the bars are assumed to continue from one line to the
    /// next.
    private static let likeness: Float = 0.8

    /// - Parameter slack: the maximum distance between an end of the code and the end of the region, in pixels of the
    ///   frame.
    /// - Returns: `nil` if the region is too small or contains no bars.
    init?(_ frame: Frame, region: Region, slack: Double) {
        guard frame.width > 1, frame.height > 1, region.length > 40, region.height >= 2 else { return nil }
        self.region = region
        reach = region.length / 2 + slack
        scale = min(2, Self.samples / region.length)
        guard (100..<4000).contains(Int(reach * 2 * scale)), findRows(frame) else { return nil }
    }

    private mutating func findRows(_ frame: Frame) -> Bool {
        let count = Self.lines
        let step = region.height / Double(count)
        // One sample per pixel is enough to compare lines.
        let coarse = min(1, scale)
        let lines = (0..<count).map { line in
            profile(
                frame, offset: (Double(line) + 0.5) / Double(count) - 0.5, height: 0.5 / Double(count), lines: 2,
                reach: region.length / 2, scale: coarse)
        }
        var best: (score: Float, shear: Double) = (0, 0)
        for trial in -7...7 {
            let shear = Double(trial) * 0.03
            var score: Float = 0
            for line in 0..<(count - Self.lineDistance) {
                let shift = Float(shear * step * Double(Self.lineDistance) * coarse)
                let likeness = lines[line].likeness(to: lines[line + Self.lineDistance], shift: shift)
                score += likeness * likeness * likeness
            }
            if score > best.score { best = (score, shear) }
        }
        shear = best.shear
        var run = (from: 0, to: 0)
        var from = 0
        for line in 0..<count {
            let continues =
                line + 1 < count
                && lines[line].likeness(to: lines[line + 1], shift: Float(shear * step * coarse)) > Self.likeness
            if continues { continue }
            if line - from > run.to - run.from { run = (from, line) }
            from = line + 1
        }
        func part(_ line: Int) -> Double { (Double(line) + 0.5) / Double(count) - 0.5 }
        guard run.to - run.from >= 2 else { return false }
        rows = part(run.from)...part(run.to)
        return true
    }

    private var height: Double { rows.upperBound - rows.lowerBound }

    /// Converts a position within the height of the bars, from -0.5 to 0.5, to a position within the height of the
    /// region.
    func offset(_ part: Double) -> Double { (rows.lowerBound + rows.upperBound) / 2 + part * height }

    /// Returns the grey levels across the bars, as the means of some adjacent lines.
    ///
    /// - Parameters:
    ///   - part: the position in the bars' height, from -0.5 to 0.5.
    ///   - thickness: the height of all these lines together, as a fraction of the bars' height.
    func profile(_ frame: Frame, at part: Double, thickness: Double, lines: Int) -> GreyProfile {
        profile(
            frame, offset: offset(part), height: max(height * thickness, min(height, 4 / region.height)), lines: lines,
            reach: reach, scale: scale)
    }

    private func profile(
        _ frame: Frame, offset: Double, height: Double, lines: Int, reach: Double, scale: Double
    ) -> GreyProfile {
        var profile = GreyProfile(count: Int(reach * 2 * scale))
        for line in 0..<lines {
            let beside = (offset + ((Double(line) + 0.5) / Double(lines) - 0.5) * height) * region.height
            profile.add(
                frame, from: region.point(along: shear * beside - reach, beside: beside),
                step: Point(x: region.across.x / scale, y: region.across.y / scale))
        }
        profile.divide(by: Float(lines))
        return profile
    }

    /// Returns the point in the frame for a sample of a profile.
    ///
    /// - Parameter part: the position in the bars' height, from -0.5 to 0.5.
    func point(_ sample: Double, at part: Double) -> Point {
        let beside = offset(part) * region.height
        return region.point(along: sample / scale - reach + shear * beside, beside: beside)
    }

    /// Returns the corners of a code that was fitted to a profile.
    func corners(of line: GreyReader.LineFit) -> Corners {
        let last = Float(line.profile.values.count - 1)
        func point(_ sample: Float, _ part: Double) -> Point {
            self.point(Double(line.isReversed ? last - sample : sample), at: part)
        }
        let (top, bottom) = line.isReversed ? (0.5, -0.5) : (-0.5, 0.5)
        return Corners(
            topLeft: point(line.warp.start, top), topRight: point(line.warp.end, top),
            bottomRight: point(line.warp.end, bottom), bottomLeft: point(line.warp.start, bottom))
    }

    /// Returns the stretches of a profile in which light and dark alternate often, measured in samples. These stretches
    /// are codes and add-ons, with paper between them. At most three are returned, the longest one first.
    func spans(_ frame: Frame) -> [ClosedRange<Float>] {
        let values = profile(frame, at: 0, thickness: 0.3, lines: 5).values
        var changes = GreyProfile(count: values.count)
        for index in 1..<(values.count - 1) { changes.values[index] = abs(values[index + 1] - values[index - 1]) }
        // A mean over some modules bridges wide bars and spaces, but not the paper beside a code.
        let activity = changes.mean(over: max(3, values.count / 40)).values
        let level = activity.sorted()[values.count * 3 / 4] * 0.25
        let gap = values.count * 3 / 100
        var spans: [ClosedRange<Float>] = []
        var (start, last): (Int?, Int) = (nil, 0)
        func close() {
            if let start, last - start > 60, last - start > values.count / 5 {
                spans.append(Float(start)...Float(last))
            }
        }
        for index in activity.indices where activity[index] > level {
            if start == nil || index - last > gap {
                close()
                start = index
            }
            last = index
        }
        close()
        spans.sort { $0.upperBound - $0.lowerBound > $1.upperBound - $1.lowerBound }
        return Array(spans.prefix(3))
    }
}
