import Bookplate

/// Reads the ISBN from the grey levels of a code that is too blurred for its bars and spaces to be separated.
///
/// A ``Pilot`` finds the positions where a book's code may lie. At each position, a ``Trellis`` finds the digits that
/// are likeliest as a whole. A ``CodeFit`` then fits position, blur and light to these digits, after which the digits
/// can be read better. The two steps alternate until the digits no longer change. Further lines across the same code,
/// or across the same code in other frames, are then fitted and read together.
struct GreyReader {
    /// One line across a code, and the position of the code on the line.
    struct LineFit {
        /// The brightness along the line, from the left to the right end of the code.
        var profile: GreyProfile
        var warp: Warp
        var spread: PointSpread
        var isReversed: Bool
        /// The mean squared difference between the profile and the pattern of the digits that were fitted last,
        /// relative to the squared contrast.
        var cost: Float = 0
    }

    /// The digits that were read from one or several lines.
    struct Finding {
        var lines: [LineFit]
        var sequence: DigitSequence

        /// True if no other digits fit nearly as well. In photos, digits that are wrong fit hardly better than the next
        /// best digits. In computer-drawn sequences of bad frames, they fit up to 1.42 times better, so
        /// ``FrameEvidence`` requires a higher ratio.
        var isClear: Bool { sequence.ratio > 1.35 && sequence.cost < GreyReader.maxCost }
    }

    private var pilot = Pilot()
    private let trellis = Trellis()
    private let fit = CodeFit()
    private let differences = Differences()

    /// The maximum number of matches (positions where a book's code may lie) that the pilot returns for each span
    /// (striped stretch of a line).
    private static let matchesPerSpan = 10
    /// The maximum number of matches (positions where a book's code may lie) that are tried, for all spans of a line
    /// together.
    private static let maxMatches = 9
    private static let rounds = 4
    /// The cost (mean squared difference) up to which other digits are searched for, as a multiple of the cost of the
    /// fitted digits.
    private static let searchFactor: Float = 3
    /// The limit for the mean squared difference between a match (a position where a book's code may lie) and the
    /// digits that are read there first. A match above this limit is dropped; nearly all codes are below 0.06.
    private static let hopeless: Float = 0.16
    /// The maximum mean squared difference between a code and the pattern of its digits, relative to the squared
    /// contrast. A code above this limit is not accepted.
    static let maxCost: Float = 0.01
    /// The lowest cost (mean squared difference) that is possible with the 256 grey levels of a picture.
    private static let minCost: Float = 1e-5
    /// The extra blurs, in modules (widths of the narrowest bar), that are added to a sharp profile for the first fits.
    /// A fit to a smoother profile converges even from a position that is further from the right one.
    private static let extraBlurs: [Float] = [1.2, 0.6]

    /// Finds a code on a profile (the brightness along a line).
    ///
    /// - Parameters:
    ///   - spans: the striped stretches of the profile, in samples.
    ///   - hints: payloads to try before searching for other payloads.
    ///   - isThorough: true if there may be print or the edge of a label before the code. The search then takes longer.
    /// - Returns: the best fit, even if it is not clear; `nil` if nothing fits at all.
    mutating func find(
        on profile: GreyProfile, spans: [ClosedRange<Float>], hints: [Digits], isThorough: Bool
    ) -> Finding? {
        let found = find(on: profile, spans: spans, starts: -4...5, hints: hints)
        if found?.isClear == true { return found }
        guard isThorough, let first = spans.map(\.lowerBound).min(), let last = spans.map(\.upperBound).max()
        else { return found }
        return find(on: profile, spans: [first...last], starts: -4...32, hints: hints) ?? found
    }

