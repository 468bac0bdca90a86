import Bookplate

/// What the grey levels of several frames say of the places where something looks like bars: what one frame does not tell, two or three
/// tell together, because noise, glare and a moving hand are others in each.
struct FrameEvidence {
    /// One place, and how the code lay on the profiles of the last frames.
    private struct Place {
        var corners: Corners
        var looks: [GreyReader.Look] = []
        var digits: [Digits] = []
        var last: Duration
    }

    private var reader = GreyReader()
    private var places: [Place] = []

    /// So long, and in so many frames, a place is remembered.
    private static let memory: Duration = .seconds(1)
    private static let mostLooks = 5
    private static let mostPlaces = 6
    /// From how many frames together something is told.
    private static let fewestLooks = 2
    /// How much better the digits must fit than any others. Of 5,654 findings in 6,000 drawn sequences the
    /// 1,230 wrong ones had at most 1.42, and 97 of 100 right ones more than 1.5.
    private static let leastRatio: Float = 1.5
    /// What one frame must say to be worth keeping; a code that can be read in the end fits no worse.
    private static let worstCost: Float = 0.03

    /// Looks at one region of a frame.
    ///
    /// - Parameters:
    ///   - hints: payloads that were read there.
    ///   - slack: as of ``GreyReader/read(_:region:slack:hints:)``.
    /// - Returns: a book that this frame and others before it say together.
    mutating func look(
        _ frame: Frame, at region: Region, slack: Double, hints: [Digits]
    ) -> RawSymbol? {
        places.removeAll { frame.timestamp - $0.last >= Self.memory || frame.timestamp < $0.last }
        guard let bars = BarRun(frame, region: region, slack: slack) else { return nil }
        let profile = bars.profile(frame, at: 0, thickness: 0.3, lines: 9)
        let index = place(of: region, at: frame.timestamp)
        let known = places[index].digits + hints.filter { !places[index].digits.contains($0) }
        guard
            let found = reader.find(on: profile, spans: bars.spans(frame), hints: known, isThorough: false),
            found.sequence.cost < Self.worstCost
        else { return nil }
        places[index].looks += found.looks
        places[index].digits.removeAll { $0 == found.sequence.digits }
        places[index].digits.append(found.sequence.digits)
        if places[index].looks.count > Self.mostLooks { places[index].looks.removeFirst() }
        if places[index].digits.count > 3 { places[index].digits.removeFirst() }
        guard let all = together(places[index]) else { return nil }
        let look = found.looks[0]
        return RawSymbol(
            digits: all.sequence.digits, lines: all.looks.count, wholeLines: all.looks.count,
            pointsPerEnd: all.looks.count, corners: bars.corners(of: look))
    }

    private mutating func place(of region: Region, at time: Duration) -> Int {
        let corners = region.corners
        if let index = places.firstIndex(where: { $0.corners.isSamePlace(corners) }) {
            (places[index].corners, places[index].last) = (corners, time)
            return index
        }
        if places.count == Self.mostPlaces { places.removeFirst() }
        places.append(Place(corners: corners, last: time))
        return places.count - 1
    }

    private mutating func together(_ place: Place) -> GreyReader.Finding? {
        guard place.looks.count >= Self.fewestLooks else { return nil }
        var best: GreyReader.Finding?
        for digits in place.digits.reversed() {
            guard let all = reader.settle(place.looks, digits), all.looks.count >= Self.fewestLooks else { continue }
            if all.sequence.cost < best?.sequence.cost ?? .infinity { best = all }
        }
        guard let best, best.isClear, best.sequence.ratio > Self.leastRatio, reader.isBook(best) else { return nil }
        return best
    }
}

extension Frame {
    /// The brightness of every eighth pixel of every eighth row.
    func light(offset: Int) -> FrameResult.Light {
        var (sum, clipped, count) = (0, 0, 0)
        withLuma { luma in
            guard let base = luma.baseAddress else { return }
            for y in stride(from: min(offset, height - 1), to: height, by: 8) {
                let row = base + y * bytesPerLine
                for x in stride(from: min(offset, width - 1), to: width, by: 8) {
                    sum += Int(row[x])
                    if row[x] >= 250 { clipped += 1 }
                    count += 1
                }
            }
        }
        return FrameResult.Light(mean: Double(sum) / Double(count), clipped: Double(clipped) / Double(count))
    }
}

