import Bookplate
import CodeMaker
import TestTools

@testable import Decoder

/// A synthetic grey picture of codes on a table, so that every test knows the right answer.
struct Scene {
    private(set) var frame: Frame
    private var random: SplitMix

    init(width: Int = 640, height: Int = 480, paper: UInt8 = 220, bytesPerLine: Int? = nil, seed: UInt64 = 1) {
        frame = Frame(width: width, height: height, bytesPerLine: bytesPerLine)
        random = SplitMix(seed: seed)
        frame.withMutableLuma { $0.update(repeating: paper) }
    }

    /// A printed code.
    struct Code {
        var payload: String
        var addon: String?
        var centre: Point
        /// The width of a module, in pixels.
        var module = 2.0
        /// The length of the bars, in pixels.
        var height = 120.0
        /// The rotation in degrees, clockwise, 0 for upright.
        var angle = 0.0
        var ink: UInt8 = 30
        var paper: UInt8 = 220

        /// The corners, clockwise from its own top left.
        var corners: Corners {
            let (w, h) = (module * 95 / 2, height / 2)
            return Corners(
                topLeft: point(-w, -h), topRight: point(w, -h), bottomRight: point(w, h), bottomLeft: point(-w, h))
        }

        func point(_ x: Double, _ y: Double) -> Point {
            let turn = Turn(degrees: angle)
            return Point(x: centre.x + x * turn.cosine - y * turn.sine, y: centre.y + x * turn.sine + y * turn.cosine)
        }
    }

    /// Draws with 4 by 4 samples per pixel, so that bars end between pixels as they do in a photo.
    mutating func draw(_ code: Code) {
        var inks = barcode(code.payload)
        if let addon = code.addon { inks += [Bool](repeating: false, count: 9) + addonBars(addon) }
        let turn = Turn(degrees: code.angle)
        let quiet = 10.0
        let (left, right) = (-47.5 - quiet, Double(inks.count) - 47.5 + quiet)
        let stride = frame.bytesPerLine
        let top = code.height / 2 + 9
        let box = [(left, -top), (left, top), (right, -top), (right, top)].map { code.point($0.0 * code.module, $0.1) }
        let (xs, ys) = (box.map(\.x), box.map(\.y))
        let columns = max(0, Int(xs.min()!))..<min(frame.width, Int(xs.max()!) + 1)
        let rows = max(0, Int(ys.min()!))..<min(frame.height, Int(ys.max()!) + 1)
        frame.withMutableLuma { luma in
            for y in rows {
                for x in columns {
                    var (sum, hits) = (0, 0)
                    for sample in 0..<16 {
                        let dx = Double(x) + (Double(sample % 4) + 0.5) / 4 - code.centre.x
                        let dy = Double(y) + (Double(sample / 4) + 0.5) / 4 - code.centre.y
                        let u = (dx * turn.cosine + dy * turn.sine) / code.module
                        let v = dy * turn.cosine - dx * turn.sine
                        guard u >= left, u < right, abs(v) < code.height / 2 + 8 else { continue }
                        hits += 1
                        let module = Int((u + 47.5).rounded(.down))
                        let isInk = abs(v) < code.height / 2 && inks.indices.contains(module) && inks[module]
                        sum += Int(isInk ? code.ink : code.paper)
                    }
                    let at = y * stride + x
                    if hits > 0 { luma[at] = UInt8((sum + Int(luma[at]) * (16 - hits)) / 16) }
                }
            }
        }
    }

    /// Adds noise of up to `strength` grey levels in either direction.
    mutating func addNoise(_ strength: Int) {
        var random = random
        frame.withMutableLuma { luma in
            for at in luma.indices {
                luma[at] = UInt8(clamping: Int(luma[at]) + Int(random.next() % UInt64(2 * strength + 1)) - strength)
            }
        }
        self.random = random
    }

    /// Blurs by the mean over `2 * radius + 1` pixels in both directions, `times` times.
    mutating func blur(radius: Int, times: Int) {
        let (width, height, stride) = (frame.width, frame.height, frame.bytesPerLine)
        for _ in 0..<times {
            for (step, length, lines, next) in [(1, width, height, stride), (stride, height, width, 1)] {
                frame.withMutableLuma { luma in
                    for line in 0..<lines {
                        let old = (0..<length).map { Int(luma[line * next + $0 * step]) }
                        for at in 0..<length {
                            let near = max(0, at - radius)...min(length - 1, at + radius)
                            luma[line * next + at * step] = UInt8(near.reduce(0) { $0 + old[$1] } / near.count)
                        }
                    }
                }
            }
        }
    }

    mutating func invert() {
        frame.withMutableLuma { luma in for at in luma.indices { luma[at] = 255 - luma[at] } }
    }
}

/// A scene as a photo: reduced by halves, as a JPEG can be decoded, or always whole, as a PNG.
struct ScenePicture: Picture {
    var frame: Frame
    var orientation = Orientation.up
    var isAlwaysWhole = false
    var width: Int { frame.width }
    var height: Int { frame.height }

    func luma(atLeast longSide: Int) -> Frame {
        var result = frame
        while !isAlwaysWhole, max(result.width, result.height) / 2 >= longSide {
            var half = Frame(width: 1, height: 1)
            result.reduce(by: 2, into: &half)
            result = half
        }
        return result
    }
}

func decode(_ scene: Scene, orientation: Orientation = .up) throws -> [Symbol] {
    var decoder = try PhotoReader()
    return try decoder.decode(ScenePicture(frame: scene.frame, orientation: orientation))
}
