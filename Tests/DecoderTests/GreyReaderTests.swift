import Bookplate
import CodeMaker
import TestTools
import Testing

@testable import Decoder

/// Returns a profile across a code with known properties.
private func profile(
    _ payload: String, module: Double = 3, disc: Double = 0, bell: Double = 0.4, bend: Double = 0, noise: Double = 0,
    ink: Double = 30, seed: UInt64 = 1
) -> GreyProfile {
    var code = PrintedCode(payload: payload, centre: Point(x: 200, y: 10), module: module, height: 40)
    (code.disc, code.bell, code.bend, code.noise, code.ink) = (disc * module, bell * module, bend, noise, ink)
    var frame = Frame(width: 400, height: 20)
    var random = SplitMix(seed: seed)
    code.draw(into: &frame, &random)
    var profile = GreyProfile(count: 400)
    for y in 6..<14 { profile.add(frame, from: Point(x: 0, y: Double(y)), step: Point(x: 1, y: 0)) }
    profile.divide(by: 8)
    return profile
}

private let span: [ClosedRange<Float>] = [57...343]

@Test(arguments: PointSpread.usual + [PointSpread(disc: 3.2, bell: 1.6), PointSpread(disc: 0, bell: 0.15)])
func `spreads a point's light and loses none`(_ spread: PointSpread) {
    let kernel = Samples(count: PointSpread.padded)
    spread.fill(kernel.pointer())
    let weights = (0..<PointSpread.count).map { kernel[$0] }
    #expect(abs(weights.reduce(0, +) - 1) < 1e-4)
    #expect(weights.allSatisfy { $0 >= 0 })
    #expect(zip(weights, weights.reversed()).allSatisfy { abs($0 - $1) < 1e-5 })
}

/// The radius of the disc and the deviation of the bell curve in modules, the growth of the modules along the code, the
/// noise in grey levels, the level of the ink, and how many of sixteen codes are read. The other codes are not
/// reported, and no code is read wrongly.
private let hard: [(String, disc: Double, bell: Double, bend: Double, noise: Double, ink: Double, read: Int)] = [
    ("sharp", 0, 0.3, 0, 0, 30, 16), ("out of focus by five modules", 2.5, 0.6, 0, 2, 30, 10),
    ("out of focus by three", 1.5, 0.5, 0, 2, 30, 14), ("bent", 0, 0.4, 0.08, 2, 30, 15),
    ("blurred and bent", 1.2, 0.5, 0.05, 2, 30, 14), ("faint", 0.8, 0.5, 0, 1, 180, 16),
    ("noisy", 0.5, 0.5, 0, 20, 30, 16),
]

@Test(arguments: hard)
func `reads books whose bars and spaces merge`(
    _ name: String, _ disc: Double, _ bell: Double, _ bend: Double, _ noise: Double, _ ink: Double, _ expected: Int
) throws {
    var random = SplitMix(seed: 11)
    var reader = GreyReader()
    var read = 0
    for round in 0..<8 {
        let payload = random.payload(prefix: round % 4 == 3 ? "9791" : "978")
        let profile = profile(payload, disc: disc, bell: bell, bend: bend, noise: noise, ink: ink, seed: UInt64(round))
        for (profile, isReversed) in [(profile, false), (profile.reversed, true)] {
            guard let found = reader.find(on: profile, spans: span, hints: [], isThorough: false), found.isClear
            else { continue }
            #expect(found.sequence.digits.text == payload)
            #expect(found.lines.first?.isReversed == isReversed)
            read += 1
        }
    }
    #expect(read >= expected, "\(name): \(read) of 16")
}

@Test func `fits position, size, bend and blur`() throws {
    let payload = "9780306406157"
    let fit = CodeFit()
    let drawn = profile(payload, module: 3.1, disc: 1.2, bell: 0.5, bend: 0.06)
    let start = Warp(start: Float(200 - 3.1 * 47.5) + 1.5, module: 3.05)
    #expect(fit.fit(drawn, digits: digits(payload), from: start, PointSpread(disc: 0.8, bell: 0.6), steps: 30))
    // The frame's pixels start half a pixel before the profile's samples.
    #expect(abs(fit.warp.sample(at: 0) - drawnPosition(0, 3.1, 0.06)) < 0.3)
    #expect(abs(fit.warp.sample(at: 47) - drawnPosition(47, 3.1, 0.06)) < 0.3)
    #expect(abs(fit.warp.sample(at: 95) - drawnPosition(95, 3.1, 0.06)) < 0.3)
    #expect(abs(fit.spread.width - PointSpread(disc: 1.2, bell: 0.5).width) < 0.15)
    #expect(fit.cost < 0.001)
    #expect((150...200).contains(fit.contrast))
}

