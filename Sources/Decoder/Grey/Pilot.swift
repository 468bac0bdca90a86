/// Finds a book's code by the parts that are the same in all books' codes: the paper and the left guard, the digits 978
/// or 979, the middle guard, the right guard and the paper. These 28 of the 95 modules locate a code even if its digits
/// are so blurred that they look like ordinary stripes. Radio receivers synchronise with a known word in the same way.
///
/// Source: "pilot symbols" (Cavers, IEEE Trans. Veh. Technol. 40(4), 1991); the score is a correlation coefficient.
struct Pilot {
    /// A position on a profile (the brightness along a line) where a book's code may lie, with the blur that the code
    /// would have.
    struct Match {
        var warp: Warp
        var spread: PointSpread
        var score: Float
    }

    /// One stretch of the pilot (the parts that are the same in all books' codes), as it looks with each of the usual
    /// blurs. From each pattern, its mean is subtracted, and the rest is normalised to length 1.
    private struct Stretch {
        let from: Int
        let count: Int
        let patterns: [[Float]]

        /// - Parameter inks: returns the ink of a module in `range`, or in the four modules on either side, which blur
        ///   into the range.
        init(_ range: Range<Int>, inks: (Int) -> Float) {
            from = range.lowerBound * 2
            count = range.count * 2
            patterns = PointSpread.usual.map { spread in
                let kernel = Samples(count: PointSpread.padded)
                spread.fill(kernel.pointer())
                let fine = Modules.fineness
                let margin = 4
                let count = (range.count + 2 * margin) * fine
                var ink = [Float](repeating: 0, count: count + 2 * PointSpread.padded)
                for index in 0..<count {
                    ink[PointSpread.padded + index] = inks(range.lowerBound - margin + index / fine)
                }
                var blurred = [Float](repeating: 0, count: count)
                ink.withUnsafeBufferPointer { ink in
                    guard let base = ink.baseAddress else { return }
                    blur(base + PointSpread.padded, 0..<count, kernel: kernel.pointer(), into: &blurred)
                }
                // Two samples per module.
                var means = (0..<(range.count * 2)).map { half in
                    let at = margin * fine + half * fine / 2
                    return blurred[at..<(at + fine / 2)].reduce(0, +) / Float(fine / 2)
                }
                let mean = means.reduce(0, +) / Float(means.count)
                for index in means.indices { means[index] = mean - means[index] }
                let length = means.reduce(0) { $0 + $1 * $1 }.squareRoot()
                return means.map { $0 / length }
            }
        }
    }

    private let lefts: [Stretch]
    private let middle: Stretch
    private let right: Stretch
    private var sums: [Float] = []
    private var halves = [Float](repeating: 0, count: 64)
    private var matches: [Match] = []

    /// The ink that is assumed for modules outside the pilot (the parts that are the same in all books' codes). It is
    /// about half of the full ink.
    private static let unknown: Float = 0.45

    init() {
        let guards: [Float] = [1, 0, 1]
        lefts = [DigitTemplates.b[8], DigitTemplates.b[9]].map { second in
            Stretch(-4..<17) { module in
                switch module {
                case ..<0: 0
                case 0..<3: guards[module]
                case 3..<10: Float(DigitTemplates.a[7] >> (9 - module) & 1)
                case 10..<17: Float(second >> (16 - module) & 1)
                default: Self.unknown
                }
            }
        }
        middle = Stretch(44..<51) { (44..<51).contains($0) ? Float(($0 + 1) % 2) : Self.unknown }
        right = Stretch(91..<99) { module in
            switch module {
            case ..<91: Self.unknown
            case 92..<95: guards[module - 92]
            default: 0
            }
        }
    }

    /// Finds the likeliest positions of a code.
    ///
    /// - Parameters:
    ///   - modules: the possible widths of a module, in samples.
    ///   - start: the possible positions of the code's left edge, in samples.
    ///   - most: the maximum number of matches to return.
    /// - Returns: the matches, best first.
    mutating func matches(
        on profile: GreyProfile, modules: ClosedRange<Float>, start: ClosedRange<Float>, most: Int
    ) -> [Match] {
        sums.removeAll(keepingCapacity: true)
        sums.append(0)
        var total: Float = 0
        for value in profile.values {
            total += value
            sums.append(total)
        }
        matches.removeAll(keepingCapacity: true)
        let last = Float(profile.values.count)
        var module = modules.lowerBound
        while module <= modules.upperBound {
            var at = start.lowerBound
            while at <= start.upperBound, at + module * 94 < last {
                if startsOnPaper(at, module) { tryMatch(start: at, module: module, most: most) }
                at += max(0.5, module * 0.3)
            }
            module *= 1.025
        }
        return matches
    }

