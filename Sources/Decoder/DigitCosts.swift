/// How badly each digit fits at each of the twelve places of a code: squared differences of ink, summed over seven modules.
struct DigitCosts {
    /// Six left places of twenty costs (number set A, then B), then six right ones of ten.
    var values = [Float](repeating: 0, count: 6 * 20 + 6 * 10)

    static func index(place: Int, digit: Int, isSetB: Bool) -> Int {
        place < 6 ? place * 20 + (isSetB ? 10 : 0) + digit : 120 + (place - 6) * 10 + digit
    }

    static func + (one: DigitCosts, other: DigitCosts) -> DigitCosts {
        var sum = one
        for index in sum.values.indices { sum.values[index] += other.values[index] }
        return sum
    }

    func scaled(by factor: Float) -> DigitCosts {
        var result = self
        for index in result.values.indices { result.values[index] *= factor }
        return result
    }
}

/// The payload that fits best, and how much better than any other.
struct Reading {
    var digits: Digits
    var cost: Float
    /// Cost of the best other payload with a right check digit.
    var runnerUp: Float
    /// Cost of the best payload if the check digit were not looked at.
    var unchecked: Float
}

extension DigitCosts {
    /// What is known of a code before it is read.
    enum Prior {
        /// It begins with 978 or 979.
        case book
        /// Nothing.
        case none
    }

    /// The cheapest payload whose check digit is right.
    func best(_ prior: Prior) -> Reading? {
        switch prior {
        case .book: return best(firstDigit: 9, prior)
        case .none: return (0...9).compactMap { best(firstDigit: $0, prior) }.min { $0.cost < $1.cost }
        }
    }

    /// Place by place, the two cheapest ways to each weighted sum of digits (modulo 10); at the end the sum must be 0.
    private func best(firstDigit: Int, _ prior: Prior) -> Reading? {
        typealias Way = (cost: Float, number: Int)
        let none: Way = (.infinity, 0)
        let sets = DigitTemplates.setB[firstDigit]
        var ways = [(first: Way, second: Way)](repeating: (none, none), count: 10)
        ways[firstDigit] = ((0, firstDigit), none)
        for place in 0..<12 {
            var next = [(first: Way, second: Way)](repeating: (none, none), count: 10)
            let weight = place.isMultiple(of: 2) ? 3 : 1
            let isSetB = place < 6 && sets >> (5 - place) & 1 == 1
            let allowed = prior == .book ? Self.bookDigits(place) : 0...9
            for sum in 0..<10 where ways[sum].first.cost < .infinity {
                for digit in allowed {
                    let cost = values[Self.index(place: place, digit: digit, isSetB: isSetB)]
                    let to = (sum + digit * weight) % 10
                    for rank in 0..<2 {
                        let way = rank == 0 ? ways[sum].first : ways[sum].second
                        if way.cost == .infinity { break }
                        let candidate: Way = (way.cost + cost, way.number * 10 + digit)
                        if candidate.cost < next[to].first.cost {
                            next[to] = (candidate, next[to].first)
                        } else if candidate.cost < next[to].second.cost {
                            next[to].second = candidate
                        }
                    }
                }
            }
            ways = next
        }
        let (first, second) = ways[0]
        guard first.cost < .infinity else { return nil }
        return Reading(
            digits: Digits(number: first.number, count: 13), cost: first.cost, runnerUp: second.cost,
            unchecked: ways.map(\.first.cost).min() ?? first.cost)
    }

    private static func bookDigits(_ place: Int) -> ClosedRange<Int> {
        switch place {
        case 0: 7...7
        case 1: 8...9
        default: 0...9
        }
    }
}

/// Fits the digits to a profile at a placement.
struct DigitMatcher {
    private let blur: Float
    private let left: [Float]
    private let right: [Float]

    init(blur: Float) {
        self.blur = blur
        left = DigitTemplates.blurred(DigitTemplates.a + DigitTemplates.b, before: 1, after: 0, blur: blur)
        right = DigitTemplates.blurred(DigitTemplates.c, before: 0, after: 1, blur: blur)
    }

    /// - Parameters:
    ///   - inks: 0 to 1 for each of the 95 modules, at several shifts: `shifts` rows of 95.
    func costs(_ inks: UnsafeBufferPointer<Float>, shifts: Int, penalty: Float) -> DigitCosts {
        var costs = DigitCosts()
        costs.values.withUnsafeMutableBufferPointer { costs in
            for place in 0..<12 {
                let templates = place < 6 ? left : right
                let patterns = place < 6 ? 20 : 10
                let base = place < 6 ? place * 20 : 120 + (place - 6) * 10
                let begin =
                    place < 6 ? DigitTemplates.leftDigits + place * 7 : DigitTemplates.rightDigits + (place - 6) * 7
                templates.withUnsafeBufferPointer { templates in
                    for pattern in 0..<patterns {
                        var best = Float.infinity
                        for shift in 0..<shifts {
                            var cost: Float = abs(Float(shift - shifts / 2)) * penalty
                            for module in 0..<7 {
                                let difference = inks[shift * 95 + begin + module] - templates[pattern * 7 + module]
                                cost += difference * difference
                            }
                            best = min(best, cost)
                        }
                        costs[base + pattern] = best
                    }
                }
            }
        }
        return costs
    }

    /// How badly the guards fit, per module.
    func guardCost(_ inks: UnsafeBufferPointer<Float>, shifts: Int) -> Float {
        let row = shifts / 2 * 95
        var cost: Float = 0
        let fixed: [(Int, [Float])] = [(0, [0, 1, 0, 1, 0]), (45, [1, 0, 1, 0, 1, 0, 1]), (92, [0, 1, 0, 1, 0])]
        for (begin, pattern) in fixed {
            for module in 1..<(pattern.count - 1) {
                let expected = pattern[module] * (1 - 2 * blur) + (pattern[module - 1] + pattern[module + 1]) * blur
                let difference = inks[row + begin + module - 1] - expected
                cost += difference * difference
            }
        }
        return cost / 11
    }
}
