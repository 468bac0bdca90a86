import Bookplate

/// The digits that, as a whole, fit a code's ink best, and the quality of the fit.
struct DigitSequence {
    var digits: Digits
    /// The mean squared difference between the code's ink and that of the digits, per sample.
    var cost: Float
    /// The cost of the next best payload with a correct check digit, or the limit of the search if no payload below the
    /// limit was found.
    var runnerUp: Float

    /// The ratio of the runner-up's cost to the best payload's; 1 if both fit equally well.
    var ratio: Float { runnerUp / max(cost, 1e-9) }
}

/// Finds the likeliest digits of a blurred code. The ink of each digit runs into its neighbours. Therefore digits are
/// not searched for one by one; instead, the search finds the sequence in which all pairs of neighbours fit best, in
/// all lines across the code together.
///
/// Sources: maximum-likelihood sequence estimation (Forney, IEEE Trans. Inf. Theory 18(3), 1972), by Viterbi's
/// algorithm; for bar codes symbol by symbol: Iwen, Santosa and Ward, "A symbol-based algorithm for decoding bar
/// codes", SIAM J. Imaging Sci. 6(1), 2013. Making the check digit part of the state, and starting from 978 or 979, is
/// original to Bookplate.
final class Trellis {
    /// One line across the code: its ink, its ink without the guards, and the ink of every digit with the line's blur.
    private final class Line {
        let ink = Samples(count: Modules.count)
        let rest = Samples(count: Modules.count)
        let digits = Samples(count: 30 * Trellis.spread)
        let guards = Samples(count: Modules.count)
        var weight: Float = 1
        var spread: PointSpread?
    }

    /// The number of samples that are stored on either side of a digit. They cover the reach of the blur and the width
    /// of the middle guard (the bars between the two halves of a code).
    private static let apron = PointSpread.reach + 5 * Modules.fineness
    private static let spread = 7 * Modules.fineness + 2 * apron
    /// The maximum number of lines that are read together. More lines would take time without improving the result.
    static let maxLines = 8

    private var lines: [Line] = []
    private var count = 0
    private let kernel = Samples(count: PointSpread.padded)
    private let one = Samples(count: Trellis.spread + 2 * PointSpread.padded)
    private let drifted = Samples(count: Trellis.drifts.count * Modules.count)
    private let pathCosts = Samples(count: 2 * 10 * Trellis.drifts.count)
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

    /// Removes all lines.
    func begin() { count = 0 }

    /// Adds a line.
    ///
    /// - Parameters:
    ///   - ink: the ink at each of the ``Modules/count`` samples, from 0 for paper to 1.
    ///   - weight: the line's weight; 1 for a single line.
    func add(_ ink: UnsafePointer<Float>, spread: PointSpread, weight: Float = 1) {
        guard count < Self.maxLines else { return }
        if lines.count == count { lines.append(Line()) }
        let line = lines[count]
        count += 1
        prepare(line, spread)
        line.weight = weight
        for index in 0..<Modules.count {
            line.ink[index] = ink[index]
            line.rest[index] = ink[index] - line.guards[index]
        }
    }

    /// Multiplies the weights of all lines.
    func scaleWeights(by factor: Float) { for line in lines.prefix(count) { line.weight *= factor } }

    private func prepare(_ line: Line, _ spread: PointSpread) {
        guard spread != line.spread else { return }
        line.spread = spread
        spread.fill(kernel.pointer())
        blur(
            bars.pointer(at: PointSpread.padded), 0..<Modules.count, kernel: kernel.pointer(),
            into: line.guards.pointer())
        let fine = Modules.fineness
        for (set, patterns) in [DigitTemplates.a, DigitTemplates.b, DigitTemplates.c].enumerated() {
            for (digit, pattern) in patterns.enumerated() {
                let begin = PointSpread.padded + Self.apron
                for index in 0..<(7 * fine) { one[begin + index] = Float(pattern >> (6 - index / fine) & 1) }
                let inked = (Self.apron - PointSpread.reach)..<(Self.spread - Self.apron + PointSpread.reach)
                blur(
                    one.pointer(at: PointSpread.padded), inked, kernel: kernel.pointer(),
                    into: line.digits.pointer(at: (set * 10 + digit) * Self.spread))
            }
        }
    }

    /// Returns the number that is added to a sample's index in the code to get its index in a line's `digits`, for one
    /// digit in its number set (A, B or C). The sample must lie within ``apron`` samples of the digit.
    private static func offset(_ position: Int, _ digit: Int, _ sets: UInt8) -> Int {
        let set = position >= 6 ? 2 : sets >> (5 - position) & 1 == 1 ? 1 : 0
        return (set * 10 + digit) * spread - Modules.sample(ofModule: Modules.start(ofDigit: position)) + apron
    }

