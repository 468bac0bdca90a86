import TestTools

// Random values for codes and scenes.
extension SplitMix {
    /// Returns thirteen digits with a correct check digit.
    public mutating func payload(prefix: String) -> String {
        var digits = prefix.compactMap(\.wholeNumberValue)
        while digits.count < 12 { digits.append(Int(next() % 10)) }
        let sum = digits.enumerated().reduce(0) { $0 + $1.element * ($1.offset % 2 == 0 ? 1 : 3) }
        return (digits + [(10 - sum % 10) % 10]).map(String.init).joined()
    }

    /// Returns a uniformly distributed number from a range.
    public mutating func number(_ range: ClosedRange<Double>) -> Double {
        range.lowerBound + (range.upperBound - range.lowerBound) * Double(next() >> 11) / Double(1 << 53)
    }

    /// Returns an approximately normal number of deviation 1: the sum of twelve uniform ones.
    public mutating func noise() -> Double {
        // Each word holds four numbers of sixteen bits; the sum of twelve has variance 1.
        var sum = 0
        for _ in 0..<3 {
            let word = next()
            sum += Int(word & 0xFFFF) + Int(word >> 16 & 0xFFFF) + Int(word >> 32 & 0xFFFF) + Int(word >> 48)
        }
        return Double(sum) / 65_536 - 6
    }
}
