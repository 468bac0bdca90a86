import Glibc

/// What becomes of a thin line in a picture, in modules across it: a disc from a lens out of focus, seen from its side, and a bell from
/// everything else.
///
/// Source: the geometric model of defocus (Pentland, "A new sense for depth of field", IEEE PAMI 9(4), 1987).
struct PointSpread: Equatable {
    /// The disc's radius, in modules.
    var disc: Float
    /// The bell's standard deviation, in modules.
    var bell: Float

    /// Standard deviation, in modules: a disc's, seen from its side, is half its radius.
    var width: Float { (bell * bell + disc * disc / 4).squareRoot() }

    /// Half the width that is looked at, in samples: four modules.
    static let reach = 4 * Modules.fineness
    static let count = 2 * reach + 1
    /// The same in whole vectors; what is added is 0.
    static let padded = 40
    /// What is wider cannot be told from paper with stripes.
    static let widestDisc: Float = 3.2
    static let widestBell: Float = 1.6

    /// What the search begins with: from sharp to a disc as wide as five modules.
    static let usual = [
        PointSpread(disc: 0, bell: 0.35), PointSpread(disc: 0.9, bell: 0.4), PointSpread(disc: 1.7, bell: 0.5),
        PointSpread(disc: 2.5, bell: 0.7),
    ]

    /// Within what is looked at.
    var limited: PointSpread {
        PointSpread(disc: min(max(disc, 0), Self.widestDisc), bell: min(max(bell, 0.15), Self.widestBell))
    }

    /// Fills `kernel`, of ``padded`` samples, with weights that sum to 1.
    func fill(_ kernel: UnsafeMutablePointer<Float>) {
        let step = 1 / Float(Modules.fineness)
        withUnsafeTemporaryAllocation(of: Float.self, capacity: 2 * Self.count) { work in
            let (bells, discs) = (work.baseAddress!, work.baseAddress! + Self.count)
            for index in 0..<Self.count {
                let place = Float(index - Self.reach) * step
                bells[index] = expf(-place * place / (2 * bell * bell))
                discs[index] = Self.discUpTo(place + step / 2, disc) - Self.discUpTo(place - step / 2, disc)
            }
            var sum: Float = 0
            for index in 0..<Self.count {
                var value: Float = 0
                for other in max(0, index - Self.reach)...min(Self.count - 1, index + Self.reach) {
                    value += discs[other] * bells[index - other + Self.reach]
                }
                kernel[index] = value
                sum += value
            }
            for index in 0..<Self.count { kernel[index] /= sum }
            for index in Self.count..<Self.padded { kernel[index] = 0 }
        }
    }

    /// The part of a disc's light that lies left of `place`; a disc narrower than a sample is a line.
    private static func discUpTo(_ place: Float, _ radius: Float) -> Float {
        let radius = max(radius, 0.05)
        let part = min(max(place / radius, -1), 1)
        return 0.5 + (part * (1 - part * part).squareRoot() + asinf(part)) / .pi
    }
}

/// Sums of products, eight at a time: the compiler may not reorder a sum of numbers by itself.
@inline(__always)
func dot(_ a: UnsafePointer<Float>, _ b: UnsafePointer<Float>, _ count: Int) -> Float {
    var sum = SIMD8<Float>.zero
    var index = 0
    while index + 8 <= count {
        let x = UnsafeRawPointer(a + index).loadUnaligned(as: SIMD8<Float>.self)
        let y = UnsafeRawPointer(b + index).loadUnaligned(as: SIMD8<Float>.self)
        sum += x * y
        index += 8
    }
    var rest: Float = 0
    while index < count {
        rest += a[index] * b[index]
        index += 1
    }
    return sum.sum() + rest
}

/// Lays `kernel` over the samples of a range; ``PointSpread/padded`` more can be read on either side of it.
func blur(
    _ ink: UnsafePointer<Float>, _ range: Range<Int>, kernel: UnsafePointer<Float>,
    into result: UnsafeMutablePointer<Float>
) {
    for index in range { result[index] = dot(ink + index - PointSpread.reach, kernel, PointSpread.padded) }
}