    /// Returns the samples from the middle of the previous digit to the middle of the digit at `position`. Only these
    /// two digits affect these samples. Their number is a multiple of four.
    private static func window(_ position: Int) -> Range<Int> {
        func middle(_ position: Int) -> Int {
            Modules.sample(ofModule: Modules.start(ofDigit: position)) + 7 * Modules.fineness / 2
        }
        let from = position == 0 ? Modules.sample(ofModule: -2) + 2 : middle(position - 1)
        return from..<(position == 12 ? Modules.sample(ofModule: 97) - 2 : middle(position))
    }

    /// Returns the sum of the squared differences between the ink and the patterns of one or two digits, over all
    /// lines.
    private func cost(_ window: Range<Int>, _ left: Int, _ right: Int?) -> Float {
        var total: Float = 0
        for index in 0..<count {
            total += cost(lines[index], lines[index].rest.pointer(), window, left, right) * lines[index].weight
        }
        return total
    }

    private func cost(_ line: Line, _ rest: UnsafePointer<Float>, _ window: Range<Int>, _ left: Int, _ right: Int?)
        -> Float
    {
        let (left, right) = (line.digits.pointer() + left, right.map { line.digits.pointer() + $0 })
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

    private static func allowed(_ position: Int, _ isBook: Bool) -> ClosedRange<Int> {
        switch position {
        case 0 where isBook: 7...7
        case 1 where isBook: 8...9
        default: 0...9
        }
    }
}

extension Trellis {
    private typealias Path = (cost: Float, number: Int)

    /// Finds the payload with a correct check digit that fits the lines best.
    ///
    /// - Parameters:
    ///   - firstDigits: the possible first digits.
    ///   - isBook: true if the two digits after the first must be 78 or 79.
    ///   - limit: the maximum mean squared difference of a payload. A lower limit makes the search faster.
    /// - Returns: `nil` if every payload is above the limit.
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
        let none: Path = (.infinity, 0)
        let sets = DigitTemplates.setB[first]
        let limit = best.runnerUp
        // A state consists of the digit and the weighted sum so far, modulo ten. For each state, the two cheapest paths
        // to it are kept.
        withUnsafeTemporaryAllocation(of: (first: Path, second: Path).self, capacity: 200) { states in
            var (now, next) = (states.baseAddress!, states.baseAddress! + 100)
            for state in 0..<100 { now[state] = (none, none) }
            for digit in Self.allowed(0, isBook) {
                let sum = (first + 3 * digit) % 10
                now[digit * 10 + sum].first = (
                    cost(Self.window(0), Self.offset(0, digit, sets), nil), first * 10 + digit
                )
            }
            for position in 1..<12 {
                for state in 0..<100 { next[state] = (none, none) }
                let weight = position.isMultiple(of: 2) ? 3 : 1
                let window = Self.window(position)
                for before in Self.allowed(position - 1, isBook) {
                    var least = Float.infinity
                    for sum in 0..<10 { least = min(least, now[before * 10 + sum].first.cost) }
                    guard least < limit else { continue }
                    let left = Self.offset(position - 1, before, sets)
                    for digit in Self.allowed(position, isBook) {
                        let cost = cost(window, left, Self.offset(position, digit, sets))
                        guard least + cost < limit else { continue }
                        for sum in 0..<10 where now[before * 10 + sum].first.cost + cost < limit {
                            let to = digit * 10 + (sum + weight * digit) % 10
                            let paths = now[before * 10 + sum]
                            Self.extend(paths.first, cost, digit, to: &next[to])
                            if paths.second.cost < .infinity { Self.extend(paths.second, cost, digit, to: &next[to]) }
                        }
                    }
                }
                swap(&now, &next)
            }
            // The check digit is correct if the weighted sum is a multiple of ten.
            var correct: (first: Path, second: Path) = (none, none)
            for digit in 0..<10 where now[digit * 10].first.cost < limit {
                let cost = cost(Self.window(12), Self.offset(11, digit, sets), nil)
                let paths = now[digit * 10]
                for path in [paths.first, paths.second] where path.cost < .infinity {
                    Self.keep((path.cost + cost, path.number), in: &correct)
                }
            }
            if correct.first.cost < best.cost {
                best.runnerUp = min(best.cost, correct.second.cost)
                best.cost = correct.first.cost
                best.digits = Digits(number: correct.first.number, count: 13)
            } else {
                best.runnerUp = min(best.runnerUp, correct.first.cost)
            }
        }
    }

    @inline(__always)
    private static func extend(_ path: Path, _ cost: Float, _ digit: Int, to state: inout (first: Path, second: Path)) {
        let sum = path.cost + cost
        if sum < state.second.cost { keep((sum, path.number * 10 + digit), in: &state) }
    }

    @inline(__always)
    private static func keep(_ path: Path, in state: inout (first: Path, second: Path)) {
        if path.cost < state.first.cost {
            state = (path, state.first)
        } else if path.cost < state.second.cost {
            state.second = path
        }
    }
}

