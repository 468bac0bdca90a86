import Bookplate
import CodeMaker
import Decoder
import Testing

private let isbn = "9780306406157"

/// Returns the results of a number of frames of one scene, a thirtieth of a second apart.
private func read(_ scene: Scene, frames: Int = 8, with reader: inout FrameReader) -> [FrameResult] {
    var frame = scene.frame
    return (0..<frames).map { number in
        frame.timestamp = .milliseconds(33 * number)
        var reading = FrameResult()
        reader.read(frame, into: &reading)
        return reading
    }
}

private func read(_ scene: Scene, frames: Int = 8) throws -> [FrameResult] {
    var reader = try FrameReader()
    return read(scene, frames: frames, with: &reader)
}

extension [FrameResult] {
    /// Counts the frames in which exactly these payloads were read.
    fileprivate func count(of payloads: Set<String>) -> Int { count { Set($0.symbols.map(\.payload)) == payloads } }
    fileprivate var others: Set<String> { Set(flatMap(\.symbols).map(\.payload)).subtracting([isbn]) }
}

@Test(arguments: [(640, 480), (1280, 720), (1920, 1080)])
func `reads an upright code in every frame`(_ width: Int, _ height: Int) throws {
    var scene = Scene(width: width, height: height)
    scene.draw(Scene.Code(payload: isbn, centre: Point(x: Double(width) / 2, y: Double(height) / 2)))
    scene.addNoise(8)
    #expect(try read(scene).count(of: [isbn]) == 8)
}

@Test(arguments: Array(stride(from: 0.0, to: 360, by: 15)))
func `reads a code held at any angle`(_ angle: Double) throws {
    var scene = Scene(width: 1280, height: 720)
    scene.draw(Scene.Code(payload: isbn, centre: Point(x: 600, y: 350), module: 2.5, height: 130, angle: angle))
    scene.addNoise(6)
    let readings = try read(scene)
    #expect(readings.count(of: [isbn]) >= 6)
    #expect(readings.allSatisfy { $0.unread.isEmpty || $0.symbols.isEmpty })
    let corners = try #require(readings.last?.symbols.first?.corners)
    #expect(abs(corners.centre.x - 600) < 15 && abs(corners.centre.y - 350) < 40)
}

@Test(arguments: [0, 90, 33] as [Double])
func `reads a code of one and a half pixels a module`(_ angle: Double) throws {
    var scene = Scene(width: 1280, height: 720)
    scene.draw(Scene.Code(payload: isbn, centre: Point(x: 300, y: 500), module: 1.5, height: 80, angle: angle))
    scene.addNoise(4)
    let readings = try read(scene)
    #expect(readings.count(of: [isbn]) >= 3)
    #expect(readings.others.isEmpty)
}

@Test func `reads a code that fills the frame, and one in its corner`() throws {
    var near = Scene(width: 1280, height: 720)
    near.draw(Scene.Code(payload: isbn, centre: Point(x: 640, y: 360), module: 10, height: 500, angle: 8))
    #expect(try read(near).count(of: [isbn]) >= 6)
    var corner = Scene(width: 1280, height: 720)
    corner.draw(Scene.Code(payload: isbn, centre: Point(x: 1130, y: 640), height: 90))
    #expect(try read(corner).count(of: [isbn]) == 8)
}

@Test func `reads two books in view, and a book beside a product`() throws {
    for other in ["9791032305690", "4006381333931"] {
        var scene = Scene(width: 1280, height: 720)
        scene.draw(Scene.Code(payload: isbn, centre: Point(x: 300, y: 200)))
        scene.draw(Scene.Code(payload: other, centre: Point(x: 800, y: 450), angle: 20))
        #expect(try read(scene).count(of: [isbn, other]) >= 6)
    }
}

@Test func `reads a blurred code`() throws {
    var scene = Scene(width: 1280, height: 720)
    scene.draw(Scene.Code(payload: isbn, centre: Point(x: 640, y: 360), module: 3, height: 150, angle: 5))
    scene.blur(radius: 1, times: 2)
    scene.addNoise(4)
    #expect(try read(scene).count(of: [isbn]) >= 3)
}

