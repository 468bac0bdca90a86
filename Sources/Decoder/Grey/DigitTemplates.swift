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
