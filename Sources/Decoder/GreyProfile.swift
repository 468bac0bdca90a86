/// One line across a code as running sums, so that the mean of any stretch costs two look-ups.
struct GreyProfile {
    private(set) var sums: [Float] = [0]
    var count: Int { sums.count - 1 }

    /// Between the lightest and the darkest value.
    private var range: Float = 0

    mutating func set(_ values: UnsafeBufferPointer<Float>) {
        range = (values.max() ?? 0) - (values.min() ?? 0)
        sums.removeAll(keepingCapacity: true)
        sums.append(0)
        var total: Float = 0
        for value in values {
            total += value
            sums.append(total)
        }
    }

    /// The integral from the beginning to `place`, in samples.
    @inline(__always)
    static func upTo(_ place: Float, _ sums: UnsafeBufferPointer<Float>) -> Float {
        let clamped = min(max(place, 0), Float(sums.count - 2))
        let whole = Int(clamped)
        return sums[whole] + (sums[whole + 1] - sums[whole]) * (clamped - Float(whole))
    }
}

/// Where a code may lie on a profile, in samples.
struct Placement {
    var start: Float
    /// Samples a module.
    var module: Float
    var score: Float
}

extension GreyProfile {
    /// Bars and spaces that every EAN-13 has, by module: the guards, with the neighbours that the digits' number sets fix, and one
    /// module of each quiet zone. (Module, ink.)
    private static let fixed: [(from: Float, width: Float, ink: Float)] = [
        (-7, 3, -1), (-4, 3, -1), (-1, 1, -1), (0, 1, 1), (1, 1, -1), (2, 1, 1), (3, 1, -1),
        (44, 1, 1), (45, 1, -1), (46, 1, 1), (47, 1, -1), (48, 1, 1), (49, 1, -1), (50, 1, 1),
        (91, 1, -1), (92, 1, 1), (93, 1, -1), (94, 1, 1), (95, 1, -1), (96, 3, -1), (99, 3, -1),
    ]

    /// The placements whose guards fit best, the best first.
    ///
    /// - Parameters: where the two ends of the code may be, in samples.
    func placements(start: ClosedRange<Float>, end: ClosedRange<Float>, most: Int) -> [Placement] {
        let shortest = (end.upperBound - start.lowerBound) * 0.4
        let smallest = (start.upperBound - start.lowerBound + end.upperBound - end.lowerBound) / 2
        let typical = (end.lowerBound + end.upperBound - start.lowerBound - start.upperBound) / 2 / 95
        guard typical > 0.5, smallest >= 0 else { return [] }
        let step = max(0.5, typical * 0.5)
        let contrast = range * 0.12
        var best: [Placement] = []
        sums.withUnsafeBufferPointer { sums in
            Self.fixed.withUnsafeBufferPointer { fixed in
                var x0 = start.lowerBound
                while x0 <= start.upperBound {
                    var x1 = max(end.lowerBound, x0 + shortest)
                    while x1 <= end.upperBound {
                        let module = (x1 - x0) / Float(DigitTemplates.modules)
                        let score = Self.score(x0, module, fixed, sums, contrast: contrast)
                        if score > (best.count < most ? 0.3 : best[best.count - 1].score) {
                            insert(Placement(start: x0, module: module, score: score), into: &best, most: most)
                        }
                        x1 += step
                    }
                    x0 += step
                }
            }
        }
        return best
    }

    /// Correlation with the fixed pattern, of 8 bars and 13 spaces; 0 where the left guard alone says that there is no code,
    /// its spaces not lighter than its bars by `contrast`.
    @inline(__always)
    private static func score(
        _ start: Float, _ module: Float, _ fixed: UnsafeBufferPointer<(from: Float, width: Float, ink: Float)>,
        _ sums: UnsafeBufferPointer<Float>, contrast: Float
    ) -> Float {
        var (sum, mean, square): (Float, Float, Float) = (0, 0, 0)
        for index in 0..<fixed.count {
            let part = fixed[index]
            let from = start + part.from * module
            let width = part.width * module
            let value = (upTo(from + width, sums) - upTo(from, sums)) / width
            sum -= value * part.ink
            mean += value
            square += value * value
            // The quiet zone and the left guard come first: two bars that must be darker than five spaces. With `mean` still a
            // sum, the bars' sum is (mean - sum) / 2, the spaces' (mean + sum) / 2.
            if index == 6, (mean + sum) * 0.1 - (mean - sum) * 0.25 < contrast { return 0 }
        }
        mean /= 21
        let variance = square / 21 - mean * mean
        return variance > 0.5 ? (sum - mean * 5) / (21 * 0.971) / variance.squareRoot() : 0
    }

    /// Keeps the list sorted, and one of those less than two modules apart at both ends.
    private func insert(_ placement: Placement, into best: inout [Placement], most: Int) {
        for index in best.indices {
            let (start, end) = (best[index].start - placement.start, best[index].end - placement.end)
            if abs(start) < placement.module * 0.8, abs(end) < placement.module * 0.8 {
                if best[index].score >= placement.score { return }
                best.remove(at: index)
                break
            }
        }
        let at = best.firstIndex { $0.score < placement.score } ?? best.count
        best.insert(placement, at: at)
        if best.count > most { best.removeLast() }
    }
}

extension Placement {
    var end: Float { start + module * Float(DigitTemplates.modules) }
}
