import Bookplate

/// What fits a code's ink best as a whole, and how much better than anything else.
struct DigitSequence {
    var digits: Digits
    /// Mean squared difference of ink per sample.
    var cost: Float
    /// Of the best other payload with a right check digit, where it is below what was looked for.
    var runnerUp: Float

    /// How much worse the runner-up fits; 1 for as well.
    var ratio: Float { runnerUp / max(cost, 1e-9) }
}

/// The likeliest digits of a blurred code: a digit's ink runs over into its neighbours', so not each digit is looked for, but the
/// sequence of which every pair of neighbours fits, in all looks at the code together.
///
/// Sources: maximum-likelihood sequence estimation (Forney, IEEE Trans. Inf. Theory 18(3), 1972), by Viterbi's algorithm; for bar codes
/// symbol by symbol: Iwen, Santosa and Ward, "A symbol-based algorithm for decoding bar codes", SIAM J. Imaging Sci. 6(1), 2013. That
/// the check digit is a part of the state, and 978 or 979 the beginning, is ours.
final class Trellis {
    /// One look at the code: its ink without the guards, and the ink of every digit under the blur of that look.
    private final class Look {
        let ink = Samples(count: Modules.count)
        let rest = Samples(count: Modules.count)
        let digits = Samples(count: 30 * Trellis.spread)
        let guards = Samples(count: Modules.count)
        var weight: Float = 1
        var spread: PointSpread?
    }

    /// What lies on either side of a digit's ink: what runs over, and as much again as the middle guard is wide.
    private static let apron = PointSpread.reach + 5 * Modules.fineness
    private static let spread = 7 * Modules.fineness + 2 * apron
    /// More looks than this bring nothing but work.
    static let mostLooks = 8

    private var looks: [Look] = []
    private var count = 0
    private let kernel = Samples(count: PointSpread.padded)
    private let one = Samples(count: Trellis.spread + 2 * PointSpread.padded)
    private let drifted = Samples(count: Trellis.drifts.count * Modules.count)
    private let ways = Samples(count: 2 * 10 * Trellis.drifts.count)
    private var back = [Int16](repeating: 0, count: 12 * 10 * Trellis.drifts.count)
    private var shifts = [Float](repeating: 0, count: 12)
    private let bars = Samples(count: Modules.count + 2 * PointSpread.padded)

    init() {
        for module in DigitTemplates.guardBars {
            for sample in 0..<Modules.fineness {
                bars[PointSpread.padded + Modules.sample(ofModule: module) + sample] = 1
            }
        }
    }

    /// Forgets the looks.
    func begin() { count = 0 }

    /// Adds a look.
    ///
    /// - Parameters:
    ///   - ink: 0 for paper to 1 for ink, ``Modules/count`` samples.
    ///   - weight: how much it counts; of one look alone 1.
    func add(_ ink: UnsafePointer<Float>, spread: PointSpread, weight: Float = 1) {
        guard count < Self.mostLooks else { return }
        if looks.count == count { looks.append(Look()) }
        let look = looks[count]
        count += 1
        prepare(look, spread)
        look.weight = weight
        for index in 0..<Modules.count {
            look.ink[index] = ink[index]
            look.rest[index] = ink[index] - look.guards[index]
        }
    }

    /// Makes the looks' weights what they are in proportion.
    func scaleWeights(by factor: Float) { for look in looks.prefix(count) { look.weight *= factor } }

    private func prepare(_ look: Look, _ spread: PointSpread) {
        guard spread != look.spread else { return }
        look.spread = spread
        spread.fill(kernel.pointer())
        blur(
            bars.pointer(at: PointSpread.padded), 0..<Modules.count, kernel: kernel.pointer(),
            into: look.guards.pointer())
        let fine = Modules.fineness
        for (set, patterns) in [DigitTemplates.a, DigitTemplates.b, DigitTemplates.c].enumerated() {
            for (digit, pattern) in patterns.enumerated() {
                let begin = PointSpread.padded + Self.apron
                for index in 0..<(7 * fine) { one[begin + index] = Float(pattern >> (6 - index / fine) & 1) }
                let inked = (Self.apron - PointSpread.reach)..<(Self.spread - Self.apron + PointSpread.reach)
                blur(
                    one.pointer(at: PointSpread.padded), inked, kernel: kernel.pointer(),
                    into: look.digits.pointer(at: (set * 10 + digit) * Self.spread))
            }
        }
    }

