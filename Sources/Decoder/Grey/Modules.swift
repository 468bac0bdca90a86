/// The raster on which grey levels are compared with patterns: a code's 95 modules and some paper on either side, finely enough that a
/// pattern's edges may lie between.
enum Modules {
    /// Samples a module; a digit's seven modules are then whole vectors of four.
    static let fineness = 4
    /// Modules of paper before and behind the code.
    static let margin = 6
    static let code = DigitTemplates.modules
    static let count = (code + 2 * margin) * fineness

    /// Where a sample lies, in modules from the code's left edge.
    static func place(ofSample index: Int) -> Float { (Float(index) + 0.5) / Float(fineness) - Float(margin) }
    /// The first sample of a module.
    static func sample(ofModule module: Int) -> Int { (module + margin) * fineness }

    /// Where the digit at one of the twelve places begins.
    static func begin(ofDigit place: Int) -> Int {
        place < 6 ? DigitTemplates.leftDigits + place * 7 : DigitTemplates.rightDigits + (place - 6) * 7
    }
}

/// Numbers that are kept from one code to the next: nothing is allocated while one is read.
final class Samples {
    let values: UnsafeMutableBufferPointer<Float>

    init(count: Int) {
        values = .allocate(capacity: count)
        values.initialize(repeating: 0)
    }

    deinit { values.deallocate() }

    subscript(index: Int) -> Float {
        get { values[index] }
        set { values[index] = newValue }
    }

    /// From `index` on.
    func pointer(at index: Int = 0) -> UnsafeMutablePointer<Float> { values.baseAddress! + index }
}
