import Bookplate
import TestTools

/// A synthetic code as a camera sees it: small, blurred, noisy, glossy, bent, at an angle, with a known result.
public struct PrintedCode: Sendable {
    public var payload: String
    /// The centre, in pixels.
    public var centre: Point
    /// The width of a module in the middle of the code, in pixels.
    public var module: Double
    /// The length of the bars, in pixels.
    public var height: Double
    /// The rotation in degrees, clockwise.
    public var angle = 0.0
    /// The lean of the bars, as a part of their height.
    public var shear = 0.0
    /// The part by which the modules at the left end are larger than those at the right end.
    public var bend = 0.0
    /// The blur: the radius of a disc and the deviation of a bell curve, in pixels.
    public var disc = 0.0
    public var bell = 0.4
    public var ink = 30.0
    public var paper = 210.0
    /// The grey levels by which the left of the picture is lighter than its right.
    public var slope = 0.0
    /// A reflection: its centre, its radius, and the grey levels it adds in its centre.
    public var glare: (at: Point, radius: Double, strength: Double)?
    /// The deviation of the noise, in grey levels.
    public var noise = 0.0

    public init(payload: String, centre: Point, module: Double, height: Double) {
        (self.payload, self.centre, self.module, self.height) = (payload, centre, module, height)
    }

    private static let fineness = 8.0
    private static let margin = 14.0

    /// Returns the blurred ink along the code, with eight samples per module, from 14 modules before it to as many
    /// behind.
    private func profile() -> [Double] {
        let bars = barcode(payload)
        let count = Int((95 + 2 * Self.margin) * Self.fineness)
        let ink = (0..<count).map { index -> Double in
            let module = Int((Double(index) / Self.fineness - Self.margin).rounded(.down))
            return bars.indices.contains(module) && bars[module] ? 1 : 0
        }
        let reach = Int((disc + 3 * bell) / module * Self.fineness) + 1
        // A disc seen from its side, convolved with a bell curve.
        var kernel = [Double](repeating: 0, count: 2 * reach + 1)
        let (radius, deviation) = (disc / module * Self.fineness, max(bell / module * Self.fineness, 0.3))
        for index in kernel.indices {
            var sum = 0.0
            let steps = 15
            for step in 0..<steps {
                let part = (Double(step) + 0.5) / Double(steps) * 2 - 1
                let offset = (Double(index - reach) - part * radius) / deviation
                sum += (1 - part * part).squareRoot() * exponential(-offset * offset / 2)
            }
            kernel[index] = sum
        }
        let total = kernel.reduce(0, +)
        return (0..<count).map { index in
            var sum = 0.0
            for offset in -reach...reach where ink.indices.contains(index + offset) {
                sum += ink[index + offset] * kernel[offset + reach]
            }
            return sum / total
        }
    }

    /// Draws the code on paper that fills the frame.
    public func draw(into frame: inout Frame, _ random: inout SplitMix) {
        let profile = profile()
        let turn = Turn(degrees: angle)
        let (width, height, stride) = (frame.width, frame.height, frame.bytesPerLine)
        let half = self.height / 2
        let soft = max(disc + bell, 0.5)
        frame.withMutableLuma { luma in
            for y in 0..<height {
                for x in 0..<width {
                    let (dx, dy) = (Double(x) + 0.5 - centre.x, Double(y) + 0.5 - centre.y)
                    let v = dy * turn.cosine - dx * turn.sine
                    let u = dx * turn.cosine + dy * turn.sine + v * shear
                    var level = paper - slope * Double(x) / Double(width)
                    let beyond = abs(v) - half
                    if beyond < soft {
                        // The modules grow evenly from one end to the other.
                        let part = u / (module * 47.5)
                        let position = 47.5 + 47.5 * (part + bend * 0.5 * (part * part - 1))
                        let at = (position + Self.margin) * Self.fineness - 0.5
                        if at > 0, at < Double(profile.count - 1) {
                            let whole = Int(at)
                            let ink = profile[whole] + (profile[whole + 1] - profile[whole]) * (at - Double(whole))
                            let share = min(1, max(0, 0.5 - beyond / (2 * soft)))
                            level -= ink * (level - self.ink) * (beyond < -soft ? 1 : share)
                        }
                    }
                    if let glare {
                        let (gx, gy) = (Double(x) - glare.at.x, Double(y) - glare.at.y)
                        let square = (gx * gx + gy * gy) / (glare.radius * glare.radius)
                        if square < 9 { level += glare.strength * exponential(-square) }
                    }
                    if noise > 0 { level += noise * random.noise() }
                    luma[y * stride + x] = UInt8(min(max(level, 0), 255))
                }
            }
        }
    }
}

/// Returns e to the power of a number that is not positive, without Foundation, to four digits: finer than a grey
/// level.
func exponential(_ power: Double) -> Double {
    guard power > -20 else { return 0 }
    var base = 1 + power / 4096
    for _ in 0..<12 { base *= base }
    return base
}
