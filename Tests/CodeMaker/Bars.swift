// The tables of GS1's General Specifications, 5.2.1, repeated here on purpose: with the decoder's own tables a test
// could not detect their mistakes.
private let setA = [
    "0001101", "0011001", "0010011", "0111101", "0100011", "0110001", "0101111", "0111011", "0110111", "0001011",
]
private let setB = [
    "0100111", "0110011", "0011011", "0100001", "0011101", "0111001", "0000101", "0010001", "0001001", "0010111",
]
private let setC = [
    "1110010", "1100110", "1101100", "1000010", "1011100", "1001110", "1010000", "1000100", "1001000", "1110100",
]
private let firstDigit = [
    "AAAAAA", "AABABB", "AABBAB", "AABBBA", "ABAABB", "ABBAAB", "ABBBAA", "ABABAB", "ABABBA", "ABBABA",
]
private let fiveDigits = [
    "BBAAA", "BABAA", "BAABA", "BAAAB", "ABBAA", "AABBA", "AAABB", "ABABA", "ABAAB", "AABAB",
]
private let twoDigits = ["AA", "AB", "BA", "BB"]

/// Returns the 95 modules of an EAN-13, `true` for a bar.
public func barcode(_ payload: String) -> [Bool] {
    let digits = payload.compactMap(\.wholeNumberValue)
    var modules = "101"
    for (digit, set) in zip(digits[1...6], firstDigit[digits[0]]) { modules += (set == "A" ? setA : setB)[digit] }
    modules += "01010"
    for digit in digits[7...12] { modules += setC[digit] }
    return (modules + "101").map { $0 == "1" }
}

/// Returns the modules of an add-on of two or five digits.
public func addonBars(_ text: String) -> [Bool] {
    let digits = text.compactMap(\.wholeNumberValue)
    let sets: String
    if digits.count == 2 {
        sets = twoDigits[(digits[0] * 10 + digits[1]) % 4]
    } else {
        sets = fiveDigits[((digits[0] + digits[2] + digits[4]) * 3 + (digits[1] + digits[3]) * 9) % 10]
    }
    let parts = zip(digits, sets).map { digit, set in (set == "A" ? setA : setB)[digit] }
    return ("1011" + parts.joined(separator: "01")).map { $0 == "1" }
}

/// The cosine and sine of an angle, without Foundation: a Taylor series is exact enough for pixels.
public struct Turn {
    public let cosine: Double
    public let sine: Double

    public init(degrees: Double) {
        var angle = degrees.truncatingRemainder(dividingBy: 360)
        if angle > 180 { angle -= 360 }
        let x = angle * .pi / 180
        var (cosine, sine, term) = (0.0, 0.0, 1.0)
        for power in 0..<30 {
            switch power % 4 {
            case 0: cosine += term
            case 1: sine += term
            case 2: cosine -= term
            default: sine -= term
            }
            term *= x / Double(power + 1)
        }
        (self.cosine, self.sine) = (cosine, sine)
    }
}
