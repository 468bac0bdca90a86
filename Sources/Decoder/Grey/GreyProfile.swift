import Bookplate

/// Grey levels along a line across a code, or the means of several lines beside each other.
struct GreyProfile {
    var values: [Float]

    init(count: Int) { values = [Float](repeating: 0, count: count) }

    /// From the other end.
    var reversed: GreyProfile {
        var result = self
        result.values.reverse()
        return result
    }

    /// Adds the grey levels along a line, between pixels in proportion; outside, the frame's edge goes on.
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

    /// Correlation with another profile of the same length that lies `shift` samples further on; 0 where one has nothing in it.
    func likeness(to other: GreyProfile, shift: Float) -> Float {
        let whole = Int(shift.rounded(.down))
        let part = shift - Float(whole)
        let places = max(0, -whole)..<max(0, -whole, min(values.count, values.count - whole - 1))
        var (x, y, xx, yy, xy): (Float, Float, Float, Float, Float) = (0, 0, 0, 0, 0)
        values.withUnsafeBufferPointer { values in
            other.values.withUnsafeBufferPointer { others in
                for at in places {
                    let a = values[at]
                    let b = others[at + whole] * (1 - part) + others[at + whole + 1] * part
                    (x, y, xx, yy, xy) = (x + a, y + b, xx + a * a, yy + b * b, xy + a * b)
                }
            }
        }
        let n = Float(places.count)
        let variances = (xx - x * x / n) * (yy - y * y / n)
        return n > 20 && variances > n * n ? max(0, (xy - x * y / n) / variances.squareRoot()) : 0
    }

    /// The profile after a blur of this standard deviation, in samples: three means over as many samples, whose variances add up.
    func blurred(by deviation: Float) -> GreyProfile {
        // A mean over n samples has the variance (n * n - 1) / 12.
        let width = Int((4 * deviation * deviation + 1).squareRoot() + 0.5)
        return mean(over: width).mean(over: width).mean(over: width)
    }

    /// Every sample the mean of those around it: an odd number of them, one more than `width` where that is even.
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

    /// Fills `levels` with the profile at every sample of a code that lies as `warp` says, and `slopes` with how fast it rises there;
    /// its ends go on.
    func sample(_ warp: Warp, into levels: UnsafeMutablePointer<Float>, slopes: UnsafeMutablePointer<Float>) {
        let last = Float(values.count - 1) - 0.001
        values.withUnsafeBufferPointer { values in
            for index in 0..<Modules.count {
                let place = min(max(warp.position(Modules.place(ofSample: index)), 0), last)
                let whole = Int(place)
                let slope = values[whole + 1] - values[whole]
                levels[index] = values[whole] + slope * (place - Float(whole))
                slopes[index] = slope
            }
        }
    }
}