/// What lines across a region show, whether or not they can be read.
struct Stripes {
    /// Share of the ink's whole range that one pixel's step takes; the mean over the lines.
    var sharpness: Double
    /// How often light and dark change, in the line that shows it least often.
    var changes: Int
    /// How like each other lines a part of the height away are, -1 to 1.
    var likeness: Double
    /// Grey levels between ink and paper, in the line that has fewest.
    var range: Double

    /// A code changes 60 times; blurred until its narrow bars run together, still 16 times. Lines of print and most textures differ from
    /// line to line.
    var areBars: Bool { likeness > 0.6 && changes >= 14 && range > 20 }
}

extension LineScan {
    private static let offsets = [-0.32, -0.16, 0, 0.16, 0.32]

    /// Looks at five lines across a region.
    ///
    /// - Returns: `nil` for a region too small for it.
    mutating func stripes(of frame: Frame, in region: Region) -> Stripes? {
        let count = Int(region.length)
        guard count > 40, count < 16_384, frame.width > 1, frame.height > 1 else { return nil }
        var stripes = Stripes(sharpness: 0, changes: .max, likeness: 0, range: .infinity)
        if before.count < count { before = [Int16](repeating: 0, count: count) }
        for offset in Self.offsets {
            let (along, beside) = (-region.length / 2, offset * region.height)
            let x = region.centre.x + region.across.x * along - region.across.y * beside
            let y = region.centre.y + region.across.y * along + region.across.x * beside
            sample(frame, from: (x, y), step: (region.across.x, region.across.y), count: count, beside: region.across)
            samples.withUnsafeBufferPointer { line in
                let line = UnsafeBufferPointer(rebasing: line[0..<count])
                let (low, high) = (Int(line.min() ?? 0), Int(line.max() ?? 0))
                var step = 0
                for at in 1..<count { step = max(step, abs(Int(line[at]) - Int(line[at - 1]))) }
                stripes.sharpness += high > low ? Double(step) / Double(high - low) / 5 : 0
                stripes.range = min(stripes.range, Double(high - low) / Double(Self.unitsPerLevel))
                stripes.changes = min(stripes.changes, line.changes(hysteresis: (high - low) / 10))
                before.withUnsafeMutableBufferPointer { before in
                    let before = UnsafeMutableBufferPointer(rebasing: before[0..<count])
                    if offset != Self.offsets[0] {
                        stripes.likeness += line.likeness(to: UnsafeBufferPointer(before)) / 4
                    }
                    _ = before.update(fromContentsOf: line)
                }
            }
        }
        return stripes
    }
}

extension UnsafeBufferPointer<Int16> {
    /// How often the values go from rising to falling and back by more than `hysteresis`.
    fileprivate func changes(hysteresis: Int) -> Int {
        var (changes, isRising, extreme) = (0, true, Int(self[0]))
        for value in self {
            let value = Int(value)
            if isRising ? value > extreme : value < extreme {
                extreme = value
            } else if abs(value - extreme) > hysteresis {
                (isRising, extreme) = (!isRising, value)
                changes += 1
            }
        }
        return changes
    }

    /// Correlation with another line of the same length, at the best of a few shifts: a region's direction is known to some degrees.
    fileprivate func likeness(to other: UnsafeBufferPointer<Int16>) -> Double {
        var best = -1.0
        for shift in -4...4 {
            var (x, y, xx, yy, xy) = (0, 0, 0, 0, 0)
            let places = Swift.max(0, shift)..<Swift.min(count, count + shift)
            for at in places {
                let (a, b) = (Int(self[at]), Int(other[at - shift]))
                (x, y, xx, yy, xy) = (x &+ a, y &+ b, xx &+ a &* a, yy &+ b &* b, xy &+ a &* b)
            }
            let n = Double(places.count)
            let (mx, my) = (Double(x) / n, Double(y) / n)
            let variances = (Double(xx) / n - mx * mx) * (Double(yy) / n - my * my)
            if variances > 1 { best = Swift.max(best, (Double(xy) / n - mx * my) / variances.squareRoot()) }
        }
        return best
    }
}
