import Bookplate

/// What the grey levels of a region say.
struct GreyReading {
    var digits: Digits
    /// Lines across the code that were read together.
    var looks: Int
    var corners: Corners
}

extension GreyReader {
    /// Parts of the bars' height at which a code is looked for, and at which it is then read again, the nearest first.
    private static let first = [0, -0.3, 0.3]
    private static let others = [-0.45, -0.3, -0.15, 0, 0.15, 0.3, 0.45]
    private static let mostLooks = 4

    /// Reads a book's code.
    ///
    /// - Parameters:
    ///   - slack: how far the code's ends may lie from the region's, in pixels of the frame.
    ///   - hints: payloads that were seen there, and not often enough.
    /// - Returns: what is beyond doubt: several lines together say so, alone and all, and would if nothing were known of books.
    mutating func read(_ frame: Frame, region: Region, slack: Double, hints: [Digits] = []) -> GreyReading? {
        guard let bars = BarRun(frame, region: region, slack: slack) else { return nil }
        let spans = bars.spans(frame)
        func profile(_ part: Double) -> GreyProfile { bars.profile(frame, at: part, thickness: 0.12, lines: 5) }
        for part in Self.first {
            guard
                let found = find(on: profile(part), spans: spans, hints: hints, isThorough: part == Self.first.last),
                found.isClear
            else { continue }
            return confirmed(found, bars, part, profile)
        }
        return nil
    }

    /// Reads further lines across the code, and all together.
    private mutating func confirmed(
        _ found: Finding, _ bars: BarRun, _ part: Double, _ profile: (Double) -> GreyProfile
    ) -> GreyReading? {
        let known = found.looks[0]
        var looks = found.looks
        for other in Self.others.filter({ $0 != part }).sorted(by: { abs($0 - part) < abs($1 - part) }) {
            var look = known
            look.profile = known.isReversed ? profile(other).reversed : profile(other)
            // Alone first: it must say the same.
            guard let alone = settle([look], found.sequence.digits),
                alone.sequence.digits == found.sequence.digits, alone.isClear
            else { continue }
            looks += alone.looks
            if looks.count == Self.mostLooks { break }
        }
        guard looks.count > 1, let all = settle(looks, found.sequence.digits), all.isClear,
            all.sequence.digits == found.sequence.digits, isBook(all)
        else { return nil }
        return GreyReading(
            digits: all.sequence.digits, looks: all.looks.count, corners: bars.corners(of: known))
    }

    /// Whether the grey levels say the same of a code of any kind as some lines did.
    ///
    /// - Returns: `nil` where they do not say anything for sure.
    mutating func confirms(_ digits: Digits, in frame: Frame, at corners: Corners) -> Bool? {
        let region = Region(around: corners)
        guard frame.width > 1, frame.height > 1, (60...100_000).contains(region.length) else { return nil }
        let scale = min(2, 380 / region.length)
        let reach = region.length * 0.62
        for beside in [0, -0.2, 0.2].map({ $0 * region.height }) {
            var profile = GreyProfile(count: Int(reach * 2 * scale))
            profile.add(
                frame, from: region.point(along: -reach, beside: beside),
                step: Point(x: region.across.x / scale, y: region.across.y / scale))
            let warp = Warp(
                start: Float((reach - region.length / 2) * scale),
                module: Float(region.length * scale) / Float(Modules.code))
            if let answer = confirms(digits, on: profile, at: warp) { return answer }
        }
        return nil
    }
}
