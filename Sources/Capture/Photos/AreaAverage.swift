import Bookplate

extension Frame {
    /// Returns the frame scaled down, with each new pixel as the average of the area that it covers. Thin bars become
    /// grey this way, while taking every n-th pixel would lose them.
    ///
    /// - Parameter longSide: the long side of the new frame, in pixels. A frame that is not larger than this is
    ///   returned unchanged.
    func areaAveraged(longSide: Int) -> Frame {
        let long = max(width, height)
        guard longSide > 0, longSide < long else { return self }
        let factor = long / longSide
        if factor > 1, long % longSide < factor, min(width, height) > 32 * factor { return boxAveraged(by: factor) }
        let newWidth = max(1, (width * longSide + long / 2) / long)
        let newHeight = max(1, (height * longSide + long / 2) / long)
        var result = Frame(width: newWidth, height: newHeight)
        let columns = AreaWeights(from: width, to: newWidth)
        let rows = AreaWeights(from: height, to: newHeight)
        // For each old column, the sum over the old rows that one new row covers, in units of 1/256 of a grey level.
        var sums = [UInt32](repeating: 0, count: width)
        var running = [UInt32](repeating: 0, count: width + 1)
        withLuma { source in
            result.withMutableLuma { target in
                sums.withUnsafeMutableBufferPointer { sums in
                    running.withUnsafeMutableBufferPointer { running in
                        for y in 0..<newHeight {
                            rows.sumRows(of: source, stride: bytesPerLine, row: y, into: sums)
                            columns.average(
                                sums, running: running, rowWeight: rows.step,
                                into: UnsafeMutableBufferPointer(
                                    rebasing: target[(y * newWidth)..<((y + 1) * newWidth)]))
                        }
                    }
                }
            }
        }
        return result
    }
}

extension Frame {
    /// Returns the frame scaled down, with each new pixel as the mean of `factor` by `factor` old pixels. Rows and
    /// columns at the end that do not fill a new pixel are left out, which shifts the picture by less than one new
    /// pixel. This is four times as fast as an average with weights for partly covered pixels, because whole pixels can
    /// be added as vectors.
    private func boxAveraged(by factor: Int) -> Frame {
        var result = Frame(width: width / factor, height: height / factor)
        let columns = result.width * factor
        // 16 bits hold the sums of 257 rows; a larger factor would require a photo above the pixel limit.
        var sums = [UInt16](repeating: 0, count: columns)
        let share = UInt32(65_536) / UInt32(factor * factor)
        withLuma { source in
            guard let base = source.baseAddress else { return }
            result.withMutableLuma { target in
                sums.withUnsafeMutableBufferPointer { sums in
                    for y in 0..<(target.count / (columns / factor)) {
                        let first = base + y * factor * bytesPerLine
                        for x in 0..<columns { sums[x] = UInt16(first[x]) }
                        for row in 1..<factor {
                            let line = first + row * bytesPerLine
                            for x in 0..<columns { sums[x] &+= UInt16(line[x]) }
                        }
                        let out = target.baseAddress! + y * (columns / factor)
                        for x in 0..<(columns / factor) {
                            var sum: UInt32 = 0
                            for column in 0..<factor { sum &+= UInt32(sums[x &* factor &+ column]) }
                            out[x] = UInt8(truncatingIfNeeded: (sum &* share &+ 32_768) >> 16)
                        }
                    }
                }
            }
        }
        return result
    }
}

/// The old pixels that each new pixel covers, with the weight of each old pixel in units of 1/256.
private struct AreaWeights {
    let oldCount: Int
    let newCount: Int
    /// The number of old pixels per new pixel, in units of 1/256; at least 256.
    let step: Int

    init(from oldCount: Int, to newCount: Int) {
        self.oldCount = oldCount
        self.newCount = newCount
        step = oldCount * 256 / newCount
    }

    /// Returns the position at which a new pixel starts, in units of 1/256 of an old pixel. For every `index` up to
    /// `newCount`, the position lies within the old pixels.
    func start(_ index: Int) -> Int { index * (oldCount * 256) / newCount }

    /// Sets `sums[x]` to the weighted sum of the pixels in column x, over the old rows that one new row covers.
    func sumRows(
        of source: UnsafeBufferPointer<UInt8>, stride: Int, row: Int, into sums: UnsafeMutableBufferPointer<UInt32>
    ) {
        let from = start(row)
        let to = from + step
        var isFirst = true
        var y = from >> 8
        while y < oldCount, y << 8 < to {
            let weight = UInt32(min(to, (y + 1) << 8) - max(from, y << 8))
            let line = source.baseAddress! + y * stride
            if isFirst {
                for x in 0..<sums.count { sums[x] = UInt32(line[x]) &* weight }
            } else {
                for x in 0..<sums.count { sums[x] = sums[x] &+ UInt32(line[x]) &* weight }
            }
            isFirst = false
            y += 1
        }
    }

    /// Averages the pixels of one row. Each average is a difference of two running sums, so the cost does not grow with
    /// the width of a new pixel.
    func average(
        _ sums: UnsafeMutableBufferPointer<UInt32>, running: UnsafeMutableBufferPointer<UInt32>, rowWeight: Int,
        into row: UnsafeMutableBufferPointer<UInt8>
    ) {
        // Scale the sums to 1/16 of a grey level, so that 12,000 columns of 255 easily fit into 32 bits.
        let scale = Float(16) / Float(rowWeight)
        for x in 0..<sums.count { sums[x] = UInt32(Float(sums[x]) * scale) }
        var total: UInt32 = 0
        running[0] = 0
        for x in 0..<sums.count {
            total = total &+ sums[x]
            running[x + 1] = total
        }
        func sum(upTo position: Int) -> UInt32 {
            let whole = min(position >> 8, oldCount)
            return whole < oldCount ? running[whole] &+ (sums[whole] &* UInt32(position & 255)) >> 8 : running[whole]
        }
        let perPixel = 256 / (Float(step) * 16)
        for x in 0..<newCount {
            let from = start(x)
            row[x] = UInt8(min(255, Float(sum(upTo: from + step) &- sum(upTo: from)) * perPixel + 0.5))
        }
    }
}
