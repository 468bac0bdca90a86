import Bookplate

/// Fits the position, blur and light of a code with assumed digits to a profile (the brightness along a line). The
/// quality of the fit shows whether the digits are correct.
///
/// Source: Gauss and Newton's method with Levenberg's damping (Levenberg, Quart. Appl. Math. 2, 1944).
final class CodeFit {
    /// The number of unknowns: the start, module width, bend and skew of the code; the disc and bell curve of its blur;
    /// and the level, slope and curvature of the paper's and of the ink's brightness.
    private static let unknowns = 12

    private(set) var warp = Warp(start: 0, module: 1)
    private(set) var spread = PointSpread(disc: 0, bell: 0.4)
    /// The ink at each of the ``Modules/count`` samples, normalised by means of the fit: 0 for paper, 1 for ink.
    let ink = Samples(count: Modules.count)
    /// The difference in brightness between paper and ink, in grey levels.
    private(set) var contrast: Float = 0
    /// The mean squared difference between profile and fit per fitted sample, relative to the squared contrast.
    private(set) var cost: Float = .infinity

    private let bars = Samples(count: Modules.count + 2 * PointSpread.padded)
    private let kernel = Samples(count: PointSpread.padded)
    /// The brightness of the profile at every sample of the code, followed by its slope at every sample.
    private let light = Samples(count: 2 * Modules.count)
    private let pattern = Samples(count: Modules.count)
    private let trial = Samples(count: Modules.count)
    private let rest = Samples(count: Modules.count)
    private let columns = Samples(count: CodeFit.unknowns * Modules.count)
    private var normal = [Double](repeating: 0, count: CodeFit.unknowns * CodeFit.unknowns)
    private var right = [Double](repeating: 0, count: CodeFit.unknowns)
    private var factor = [Double](repeating: 0, count: CodeFit.unknowns * CodeFit.unknowns)
    /// The change of each unknown in one step of the fit.
    private var change = [Double](repeating: 0, count: CodeFit.unknowns)
    private var levels = (paper: SIMD3<Float>.zero, ink: SIMD3<Float>.zero)
    private var sums = [Double](repeating: 0, count: 36)
    private var sides = [Double](repeating: 0, count: 6)

    /// The samples that are fitted: the code and two modules of paper on either side.
    static let fitted = Modules.sample(ofModule: -2)..<Modules.sample(ofModule: 97)
    /// The samples of the code and of four modules of paper on either side.
    private static let wide = Modules.sample(ofModule: -4)..<Modules.sample(ofModule: 99)
    /// The position of each sample along the code, from -1 to 1.
    private static let along: [Float] = (0..<Modules.count).map {
        Modules.position(ofSample: $0) / Float(Modules.code) * 2 - 1
    }
    /// The powers of ``along`` with the exponents 0 to 4.
    private let powers = Samples(count: 5 * Modules.count)
    private var moments = [Float](repeating: 0, count: 5)

    init() {
        for degree in 0..<5 {
            for index in 0..<Modules.count {
                let before = degree == 0 ? 1 : powers[(degree - 1) * Modules.count + index] * Self.along[index]
                powers[degree * Modules.count + index] = before
                if Self.fitted.contains(index) { moments[degree] += before }
            }
        }
    }

    /// Fits all unknowns to a profile, assuming that it shows the given digits.
    ///
    /// - Returns: true if a fit exists.
    func fit(_ profile: GreyProfile, digits: Digits, from warp: Warp, _ spread: PointSpread, steps: Int = 12) -> Bool {
        setBars(digits)
        (self.warp, self.spread) = (warp, spread.limited)
        guard let first = evaluate(profile, self.warp, self.spread) else { return false }
        var best = first + Self.penalty(warp)
        var damping = 0.01
        var isStale = false
        for _ in 0..<steps {
            if isStale { _ = evaluate(profile, self.warp, self.spread) }
            derive()
            var improved = false
            isStale = true
            for _ in 0..<4 {
                guard solve(damping: damping) else { break }
                func change(_ unknown: Int) -> Float { Float(self.change[unknown]) }
                var (warp, spread) = (self.warp, self.spread)
                warp.start += change(0) * warp.module
                warp.module *= 1 + max(-0.05, min(0.05, change(1)))
                warp.bend += change(2)
                warp.skew += change(3)
                spread.disc += max(-0.5, min(0.5, change(4)))
                spread.bell += max(-0.3, min(0.3, change(5)))
                spread = spread.limited
                if warp.isPlausible, let fitted = evaluate(profile, warp, spread),
                    case let cost = fitted + Self.penalty(warp), cost < best
                {
                    improved = best - cost > best * 0.003
                    best = cost
                    (self.warp, self.spread) = (warp, spread)
                    damping = max(damping * 0.2, 1e-6)
                    isStale = false
                    break
                }
                damping *= 8
            }
            if !improved { break }
        }
        if isStale { _ = evaluate(profile, self.warp, self.spread) }
        cost = max(best - Self.penalty(self.warp), 0)
        normalise()
        return true
    }

