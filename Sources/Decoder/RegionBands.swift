import Bookplate

extension GreyReader {
    struct Result {
        var digits: Digits
        /// How many times likelier than the runner-up, as a natural logarithm, if the differences of ink were noise.
        var margin: Float
        /// By how much the payload fits worse than the best one with a wrong check digit, on the same scale.
        var checkCost: Float
        var noise: Float
        /// Bands that said the same on their own, and all.
        var agreeing: Int
        var bands: Int
        var corners: Corners

        /// Over the 259 photos of the test set no wrong payload has a margin above 14, and nine right ones of ten have more than 60.
        var isSure: Bool { margin >= 30 && checkCost < margin / 4 && noise <= 0.05 && agreeing >= 1 }
    }

    /// Noise above which three bands in the middle say that this is no code, or none that can be read.
    private static let hopeless: Float = 0.09
    /// Noise below which a band's placement is a guide for its neighbours.
    private static let good: Float = 0.04

    /// - Parameter slack: how far the code's ends may lie from the region's, in pixels of the frame.
    mutating func read(_ frame: Frame, region: Region, slack: Double) -> Result? {
        guard frame.width > 1, frame.height > 1 else { return nil }
        let scale = min(2.0, 500 / region.length)
        let reach = region.length / 2 + slack
        let count = Int(reach * 2 * scale)
        guard count > 80 else { return nil }
        let bandCount = min(8, max(3, Int(region.height / 4)))
        let lines = min(8, max(2, Int(region.height / Double(bandCount))))
        var values = [Float](repeating: 0, count: count)
        var bands: [(band: Band, offset: Double)] = []
        // From the middle outwards: the ends of a region are often not of the code.
        let order = (0..<bandCount).sorted { abs($0 * 2 + 1 - bandCount) < abs($1 * 2 + 1 - bandCount) }
        for (tried, index) in order.enumerated() {
            if tried == 3, !bands.contains(where: { $0.band.noise < Self.hopeless }) { return nil }
            let middle = (Double(index) + 0.5) / Double(bandCount) - 0.5
            for at in values.indices { values[at] = 0 }
            for line in 0..<lines {
                let offset = (middle + ((Double(line) + 0.5) / Double(lines) - 0.5) / Double(bandCount)) * region.height
                addLine(frame, region, reach: reach, offset: offset, scale: scale, to: &values)
            }
            for at in values.indices { values[at] /= Float(lines) }
            let (inner, outer) = (Float(slack * scale), Float(region.length * scale))
            let band = values.withUnsafeBufferPointer {
                read(
                    $0, start: 0...(inner + outer * 0.45), end: (inner + outer * 0.55)...Float(count - 1),
                    near: bands.map(\.band).filter { $0.noise < Self.good }.min { $0.noise < $1.noise })
            }
            if let band { bands.append((band, middle * region.height)) }
        }
        guard bands.count >= 2 else { return nil }
        bands.sort { $0.offset < $1.offset }
        let turned = bands.filter(\.band.isReversed).count * 2 > bands.count
        bands.removeAll { $0.band.isReversed != turned }
        guard bands.count >= 2 else { return nil }
        var sum = DigitCosts()
        for (band, _) in bands { sum = sum + band.costs.scaled(by: 1 / (2 * max(band.noise, 0.003))) }
        // A code that is no book fits better without being taken for one.
        guard let reading = sum.best(.book), sum.best(.none)?.digits == reading.digits else { return nil }
        let agreeing = bands.filter { $0.band.reading.digits == reading.digits }.count
        func point(_ place: Float, _ offset: Double) -> Point {
            let along = Double(place) / scale - reach
            return Point(
                x: region.centre.x + region.across.x * along - region.across.y * offset,
                y: region.centre.y + region.across.y * along + region.across.x * offset)
        }
        guard let first = bands.first, let last = bands.last else { return nil }
        let (a, b) = (point(first.band.placement.start, first.offset), point(first.band.placement.end, first.offset))
        let (c, d) = (point(last.band.placement.end, last.offset), point(last.band.placement.start, last.offset))
        return Result(
            digits: reading.digits, margin: reading.runnerUp - reading.cost,
            checkCost: reading.cost - reading.unchecked,
            noise: bands.map(\.band.noise).sorted()[bands.count / 2], agreeing: agreeing, bands: bandCount,
            corners: turned
                ? Corners(topLeft: c, topRight: d, bottomRight: a, bottomLeft: b)
                : Corners(topLeft: a, topRight: b, bottomRight: c, bottomLeft: d))
    }

    private func addLine(
        _ frame: Frame, _ region: Region, reach: Double, offset: Double, scale: Double, to values: inout [Float]
    ) {
        let (width, height, stride) = (frame.width, frame.height, frame.bytesPerLine)
        var x = region.centre.x - region.across.x * reach - region.across.y * offset
        var y = region.centre.y - region.across.y * reach + region.across.x * offset
        frame.withLuma { luma in
            guard let base = luma.baseAddress else { return }
            for index in values.indices {
                let (cx, cy) = (min(max(x, 0), Double(width) - 1.001), min(max(y, 0), Double(height) - 1.001))
                let (px, py) = (Int(cx), Int(cy))
                let (fx, fy) = (Float(cx - Double(px)), Float(cy - Double(py)))
                let at = base + py * stride + px
                let top = Float(at[0]) * (1 - fx) + Float(at[1]) * fx
                let bottom = Float(at[stride]) * (1 - fx) + Float(at[stride + 1]) * fx
                values[index] += top * (1 - fy) + bottom * fy
                x += region.across.x / scale
                y += region.across.y / scale
            }
        }
    }
}
