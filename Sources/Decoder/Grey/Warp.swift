/// Where a code lies on a profile: which sample of it falls on which module.
struct Warp: Equatable {
    /// The code's left edge, in samples of the profile.
    var start: Float
    /// Samples a module, on average.
    var module: Float
    /// By how much the modules at the left end are wider than the average, and those at the right end narrower; and by how much those at both
    /// ends are wider than those in the middle: paper that is bent or seen at an angle.
    var bend: Float = 0
    var skew: Float = 0

    /// Samples of the profile for a place in modules.
    @inline(__always)
    func position(_ place: Float) -> Float {
        let part = place / Float(Modules.code)
        let arc = part * (1 - part)
        return start + module * (place + Float(Modules.code) * arc * (bend + skew * (1 - 2 * part)))
    }

    /// The same code, of which the twelve digits lie so many modules further on than thought: a line of third degree through their middles.
    func shifted(_ shifts: [Float]) -> Warp {
        withUnsafeTemporaryAllocation(of: Double.self, capacity: 20) { numbers in
            numbers.initialize(repeating: 0)
            let sums = numbers.baseAddress!
            let sides = sums + 16
            for (place, shift) in shifts.enumerated() {
                let middle = Float(Modules.begin(ofDigit: place)) + 3.5
                let part = middle / Float(Modules.code)
                let arc = part * (1 - part) * Float(Modules.code)
                let row = SIMD4<Double>(SIMD4(1, middle, arc, arc * (1 - 2 * part)))
                for i in 0..<4 {
                    sides[i] += row[i] * Double(shift)
                    for j in 0...i { sums[i * 4 + j] += row[i] * row[j] }
                }
            }
            // The steps of the shifts are no reason for a bend.
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

    /// Paper bends no more than this without its code being out of sight.
    var isPlausible: Bool { start.isFinite && abs(bend) < 0.25 && abs(skew) < 0.25 && module > 0.5 }
}
