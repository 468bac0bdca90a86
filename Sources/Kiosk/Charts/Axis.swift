/// The scale of a chart: from 0 to a round number, in round steps.
struct Axis: Sendable, Equatable {
    /// 0 first.
    let ticks: [Int]

    /// - Parameters:
    ///   - most: the greatest value; below 1 the axis goes to 1.
    ///   - steps: how many steps there are at the most.
    init(upTo most: Int, steps: Int = 4) {
        // Far beyond any sum of a library, and far from overflow.
        let most = min(max(1, most), 1_000_000_000_000_000)
        var (unit, factors) = (1, [1, 2, 5][...])
        while (factors.first ?? 1) * unit * steps < most {
            factors = factors.dropFirst()
            if factors.isEmpty { (unit, factors) = (unit * 10, [1, 2, 5]) }
        }
        let step = (factors.first ?? 1) * unit
        ticks = Array(stride(from: 0, through: (most + step - 1) / step * step, by: step))
    }

    /// The upper end.
    var top: Int { ticks.last ?? 1 }
    var step: Int { ticks.count > 1 ? ticks[1] : 1 }

    /// 0 to 1.
    func fraction(_ value: Int) -> Double { min(1, max(0, Double(value) / Double(top))) }
}
