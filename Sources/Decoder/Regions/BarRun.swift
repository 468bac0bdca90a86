import Bookplate

/// Where in a region the bars are: how far they lean, from where to where they stand, and which stretches along it are striped.
///
/// The region's direction is known to some degrees only, print stands above and below the bars, and an add-on or the frame of a label
/// beside them.
struct BarRun {
    let region: Region
    /// How far the bars lean along the region, per pixel beside it.
    private(set) var shear = 0.0
    /// Parts of the region's height, from -0.5 to 0.5.
    private(set) var rows = -0.5...0.5
    /// Pixels along the region from its middle to either end of the profiles.
    private let reach: Double
    /// Samples of a profile per pixel.
    private let scale: Double

    /// Lines that are compared, and how far apart two of them are.
    private static let lines = 16
    private static let apart = 2
    /// Samples of a profile of a region that is a code: three a module, and less where an add-on is a part of it.
    private static let samples = 420.0
    /// Correlation of neighbouring lines above which one goes on in the other.
    private static let likeness: Float = 0.8

    /// - Parameter slack: how far the code's ends may lie from the region's, in pixels of the frame.
    /// - Returns: `nil` for a region too small, or one in which no bars are.
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
        // A sample a pixel is enough to see how lines go on in each other.
        let coarse = min(1, scale)
        let lines = (0..<count).map { line in
            profile(
                frame, offset: (Double(line) + 0.5) / Double(count) - 0.5, height: 0.5 / Double(count), lines: 2,
                reach: region.length / 2, scale: coarse)
        }
        var best: (score: Float, shear: Double) = (0, 0)
        for turn in -7...7 {
            let shear = Double(turn) * 0.03
            var score: Float = 0
            for line in 0..<(count - Self.apart) {
                let shift = Float(shear * step * Double(Self.apart) * coarse)
                let likeness = lines[line].likeness(to: lines[line + Self.apart], shift: shift)
                score += likeness * likeness * likeness
            }
            if score > best.score { best = (score, shear) }
        }
        shear = best.shear
        var run = (from: 0, to: 0)
        var from = 0
        for line in 0..<count {
            let goesOn =
                line + 1 < count
                && lines[line].likeness(to: lines[line + 1], shift: Float(shear * step * coarse)) > Self.likeness
            if goesOn { continue }
            if line - from > run.to - run.from { run = (from, line) }
            from = line + 1
        }
        func part(_ line: Int) -> Double { (Double(line) + 0.5) / Double(count) - 0.5 }
        guard run.to - run.from >= 2 else { return false }
        rows = part(run.from)...part(run.to)
        return true
    }

    private var height: Double { rows.upperBound - rows.lowerBound }

    /// A part of the bars' height, from -0.5 to 0.5, as a part of the region's.
    func offset(_ part: Double) -> Double { (rows.lowerBound + rows.upperBound) / 2 + part * height }

    /// Grey levels across the bars: the means of some lines beside each other.
    ///
    /// - Parameters:
    ///   - part: of the bars' height, from -0.5 to 0.5.
    ///   - thickness: of the lines together, as a part of the bars' height.
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

    /// Where a sample of a profile lies in the frame.
    ///
    /// - Parameter part: of the bars' height, from -0.5 to 0.5.
    func point(_ sample: Double, at part: Double) -> Point {
        let beside = offset(part) * region.height
        return region.point(along: sample / scale - reach + shear * beside, beside: beside)
    }

    /// The corners of a code that lies on a profile as a look says.
    func corners(of look: GreyReader.Look) -> Corners {
        let last = Float(look.profile.values.count - 1)
        func point(_ place: Float, _ part: Double) -> Point {
            self.point(Double(look.isReversed ? last - place : place), at: part)
        }
        let (top, bottom) = look.isReversed ? (0.5, -0.5) : (-0.5, 0.5)
        return Corners(
            topLeft: point(look.warp.start, top), topRight: point(look.warp.end, top),
            bottomRight: point(look.warp.end, bottom), bottomLeft: point(look.warp.start, bottom))
    }

    /// Stretches in which light and dark change often, in samples: codes and add-ons, with paper between. The longest first, three at most.
    func spans(_ frame: Frame) -> [ClosedRange<Float>] {
        let values = profile(frame, at: 0, thickness: 0.3, lines: 5).values
        var changes = GreyProfile(count: values.count)
        for index in 1..<(values.count - 1) { changes.values[index] = abs(values[index + 1] - values[index - 1]) }
        // The mean over some modules bridges wide bars and spaces, and not the paper beside a code.
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
