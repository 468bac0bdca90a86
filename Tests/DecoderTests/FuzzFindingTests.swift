import Bookplate
import Decoder
import Testing

// What script/fuzz came upon, as the shortest test of it.

/// A photo that can be had at its full size only, as those of PNG and WebP.
private struct FullPicture: Picture {
    let frame: Frame
    var width: Int { frame.width }
    var height: Int { frame.height }
    var orientation: Orientation { .up }

    func luma(atLeast longSide: Int) -> Frame { frame }
}

private let shapes: [(width: Int, height: Int)] = [
    (11_704, 1), (1, 11_704), (12_000, 3), (3, 12_000), (6_000, 8), (8, 6_000),
]

@Test(arguments: shapes)
func `finds nothing in a picture that is all length, and goes on`(_ width: Int, _ height: Int) throws {
    var scene = Scene(width: width, height: height)
    scene.addNoise(100)
    var decoder = try ZBarDecoder()
    #expect(try decoder.decode(FullPicture(frame: scene.frame)).isEmpty)
    var (reader, reading) = (try FrameReader(), FrameReading())
    for _ in 0..<3 { reader.read(scene.frame, into: &reading) }
    #expect(reading.symbols.isEmpty)
}
