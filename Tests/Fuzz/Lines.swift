import Bookplate
import CodeMaker

@testable import Decoder

/// Reads lines of any length, forwards and backwards, of both kinds of value, and scans any frame.
func runLines(_ bytes: [UInt8]) {
    var source = ByteSource(bytes)
    switch source.next() % 4 {
    case 0: readLines(&source) { UInt8(truncatingIfNeeded: $0) }
    case 1: readLines(&source) { Int16(truncatingIfNeeded: $0) }
    case 2: scanRows(&source)
    default: scanRegion(&source)
    }
}

/// Reads some lines with one reader, one after the other: halves of codes are joined from line to line.
private func readLines<Value: FixedWidthInteger>(_ source: inout ByteSource, _ value: (Int) -> Value) {
    guard let reader = try? LineReader() else { return }
    for _ in 0..<8 where !source.isEmpty {
        let how = source.next()
        let stride = [1, -1, 2, -3][how & 3]
        let levels = how & 4 == 0 ? source.levels(most: 512) : source.stripes(most: 512)
        if how & 8 != 0 { reader.reset() }
        withMemory(levels, stride: stride, value) { first in
            reader.read(first, count: levels.count, stride: stride, isCoarse: how & 16 != 0) { code in
                require([2, 5, 13].contains(code.digits.count), "\(code.digits.count) digits")
                require(code.digits.text.utf8.count == code.digits.count, code.digits.text)
                // Relative to the line's first value, or before it if the code started on the line before.
                require(abs(code.end) <= 100_000, "ends at \(code.end) of \(levels.count)")
            }
        }
    }
}

/// Lends values in memory that ends exactly with the line.
private func withMemory<Value: FixedWidthInteger>(
    _ levels: [Int], stride: Int, _ value: (Int) -> Value, _ body: (UnsafePointer<Value>) -> Void
) {
    let step = abs(stride)
    let memory = UnsafeMutablePointer<Value>.allocate(capacity: max(levels.count * step - step + 1, 0))
    defer { memory.deallocate() }
    guard !levels.isEmpty else { return body(memory) }
    memory.initialize(repeating: 0, count: levels.count * step - step + 1)
    let first = stride > 0 ? memory : memory + (levels.count - 1) * step
    for (at, level) in levels.enumerated() { first[at * stride] = value(level) }
    body(first)
}

extension ByteSource {
    fileprivate mutating func levels(most: Int) -> [Int] {
        let count = number(0...most)
        return (0..<count).map { _ in isEmpty ? 0 : next() * 3 }
    }

    /// Returns levels of stripes: every byte is the width and the level of a bar or a space.
    fileprivate mutating func stripes(most: Int) -> [Int] {
        let count = number(0...most)
        var result: [Int] = []
        var isBar = false
        while result.count < count, !isEmpty {
            let stripe = next()
            let level = isBar ? 60 + (stripe >> 4) * 12 : 640 - (stripe >> 4) * 12
            result += [Int](repeating: level, count: min(1 + stripe & 15, count - result.count))
            isBar.toggle()
        }
        return result
    }
}

private func scanRows(_ source: inout ByteSource) {
    guard var scan = try? LineScan() else { return }
    let density = 1 + source.next() % 16
    let offset = source.next()
    let frame = source.frame(maxWidth: 400, maxHeight: 60)
    scan.begin()
    // The offset must be less than the density and within the frame.
    let most = min(density, frame.width, frame.height)
    scan.scan(frame, density: density, offset: offset & 128 == 0 ? nil : offset % most)
    check(scan)
}

private func scanRegion(_ source: inout ByteSource) {
    guard var scan = try? LineScan() else { return }
    let turn = Turn(degrees: source.number(-180...180))
    let far = source.next() == 0 ? 100_000.0 : 1
    let region = Region(
        centre: Point(x: source.number(-100...500), y: source.number(-100...200) * far),
        across: Point(x: turn.cosine, y: turn.sine), length: source.number(0...600) * far,
        height: source.number(0...200) * far, weight: 1)
    let (enlargement, most) = (source.number(0.4...2), 1 + source.next() % 60)
    let frame = source.frame(maxWidth: 400, maxHeight: 60)
    scan.begin()
    scan.scan(frame, region: region, enlargement: enlargement, most: most)
    check(scan)
    if let stripes = scan.stripes(of: frame, in: region) {
        require(stripes.likeness.isFinite && stripes.sharpness.isFinite, "\(stripes)")
    }
}

private func check(_ scan: LineScan) {
    let symbols = scan.lineEnds.assembled()
    for symbol in symbols {
        check(payload: symbol.digits.text)
        check(symbol.corners)
        require(symbol.lines > 0 && symbol.wholeLines <= symbol.lines, "\(symbol)")
        require(symbols.filter { $0.digits == symbol.digits }.count == 1, "\(symbol.digits.text) twice")
    }
}