    /// Which of the number sets A, B and C, and where a digit's ink begins, by the samples of the whole code; only within an apron of it.
    private static func place(_ place: Int, _ digit: Int, _ sets: UInt8) -> Int {
        let set = place >= 6 ? 2 : sets >> (5 - place) & 1 == 1 ? 1 : 0
        return (set * 10 + digit) * spread - Modules.sample(ofModule: Modules.begin(ofDigit: place)) + apron
    }

    /// Samples from the middle of the digit before to the middle of this one: no digit further away reaches them. Multiples of four.
    private static func window(_ place: Int) -> Range<Int> {
        func middle(_ place: Int) -> Int {
            Modules.sample(ofModule: Modules.begin(ofDigit: place)) + 7 * Modules.fineness / 2
        }
        let from = place == 0 ? Modules.sample(ofModule: -2) + 2 : middle(place - 1)
        return from..<(place == 12 ? Modules.sample(ofModule: 97) - 2 : middle(place))
    }

    /// Squared differences between what is there and what one or two digits make, of all looks.
    private func cost(_ window: Range<Int>, _ left: Int, _ right: Int?) -> Float {
        var total: Float = 0
        for index in 0..<count {
            total += cost(looks[index], looks[index].rest.pointer(), window, left, right) * looks[index].weight
        }
        return total
    }

    private func cost(_ look: Look, _ rest: UnsafePointer<Float>, _ window: Range<Int>, _ left: Int, _ right: Int?)
        -> Float
    {
        let (left, right) = (look.digits.pointer() + left, right.map { look.digits.pointer() + $0 })
        var sum = SIMD4<Float>.zero
        var index = window.lowerBound
        func load(_ pointer: UnsafePointer<Float>) -> SIMD4<Float> {
            UnsafeRawPointer(pointer + index).loadUnaligned(as: SIMD4<Float>.self)
        }
        while index < window.upperBound {
            var difference = load(rest) - load(left)
            if let right { difference -= load(right) }
            sum += difference * difference
            index += 4
        }
        return sum.sum()
    }

    private static func allowed(_ place: Int, _ isBook: Bool) -> ClosedRange<Int> {
        switch place {
        case 0 where isBook: 7...7
        case 1 where isBook: 8...9
        default: 0...9
        }
    }
}

extension Trellis {
    private typealias Way = (cost: Float, number: Int)

    /// The payload that fits the looks best, its check digit right.
    ///
    /// - Parameters:
    ///   - firstDigits: what the code may begin with.
    ///   - isBook: whether the next digits are 7 and 8 or 9.
    ///   - limit: mean squared difference above which nothing is looked for: the smaller, the faster.
    /// - Returns: `nil` where everything is above the limit.
    func read(firstDigits: some Sequence<Int> = [9], isBook: Bool = true, limit: Float) -> DigitSequence? {
        let scale = Float(Modules.count)
        var best = DigitSequence(digits: Digits(number: 0, count: 13), cost: limit * scale, runnerUp: limit * scale)
        for first in firstDigits { read(first, isBook: isBook, into: &best) }
        guard best.digits.number > 0 else { return nil }
        best.cost /= scale
        best.runnerUp /= scale
        return best
    }

