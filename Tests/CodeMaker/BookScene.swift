import Bookplate
import TestTools

/// A synthetic photo of many books, with twelve megapixels and a known result. Bars have at least two pixels per
/// module.
public struct BookScene: Sendable {
    public private(set) var frame: Frame
    /// The payloads of all codes, in reading order.
    public private(set) var payloads: [String] = []
    private var random: SplitMix

    private static let width = 4032
    private static let height = 3024

    private init(seed: UInt64) {
        frame = Frame(width: Self.width, height: Self.height)
        random = SplitMix(seed: seed)
    }

    /// Draws twelve books on cloth, their back covers up, some upside down.
    public static func table(seed: UInt64) -> BookScene { table(seed: seed, columns: 4, 2...2.7, height: 60) }

    /// Draws fifteen books of which only the part with the code is visible, at twice the size.
    public static func closeUp(seed: UInt64) -> BookScene { table(seed: seed, columns: 5, 4.5...5, height: 30) }

    private static func table(
        seed: UInt64, columns: Int, _ modules: ClosedRange<Double>, height: Double
    ) -> BookScene {
        var scene = BookScene(seed: seed)
        scene.lay(cloth: scene.random.number(60...150))
        let step = 3960 / Double(columns)
        for row in 0..<3 {
            for column in 0..<columns {
                let centre = Point(
                    x: 36 + step * (Double(column) + 0.5) + scene.random.number(-30...30),
                    y: 520 + 990 * Double(row) + scene.random.number(-10...10))
                var cover = Box(centre: centre, width: step - 60, height: 900, angle: scene.random.number(-9...9))
                if scene.random.next() % 4 == 0 { cover.angle += 180 }
                scene.draw(Print(level: scene.random.number(25...230), seed: scene.random.next(), letter: 9), on: cover)
                let module = scene.random.number(modules)
                // In the vertical middle, so that turned books keep the order of their rows.
                scene.stick(
                    on: cover, along: (step / 2 - 60 * module - 40) * scene.random.number(-0.5...0.5), down: 0,
                    module: module, height: module * height)
            }
        }
        scene.addBlurAndNoise()
        return scene
    }

    /// Draws twenty-two books on a shelf, with stickers at the foot of their spines, turned by a quarter.
    public static func shelf(seed: UInt64) -> BookScene {
        var scene = BookScene(seed: seed)
        scene.lay(cloth: 45)
        var left = 90.0
        for _ in 0..<22 {
            let width = scene.random.number(140...190)
            let height = scene.random.number(2000...2600)
            let spine = Box(
                centre: Point(x: left + width / 2, y: 2850 - height / 2), width: width - 4, height: height,
                angle: scene.random.number(-0.6...0.6))
            scene.draw(Print(level: scene.random.number(25...220), seed: scene.random.next(), letter: 16), on: spine)
            let module = scene.random.number(2...2.4)
            let centre = spine.point(0, height / 2 - 320 + scene.random.number(-30...30))
            let sticker = Box(
                centre: centre, width: 0, height: 0, angle: spine.angle + (scene.random.next() % 2 == 0 ? 90 : -90))
            scene.stick(on: sticker, along: 0, down: 0, module: module, height: 88)
            left += width
        }
        scene.addBlurAndNoise()
        return scene
    }

    /// Draws a stack of fourteen books, their spines to the camera, with a sticker somewhere on each.
    public static func stack(seed: UInt64) -> BookScene {
        var scene = BookScene(seed: seed)
        scene.lay(cloth: 170)
        for index in 0..<14 {
            let spine = Box(
                centre: Point(x: 2016 + scene.random.number(-250...250), y: 260 + 192 * Double(index)),
                width: scene.random.number(2200...3000), height: 184, angle: scene.random.number(-1.5...1.5))
            scene.draw(Print(level: scene.random.number(25...220), seed: scene.random.next(), letter: 14), on: spine)
            scene.stick(
                on: spine, along: scene.random.number(-850...850), down: 0, module: scene.random.number(2...2.6),
                height: 96)
        }
        scene.addBlurAndNoise()
        return scene
    }

    /// Draws a woven background, lighter on one side.
    private mutating func lay(cloth level: Double) {
        frame.withMutableLuma { luma in
            for y in 0..<Self.height {
                for x in 0..<Self.width {
                    let thread = (x / 5 + y / 5) % 2 == 0 ? 7.0 : -7.0
                    let light = 30 * Double(x) / Double(Self.width) - 15
                    luma[y * Self.width + x] = UInt8(level + thread + light)
                }
            }
        }
    }

