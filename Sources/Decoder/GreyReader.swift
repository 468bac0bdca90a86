import Bookplate

/// Reads the ISBN of a region from its grey levels, where there is no telling bars from spaces any more: every digit's pattern is laid
/// over every place, and the payload wins that fits best as a whole.
///
/// Sources: Gallo and Manduchi, "Reading 1D Barcodes with Mobile Phones Using Deformable Templates", IEEE PAMI 33(9), 2011, for the
/// patterns on grey levels; that a book begins with 978 or 979 and ends with a check digit is ours.
struct GreyReader {
    /// Blurs that are tried: what a module gives to each neighbour. 0.3 is a bar nearly as wide as its module is blurred.
    private let matchers = [Float(0), 0.12, 0.22, 0.3].map(DigitMatcher.init)
    private static let shifts = 5
    private var profile = GreyProfile()
    private var inks = [Float](repeating: 0, count: 5 * 95)
    private var levels = [Float](repeating: 0, count: 2 * 95)

    init() {}

    /// One band across the code: what it says on its own and what it adds.
    struct Band {
        var costs: DigitCosts
        var reading: Reading
        var placement: Placement
        var isReversed: Bool
        /// Mean squared difference of ink per module.
        var noise: Float
    }

    /// - Parameters:
    ///   - values: grey levels across the region, one band's mean.
    ///   - near: the band beside it, when that fitted well: then its placement is looked for within four modules, its direction is
    ///     taken over.
    mutating func read(
        _ values: UnsafeBufferPointer<Float>, start: ClosedRange<Float>, end: ClosedRange<Float>, near: Band?
    ) -> Band? {
        profile.set(values)
        var (start, end) = (start, end)
        if let near {
            let room = near.placement.module * 4
            start = (near.placement.start - room)...(near.placement.start + room)
            end = (near.placement.end - room)...(near.placement.end + room)
        }
        var best: Band?
        for placement in profile.placements(start: start, end: end, most: near == nil ? 10 : 4) {
            for isReversed in near.map({ [$0.isReversed] }) ?? [false, true] {
                measure(placement, isReversed: isReversed)
                inks.withUnsafeBufferPointer { inks in
                    // The guards tell how blurred it is.
                    let fits = matchers.map { $0.guardCost(inks, shifts: Self.shifts) }
                    guard let guardCost = fits.min(), guardCost < 0.2, let chosen = fits.firstIndex(of: guardCost)
                    else { return }
                    let costs = matchers[chosen].costs(inks, shifts: Self.shifts, penalty: 0.03)
                    guard let reading = costs.best(.book) else { return }
                    let noise = (reading.cost / 84 + guardCost) / 2
                    if noise < best?.noise ?? .infinity {
                        best = Band(
                            costs: costs, reading: reading, placement: placement, isReversed: isReversed, noise: noise)
                    }
                }
            }
        }
        return best
    }

    /// Fills ``inks``: 0 for the light and 1 for the dark level around.
    private mutating func measure(_ placement: Placement, isReversed: Bool) {
        let module = isReversed ? -placement.module : placement.module
        let begin = isReversed ? placement.end : placement.start
        profile.sums.withUnsafeBufferPointer { sums in
            for shift in 0..<Self.shifts {
                let offset = begin + Float(shift - Self.shifts / 2) * 0.15 * module
                var before = GreyProfile.upTo(offset, sums)
                for index in 0..<95 {
                    let after = GreyProfile.upTo(offset + Float(index + 1) * module, sums)
                    inks[shift * 95 + index] = (after - before) / module
                    before = after
                }
            }
        }
        let row = Self.shifts / 2 * 95
        for index in 0..<95 {
            var (low, high) = (Float.infinity, -Float.infinity)
            for near in max(0, index - 12)...min(94, index + 12) {
                low = min(low, inks[row + near])
                high = max(high, inks[row + near])
            }
            levels[index] = low
            levels[95 + index] = max(high - low, 1)
        }
        for shift in 0..<Self.shifts {
            for index in 0..<95 {
                inks[shift * 95 + index] = 1 - (inks[shift * 95 + index] - levels[index]) / levels[95 + index]
            }
        }
    }
}
