import Bookplate

/// Reads the ISBN of a line of grey levels where there is no telling bars from spaces any more.
///
/// A pilot finds the places where a book's code may lie (``Pilot``); at each the likeliest digits are found as a whole (``Trellis``);
/// place, blur and light are fitted to these (``CodeFit``), which mends digits, and so by turns until they stay. Further lines across
/// the same code, or the same code in other frames, are then fitted and read together.
struct GreyReader {
    /// One line across a code, and how the code lies on it.
    struct Look {
        /// In the code's own direction.
        var profile: GreyProfile
        var warp: Warp
        var spread: PointSpread
        var isReversed: Bool
        /// Mean squared difference of the digits that were fitted last, as a part of the contrast.
        var cost: Float = 0
    }

    /// Digits of a look, or of several.
    struct Finding {
        var looks: [Look]
        var sequence: DigitSequence

        /// Nothing else is worth a look. On photos wrong digits were seen to fit hardly better than the next ones; on drawn sequences of bad
        /// frames up to 1.42 times, which is why ``FrameEvidence`` wants more.
        var isClear: Bool { sequence.ratio > 1.35 && sequence.cost < GreyReader.worstCost }
    }

    private var pilot = Pilot()
    private let trellis = Trellis()
    private let fit = CodeFit()
    private let differences = Differences()

    /// Paths that the pilot finds in each span, and how many of all are looked at.
    private static let places = 10
    private static let mostPlaces = 9
    private static let rounds = 4
    /// How much worse than the digits that were fitted others are looked for.
    private static let interest: Float = 3
    /// Mean squared difference of a first look from which no second is taken; a code's is below 0.06 in nearly all cases.
    private static let hopeless: Float = 0.16
    /// Mean squared difference of a code, as a part of its contrast.
    static let worstCost: Float = 0.01
    /// No picture is better than this: its 256 levels.
    private static let leastCost: Float = 1e-5
    /// Extra blur, in modules, that a sharp profile is fitted with first: only on a smooth picture a fit finds its way from further off.
    private static let levels: [Float] = [1.2, 0.6]

    /// Finds a code on a profile.
    ///
    /// - Parameters:
    ///   - spans: where something striped begins and ends, in samples.
    ///   - hints: payloads that are tried before others are looked for.
    ///   - isThorough: whether print or the edge of a label may stand before the code; takes longer.
    /// - Returns: what fits best, clear or not; `nil` where nothing fits at all.
    mutating func find(
        on profile: GreyProfile, spans: [ClosedRange<Float>], hints: [Digits], isThorough: Bool
    ) -> Finding? {
        let found = find(on: profile, spans: spans, starts: -4...5, hints: hints)
        if found?.isClear == true { return found }
        guard isThorough, let first = spans.map(\.lowerBound).min(), let last = spans.map(\.upperBound).max()
        else { return found }
        return find(on: profile, spans: [first...last], starts: -4...32, hints: hints) ?? found
    }

    /// - Parameter starts: where the code may begin, in modules from the beginning of a span, if that were the code.
    private mutating func find(
        on profile: GreyProfile, spans: [ClosedRange<Float>], starts: ClosedRange<Float>, hints: [Digits]
    ) -> Finding? {
        let ways = [profile, profile.reversed]
        let last = Float(profile.values.count - 1)
        var places: [(place: Pilot.Place, way: Int)] = []
        for span in spans {
            // The span may be a code of 95 modules, or one with an add-on and the gap before it, 160 in all.
            let module = (span.upperBound - span.lowerBound) / Float(Modules.code)
            for (way, profile) in ways.enumerated() {
                let begin = way == 0 ? span.lowerBound : last - span.upperBound
                places += pilot.places(
                    on: profile, modules: (module * 0.56)...(module * 1.08),
                    start: (begin + starts.lowerBound * module)...(begin + starts.upperBound * module),
                    most: Self.places
                ).map { ($0, way) }
            }
        }
        places.sort { $0.place.score > $1.place.score }
        var looks: [(look: Look, digits: Digits, cost: Float)] = []
        for (rank, (place, way)) in places.prefix(Self.mostPlaces).enumerated() {
            var look = Look(profile: ways[way], warp: place.warp, spread: place.spread, isReversed: way == 1)
            if rank < 2 {
                for hint in hints {
                    if let found = settle(look, hint), found.sequence.digits == hint, found.isClear { return found }
                }
            }
            guard fit.lookAtPilot(look.profile, at: place.warp, place.spread) else { continue }
            trellis.begin()
            trellis.add(fit.ink.pointer(), spread: place.spread)
            let (digits, shifts, cost) = trellis.drift()
            look.warp = place.warp.shifted(shifts)
            if cost < Self.hopeless { looks.append((look, digits, cost)) }
        }
        looks.sort { $0.cost < $1.cost }
        var best: Finding?
        for (look, digits, _) in looks.prefix(2) {
            guard let found = settle(look, digits) else { continue }
            if found.isClear { return found }
            if found.sequence.cost < best?.sequence.cost ?? .infinity { best = found }
        }
        return best
    }