    /// Fits the brightness of paper and ink while keeping the position and blur fixed at the given values. Uses only
    /// the modules that are the same in every book's code.
    func fitPilot(_ profile: GreyProfile, at warp: Warp, _ spread: PointSpread) -> Bool {
        setBars(Digits(number: 9_780_000_000_000, count: 13))
        (self.warp, self.spread) = (warp, spread)
        profile.sample(warp, into: light.pointer(), slopes: light.pointer(at: Modules.count))
        spread.fill(kernel.pointer())
        blur(bars.pointer(at: PointSpread.padded), Self.wide, kernel: kernel.pointer(), into: pattern.pointer())
        // y = paper - ink * pattern, where the paper may rise or fall along the code.
        for index in 0..<9 { sums[index] = 0 }
        for index in 0..<3 { sides[index] = 0 }
        for part in Self.pilot {
            for index in part {
                let row = SIMD3(1, Double(Self.along[index]), -Double(pattern[index]))
                for i in 0..<3 {
                    sides[i] += row[i] * Double(light[index])
                    for j in 0...i { sums[i * 3 + j] += row[i] * row[j] }
                }
            }
        }
        guard Cholesky.solve(&sums, &sides, count: 3), sides[2] > 2 else { return false }
        levels.paper = [Float(sides[0]), Float(sides[1]), 0]
        levels.ink = [Float(sides[2]), 0, 0]
        contrast = levels.ink.x
        normalise()
        return true
    }

    /// The samples that show only the pilot (the parts that are the same in all books' codes), even if the code is
    /// blurred.
    private static let pilot = [
        Modules.sample(ofModule: -4)..<Modules.sample(ofModule: 13),
        Modules.sample(ofModule: 94)..<Modules.sample(ofModule: 98),
    ]

    /// Draws the bars of a code: sets the samples that bars cover to 1, and all others to 0.
    private func setBars(_ digits: Digits) {
        for index in 0..<Modules.count { bars[PointSpread.padded + index] = 0 }
        func draw(_ module: Int) {
            for sample in 0..<Modules.fineness {
                bars[PointSpread.padded + Modules.sample(ofModule: module) + sample] = 1
            }
        }
        for module in DigitTemplates.guardBars { draw(module) }
        var rest = digits.number
        let sets = DigitTemplates.setB[rest / 1_000_000_000_000]
        for position in (0..<12).reversed() {
            let digit = rest % 10
            rest /= 10
            let pattern =
                position >= 6
                ? DigitTemplates.c[digit]
                : sets >> (5 - position) & 1 == 1 ? DigitTemplates.b[digit] : DigitTemplates.a[digit]
            for module in 0..<7 where pattern >> (6 - module) & 1 == 1 {
                draw(Modules.start(ofDigit: position) + module)
            }
        }
    }

    /// Fills ``light`` and ``pattern``, and fits paper and ink. The light is modelled as paper - ink * pattern, where
    /// paper and ink are curves of second degree along the code.
    ///
    /// - Returns: the mean squared difference, relative to the squared contrast; `nil` if there is no contrast.
    private func evaluate(_ profile: GreyProfile, _ warp: Warp, _ spread: PointSpread) -> Float? {
        profile.sample(warp, into: light.pointer(), slopes: light.pointer(at: Modules.count))
        spread.fill(kernel.pointer())
        blur(bars.pointer(at: PointSpread.padded), Self.fitted, kernel: kernel.pointer(), into: pattern.pointer())
        let (from, count) = (Self.fitted.lowerBound, Self.fitted.count)
        let powers = self.powers.pointer(at: from)
        func power(_ degree: Int) -> UnsafePointer<Float> { UnsafePointer(powers + degree * Modules.count) }
        // The columns are 1, u, u², -m, -mu and -mu². Their products are moments of m and m².
        let (m, y) = (UnsafePointer(pattern.pointer(at: from)), UnsafePointer(light.pointer(at: from)))
        for index in Self.fitted { trial[index] = pattern[index] * pattern[index] }
        let square = UnsafePointer(trial.pointer(at: from))
        for degree in 0..<5 {
            let (zeroth, first, second) = (
                Double(moments[degree]), Double(dot(m, power(degree), count)),
                Double(dot(square, power(degree), count))
            )
            for row in max(0, degree - 2)...min(2, degree) {
                let column = degree - row
                if column <= row {
                    sums[row * 6 + column] = zeroth
                    sums[(row + 3) * 6 + column + 3] = second
                }
                sums[(row + 3) * 6 + column] = -first
            }
        }
        for index in Self.fitted { trial[index] = pattern[index] * light[index] }
        for degree in 0..<3 {
            sides[degree] = Double(dot(y, power(degree), count))
            sides[degree + 3] = -Double(dot(square, power(degree), count))
        }
        for i in 0..<6 { sums[i * 6 + i] *= 1 + 1e-6 }
        guard Cholesky.solve(&sums, &sides, count: 6) else { return nil }
        levels.paper = [Float(sides[0]), Float(sides[1]), Float(sides[2])]
        levels.ink = [Float(sides[3]), Float(sides[4]), Float(sides[5])]
        contrast = levels.ink.x + levels.ink.z / 3
        guard contrast > Self.minContrast else { return nil }
        for index in Self.fitted { trial[index] = light[index] - model(index) }
        return dot(square, square, count) / Float(count) / (contrast * contrast)
    }

