import Bookplate
import Glibc

/// The grey levels along a line across a code, or the means of several adjacent lines.
struct GreyProfile {
    var values: [Float]

    init(count: Int) { values = [Float](repeating: 0, count: count) }

    /// The same profile, read from the other end.
    var reversed: GreyProfile {
        var result = self
        result.values.reverse()
        return result
    }

    /// Adds the grey levels along a line of a frame, interpolated between pixels. Outside the frame, the pixels at its
    /// edge are repeated.
    mutating func add(_ frame: Frame, from start: Point, step: Point) {
        let (width, height, stride) = (Double(frame.width) - 1.001, Double(frame.height) - 1.001, frame.bytesPerLine)
        frame.withLuma { luma in
            guard let base = luma.baseAddress else { return }
            var (x, y) = (start.x, start.y)
            values.withUnsafeMutableBufferPointer { values in
                for index in values.indices {
                    let (cx, cy) = (min(max(x, 0), width), min(max(y, 0), height))
                    let (px, py) = (Int(cx), Int(cy))
                    let (fx, fy) = (Float(cx - Double(px)), Float(cy - Double(py)))
                    let at = base + py * stride + px
                    let top = Float(at[0]) * (1 - fx) + Float(at[1]) * fx
                    let bottom = Float(at[stride]) * (1 - fx) + Float(at[stride + 1]) * fx
                    values[index] += top * (1 - fy) + bottom * fy
                    x += step.x
                    y += step.y
                }
            }
        }
    }

    mutating func divide(by count: Float) { for index in values.indices { values[index] /= count } }

    /// Returns the correlation with another profile of the same length, which is read `shift` samples further on; 0 if
    /// either profile has no contrast.
    func likeness(to other: GreyProfile, shift: Float) -> Float {
        let whole = Int(shift.rounded(.down))
        let part = shift - Float(whole)
        let overlap = max(0, -whole)..<max(0, -whole, min(values.count, values.count - whole - 1))
        var (x, y, xx, yy, xy): (Float, Float, Float, Float, Float) = (0, 0, 0, 0, 0)
        values.withUnsafeBufferPointer { values in
            other.values.withUnsafeBufferPointer { others in
                for at in overlap {
                    let a = values[at]
                    let b = others[at + whole] * (1 - part) + others[at + whole + 1] * part
                    (x, y, xx, yy, xy) = (x + a, y + b, xx + a * a, yy + b * b, xy + a * b)
                }
            }
        }
        let n = Float(overlap.count)
        let variances = (xx - x * x / n) * (yy - y * y / n)
        return n > 20 && variances > n * n ? max(0, (xy - x * y / n) / variances.squareRoot()) : 0
    }

    /// Returns the profile blurred with the given standard deviation, in samples. The blur consists of three moving
    /// means, whose variances add up.
    func blurred(by deviation: Float) -> GreyProfile {
        // A mean over n samples has the variance (n * n - 1) / 12.
        let width = Int((4 * deviation * deviation + 1).squareRoot() + 0.5)
        return mean(over: width).mean(over: width).mean(over: width)
    }

    /// Returns the moving mean over `width` samples, or over one more if `width` is even.
    func mean(over width: Int) -> GreyProfile {
        let radius = max(1, width / 2)
        let last = values.count - 1
        var result = self
        var sum: Float = 0
        for index in -radius...radius { sum += values[min(max(index, 0), last)] }
        for index in values.indices {
            result.values[index] = sum / Float(2 * radius + 1)
            sum += values[min(index + radius + 1, last)] - values[max(index - radius, 0)]
        }
        return result
    }

    /// Fills `levels` with the brightness of the profile at every sample of a code, and `slopes` with its slope there.
    /// `warp` maps the code to the profile. Beyond the ends of the profile, its first and last values are repeated.
    func sample(_ warp: Warp, into levels: UnsafeMutablePointer<Float>, slopes: UnsafeMutablePointer<Float>) {
        let last = Float(values.count - 1) - 0.001
        values.withUnsafeBufferPointer { values in
            for index in 0..<Modules.count {
                let position = min(max(warp.sample(at: Modules.position(ofSample: index)), 0), last)
                let whole = Int(position)
                let slope = values[whole + 1] - values[whole]
                levels[index] = values[whole] + slope * (position - Float(whole))
                slopes[index] = slope
            }
        }
    }
}

/// The grid on which grey levels are compared with patterns. It consists of a code's 95 modules and some paper on
/// either side, with several samples per module.
enum Modules {
    /// The number of samples per module. With this number, a digit's seven modules fill whole vectors of four.
    static let fineness = 4
    /// The number of modules of paper on either side of the code.
    static let margin = 6
    static let code = DigitTemplates.modules
    static let count = (code + 2 * margin) * fineness