/// Returns the position of a drawn module: the inverse of the computation in ``PrintedCode``.
private func drawnPosition(_ place: Double, _ module: Double, _ bend: Double) -> Float {
    let wanted = (place - 47.5) / 47.5
    var part = wanted
    for _ in 0..<50 { part = wanted - bend * 0.5 * (part * part - 1) }
    return Float(200 - 0.5 + part * module * 47.5)
}

private func digits(_ payload: String) -> Digits { Digits(number: Int(payload) ?? 0, count: 13) }

@Test func `returns the digits that fit the ink best, with a correct check digit`() throws {
    let fit = CodeFit()
    let trellis = Trellis()
    let drawn = profile("9780306406157")
    #expect(
        fit.fit(
            drawn, digits: digits("9780306406157"), from: Warp(start: 57, module: 3), PointSpread(disc: 0, bell: 0.4)))
    trellis.begin()
    trellis.add(fit.ink.pointer(), spread: fit.spread)
    let sequence = try #require(trellis.read(limit: .greatestFiniteMagnitude))
    #expect(sequence.digits.text == "9780306406157")
    #expect(sequence.ratio > 20)
    #expect(trellis.read(firstDigits: 0...9, isBook: false, limit: 1)?.digits.text == "9780306406157")
    #expect(trellis.read(limit: sequence.cost / 2) == nil)
}

@Test func `reads three lines together if one alone is not enough`() throws {
    var random = SplitMix(seed: 5)
    var reader = GreyReader()
    var (alone, together) = (0, 0)
    for round in 0..<20 {
        let payload = random.payload(prefix: "978")
        let findings = (0..<3).compactMap { number in
            let drawn = profile(payload, disc: 1, bell: 0.5, noise: 60, seed: UInt64(round * 3 + number))
            return reader.find(on: drawn, spans: span, hints: [], isThorough: false)
        }
        if findings.contains(where: { $0.sequence.ratio > 1.5 }) { alone += 1 }
        let all = findings.compactMap { reader.settle(findings.flatMap(\.lines), $0.sequence.digits) }
        if let best = all.min(by: { $0.sequence.cost < $1.sequence.cost }), best.sequence.ratio > 1.5 {
            #expect(best.sequence.digits.text == payload)
            together += 1
        }
    }
    #expect(together > alone, "\(together) and \(alone) of 20")
}

@Test func `does not take other codes, stripes and noise for a book`() throws {
    var random = SplitMix(seed: 3)
    var reader = GreyReader()
    func book(_ profile: GreyProfile) -> Digits? {
        guard let found = reader.find(on: profile, spans: span, hints: [], isThorough: true), found.isClear,
            reader.isBook(found)
        else { return nil }
        return found.sequence.digits
    }
    for round in 0..<12 {
        let prefix = ["400", "0", "977", "9790", "5", "873"][round % 6]
        let payload = random.payload(prefix: prefix)
        let found = book(profile(payload, disc: Double(round % 5) * 0.5, noise: 2, seed: UInt64(round)))
        // Sheet music has the prefix 979 too; it is read correctly and refused.
        #expect(found == nil || found?.text == payload)
        var stripes = GreyProfile(count: 400)
        let period = 3 + Int(random.next() % 9)
        for index in 57..<343 { stripes.values[index] = Float(index / period % 2 * 150 + Int(random.next() % 20)) }
        #expect(book(stripes) == nil)
        for index in 57..<343 { stripes.values[index] = Float(random.next() % 200) }
        #expect(book(stripes.mean(over: 1 + round % 4)) == nil)
    }
}

@Test func `reads a region at an angle, and gives its corners`() throws {
    var reader = GreyReader()
    var finder = RegionFinder()
    for (payload, isBook) in [
        ("9780306406157", true), ("9791032305690", true), ("4006381333931", false), ("9771234567003", false),
    ] {
        var scene = Scene()
        let code = Scene.Code(payload: payload, centre: Point(x: 320, y: 240), module: 3, height: 150, angle: 20)
        scene.draw(code)
        scene.blur(radius: 2, times: 1)
        let region = try #require(finder.regions(in: scene.frame).first)
        let reading = reader.read(scene.frame, region: region, slack: 20)
        #expect(reading?.digits.text == (isBook ? payload : nil))
        guard let reading else { continue }
        #expect(abs(reading.corners.centre.x - 320) < 5 && abs(reading.corners.centre.y - 240) < 15)
        #expect(abs(reading.corners.topRight.x - code.corners.topRight.x) < 15)
    }
}