    /// The minimum difference between the paper and the ink of a code, in grey levels.
    private static let minContrast: Float = 2

    @inline(__always)
    private func value(_ level: SIMD3<Float>, _ u: Float) -> Float { level.x + u * (level.y + u * level.z) }

    @inline(__always)
    private func model(_ index: Int) -> Float {
        let u = Self.along[index]
        return value(levels.paper, u) - value(levels.ink, u) * pattern[index]
    }

    /// Sets up the normal equations of the least-squares fit, for the values of the unknowns that were evaluated last.
    private func derive() {
        let count = Modules.count
        for index in Self.fitted {
            let u = Self.along[index]
            let position = Modules.position(ofSample: index)
            let part = position / Float(Modules.code)
            let arc = part * (1 - part) * Float(Modules.code)
            let slope = light[count + index] * warp.module
            columns[index] = slope
            columns[count + index] = slope * position
            columns[2 * count + index] = slope * arc
            columns[3 * count + index] = slope * arc * (1 - 2 * part)
            for (power, factor) in [1, u, u * u].enumerated() {
                columns[(6 + power) * count + index] = -factor
                columns[(9 + power) * count + index] = factor * pattern[index]
            }
        }
        // Copy the differences that evaluate() left in `trial`.
        for index in Self.fitted { rest[index] = trial[index] }
        for (unknown, change) in [
            (4, PointSpread(disc: spread.disc + 0.05, bell: spread.bell)),
            (5, PointSpread(disc: spread.disc, bell: spread.bell + 0.05)),
        ] {
            change.fill(kernel.pointer())
            blur(
                bars.pointer(at: PointSpread.padded), Self.fitted, kernel: kernel.pointer(), into: trial.pointer())
            for index in Self.fitted {
                columns[unknown * count + index] =
                    value(levels.ink, Self.along[index]) * (trial[index] - pattern[index]) / 0.05
            }
        }
        let (from, length) = (Self.fitted.lowerBound, Self.fitted.count)
        for i in 0..<Self.unknowns {
            let column = columns.pointer(at: i * count + from)
            right[i] = -Double(dot(column, rest.pointer(at: from), length))
            for j in 0...i {
                normal[i * Self.unknowns + j] = Double(dot(column, columns.pointer(at: j * count + from), length))
            }
        }
        let weight = Double(Self.bendPenalty * contrast * contrast * Float(length))
        for (unknown, value) in [(2, warp.bend), (3, warp.skew)] {
            normal[unknown * Self.unknowns + unknown] += weight
            right[unknown] -= weight * Double(value)
        }
    }

    /// Returns the penalty for bent paper, as a squared difference. Bent paper is rarer than flat paper, so the digits
    /// must fit better to make up for the bend.
    private static func penalty(_ warp: Warp) -> Float { bendPenalty * (warp.bend * warp.bend + warp.skew * warp.skew) }
    private static let bendPenalty: Float = 0.15

    /// Computes by how much the unknowns change in the next step of the fit, and stores this in ``change``.
    ///
    /// - Returns: false if the equations have no solution.
    private func solve(damping: Double) -> Bool {
        for index in normal.indices { factor[index] = normal[index] }
        for i in 0..<Self.unknowns {
            factor[i * Self.unknowns + i] = factor[i * Self.unknowns + i] * (1 + damping) + 1e-6
            change[i] = right[i]
        }
        return Cholesky.solve(&factor, &change, count: Self.unknowns)
    }

