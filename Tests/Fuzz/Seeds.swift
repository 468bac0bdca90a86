import Bookplate
import CodeMaker
import TestTools

/// Returns the inputs from which the search starts: readable codes, in every form that a target accepts.
func seeds(of target: Target) -> [[UInt8]] {
    var random = SplitMix(seed: 2026)
    switch target {
    case .lines: return (0..<24).map { lineSeed($0, &random) }
    case .photo: return (0..<4).flatMap { photoSeeds($0, &random) }
    case .frames: return (0..<96).map { $0 < 8 ? pixelSeed(&random) : codeSeed($0, &random) }
    case .records: return recordSeeds()
    case .queries: return querySeeds()
    }
}

private func lineSeed(_ number: Int, _ random: inout SplitMix) -> [UInt8] {
    let modules = barcode(random.payload(prefix: "978")) + [Bool](repeating: false, count: 9) + addonBars("51299")
    if number >= 12 {
        // A frame of 400 by 40 pixels with two pixels per byte and identical rows, for rows and for a region.
        let levels = [UInt8](repeating: 210, count: 20) + modules.map { $0 ? 30 : 210 }
        let row = levels + [UInt8](repeating: 210, count: max(0, 200 - levels.count))
        let region = bytes(32_768) + [1] + bytes(49_152, 51_000, 22_000, 13_000, 30_000) + [30]
        let head: [UInt8] = number < 18 ? [2, UInt8(number), 0] : [3] + region
        return head + bytes(399, 39) + [0, 1 + 8 * 31] + row
    }
    var runs: [UInt8] = [9]
    var (width, isBar) = (0, false)
    for module in modules + [!modules.last!] {
        if module != isBar || width == 5 {
            if width > 0 { runs.append(UInt8(width * 2 - 1)) }
            (width, isBar) = (0, module)
        }
        width += 1
    }
    let line = [UInt8(4 + number % 4 + number / 4 * 8)] + bytes(512) + runs
    return [UInt8(number % 2)] + line + line
}

/// Returns the numbers as two bytes each.
private func bytes(_ numbers: Int...) -> [UInt8] {
    numbers.flatMap { [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)] }
}

private func frame(_ random: inout SplitMix, width: Int, height: Int, module: Double) -> Frame {
    var frame = Frame(width: width, height: height)
    let middle = Point(x: Double(width) / 2, y: Double(height) / 2)
    var code = PrintedCode(
        payload: random.payload(prefix: "978"), centre: middle, module: module, height: Double(height) * 0.8)
    code.bell = 0.5
    code.draw(into: &frame, &random)
    return frame
}

private func pixelSeed(_ random: inout SplitMix) -> [UInt8] {
    let frame = frame(&random, width: 150, height: 48, module: 1.3)
    return [UInt8(4 * random.number(0...7)), 16, 16, 16, 16, UInt8(random.next() & 255)] + bytes(149, 47) + [0, 0]
        + frame.luma
}

/// Returns the bytes of a code that is readable in most cases.
private func codeSeed(_ number: Int, _ random: inout SplitMix) -> [UInt8] {
    var seed: [UInt8] = [UInt8(1 + number % 4 * 4 + number / 4 % 16 * 16), 16, 16, 16, 16, UInt8(random.next() & 255)]
    let module = random.number(1.1...2.2)
    seed += [UInt8(min(255, 110 * module - 64)), UInt8(random.number(40...110)), UInt8(number & 7)]
    seed += bytes(Int(random.next() & 0xFFFF), 32_768, 32_768, Int((module - 0.5) / 3 * 65_535), 26_000)
    seed += [UInt8(number & 1)] + bytes(Int(random.number(20_000...45_000)), 32_768)
    seed += bytes(Int(random.number(25_000...40_000)), Int(random.number(0...30_000)), Int(random.number(0...30_000)))
    seed += [UInt8(random.number(10...70)), UInt8(random.number(110...240))] + bytes(36_000)
    seed += [UInt8(number % 3 == 0 ? 4 * random.number(0...30) : 0), 0]
    return seed + (0..<24).map { _ in UInt8(random.next() & (number % 2 == 0 ? 255 : 7)) }
}