    private func read(_ first: Int, isBook: Bool, into best: inout DigitSequence) {
        let none: Way = (.infinity, 0)
        let sets = DigitTemplates.setB[first]
        let limit = best.runnerUp
        // State: the digit and the weighted sum so far, modulo ten; for each the two cheapest ways there.
        withUnsafeTemporaryAllocation(of: (first: Way, second: Way).self, capacity: 200) { states in
            var (now, next) = (states.baseAddress!, states.baseAddress! + 100)
            for state in 0..<100 { now[state] = (none, none) }
            for digit in Self.allowed(0, isBook) {
                let sum = (first + 3 * digit) % 10
                now[digit * 10 + sum].first = (
                    cost(Self.window(0), Self.place(0, digit, sets), nil), first * 10 + digit
                )
            }
            for place in 1..<12 {
                for state in 0..<100 { next[state] = (none, none) }
                let weight = place.isMultiple(of: 2) ? 3 : 1
                let window = Self.window(place)
                for before in Self.allowed(place - 1, isBook) {
                    var least = Float.infinity
                    for sum in 0..<10 { least = min(least, now[before * 10 + sum].first.cost) }
                    guard least < limit else { continue }
                    let left = Self.place(place - 1, before, sets)
                    for digit in Self.allowed(place, isBook) {
                        let cost = cost(window, left, Self.place(place, digit, sets))
                        guard least + cost < limit else { continue }
                        for sum in 0..<10 where now[before * 10 + sum].first.cost + cost < limit {
                            let to = digit * 10 + (sum + weight * digit) % 10
                            let ways = now[before * 10 + sum]
                            Self.offer(ways.first, cost, digit, to: &next[to])
                            if ways.second.cost < .infinity { Self.offer(ways.second, cost, digit, to: &next[to]) }
                        }
                    }
                }
                swap(&now, &next)
            }
            // Sums that are multiples of ten: the check digit is right.
            var right: (first: Way, second: Way) = (none, none)
            for digit in 0..<10 where now[digit * 10].first.cost < limit {
                let cost = cost(Self.window(12), Self.place(11, digit, sets), nil)
                let ways = now[digit * 10]
                for way in [ways.first, ways.second] where way.cost < .infinity {
                    Self.keep((way.cost + cost, way.number), in: &right)
                }
            }
            if right.first.cost < best.cost {
                best.runnerUp = min(best.cost, right.second.cost)
                best.cost = right.first.cost
                best.digits = Digits(number: right.first.number, count: 13)
            } else {
                best.runnerUp = min(best.runnerUp, right.first.cost)
            }
        }
    }

    @inline(__always)
    private static func offer(_ way: Way, _ cost: Float, _ digit: Int, to state: inout (first: Way, second: Way)) {
        let sum = way.cost + cost
        if sum < state.second.cost { keep((sum, way.number * 10 + digit), in: &state) }
    }

    @inline(__always)
    private static func keep(_ way: Way, in state: inout (first: Way, second: Way)) {
        if way.cost < state.first.cost {
            state = (way, state.first)
        } else if way.cost < state.second.cost {
            state.second = way
        }
    }
}

extension Trellis {
    /// Half a module each, so far as the middle of a code lies off where its paper is bent and its ends are known.
    private static let drifts = [-6, -4, -2, 0, 2, 4, 6]
    /// Of half a module of drift from one place to the next, as a squared difference.
    private static let penalty: Float = 0.2