    /// Returns the difference between the ink and the pattern of the digits, at one of the ``fitted`` samples.
    func difference(_ index: Int) -> Float { ink[index] - pattern[index] }

    private func normalise() {
        let minInk = contrast * 0.2
        for index in 0..<Modules.count {
            let u = Self.along[index]
            // Limit the position, because outside the fitted samples a curve of second degree may have any value.
            let clamped = max(-1.1, min(1.1, u))
            ink[index] = (value(levels.paper, clamped) - light[index]) / max(value(levels.ink, clamped), minInk)
        }
    }
}

/// Solves linear equations with a symmetric positive definite matrix, of which only the lower half is given.
enum Cholesky {
    /// Replaces `side` with the solution, and `matrix` with its Cholesky factor.
    ///
    /// - Parameters:
    ///   - matrix: `count` rows of `count` numbers.
    ///   - side: the right-hand side of the equations, `count` numbers.
    /// - Returns: false if the matrix is not positive definite.
    static func solve(_ matrix: UnsafeMutablePointer<Double>, _ side: UnsafeMutablePointer<Double>, count: Int) -> Bool
    {
        for i in 0..<count {
            for j in 0...i {
                var sum = matrix[i * count + j]
                for k in 0..<j { sum -= matrix[i * count + k] * matrix[j * count + k] }
                if i == j {
                    guard sum > 1e-12 else { return false }
                    matrix[i * count + i] = sum.squareRoot()
                } else {
                    matrix[i * count + j] = sum / matrix[j * count + j]
                }
            }
        }
        for i in 0..<count {
            for k in 0..<i { side[i] -= matrix[i * count + k] * side[k] }
            side[i] /= matrix[i * count + i]
        }
        for i in stride(from: count - 1, through: 0, by: -1) {
            for k in (i + 1)..<max(i + 1, count) { side[i] -= matrix[k * count + i] * side[k] }
            side[i] /= matrix[i * count + i]
        }
        return true
    }
}

/// The mapping from positions on a code, in modules (95 per code), to the samples of a profile (the brightness along a
/// line).
struct Warp: Equatable {
    /// The code's left edge, in samples of the profile.
    var start: Float
    /// The average width of a module, in samples.
    var module: Float
    /// The relative amount by which the modules are wider than average at the left end and narrower at the right end.
    /// The widths differ if the paper is bent or seen at an angle.
    var bend: Float = 0
    /// The relative amount by which the modules are wider than average at both ends and narrower in the middle.
    var skew: Float = 0

    /// Returns the position on the profile, in samples, for a position on the code, in modules.
    @inline(__always)
    func sample(at position: Float) -> Float {
        let part = position / Float(Modules.code)
        let arc = part * (1 - part)
        return start + module * (position + Float(Modules.code) * arc * (bend + skew * (1 - 2 * part)))
    }

    /// Returns the mapping, corrected by the shifts of the twelve digits, in modules. The correction is a curve of
    /// third degree that is fitted to the shifts at the middles of the digits.
    func shifted(_ shifts: [Float]) -> Warp {
        withUnsafeTemporaryAllocation(of: Double.self, capacity: 20) { numbers in
            numbers.initialize(repeating: 0)
            let sums = numbers.baseAddress!
            let sides = sums + 16
            for (position, shift) in shifts.enumerated() {
                let middle = Float(Modules.start(ofDigit: position)) + 3.5
                let part = middle / Float(Modules.code)
                let arc = part * (1 - part) * Float(Modules.code)
                let row = SIMD4<Double>(SIMD4(1, middle, arc, arc * (1 - 2 * part)))
                for i in 0..<4 {
                    sides[i] += row[i] * Double(shift)
                    for j in 0...i { sums[i * 4 + j] += row[i] * row[j] }
                }
            }
            // The shifts are known only in steps. The added term keeps these steps from causing a bend on their own.
            sums[10] += 12 * 0.05 * 95
            sums[15] += 12 * 0.05 * 95
            guard Cholesky.solve(sums, sides, count: 4) else { return self }
            var result = self
            result.start += Float(sides[0]) * module
            result.module *= 1 + Float(sides[1])
            result.bend += Float(sides[2])
            result.skew += Float(sides[3])
            return result
        }
    }

    var end: Float { start + module * Float(Modules.code) }

    /// True if the bend is possible. If the paper were bent more, part of the code would be out of sight.
    var isPlausible: Bool { start.isFinite && abs(bend) < 0.25 && abs(skew) < 0.25 && module > 0.5 }
}
