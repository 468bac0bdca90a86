import Bookplate
import CodeMaker
import TestTools
import Testing

@testable import Decoder

private let middle = Point(x: 320, y: 240)

/// Returns the largest distance between corresponding corners, in pixels.
private func distance(_ one: Corners, _ other: Corners) -> Double {
    zip(one.all, other.all).map { (($0.x - $1.x) * ($0.x - $1.x) + ($0.y - $1.y) * ($0.y - $1.y)).squareRoot() }.max()!
}

@Test(arguments: [0, 90, 180, 270, 7, -12, 30, 45, 60, 135, 200, 300] as [Double])
func `reads a code turned any way, and knows its own top left`(_ angle: Double) throws {
    let code = Scene.Code(payload: "9780306406157", centre: middle, module: 2.5, height: 140, angle: angle)
    var scene = Scene()
    scene.draw(code)
    scene.addNoise(6)
    let symbols = try decode(scene)
    #expect(symbols.map(\.payload) == ["9780306406157"])
    let found = try #require(symbols.first)
    // Rows and columns cross only a part of a turned code, so less than its whole height is read.
    let room = angle.truncatingRemainder(dividingBy: 90) == 0 ? 6.0 : 75
    #expect(distance(found.corners, code.corners) < room, "\(found.corners)")
    let (across, truth) = (
        Point(
            x: found.corners.topRight.x - found.corners.topLeft.x, y: found.corners.topRight.y - found.corners.topLeft.y
        ),
        Turn(degrees: angle)
    )
    #expect(across.x * truth.cosine + across.y * truth.sine > 150)
}

private let stored: [Orientation] = [.up, .down, .right, .left, .mirrored, .leftMirrored]

@Test(arguments: stored)
func `gives corners in the upright image`(_ orientation: Orientation) throws {
    let code = Scene.Code(payload: "9780306406157", centre: Point(x: 200, y: 150), height: 100)
    var scene = Scene()
    scene.draw(code)
    let found = try #require(try decode(scene, orientation: orientation).first)
    let expected = code.corners.mapped { orientation.upright($0, width: 640, height: 480) }
    #expect(distance(found.corners, expected) < 6)
}

private let addons = ["05", "90", "51299", "90000"]

@Test(arguments: addons, [0, 90, 180, 14] as [Double])
func `joins an add-on to the code beside it`(_ addon: String, _ angle: Double) throws {
    var scene = Scene()
    scene.draw(Scene.Code(payload: "9780306406157", addon: addon, centre: middle, angle: angle))
    let symbols = try decode(scene)
    #expect(symbols.map(\.payload) == ["9780306406157"])
    #expect(symbols.map(\.addon) == [addon])
}

@Test func `joins each of two add-ons to its own code`() throws {
    var scene = Scene(width: 900, height: 500)
    scene.draw(Scene.Code(payload: "9780306406157", addon: "51299", centre: Point(x: 160, y: 120)))
    scene.draw(Scene.Code(payload: "9780262033848", addon: "05", centre: Point(x: 560, y: 380)))
    let symbols = try decode(scene)
    #expect(symbols.map(\.payload) == ["9780306406157", "9780262033848"])
    #expect(symbols.map(\.addon) == ["51299", "05"])
}

@Test func `finds all six books of a table, in reading order, none twice`() throws {
    var random = SplitMix(seed: 6)
    var scene = Scene(width: 2400, height: 1600, paper: 120)
    var expected: [String] = []
    for row in 0..<2 {
        for column in 0..<3 {
            let payload = random.payload(prefix: "978")
            expected.append(payload)
            scene.draw(
                Scene.Code(
                    payload: payload, centre: Point(x: 400 + 800 * Double(column), y: 400 + 800 * Double(row)),
                    module: column == 1 ? 1.9 : 2.6, height: 150, angle: [0, 17, -8, 180, 31, 90][row * 3 + column]))
        }
    }
    scene.addNoise(8)
    let found = try decode(scene).map(\.payload)
    #expect(found == expected)
}

@Test func `reports two copies of the same book once`() throws {
    var scene = Scene()
    for y in [120.0, 360] { scene.draw(Scene.Code(payload: "9780306406157", centre: Point(x: 320, y: y), height: 90)) }
    #expect(try decode(scene).map(\.payload) == ["9780306406157"])
}

private let kinds: [(String, CodeKind)] = [
    ("9790001012345", .ismn), ("9771234567003", .issn), ("0036000291452", .upc), ("4006381333931", .ean13),
    ("9780306406157", .isbn),
]

@Test(arguments: kinds)
func `reads codes of other goods as what they are`(_ text: String, _ kind: CodeKind) throws {
    var random = SplitMix(seed: 0)
    let payload = random.payload(prefix: String(text.dropLast()))
    var scene = Scene()
    scene.draw(Scene.Code(payload: payload, centre: middle))
    let symbols = try decode(scene)
    #expect(symbols.map(\.payload) == [payload])
    #expect(symbols.map(\.kind) == [kind])
}

@Test func `finds nothing where there is nothing`() throws {
    #expect(try decode(Scene()).isEmpty)
    var noise = Scene()
    noise.addNoise(120)
    #expect(try decode(noise).isEmpty)
    for (width, height) in [(1, 1), (2, 1), (1, 900), (3, 3), (900, 2)] {
        #expect(try decode(Scene(width: width, height: height)).isEmpty)
    }
}

@Test func `does not read white bars on black, a wrong check digit, or stripes`() throws {
    var inverted = Scene()
    inverted.draw(Scene.Code(payload: "9780306406157", centre: middle))
    inverted.invert()
    #expect(try decode(inverted).isEmpty)

    var wrong = Scene()
    wrong.draw(Scene.Code(payload: "9780306406158", centre: middle))
    #expect(try decode(wrong).isEmpty)

    var stripes = Scene()
    for x in stride(from: 40.0, to: 600, by: 12) {
        stripes.draw(Scene.Code(payload: "9780306406158", centre: Point(x: x, y: 240), module: 0.05, height: 300))
    }
    #expect(try decode(stripes).isEmpty)
}

private let hard: [(String, module: Double, radius: Int, times: Int, ink: UInt8, paper: UInt8)] = [
    ("blurred", 4, 2, 1, 30, 220), ("dark", 2, 0, 0, 24, 44), ("faint", 2, 0, 0, 200, 216),
    ("blurred and faint", 3, 1, 2, 120, 170),
]

@Test(arguments: hard)
func `reads blurred, dark and faint prints`(
    _ name: String, _ module: Double, _ radius: Int, _ times: Int, _ ink: UInt8, _ paper: UInt8
) throws {
    var random = SplitMix(seed: 7)
    for _ in 0..<3 {
        let payload = random.payload(prefix: "978")
        var scene = Scene(width: 480, height: 320, paper: paper)
        scene.draw(
            Scene.Code(
                payload: payload, centre: Point(x: 240, y: 160), module: module, height: 150, ink: ink, paper: paper))
        if times > 0 { scene.blur(radius: radius, times: times) }
        scene.addNoise(1)
        #expect(try decode(scene).map(\.payload) == [payload], "\(name)")
    }
}

@Test func `gives the same results whatever it read before`() throws {
    var scene = Scene()
    scene.draw(Scene.Code(payload: "9780306406157", addon: "51299", centre: middle))
    var used = try PhotoReader()
    let first = try used.decode(ScenePicture(frame: scene.frame))
    var noise = Scene(width: 900, height: 700)
    noise.addNoise(100)
    _ = try used.decode(ScenePicture(frame: noise.frame))
    #expect(try used.decode(ScenePicture(frame: scene.frame)) == first)
}
