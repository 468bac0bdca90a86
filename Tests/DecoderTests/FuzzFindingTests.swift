import Bookplate
import CodeMaker
import Decoder
import Testing

// Findings of script/fuzz, each as the shortest test that reproduces it.

/// A photo that can be decoded only at its full size, such as PNG and WebP.
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
func `finds nothing in a very long picture, and continues`(_ width: Int, _ height: Int) throws {
    var scene = Scene(width: width, height: height)
    scene.addNoise(100)
    var decoder = try PhotoReader()
    #expect(try decoder.decode(FullPicture(frame: scene.frame)).isEmpty)
    var (reader, reading) = (try FrameReader(), FrameResult())
    for _ in 0..<3 { reader.read(scene.frame, into: &reading) }
    #expect(reading.symbols.isEmpty)
}

/// Sequences in which several frames show one code and a line shows another in the same region.
private let disputed: [UInt64] = [25, 121, 328, 514, 724, 730]

@Test(arguments: disputed)
func `is certain only of codes that it reports`(_ seed: UInt64) throws {
    var (sequence, frame) = (HardSequence(seed: seed), Frame(width: 1, height: 1))
    var (reader, reading) = (try FrameReader(), FrameResult())
    for number in 0..<4 {
        sequence.draw(into: &frame)
        frame.timestamp = .milliseconds(100 * number)
        reader.read(frame, into: &reading)
        let payloads = reading.symbols.map(\.payload)
        #expect(reading.certain.allSatisfy(payloads.contains), "\(reading.certain), reported \(payloads)")
    }
}