    /// Fits and reads by turns, from further off to near.
    private mutating func settle(_ start: Look, _ digits: Digits) -> Finding? {
        var (look, digits) = (start, digits)
        let own = start.spread.width
        for level in Self.levels where level > own {
            var smooth = look
            smooth.profile = look.profile.blurred(by: level * look.warp.module)
            smooth.spread = PointSpread(disc: 0, bell: (level * level + own * own).squareRoot())
            guard let settled = settle([smooth], digits, rounds: 3) else { continue }
            (look.warp, digits) = (settled.looks[0].warp, settled.sequence.digits)
        }
        return settle([look], digits, rounds: Self.rounds)
    }

    /// Fits all looks to the digits and reads them together, until the digits stay. Looks that the digits cannot be fitted to are left out.
    ///
    /// - Returns: `nil` where there is none left, or no end of it.
    mutating func settle(_ looks: [Look], _ digits: Digits, rounds: Int = 4) -> Finding? {
        var (looks, digits) = (looks, digits)
        for _ in 0..<rounds {
            trellis.begin()
            differences.begin()
            var kept: [Look] = []
            for var look in looks.prefix(Trellis.mostLooks) {
                guard fit.fit(look.profile, digits: digits, from: look.warp, look.spread) else { continue }
                (look.warp, look.spread, look.cost) = (fit.warp, fit.spread, fit.cost)
                kept.append(look)
                differences.add(fit, weight: 1 / max(fit.cost, Self.leastCost))
                trellis.add(fit.ink.pointer(), spread: fit.spread, weight: 1 / max(fit.cost, Self.leastCost))
            }
            guard !kept.isEmpty else { return nil }
            // Each look counts as much as it fits; together they count 1.
            let total = kept.reduce(0) { $0 + 1 / max($1.cost, Self.leastCost) }
            trellis.scaleWeights(by: 1 / total)
            let limit = Float(kept.count) / total * Self.interest
            guard var sequence = trellis.read(limit: limit) ?? trellis.read(limit: .greatestFiniteMagnitude)
            else { return nil }
            let scatter = kept.count > 1 ? differences.scatter(total) : 0
            sequence.cost = max(sequence.cost - scatter, Self.leastCost)
            sequence.runnerUp = max(sequence.runnerUp - scatter, Self.leastCost)
            looks = kept
            if sequence.digits == digits { return Finding(looks: looks, sequence: sequence) }
            digits = sequence.digits
        }
        return nil
    }

    /// Whether these digits are what stands on a profile, where they are a code of any kind; `nil` when it cannot be told.
    mutating func confirms(_ digits: Digits, on profile: GreyProfile, at warp: Warp) -> Bool? {
        guard fit.fit(profile, digits: digits, from: warp, PointSpread(disc: 0.3, bell: 0.4)) else { return nil }
        trellis.begin()
        trellis.add(fit.ink.pointer(), spread: fit.spread)
        let first = digits.number / 1_000_000_000_000
        guard
            let sequence = trellis.read(
                firstDigits: first == 9 ? [9] : [first, 9], isBook: false, limit: fit.cost * Self.interest),
            sequence.ratio > 1.3, sequence.cost < Self.worstCost
        else { return nil }
        return sequence.digits == digits
    }

    /// Whether a finding would be another one if it were not taken for a book.
    mutating func isBook(_ finding: Finding) -> Bool {
        trellis.begin()
        for look in finding.looks {
            guard fit.fit(look.profile, digits: finding.sequence.digits, from: look.warp, look.spread, steps: 0)
            else { return false }
            trellis.add(fit.ink.pointer(), spread: fit.spread)
        }
        let sequence = trellis.read(firstDigits: 0...9, isBook: false, limit: .greatestFiniteMagnitude)
        return sequence?.digits == finding.sequence.digits
    }
}

/// What remains of several looks when the digits are taken away. What they differ by among themselves is noise, and says nothing against any
/// digits; what they have in common may.
private final class Differences {
    private let sums = Samples(count: Modules.count)
    private let squares = Samples(count: Modules.count)

    func begin() { for index in 0..<Modules.count { (sums[index], squares[index]) = (0, 0) } }

    func add(_ fit: CodeFit, weight: Float) {
        for index in CodeFit.seen {
            let difference = fit.difference(index)
            sums[index] += weight * difference
            squares[index] += weight * difference * difference
        }
    }

    /// Mean squared difference from what is common.
    ///
    /// - Parameter total: of the weights.
    func scatter(_ total: Float) -> Float {
        var sum: Float = 0
        for index in CodeFit.seen {
            let mean = sums[index] / total
            sum += max(squares[index] / total - mean * mean, 0)
        }
        return sum / Float(Modules.count)
    }
}

/// What the grey levels of a region say.
struct GreyResult {
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
    mutating func read(_ frame: Frame, region: Region, slack: Double, hints: [Digits] = []) -> GreyResult? {
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
    ) -> GreyResult? {
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
        return GreyResult(
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
