import Bookplate
import CodeMaker
import Testing

@testable import Decoder

@Test func `has the number sets of the standard`() {
    // Two digits of each set and the parity of 9, from GS1 General Specifications, figures 5.2.1.2-1 and -3.
    #expect(DigitTemplates.a[7] == 0b011_1011)
    #expect(DigitTemplates.b[7] == 0b001_0001)
    #expect(DigitTemplates.b[0] == 0b010_0111)
    #expect(DigitTemplates.c[9] == 0b111_0100)
    #expect(DigitTemplates.setB[9] == 0b011010)
}

@Test func `reads lines of a frame whose rows are longer than its picture`() throws {
    var scene = Scene(width: 300, height: 120, bytesPerLine: 331)
    scene.draw(Scene.Code(payload: "9780306406157", centre: Point(x: 150, y: 60), height: 80))
    var scan = try LineScan()
    scan.begin()
    scan.scan(scene.frame, density: 2)
    let symbols = scan.lineEnds.assembled()
    #expect(symbols.map(\.digits.text) == ["9780306406157"])
    #expect((30...42).contains(symbols.first?.lines ?? 0))
    scan.begin()
    #expect(scan.lineEnds.isEmpty)
}

@Test(arguments: [5, 8, 12])
func `reads all lines where a code is known, and each of the others in one of three frames`(_ density: Int) {
    let lines = Array(stride(from: 3, to: 720, by: density))
    let frames = (7..<10).map { turn in
        var focus = LineScan.Focus(turn: turn)
        focus.rows.include(100, within: 50)
        return Set(lines.filter { focus.includesRow($0, density: density) })
    }
    let known = Set(lines.filter { (50...150).contains($0) })
    for (one, other) in [(0, 1), (1, 2), (0, 2)] { #expect(frames[one].intersection(frames[other]) == known) }
    #expect(frames.reduce(into: []) { $0.formUnion($1) } == Set(lines))
}

@Test(arguments: 1...12)
func `reads every line of a scene sooner or later, also while only a third is read`(_ density: Int) {
    let read = Set(
        (0..<(3 * density)).map { number in
            let lines = FrameReader.lines(of: number, density: density)
            return [lines.offset, lines.turn % 3]
        })
    #expect(read.count == 3 * density)
}

@Test(arguments: [0, 30, 75, 120] as [Double])
func `finds the region of a code and the direction across its bars`(_ angle: Double) throws {
    var scene = Scene()
    scene.draw(Scene.Code(payload: "9780306406157", centre: Point(x: 320, y: 240), angle: angle))
    scene.addNoise(5)
    var finder = RegionFinder()
    let region = try #require(finder.regions(in: scene.frame).first)
    let turn = Turn(degrees: angle)
    #expect(abs(region.across.x * turn.cosine + region.across.y * turn.sine) > 0.99)
    #expect(abs(region.centre.x - 320) < 12 && abs(region.centre.y - 240) < 12)
    #expect((175...245).contains(region.length))
}

@Test func `the same lines of a region vote once, and those of a larger frame again`() {
    let frame = Frame(width: 2000, height: 1000)
    var search = PhotoSearch(ScenePicture(frame: frame))
    let region = Region(
        centre: Point(x: 500, y: 500), across: Point(x: 1, y: 0), length: 200, height: 90, weight: 1000)
    #expect(search.isNew(region, lines: 13, of: frame))
    search.markRead(region, lines: 13, of: frame)
    #expect(!search.isNew(region, lines: 13, of: frame))
    #expect(search.isNew(region, lines: 48, of: frame))
    #expect(search.isNew(region, lines: 13, of: Frame(width: 1000, height: 500)))
}

@Test func `bars have the same weight in any frame`() {
    let search = PhotoSearch(ScenePicture(frame: Frame(width: 2000, height: 1000)))
    let region = Region(
        centre: Point(x: 250, y: 250), across: Point(x: 1, y: 0), length: 100, height: 45, weight: 1000)
    let full = search.full(region, from: Frame(width: 1000, height: 500))
    #expect(full.length == 200 && full.weight == 4000)
}