    /// - Parameter starts: the range in which the code may start, measured from the start of a span. The unit is 1/95
    ///   of the span's length, which is the width of a module if the code is as long as the span.
    private mutating func find(
        on profile: GreyProfile, spans: [ClosedRange<Float>], starts: ClosedRange<Float>, hints: [Digits]
    ) -> Finding? {
        let directions = [profile, profile.reversed]
        let last = Float(profile.values.count - 1)
        var matches: [(match: Pilot.Match, direction: Int)] = []
        for span in spans {
            // The span may be a code of 95 modules, or a code with a gap and an add-on, 160 modules in all.
            let module = (span.upperBound - span.lowerBound) / Float(Modules.code)
            for (direction, profile) in directions.enumerated() {
                let begin = direction == 0 ? span.lowerBound : last - span.upperBound
                matches += pilot.matches(
                    on: profile, modules: (module * 0.56)...(module * 1.08),
                    start: (begin + starts.lowerBound * module)...(begin + starts.upperBound * module),
                    most: Self.matchesPerSpan
                ).map { ($0, direction) }
            }
        }
        matches.sort { $0.match.score > $1.match.score }
        var candidates: [(line: LineFit, digits: Digits, cost: Float)] = []
        for (rank, (match, direction)) in matches.prefix(Self.maxMatches).enumerated() {
            var line = LineFit(
                profile: directions[direction], warp: match.warp, spread: match.spread, isReversed: direction == 1)
            if rank < 2 {
                for hint in hints {
                    if let found = settle(line, hint), found.sequence.digits == hint, found.isClear { return found }
                }
            }
            guard fit.fitPilot(line.profile, at: match.warp, match.spread) else { continue }
            trellis.begin()
            trellis.add(fit.ink.pointer(), spread: match.spread)
            let (digits, shifts, cost) = trellis.drift()
            line.warp = match.warp.shifted(shifts)
            if cost < Self.hopeless { candidates.append((line, digits, cost)) }
        }
        candidates.sort { $0.cost < $1.cost }
        var best: Finding?
        for (line, digits, _) in candidates.prefix(2) {
            guard let found = settle(line, digits) else { continue }
            if found.isClear { return found }
            if found.sequence.cost < best?.sequence.cost ?? .infinity { best = found }
        }
        return best
    }

    /// Alternately fits the code's position and blur and reads its digits, first on blurred copies of the profile and
    /// then on the profile as it is.
    private mutating func settle(_ start: LineFit, _ digits: Digits) -> Finding? {
        var (line, digits) = (start, digits)
        let own = start.spread.width
        for extra in Self.extraBlurs where extra > own {
            var smooth = line
            smooth.profile = line.profile.blurred(by: extra * line.warp.module)
            smooth.spread = PointSpread(disc: 0, bell: (extra * extra + own * own).squareRoot())
            guard let settled = settle([smooth], digits, rounds: 3) else { continue }
            (line.warp, digits) = (settled.lines[0].warp, settled.sequence.digits)
        }
        return settle([line], digits, rounds: Self.rounds)
    }

    /// Fits all lines to the digits and reads them together, until the digits no longer change. Lines that do not fit
    /// are dropped.
    ///
    /// - Returns: `nil` if no line is left, or if the digits keep changing.
    mutating func settle(_ lines: [LineFit], _ digits: Digits, rounds: Int = 4) -> Finding? {
        var (lines, digits) = (lines, digits)
        for _ in 0..<rounds {
            trellis.begin()
            differences.begin()
            var kept: [LineFit] = []
            for var line in lines.prefix(Trellis.maxLines) {
                guard fit.fit(line.profile, digits: digits, from: line.warp, line.spread) else { continue }
                (line.warp, line.spread, line.cost) = (fit.warp, fit.spread, fit.cost)
                kept.append(line)
                differences.add(fit, weight: 1 / max(fit.cost, Self.minCost))
                trellis.add(fit.ink.pointer(), spread: fit.spread, weight: 1 / max(fit.cost, Self.minCost))
            }
            guard !kept.isEmpty else { return nil }
            // Each line is weighted by the quality of its fit. The weights add up to 1.
            let total = kept.reduce(0) { $0 + 1 / max($1.cost, Self.minCost) }
            trellis.scaleWeights(by: 1 / total)
            let limit = Float(kept.count) / total * Self.searchFactor
            guard var sequence = trellis.read(limit: limit) ?? trellis.read(limit: .greatestFiniteMagnitude)
            else { return nil }
            let scatter = kept.count > 1 ? differences.scatter(total) : 0
            sequence.cost = max(sequence.cost - scatter, Self.minCost)
            sequence.runnerUp = max(sequence.runnerUp - scatter, Self.minCost)
            lines = kept
            if sequence.digits == digits { return Finding(lines: lines, sequence: sequence) }
            digits = sequence.digits
        }
        return nil
    }

    /// Returns true if a profile shows the given digits, and false if it shows other digits; `nil` if it is not clear.
    /// The code need not be a book's.
    mutating func confirms(_ digits: Digits, on profile: GreyProfile, at warp: Warp) -> Bool? {
        guard fit.fit(profile, digits: digits, from: warp, PointSpread(disc: 0.3, bell: 0.4)) else { return nil }
        trellis.begin()
        trellis.add(fit.ink.pointer(), spread: fit.spread)
        let first = digits.number / 1_000_000_000_000
        guard
            let sequence = trellis.read(
                firstDigits: first == 9 ? [9] : [first, 9], isBook: false, limit: fit.cost * Self.searchFactor),
            sequence.ratio > 1.3, sequence.cost < Self.maxCost
        else { return nil }
        return sequence.digits == digits
    }

