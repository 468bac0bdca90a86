import Bookplate
import CodeMaker
import Decoder

/// Reads one to four frames as live frames, or the last of them as a photo at several scales.
func runFrames(_ bytes: [UInt8]) {
    var source = ByteSource(bytes)
    let how = source.next()
    let times = (0..<4).map { _ in source.next() }
    let scales = source.next()
    var frames: [Frame] = []
    if how & 3 == 0 {
        // Sometimes a very long frame.
        let (width, height) = scales == 7 ? (12_000, 4) : scales == 15 ? (4, 12_000) : (160, 120)
        frames = [source.frame(maxWidth: width, maxHeight: height)]
        for _ in 0..<(how >> 2 & 3) { frames.append(frames[0]) }
    } else {
        var frame = source.printedCode()
        frames.append(frame)
        for _ in 0..<(how >> 2 & 3) {
            source.damage(&frame)
            frames.append(frame)
        }
    }
    // Sometimes everything is read twice.
    let isRepeated = how >> 5 == 0
    if how & 16 != 0 { return decode(frames[frames.count - 1], scales, isRepeated: isRepeated) }
    var time = Duration.seconds(1)
    for index in frames.indices {
        frames[index].timestamp = time
        // Including a long pause, or a clock that jumps back.
        time += .milliseconds(times[index] == 255 ? -2000 : times[index] * times[index] / 8)
    }
    let first = read(frames)
    if isRepeated { require(read(frames) == first, "different results for the same frames") }
}

/// - Returns: the symbols of every frame.
private func read(_ frames: [Frame]) -> [[Symbol]] {
    guard var reader = try? FrameReader() else { return [] }
    var (reading, consensus, believed) = (FrameResult(), Consensus(), [Symbol]())
    return frames.map { frame in
        reader.read(frame, into: &reading)
        check(reading.symbols)
        for corners in reading.unread { check(corners) }
        let payloads = reading.symbols.map(\.payload)
        require(reading.certain.allSatisfy(payloads.contains), "certain of \(reading.certain), read \(payloads)")
        require((0...255).contains(reading.light.mean) && (0...1).contains(reading.light.clipped), "\(reading.light)")
        require((0...1).contains(reading.sharpness ?? 0), "sharpness \(reading.sharpness ?? 0)")
        require(reading.pixelsPerModule?.isFinite ?? true, "pixels a module")
        consensus.update(with: reading, at: frame.timestamp, believed: &believed)
        check(believed)
        return reading.symbols
    }
}

private func decode(_ frame: Frame, _ how: Int, isRepeated: Bool) {
    let picture = ScaledPicture(
        frame: frame, factor: [1, 2, 8, 16][how & 3], isReduced: how & 4 != 0,
        orientation: Orientation(rawValue: 1 + how >> 3 & 7)!)
    do {
        var decoder = try PhotoReader()
        var explanation: Explanation? = Explanation()
        let symbols = try decoder.decode(picture, explaining: &explanation)
        check(symbols)
        for corners in explanation?.steps.flatMap(\.places) ?? [] { check(corners) }
        // The result must not depend on pictures decoded before.
        if isRepeated {
            _ = try decoder.decode(ScaledPicture(frame: frame, factor: 1, isReduced: true, orientation: .up))
            require(try decoder.decode(picture) == symbols, "a different result for the same photo")
        }
    } catch {
        fatalError("\(error)")
    }
}

/// A frame as a photo `factor` times as large, decoded at its full size or, if a smaller one suffices, at half of it.
private struct ScaledPicture: Picture {
    let frame: Frame
    let factor: Int
    let isReduced: Bool
    let orientation: Orientation
    var width: Int { frame.width * factor }
    var height: Int { frame.height * factor }

    func luma(atLeast longSide: Int) -> Frame {
        guard isReduced, longSide < max(width, height), frame.width > 1, frame.height > 1 else { return frame }
        var half = Frame(width: frame.width / 2, height: frame.height / 2)
        let (width, source) = (half.width, frame.luma)
        half.withMutableLuma { luma in
            for at in luma.indices { luma[at] = source[at / width * 2 * frame.bytesPerLine + at % width * 2] }
        }
        return half
    }
}
