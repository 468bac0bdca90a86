import Bookplate
import CodeMaker
import TestTools

extension ByteSource {
    /// Returns a frame with a code as it may be held up to a camera, and worse.
    mutating func printedCode() -> Frame {
        let (width, height) = (64 + next(), 16 + next() % 112)
        let prefix = ["978", "979", "978", "9790", "977", "0", "400", ""][next() & 7]
        var random = SplitMix(seed: UInt64(wide()))
        var code = PrintedCode(
            payload: random.payload(prefix: prefix),
            centre: Point(
                x: Double(width) / 2 + number(-40...40), y: Double(height) / 2 + number(-20...20)),
            module: number(0.5...3.5), height: number(1...140))
        let turned = next()
        code.angle = turned < 128 ? number(-15...15) : number(-180...180)
        if turned % 2 == 1 { code.angle += 180 }
        code.shear = number(-0.4...0.4)
        code.bend = number(-0.3...0.3)
        (code.disc, code.bell) = (number(0...2.5) * code.module, number(0.3...1.5))
        // The ink may be as light as the paper, or lighter.
        (code.ink, code.paper) = (Double(next()), Double(next()))
        code.slope = number(-100...100)
        let noise = next()
        if noise > 64 { code.noise = Double(noise - 64) / 12 }
        if noise % 4 == 3 {
            code.glare = (
                Point(x: number(0...Double(width)), y: number(0...Double(height))), number(1...80), number(-200...200)
            )
        }
        var frame = Frame(width: width, height: height, bytesPerLine: width + next() % 9)
        code.draw(into: &frame, &random)
        damage(&frame)
        return frame
    }

    /// Makes up to seven changes, each controlled by some bytes.
    mutating func damage(_ frame: inout Frame) {
        for _ in 0..<(next() & 7) where !isEmpty { damageOnce(&frame) }
    }

    private mutating func damageOnce(_ frame: inout Frame) {
        let (how, level) = (next(), next())
        let (width, height, stride) = (frame.width, frame.height, frame.bytesPerLine)
        let (left, top) = (next() * width / 256, next() * height / 256)
        let (right, bottom) = (
            min(width, left + 1 + next() * width / 256), min(height, top + 1 + next() * height / 256)
        )
        var random = SplitMix(seed: UInt64(level))
        frame.withMutableLuma { luma in
            func change(_ new: (_ x: Int, _ y: Int, _ old: Int) -> Int) {
                for y in top..<bottom {
                    for x in left..<right {
                        luma[y * stride + x] = UInt8(clamping: new(x, y, Int(luma[y * stride + x])))
                    }
                }
            }
            func pixel(_ x: Int, _ y: Int) -> Int {
                Int(luma[min(max(y, 0), height - 1) * stride + min(max(x, 0), width - 1)])
            }
            switch how % 9 {
            case 0: change { _, _, _ in level }
            case 1: change { _, _, old in old + Int(random.next() % 64) - 32 }
            case 2: change { _, _, old in old > level ? 255 : 0 }
            case 3: change { x, y, _ in pixel(x + level / 8 - 16, y) }
            // Shifts rows, each further than the one above.
            case 4: change { x, y, _ in pixel(x + (y - top) * (level - 128) / 256, y) }
            case 5: change { x, y, _ in (pixel(x - 1, y) + pixel(x, y) + pixel(x + 1, y) + pixel(x, y + 1)) / 4 }
            case 6: change { _, _, old in 255 - old }
            case 7: change { _, _, old in (old - 128) * level / 64 + 128 }
            // Draws stripes that are not a code.
            default: change { x, _, old in x / (1 + level % 8) % 2 == 0 ? 255 - level : old }
            }
        }
    }
}