@Test(arguments: ["90000", "05"])
func `joins the add-on to its code`(_ addon: String) throws {
    var scene = Scene(width: 1280, height: 720)
    scene.draw(Scene.Code(payload: isbn, addon: addon, centre: Point(x: 500, y: 300)))
    #expect(try read(scene).compactMap { $0.symbols.first?.addon }.filter { $0 == addon }.count >= 3)
}

/// Reads a scene once, at a time in milliseconds.
private func read(_ scene: Scene, at time: Int, with reader: inout FrameReader) -> [Symbol] {
    var frame = scene.frame
    frame.timestamp = .milliseconds(time)
    var reading = FrameResult()
    reader.read(frame, into: &reading)
    return reading.symbols
}

@Test(arguments: [(0, 90), (90, 0), (0, 0), (45, 90)] as [(Double, Double)], [12, 13, 14])
func `finds a second book soon while the first is held up, which stays in its place`(
    _ angles: (first: Double, second: Double), _ arrival: Int
) throws {
    var reader = try FrameReader()
    var scene = Scene(width: 1280, height: 720)
    scene.draw(
        Scene.Code(payload: isbn, centre: Point(x: 300, y: 360), module: 3, height: 160, angle: angles.first))
    var places: [[Double]] = []
    var found: Set<String> = []
    for number in 0..<(arrival + 3) {
        if number == arrival {
            scene.draw(
                Scene.Code(
                    payload: "9780441478125", centre: Point(x: 900, y: 300), module: 1.5, height: 60,
                    angle: angles.second))
        }
        let symbols = read(scene, at: 33 * number, with: &reader)
        found.formUnion(symbols.map(\.payload))
        let known = try #require(symbols.first { $0.payload == isbn })
        places.append(known.corners.all.flatMap { [$0.x, $0.y] })
    }
    #expect(found == [isbn, "9780441478125"])
    // It takes some frames until fewer lines are read.
    for coordinate in 0..<8 {
        let values = places.dropFirst(4).map { $0[coordinate] }
        #expect(values.max()! - values.min()! <= 12, "\(values)")
    }
}

@Test(arguments: [33, 100, 400])
func `finds a code again that was not seen in two frames, however seldom frames come`(_ interval: Int) throws {
    var reader = try FrameReader()
    var scene = Scene(width: 1280, height: 720)
    let empty = scene
    scene.draw(Scene.Code(payload: isbn, centre: Point(x: 500, y: 300), module: 1.5, height: 60, angle: 20))
    let shown = (0..<12).map { number in
        read((8...9).contains(number) ? empty : scene, at: interval * number, with: &reader).map(\.payload)
    }
    #expect(shown == (0..<12).map { (8...9).contains($0) ? [] : [isbn] })
}

