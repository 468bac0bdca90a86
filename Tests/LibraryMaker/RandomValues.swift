import TestTools

// Random values for the books of a library.
extension SplitMix {
    /// Returns true once in `count` times on average.
    mutating func once(in count: Int) -> Bool { below(count) == 0 }

    /// Returns a number from 0 to `count` - 1. Low numbers are much more frequent, approximately by Zipf's law.
    mutating func skewed(_ count: Int) -> Int {
        // This approximates exp(u * ln(count + 1)) - 1 without the platform's logarithm. It divides the range a random
        // number of times, and then chooses evenly.
        var (low, high) = (0, count)
        while high - low > 1, next() & 1 == 0 { high = low + max(1, (high - low) / 4) }
        low = min(low, high - 1)
        return low + below(high - low)
    }

    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

    /// Returns a UUID in lower case.
    mutating func uuid() -> String {
        let (left, right) = (next(), next())
        return String(unsafeUninitializedCapacity: 36) { buffer in
            var place = 0
            for digit in 0..<32 {
                if digit == 8 || digit == 12 || digit == 16 || digit == 20 {
                    buffer[place] = UInt8(ascii: "-")
                    place += 1
                }
                let value = UInt8(truncatingIfNeeded: (digit < 16 ? left : right) >> (60 - 4 * UInt64(digit % 16))) & 15
                buffer[place] = value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
                place += 1
            }
            return place
        }
    }
}