extension Trellis {
    /// The possible drifts (shifts of a digit from its assumed position) in samples, half a module apart. If the paper
    /// is bent, the middle of a code may be shifted by this much even if the positions of its ends are known.
    private static let drifts = [-6, -4, -2, 0, 2, 4, 6]
    /// The penalty if the drift (the shift from the assumed position) changes by half a module from one digit to the
    /// next. It is added to the squared difference.
    private static let penalty: Float = 0.2

    /// Estimates the digits of the first line and, for each of the twelve digits, the distance by which it lies to the
    /// right of its assumed position, in modules. This is the first step for a code whose position is only roughly
    /// known and whose bend is unknown. Ignores the check digit.
    func drift() -> (digits: Digits, shifts: [Float], cost: Float) {
        let sets = DigitTemplates.setB[9]
        let (count, line) = (Self.drifts.count, lines[0])
        for (drift, shift) in Self.drifts.enumerated() {
            let row = drifted.pointer(at: drift * Modules.count)
            for index in 0..<Modules.count {
                row[index] = line.ink[min(max(index + shift, 0), Modules.count - 1)] - line.guards[index]
            }
        }
        func cost(_ window: Range<Int>, _ left: Int, _ right: Int?, drift: Int) -> Float {
            self.cost(line, drifted.pointer(at: drift * Modules.count), window, left, right)
        }
        // A state consists of a digit and a drift. `back` holds the previous state of each state.
        var (now, next) = (pathCosts.pointer(), pathCosts.pointer(at: 10 * count))
        for state in 0..<(10 * count) { now[state] = .infinity }
        for drift in 0..<count {
            let cost = cost(Self.window(0), Self.offset(0, 7, sets), nil, drift: drift)
            now[7 * count + drift] = cost + Self.penalty * abs(Float(drift - count / 2))
        }
        for position in 1..<12 {
            for state in 0..<(10 * count) { next[state] = .infinity }
            let window = Self.window(position)
            for before in Self.allowed(position - 1, true) {
                let left = Self.offset(position - 1, before, sets)
                for drift in 0..<count {
                    var (from, best) = (0, Float.infinity)
                    for other in max(0, drift - 1)...min(count - 1, drift + 1) {
                        let sum = now[before * count + other] + (other == drift ? 0 : Self.penalty)
                        if sum < best { (from, best) = (before * count + other, sum) }
                    }
                    guard best < .infinity else { continue }
                    for digit in Self.allowed(position, true) {
                        let sum = best + cost(window, left, Self.offset(position, digit, sets), drift: drift)
                        let state = digit * count + drift
                        if sum < next[state] {
                            next[state] = sum
                            back[position * 10 * count + state] = Int16(from)
                        }
                    }
                }
            }
            swap(&now, &next)
        }
        var (last, least) = (0, Float.infinity)
        for state in 0..<(10 * count) where now[state] < .infinity {
            let offset = Self.offset(11, state / count, sets)
            let sum = now[state] + cost(Self.window(12), offset, nil, drift: state % count)
            if sum < least { (last, least) = (state, sum) }
        }
        var (number, factor) = (0, 1)
        for position in stride(from: 11, through: 0, by: -1) {
            shifts[position] = Float(Self.drifts[last % count]) / Float(Modules.fineness)
            number += last / count * factor
            factor *= 10
            last = Int(back[position * 10 * count + last])
        }
        return (Digits(number: number + 9 * factor, count: 13), shifts, least / Float(Modules.count))
    }
}

/// The patterns of the digits in EAN-13, with seven modules each and 1 for a bar. Sources: ISO/IEC 15420, 4.3; GS1
/// General Specifications, 5.2.1.2.
enum DigitTemplates {
    /// Number set A (also called L), used on the left; the first module is the highest bit.
    static let a: [UInt8] = [
        0b000_1101, 0b001_1001, 0b001_0011, 0b011_1101, 0b010_0011, 0b011_0001, 0b010_1111, 0b011_1011, 0b011_0111,
        0b000_1011,
    ]
    /// Number set C (also called R), used on the right. It is set A with bars and spaces exchanged.
    static let c = a.map { ~$0 & 0x7F }
    /// Number set B (also called G), used on the left. It is set C read backwards.
    static let b = c.map { pattern in (0..<7).reduce(UInt8(0)) { $0 << 1 | (pattern >> $1 & 1) } }

    /// For each first digit of the payload, a bit mask of the six left digits that use number set B, with the leftmost
    /// digit in the highest bit. The first digit of the payload is encoded only in this way.
    static let setB: [UInt8] = [
        0b000000, 0b001011, 0b001101, 0b001110, 0b010011, 0b011001, 0b011100, 0b010101, 0b010110, 0b011010,
    ]

    /// The number of modules in a code.
    static let modules = 95
    /// The modules, counted from the left, that are bars in the guard patterns at both ends and in the middle of a
    /// code.
    static let guardBars = [0, 2, 46, 48, 92, 94]
    /// The module at which the left digits start.
    static let leftDigits = 3
    /// The module at which the right digits start.
    static let rightDigits = 50
}