    /// Draws a label with a code.
    private mutating func stick(on box: Box, along: Double, down: Double, module: Double, height: Double) {
        let payload = random.payload(prefix: random.next() % 4 == 0 ? "9791" : "978")
        payloads.append(payload)
        draw(
            Label(bars: barcode(payload), module: module, height: height),
            on: Box(
                centre: box.point(along, down), width: module * 117, height: height + module * 14, angle: box.angle))
    }

    private mutating func draw(_ surface: some Surface, on box: Box) {
        let (turn, reach) = (Turn(degrees: box.angle), (box.width + box.height) / 2)
        let columns = max(0, Int(box.centre.x - reach))..<max(0, min(Self.width, Int(box.centre.x + reach) + 1))
        let rows = max(0, Int(box.centre.y - reach))..<max(0, min(Self.height, Int(box.centre.y + reach) + 1))
        frame.withMutableLuma { luma in
            for y in rows {
                for x in columns {
                    var (sum, hits) = (0.0, 0.0)
                    // Three by three samples per pixel, so that edges lie between pixels as they do in a photo.
                    for sample in 0..<9 {
                        let dx = Double(x) + (Double(sample % 3) + 0.5) / 3 - box.centre.x
                        let dy = Double(y) + (Double(sample / 3) + 0.5) / 3 - box.centre.y
                        let (u, v) = (dx * turn.cosine + dy * turn.sine, dy * turn.cosine - dx * turn.sine)
                        guard abs(u) < box.width / 2, abs(v) < box.height / 2 else { continue }
                        sum += surface.level(u, v)
                        hits += 1
                    }
                    let at = y * Self.width + x
                    if hits > 0 { luma[at] = UInt8((sum + Double(luma[at]) * (9 - hits)) / 9) }
                }
            }
        }
    }

    /// Adds the blur of a lens (1, 2, 1 in both directions) and noise.
    private mutating func addBlurAndNoise() {
        let (width, height) = (Self.width, Self.height)
        var random = random
        frame.withMutableLuma { luma in
            for (step, length, lines, next) in [(1, width, height, width), (width, height, width, 1)] {
                for line in 0..<lines {
                    var before = Int(luma[line * next])
                    for at in 0..<length {
                        let here = Int(luma[line * next + at * step])
                        let after = at + 1 < length ? Int(luma[line * next + (at + 1) * step]) : here
                        luma[line * next + at * step] = UInt8((before + 2 * here + after) / 4)
                        before = here
                    }
                }
            }
            for at in luma.indices { luma[at] = UInt8(min(max(Double(luma[at]) + 4 * random.noise(), 0), 255)) }
        }
        self.random = random
    }
}

/// The position of an object, in pixels and clockwise degrees.
private struct Box {
    var centre: Point
    var width: Double
    var height: Double
    var angle: Double

    /// Returns the point at an offset from the centre, along the box's own axes.
    func point(_ along: Double, _ down: Double) -> Point {
        let turn = Turn(degrees: angle)
        return Point(
            x: centre.x + along * turn.cosine - down * turn.sine, y: centre.y + along * turn.sine + down * turn.cosine)
    }
}

private protocol Surface {
    /// - Parameters: the offset from the centre in pixels.
    /// - Returns: the grey level, 0 to 255.
    func level(_ u: Double, _ v: Double) -> Double
}

/// A cover or spine with lines that look like letters.
private struct Print: Surface {
    let level: Double
    let seed: UInt64
    /// The distance between letters, in pixels.
    let letter: Double

    func level(_ u: Double, _ v: Double) -> Double {
        let lines = (v + 10_000) / (letter * 3)
        let line = lines.rounded(.down)
        guard lines - line < 0.5 else { return level }
        // Six by four cells per letter, a third of them inked; every fifth letter is a gap.
        let letters = (u + 10_000) / letter
        let column = UInt64(letters * 4)
        let row = UInt64((lines - line) * 12)
        var hash = SplitMix(seed: seed ^ (UInt64(line) << 40 | column << 8 | row))
        guard UInt64(letters) % 5 != 0, hash.next() % 3 == 0 else { return level }
        return level > 120 ? level - 90 : level + 100
    }
}

/// White paper with a code.
private struct Label: Surface {
    let bars: [Bool]
    let module: Double
    let height: Double

    func level(_ u: Double, _ v: Double) -> Double {
        let index = Int((u / module + 47.5).rounded(.down))
        return abs(v) < height / 2 && bars.indices.contains(index) && bars[index] ? 35 : 215
    }
}
