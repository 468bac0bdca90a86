import Bookplate
import Decoder

/// A grey picture with codes drawn into it: what a decoder would see of paper on a table, made by rule, so that every test knows the answer.
struct Scene {
    private(set) var frame: Frame
    private var random: SplitMix

    init(width: Int = 640, height: Int = 480, paper: UInt8 = 220, bytesPerLine: Int? = nil, seed: UInt64 = 1) {
        frame = Frame(width: width, height: height, bytesPerLine: bytesPerLine)
        random = SplitMix(state: seed)
        frame.withMutableLuma { $0.update(repeating: paper) }
    }

    /// One code as it is printed.
    struct Code {
        var payload: String
        var addon: String?
        var centre: Point
        /// Pixels.
        var module = 2.0
        /// Pixels, along the bars.
        var height = 120.0
        /// Degrees with the clock, 0 for upright.
        var angle = 0.0
        var ink: UInt8 = 30
        var paper: UInt8 = 220

        /// Where its corners are, clockwise from its own top left.
        var corners: Corners {
            let (w, h) = (module * 95 / 2, height / 2)
            return Corners(
                topLeft: place(-w, -h), topRight: place(w, -h), bottomRight: place(w, h), bottomLeft: place(-w, h))
        }

        func place(_ x: Double, _ y: Double) -> Point {
            let turn = Turn(degrees: angle)
            return Point(x: centre.x + x * turn.cosine - y * turn.sine, y: centre.y + x * turn.sine + y * turn.cosine)
        }
    }

    /// Draws with 4 by 4 samples a pixel, so that bars end between pixels as they do in a photo.
    mutating func draw(_ code: Code) {
        var inks = barcode(code.payload)
        if let addon = code.addon { inks += [Bool](repeating: false, count: 9) + addonBars(addon) }
        let turn = Turn(degrees: code.angle)
        let quiet = 10.0
        let (left, right) = (-47.5 - quiet, Double(inks.count) - 47.5 + quiet)
        let stride = frame.bytesPerLine
        let top = code.height / 2 + 9
        let box = [(left, -top), (left, top), (right, -top), (right, top)].map { code.place($0.0 * code.module, $0.1) }
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

    /// Adds noise of up to `strength` grey levels either way.
    mutating func addNoise(_ strength: Int) {
        var random = random
        frame.withMutableLuma { luma in
            for at in luma.indices {
                luma[at] = UInt8(clamping: Int(luma[at]) + Int(random.next() % UInt64(2 * strength + 1)) - strength)
            }
        }
        self.random = random
    }

    /// Blurs by the mean over `2 * radius + 1` pixels, both ways, `times` times.
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

/// A random number generator that gives the same numbers on every run (Steele, Lea and Flood, OOPSLA 2014).
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// Thirteen digits with a right check digit.
    mutating func payload(prefix: String) -> String {
        var digits = prefix.compactMap(\.wholeNumberValue)
        while digits.count < 12 { digits.append(Int(next() % 10)) }
        let sum = digits.enumerated().reduce(0) { $0 + $1.element * ($1.offset % 2 == 0 ? 1 : 3) }
        return (digits + [(10 - sum % 10) % 10]).map(String.init).joined()
    }
}

// Bars by the tables of GS1's General Specifications, 5.2.1, written down here once more: a test that took them from the decoder would
// find its mistakes right.
private let setA = [
    "0001101", "0011001", "0010011", "0111101", "0100011", "0110001", "0101111", "0111011", "0110111", "0001011",
]
private let setB = [
    "0100111", "0110011", "0011011", "0100001", "0011101", "0111001", "0000101", "0010001", "0001001", "0010111",
]
private let setC = [
    "1110010", "1100110", "1101100", "1000010", "1011100", "1001110", "1010000", "1000100", "1001000", "1110100",
]
private let firstDigit = [
    "AAAAAA", "AABABB", "AABBAB", "AABBBA", "ABAABB", "ABBAAB", "ABBBAA", "ABABAB", "ABABBA", "ABBABA",
]
private let fiveDigits = [
    "BBAAA", "BABAA", "BAABA", "BAAAB", "ABBAA", "AABBA", "AAABB", "ABABA", "ABAAB", "AABAB",
]
private let twoDigits = ["AA", "AB", "BA", "BB"]

func barcode(_ payload: String) -> [Bool] {
    let digits = payload.compactMap(\.wholeNumberValue)
    var modules = "101"
    for (digit, set) in zip(digits[1...6], firstDigit[digits[0]]) { modules += (set == "A" ? setA : setB)[digit] }
    modules += "01010"
    for digit in digits[7...12] { modules += setC[digit] }
    return (modules + "101").map { $0 == "1" }
}

func addonBars(_ text: String) -> [Bool] {
    let digits = text.compactMap(\.wholeNumberValue)
    let sets: String
    if digits.count == 2 {
        sets = twoDigits[(digits[0] * 10 + digits[1]) % 4]
    } else {
        sets = fiveDigits[((digits[0] + digits[2] + digits[4]) * 3 + (digits[1] + digits[3]) * 9) % 10]
    }
    let parts = zip(digits, sets).map { digit, set in (set == "A" ? setA : setB)[digit] }
    return ("1011" + parts.joined(separator: "01")).map { $0 == "1" }
}

/// Cosine and sine of whole and half degrees, without Foundation: Taylor's series is exact enough for pixels.
struct Turn {
    let cosine: Double
    let sine: Double

    init(degrees: Double) {
        var angle = degrees.truncatingRemainder(dividingBy: 360)
        if angle > 180 { angle -= 360 }
        let x = angle * .pi / 180
        var (cosine, sine, term) = (0.0, 0.0, 1.0)
        for power in 0..<30 {
            switch power % 4 {
            case 0: cosine += term
            case 1: sine += term
            case 2: cosine -= term
            default: sine -= term
            }
            term *= x / Double(power + 1)
        }
        (self.cosine, self.sine) = (cosine, sine)
    }
}

/// A scene as a photo: halved by means of four pixels as often as needed.
struct ScenePicture: Picture {
    var frame: Frame
    var orientation = Orientation.up
    var width: Int { frame.width }
    var height: Int { frame.height }

    func luma(longSide: Int) -> Frame {
        var result = frame
        while max(result.width, result.height) > longSide {
            var half = Frame(width: (result.width + 1) / 2, height: (result.height + 1) / 2)
            let (width, old) = (half.width, result)
            half.withMutableLuma { luma in
                for at in luma.indices {
                    let (x, y) = (at % width * 2, at / width * 2)
                    let (right, below) = (min(x + 1, old.width - 1), min(y + 1, old.height - 1))
                    let sum = [(x, y), (right, y), (x, below), (right, below)].reduce(0) {
                        $0 + Int(old.luma[$1.1 * old.bytesPerLine + $1.0])
                    }
                    luma[at] = UInt8(sum / 4)
                }
            }
            result = half
        }
        return result
    }
}

func decode(_ scene: Scene, orientation: Orientation = .up) throws -> [Symbol] {
    var decoder = try ZBarDecoder()
    return try decoder.decode(ScenePicture(frame: scene.frame, orientation: orientation))
}
