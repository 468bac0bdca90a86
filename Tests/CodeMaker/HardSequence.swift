import Bookplate
import TestTools

/// Three slightly different frames of a code that is held up to a camera and is hard to read.
///
/// It has 1.1 to 3 pixels per module, with blur, noise and glare, at an angle and bent. From one frame to the next the
/// hand moves, and focus and noise change.
public struct HardSequence: Sendable {
    public let payload: String
    private let code: PrintedCode
    private var random: SplitMix

    public static let frames = 3
    public static let width = 432
    public static let height = 224

    /// - Parameter seed: the same seed gives the same sequence.
    public init(seed: UInt64) {
        var random = SplitMix(seed: seed &* 0x9E37_79B9 &+ 7)
        // One of eight has the new prefix.
        payload = random.payload(prefix: random.next() % 8 == 0 ? "9791" : "978")
        let module = random.number(1.1...3)
        var code = PrintedCode(
            payload: payload,
            centre: Point(x: Double(Self.width) / 2, y: Double(Self.height) / 2), module: module,
            height: random.number(0.4...0.7) * module * 95)
        code.height = min(code.height, 150)
        code.angle = random.number(-12...12) + (random.next() % 2 == 0 ? 180 : 0)
        code.shear = random.number(-0.05...0.05)
        code.bend = random.number(-0.12...0.12)
        code.disc = random.number(0...1.55) * module
        code.bell = random.number(0.32...0.85) * (0.6 + 0.2 * module)
        code.ink = random.number(15...70)
        code.paper = code.ink + random.number(60...160)
        code.slope = random.number(0...40)
        code.noise = random.number(1...8.5)
        if random.next() % 3 == 0 {
            code.glare = (
                Point(x: random.number(60...370), y: random.number(40...180)), random.number(20...70),
                random.number(30...160)
            )
        }
        (self.code, self.random) = (code, random)
    }

    /// Draws the next frame.
    public mutating func draw(into frame: inout Frame) {
        var code = code
        code.centre.x += random.number(-4...4)
        code.centre.y += random.number(-4...4)
        code.angle += random.number(-1.5...1.5)
        code.module *= random.number(0.98...1.02)
        code.shear += random.number(-0.01...0.01)
        code.disc *= random.number(0.8...1.2)
        code.noise *= random.number(0.9...1.1)
        if let glare = code.glare {
            code.glare?.at = Point(x: glare.at.x + random.number(-25...25), y: glare.at.y + random.number(-25...25))
        }
        frame.resize(width: Self.width, height: Self.height)
        code.draw(into: &frame, &random)
    }
}