    /// Returns true if the digits of a finding are also the result without the assumption that the code is a book's.
    mutating func isBook(_ finding: Finding) -> Bool {
        trellis.begin()
        for line in finding.lines {
            guard fit.fit(line.profile, digits: finding.sequence.digits, from: line.warp, line.spread, steps: 0)
            else { return false }
            trellis.add(fit.ink.pointer(), spread: fit.spread)
        }
        let sequence = trellis.read(firstDigits: 0...9, isBook: false, limit: .greatestFiniteMagnitude)
        return sequence?.digits == finding.sequence.digits
    }
}

/// The residuals of several lines, that is, the ink of each line minus the ink of the digits. The part in which the
/// lines differ is noise and says nothing about the digits. The part that all lines share may mean that the digits are
/// wrong.
private final class Differences {
    private let sums = Samples(count: Modules.count)
    private let squares = Samples(count: Modules.count)

    func begin() { for index in 0..<Modules.count { (sums[index], squares[index]) = (0, 0) } }

    func add(_ fit: CodeFit, weight: Float) {
        for index in CodeFit.fitted {
            let difference = fit.difference(index)
            sums[index] += weight * difference
            squares[index] += weight * difference * difference
        }
    }

    /// Returns the mean squared difference between the lines' residuals (the ink of a line minus the ink of the digits)
    /// and the part of the residuals that all lines share.
    ///
    /// - Parameter total: the sum of the lines' weights.
    func scatter(_ total: Float) -> Float {
        var sum: Float = 0
        for index in CodeFit.fitted {
            let mean = sums[index] / total
            sum += max(squares[index] / total - mean * mean, 0)
        }
        return sum / Float(Modules.count)
    }
}

/// A code read from the grey levels of a region.
struct GreyResult {
    var digits: Digits
    /// The number of lines across the code that were read together.
    var lines: Int
    var corners: Corners
}

extension GreyReader {
    /// The positions at which a code is searched for, measured from the middle of the bars as fractions of their
    /// height.
    private static let first = [0, -0.3, 0.3]
    /// The positions at which a code that was found is read again, measured from the middle of the bars as fractions of
    /// their height.
    private static let others = [-0.45, -0.3, -0.15, 0, 0.15, 0.3, 0.45]
    private static let maxLines = 4

    /// Reads a book's code.
    ///
    /// - Parameters:
    ///   - slack: the maximum distance between an end of the code and the end of the region, in pixels of the frame.
    ///   - hints: payloads that were read in the region, but by too few lines to be certain.
    /// - Returns: the code if it is certain, otherwise `nil`. A code is certain if several lines show it, each line
    ///   alone and all lines together, and if the result does not depend on the assumption that the code is a book's.
    mutating func read(_ frame: Frame, region: Region, slack: Double, hints: [Digits] = []) -> GreyResult? {
        guard let bars = BarRun(frame, region: region, slack: slack) else { return nil }
        let spans = bars.spans(frame)
        func profile(_ part: Double) -> GreyProfile { bars.profile(frame, at: part, thickness: 0.12, lines: 5) }
        for part in Self.first {
            guard
                let found = find(on: profile(part), spans: spans, hints: hints, isThorough: part == Self.first.last),
                found.isClear
            else { continue }
            return confirm(found, bars, part, profile)
        }
        return nil
    }

    /// Reads further lines across the code one by one, and then all lines together.
    private mutating func confirm(
        _ found: Finding, _ bars: BarRun, _ part: Double, _ profile: (Double) -> GreyProfile
    ) -> GreyResult? {
        let known = found.lines[0]
        var lines = found.lines
        for other in Self.others.filter({ $0 != part }).sorted(by: { abs($0 - part) < abs($1 - part) }) {
            var line = known
            line.profile = known.isReversed ? profile(other).reversed : profile(other)
            // Each line must show the same digits on its own.
            guard let alone = settle([line], found.sequence.digits),
                alone.sequence.digits == found.sequence.digits, alone.isClear
            else { continue }
            lines += alone.lines
            if lines.count == Self.maxLines { break }
        }
        guard lines.count > 1, let all = settle(lines, found.sequence.digits), all.isClear,
            all.sequence.digits == found.sequence.digits, isBook(all)
        else { return nil }
        return GreyResult(
            digits: all.sequence.digits, lines: all.lines.count, corners: bars.corners(of: known))
    }

    /// Returns true if the grey levels of a code agree with the digits that some lines showed. The code need not be a
    /// book's.
    ///
    /// - Returns: `nil` if the grey levels are not clear.
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