    /// Returns the position of a sample, in modules from the code's left edge.
    static func position(ofSample index: Int) -> Float { (Float(index) + 0.5) / Float(fineness) - Float(margin) }
    /// Returns the index of the first sample of a module.
    static func sample(ofModule module: Int) -> Int { (module + margin) * fineness }

    /// Returns the module at which one of the twelve digits starts.
    static func start(ofDigit index: Int) -> Int {
        index < 6 ? DigitTemplates.leftDigits + index * 7 : DigitTemplates.rightDigits + (index - 6) * 7
    }
}

/// A buffer of numbers that is reused for every code, so that nothing is allocated while a code is read.
final class Samples {
    let values: UnsafeMutableBufferPointer<Float>

    init(count: Int) {
        values = .allocate(capacity: count)
        values.initialize(repeating: 0)
    }

    deinit { values.deallocate() }

    subscript(index: Int) -> Float {
        get { values[index] }
        set { values[index] = newValue }
    }

    /// Returns a pointer to the numbers from `index` on.
    func pointer(at index: Int = 0) -> UnsafeMutablePointer<Float> { values.baseAddress! + index }
}

/// The blur of a picture, described as the profile across a blurred thin line, with positions in modules. It combines
/// the disc of a lens that is out of focus (summed along the line) with a bell curve for all other blur.
///
/// Source: the geometric model of defocus (Pentland, "A new sense for depth of field", IEEE PAMI 9(4), 1987).
struct PointSpread: Equatable {
    /// The radius of the disc, in modules.
    var disc: Float
    /// The standard deviation of the bell curve, in modules.
    var bell: Float

    /// The standard deviation of disc and bell curve together, in modules. The disc alone, summed along the line, has a
    /// standard deviation of half its radius.
    var width: Float { (bell * bell + disc * disc / 4).squareRoot() }

    /// Half the width of the kernel (the weights of the blur): four modules, in samples.
    static let reach = 4 * Modules.fineness
    static let count = 2 * reach + 1
    /// The size of the kernel (the weights of the blur) in samples, padded with zeros to whole vectors.
    static let padded = 40
    /// The radius of the widest disc, in modules. A code with more blur looks like striped paper.
    static let widestDisc: Float = 3.2
    /// The standard deviation of the widest bell curve, in modules.
    static let widestBell: Float = 1.6

    /// The blurs from which the search starts, from a sharp picture to a disc as wide as five modules.
    static let usual = [
        PointSpread(disc: 0, bell: 0.35), PointSpread(disc: 0.9, bell: 0.4), PointSpread(disc: 1.7, bell: 0.5),
        PointSpread(disc: 2.5, bell: 0.7),
    ]

    /// This blur with its widths limited: that of the disc to ``widestDisc``, and that of the bell curve to
    /// ``widestBell``.
    var limited: PointSpread {
        PointSpread(disc: min(max(disc, 0), Self.widestDisc), bell: min(max(bell, 0.15), Self.widestBell))
    }

    /// Fills `kernel`, which has ``padded`` samples, with the weights of this blur, which add up to 1.
    func fill(_ kernel: UnsafeMutablePointer<Float>) {
        let step = 1 / Float(Modules.fineness)
        withUnsafeTemporaryAllocation(of: Float.self, capacity: 2 * Self.count) { work in
            let (bells, discs) = (work.baseAddress!, work.baseAddress! + Self.count)
            for index in 0..<Self.count {
                let position = Float(index - Self.reach) * step
                bells[index] = expf(-position * position / (2 * bell * bell))
                discs[index] =
                    Self.discLight(upTo: position + step / 2, disc) - Self.discLight(upTo: position - step / 2, disc)
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

    /// Returns the part of a disc's light that lies to the left of `position`. A disc that is narrower than a sample
    /// counts as a line.
    private static func discLight(upTo position: Float, _ radius: Float) -> Float {
        let radius = max(radius, 0.05)
        let part = min(max(position / radius, -1), 1)
        return 0.5 + (part * (1 - part * part).squareRoot() + asinf(part)) / .pi
    }
}

/// Returns the sum of the products of two lists of numbers. Eight products are computed at a time here, because the
/// compiler is not allowed to reorder a floating-point sum.
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

/// Convolves the samples of a range with `kernel`. On either side of the range, ``PointSpread/padded`` more samples
/// must be readable.
func blur(
    _ ink: UnsafePointer<Float>, _ range: Range<Int>, kernel: UnsafePointer<Float>,
    into result: UnsafeMutablePointer<Float>
) {
    for index in range { result[index] = dot(ink + index - PointSpread.reach, kernel, PointSpread.padded) }
}