@Test func `follows a code that moves, and finds it again after it was gone`() throws {
    var reader = try FrameReader()
    var reading = FrameResult()
    var hits = 0
    for number in 0..<30 {
        var scene = Scene(width: 1280, height: 720)
        if number < 12 || number > 18 {
            scene.draw(
                Scene.Code(
                    payload: isbn, centre: Point(x: 200 + 25 * Double(number), y: 250 + 8 * Double(number)),
                    module: 2.2,
                    angle: 40 + Double(number)))
        }
        var frame = scene.frame
        frame.timestamp = .milliseconds(33 * number)
        reader.read(frame, into: &reading)
        #expect(reading.symbols.allSatisfy { $0.payload == isbn })
        if !reading.symbols.isEmpty { hits += 1 }
        if (13...18).contains(number) { #expect(reading.symbols.isEmpty) }
    }
    #expect(hits >= 16)
}

@Test func `captures hard codes from three frames together, and never a wrong one`() throws {
    var frame = Frame(width: 1, height: 1)
    var captured = 0
    for seed in 0..<40 as Range<UInt64> {
        var sequence = HardSequence(seed: seed)
        var reader = try FrameReader()
        var (consensus, reading) = (Consensus(), FrameResult())
        var believed: [Symbol] = []
        for number in 0..<HardSequence.frames {
            sequence.draw(into: &frame)
            frame.timestamp = .milliseconds(33 * number)
            reader.read(frame, into: &reading)
            consensus.update(with: reading, at: frame.timestamp, believed: &believed)
            #expect(believed.allSatisfy { $0.payload == sequence.payload })
            if !believed.isEmpty { captured += 1 }
        }
    }
    // If only three agreeing frames counted, less than half as many would be captured.
    #expect(captured >= 25, "\(captured) of 40")
}

@Test func `finds nothing on blank paper or in noise`() throws {
    var noise = Scene(width: 1280, height: 720, paper: 128)
    noise.addNoise(120)
    for scene in [Scene(width: 1280, height: 720), Scene(paper: 0), noise] {
        for reading in try read(scene) {
            #expect(reading.symbols.isEmpty && reading.unread.isEmpty && reading.sharpness == nil)
        }
    }
}

@Test func `reads frames of changing sizes, even the smallest`() throws {
    var reader = try FrameReader()
    for (width, height, stride) in [
        (640, 480, 640), (1920, 1080, 1920), (1, 1, 1), (2, 3, 2), (3, 2, 7), (16, 16, 16), (17, 1000, 17),
        (1000, 5, 1024),
        (640, 480, 704), (1280, 720, 1280),
    ] {
        var scene = Scene(width: width, height: height, bytesPerLine: stride)
        scene.draw(Scene.Code(payload: isbn, centre: Point(x: Double(width) / 2, y: Double(height) / 2)))
        let hits = read(scene, frames: 4, with: &reader).count(of: [isbn])
        #expect(hits == (min(width, height) >= 480 ? 4 : hits))
    }
}

@Test func `reports bars that it cannot read, and how blurred they are`() throws {
    var scene = Scene(width: 1280, height: 720)
    // Its check digit is wrong, so these bars cannot be read.
    let wrong = "9780306406158"
    scene.draw(Scene.Code(payload: wrong, centre: Point(x: 640, y: 360), module: 2.5, height: 150, angle: 30))
    scene.blur(radius: 2, times: 3)
    let readings = try read(scene)
    #expect(readings.allSatisfy { $0.symbols.isEmpty })
    let measured = readings.filter { !$0.unread.isEmpty }
    #expect(measured.count >= 2)
    for reading in measured {
        #expect(abs(reading.unread[0].centre.x - 640) < 20 && abs(reading.unread[0].centre.y - 360) < 20)
        #expect((reading.sharpness ?? 1) < HintRules.sharpness)
        #expect((2.0...3.5).contains(reading.pixelsPerModule ?? 0))
    }
}

@Test func `measures the light, and the sharpness of a code in focus`() throws {
    var scene = Scene(width: 1280, height: 720, paper: 255)
    let white = try read(scene)[0].light
    #expect(white.mean == 255 && white.clipped == 1)
    scene.draw(Scene.Code(payload: isbn, centre: Point(x: 640, y: 360), module: 2.5))
    let sharp = try read(scene).compactMap(\.sharpness)
    #expect(!sharp.isEmpty && sharp.allSatisfy { $0 > 0.4 })
}

@Test(arguments: ["9187569709672", "9121569709672", "9721569709672"])
func `does not report a code that is probably a misread book`(_ payload: String) throws {
    var scene = Scene(width: 1280, height: 720)
    scene.draw(Scene.Code(payload: payload, centre: Point(x: 640, y: 360)))
    #expect(try read(scene).allSatisfy { $0.symbols.isEmpty })
}

@Test func `treats another number where a book was read as a misread for a second`() throws {
    let product = "4006381333931"
    var reader = try FrameReader()
    var reading = FrameResult()
    for (milliseconds, payload, told) in [
        (0, isbn, [isbn]), (33, product, []), (900, product, []), (1100, product, [product]), (1133, isbn, [isbn]),
    ] {
        var scene = Scene(width: 1280, height: 720)
        scene.draw(Scene.Code(payload: payload, centre: Point(x: 640, y: 360)))
        var frame = scene.frame
        frame.timestamp = .milliseconds(milliseconds)
        reader.read(frame, into: &reading)
        #expect(reading.symbols.map(\.payload) == told, "at \(milliseconds) ms")
    }
}