    /// Digits that fit about, and by how many modules each of the twelve places lies further on than thought: the first look at a code of
    /// which the place is known roughly and the bend of its paper not at all. The check digit is left out. Of the first look alone.
    func drift() -> (digits: Digits, shifts: [Float], cost: Float) {
        let sets = DigitTemplates.setB[9]
        let (count, look) = (Self.drifts.count, looks[0])
        for (drift, shift) in Self.drifts.enumerated() {
            let row = drifted.pointer(at: drift * Modules.count)
            for index in 0..<Modules.count {
                row[index] = look.ink[min(max(index + shift, 0), Modules.count - 1)] - look.guards[index]
            }
        }
        func cost(_ window: Range<Int>, _ left: Int, _ right: Int?, drift: Int) -> Float {
            self.cost(look, drifted.pointer(at: drift * Modules.count), window, left, right)
        }
        // State: digit and drift. Behind each, the state before it.
        var (now, next) = (ways.pointer(), ways.pointer(at: 10 * count))
        for state in 0..<(10 * count) { now[state] = .infinity }
        for drift in 0..<count {
            let cost = cost(Self.window(0), Self.place(0, 7, sets), nil, drift: drift)
            now[7 * count + drift] = cost + Self.penalty * abs(Float(drift - count / 2))
        }
        for place in 1..<12 {
            for state in 0..<(10 * count) { next[state] = .infinity }
            let window = Self.window(place)
            for before in Self.allowed(place - 1, true) {
                let left = Self.place(place - 1, before, sets)
                for drift in 0..<count {
                    var (from, best) = (0, Float.infinity)
                    for other in max(0, drift - 1)...min(count - 1, drift + 1) {
                        let way = now[before * count + other] + (other == drift ? 0 : Self.penalty)
                        if way < best { (from, best) = (before * count + other, way) }
                    }
                    guard best < .infinity else { continue }
                    for digit in Self.allowed(place, true) {
                        let way = best + cost(window, left, Self.place(place, digit, sets), drift: drift)
                        let state = digit * count + drift
                        if way < next[state] {
                            next[state] = way
                            back[place * 10 * count + state] = Int16(from)
                        }
                    }
                }
            }
            swap(&now, &next)
        }
        var (last, least) = (0, Float.infinity)
        for state in 0..<(10 * count) where now[state] < .infinity {
            let place = Self.place(11, state / count, sets)
            let way = now[state] + cost(Self.window(12), place, nil, drift: state % count)
            if way < least { (last, least) = (state, way) }
        }
        var (number, factor) = (0, 1)
        for place in stride(from: 11, through: 0, by: -1) {
            shifts[place] = Float(Self.drifts[last % count]) / Float(Modules.fineness)
            number += last / count * factor
            factor *= 10
            last = Int(back[place * 10 * count + last])
        }
        return (Digits(number: number + 9 * factor, count: 13), shifts, least / Float(Modules.count))
    }
}

/// How EAN-13 prints digits: seven modules each, 1 for a bar. Source: ISO/IEC 15420, 4.3; GS1 General Specifications, 5.2.1.2.
enum DigitTemplates {
    /// Number set A (also called L), used on the left; the first module is the highest bit.
    static let a: [UInt8] = [
        0b000_1101, 0b001_1001, 0b001_0011, 0b011_1101, 0b010_0011, 0b011_0001, 0b010_1111, 0b011_1011, 0b011_0111,
        0b000_1011,
    ]
    /// Number set C (R), used on the right: A with bars and spaces exchanged.
    static let c = a.map { ~$0 & 0x7F }
    /// Number set B (G), used on the left: C read backwards.
    static let b = c.map { pattern in (0..<7).reduce(UInt8(0)) { $0 << 1 | (pattern >> $1 & 1) } }

    /// Which of the six left digits are of set B, by the first digit, which is printed in no other way. The first of the six is
    /// the highest bit.
    static let setB: [UInt8] = [
        0b000000, 0b001011, 0b001101, 0b001110, 0b010011, 0b011001, 0b011100, 0b010101, 0b010110, 0b011010,
    ]

    /// Modules of a code, and where its parts begin.
    static let modules = 95
    /// The bars of the guards at both ends and in the middle.
    static let guardBars = [0, 2, 46, 48, 92, 94]
    static let leftDigits = 3
    static let rightDigits = 50

    /// The twenty patterns a digit can have on the left (A, then B) or ten on the right, after a blur that gives each module `blur` of
    /// either neighbour. Left digits stand between a bar and a space, right ones between a space and a bar.
    static func blurred(_ patterns: [UInt8], before: Float, after: Float, blur: Float) -> [Float] {
        patterns.flatMap { pattern -> [Float] in
            let inks = [before] + (0..<7).map { Float(pattern >> (6 - $0) & 1) } + [after]
            return (1...7).map { inks[$0] * (1 - 2 * blur) + (inks[$0 - 1] + inks[$0 + 1]) * blur }
        }
    }
}
