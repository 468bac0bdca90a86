import Bookplate

extension Frame {
    /// The frame in black and white, cut at the level that separates its grey levels best.
    ///
    /// Source: Otsu, "A threshold selection method from gray-level histograms", IEEE Trans. SMC 9(1), 1979.
    func blackAndWhite() -> Frame {
        var histogram = [Int](repeating: 0, count: 256)
        withLuma { luma in
            for y in 0..<height { for x in 0..<width { histogram[Int(luma[y * bytesPerLine + x])] += 1 } }
        }
        let level = Self.otsuLevel(histogram)
        var result = self
        result.withMutableLuma { luma in
            for index in luma.indices { luma[index] = Int(luma[index]) > level ? 255 : 0 }
        }
        return result
    }

    private static func otsuLevel(_ histogram: [Int]) -> Int {
        let total = histogram.reduce(0, +)
        let sum = histogram.indices.reduce(0) { $0 + $1 * histogram[$1] }
        var (best, bestVariance, darkCount, darkSum) = (127, -1.0, 0, 0)
        for level in 0..<255 {
            darkCount += histogram[level]
            darkSum += level * histogram[level]
            guard darkCount > 0, darkCount < total else { continue }
            let difference = Double(darkSum) / Double(darkCount) - Double(sum - darkSum) / Double(total - darkCount)
            let variance = Double(darkCount) * Double(total - darkCount) * difference * difference
            if variance > bestVariance { (best, bestVariance) = (level, variance) }
        }
        return best
    }
}