    /// Returns true if the profile is lighter just before the code than at the beginning of the code.
    private func startsOnPaper(_ start: Float, _ module: Float) -> Bool {
        let limit = Float(sums.count - 1)
        func sum(upTo position: Float) -> Float { sums[Int(min(max(position, 0), limit))] }
        let (from, to) = (max(start - 4 * module, 0), start + 17 * module)
        let edge = max(start - 0.5 * module, from + 1)
        return (sum(upTo: edge) - sum(upTo: from)) * (to - edge) > (sum(upTo: to) - sum(upTo: edge)) * (edge - from)
    }

    private mutating func tryMatch(start: Float, module: Float, most: Int) {
        var best: (score: Float, spread: Int) = (0, 0)
        measure(start, module, lefts[0].from, lefts[0].count)
        guard let energy = centre(lefts[0].count) else { return }
        for left in lefts {
            for spread in left.patterns.indices {
                let score = dot(left.patterns[spread], halves, left.count) / energy
                if score > best.score { best = (score, spread) }
            }
        }
        let worst = matches.count < most ? 0.6 : matches[matches.count - 1].score
        guard best.score > max(0.65, worst - 0.4) else { return }
        let ends = score(right, start, module, best.spread)
        guard best.score * 0.7 + ends * 0.3 > worst - 0.1 else { return }
        // On bent paper the middle guard is shifted.
        var centre: (score: Float, shift: Float) = (-1, 0)
        for shift in [0, -0.6, 0.6, -1.2, 1.2] as [Float] {
            let score = score(middle, start + shift * module, module, best.spread) - abs(shift) * 0.05
            if score > centre.score { centre = (score, shift) }
        }
        let score = best.score * 0.6 + ends * 0.25 + centre.score * 0.15
        guard score > worst else { return }
        let match = Match(
            warp: Warp(start: start, module: module, bend: centre.shift * 4 / Float(Modules.code)),
            spread: PointSpread.usual[best.spread], score: score)
        keep(match, most: most)
    }

    private mutating func score(_ stretch: Stretch, _ start: Float, _ module: Float, _ spread: Int) -> Float {
        measure(start, module, stretch.from, stretch.count)
        guard let energy = centre(stretch.count) else { return 0 }
        return dot(stretch.patterns[spread], halves, stretch.count) / energy
    }

    /// Fills ``halves`` with the mean brightness of the profile in each half of a module.
    private mutating func measure(_ start: Float, _ module: Float, _ from: Int, _ count: Int) {
        let limit = Float(sums.count - 2)
        let step = module / 2
        halves.withUnsafeMutableBufferPointer { halves in
            sums.withUnsafeBufferPointer { sums in
                func sum(upTo position: Float) -> Float {
                    let clamped = min(max(position, 0), limit)
                    let whole = Int(clamped)
                    return sums[whole] + (sums[whole + 1] - sums[whole]) * (clamped - Float(whole))
                }
                var position = start + Float(from) * step
                var before = sum(upTo: position)
                for index in 0..<count {
                    position += step
                    let after = sum(upTo: position)
                    halves[index] = after - before
                    before = after
                }
            }
        }
    }

    /// Subtracts the mean from ``halves``.
    ///
    /// - Returns: the length of the resulting vector; `nil` if there is no contrast.
    private mutating func centre(_ count: Int) -> Float? {
        halves.withUnsafeMutableBufferPointer { halves in
            var (sum, square): (Float, Float) = (0, 0)
            for index in 0..<count { sum += halves[index] }
            let mean = sum / Float(count)
            for index in 0..<count {
                halves[index] -= mean
                square += halves[index] * halves[index]
            }
            return square > 0.25 * Float(count) ? square.squareRoot() : nil
        }
    }

    /// Inserts a match into the sorted ``matches``. Of overlapping matches, only the best one is kept.
    private mutating func keep(_ match: Match, most: Int) {
        let width = match.spread.width
        for index in matches.indices
        where abs(matches[index].warp.start - match.warp.start) < match.warp.module * (0.5 + 0.4 * width)
            && abs(matches[index].warp.end - match.warp.end) < match.warp.module * (1 + 0.7 * width)
        {
            if matches[index].score >= match.score { return }
            matches.remove(at: index)
            break
        }
        matches.insert(match, at: matches.firstIndex { $0.score < match.score } ?? matches.count)
        if matches.count > most { matches.removeLast() }
    }
}
