import Bookplate
import CZBar

/// Decodes one line of grey values at a time with zbar. Reads only EAN-13 and its EAN-2 and EAN-5 add-ons.
///
/// It uses zbar's line scanner and decoder, but not its image scanner, which allocates memory for each image, copies
/// the cropped area, returns points without saying which end of the code they belong to, aborts on unexpected sizes,
/// and reads only rows and columns. This class can read any row, column or oblique line, and allocates nothing.
///
/// Two threads must not use the same reader at once.
final class LineReader {
    private let decoder: OpaquePointer
    private let scanner: OpaquePointer

    init() throws(DecoderError) {
        guard let decoder = zbar_decoder_create() else { throw .outOfMemory }
        guard let scanner = zbar_scanner_create(decoder) else {
            zbar_decoder_destroy(decoder)
            throw .outOfMemory
        }
        (self.decoder, self.scanner) = (decoder, scanner)
        // Turn everything off first, because by default zbar reads a dozen symbologies and rewrites some codes as
        // ISBN-10.
        zbar_decoder_set_config(decoder, ZBAR_NONE, ZBAR_CFG_ENABLE, 0)
        for symbology in [ZBAR_EAN13, ZBAR_EAN2, ZBAR_EAN5] {
            zbar_decoder_set_config(decoder, symbology, ZBAR_CFG_ENABLE, 1)
        }
    }

    deinit {
        zbar_scanner_destroy(scanner)
        zbar_decoder_destroy(decoder)
    }

    /// Drops the halves of codes that were found on earlier lines. Must be called if the next line is not adjacent to
    /// the last one. zbar joins a left and a right half from neighbouring lines, which makes slanted codes readable (5
    /// more of the 126 ISBNs in the test photos), but it must not join halves from two books.
    func reset() { zbar_scanner_reset(scanner) }

    /// Reads one line.
    ///
    /// - Parameters:
    ///   - values: the grey values. zbar treats a step of less than 4 as noise.
    ///   - isCoarse: true to divide the values by 3. Noise of more than 4 levels on white paper looks like bars in the
    ///     quiet zone, so that only the last half of the code is read. If the values are divided, both halves are read,
    ///     but faint print is not.
    ///   - stride: the distance from one value to the next; negative to read backwards.
    ///   - found: called for every code that ends on this line.
    @inline(__always)
    func read<Value: FixedWidthInteger>(
        _ values: UnsafePointer<Value>, count: Int, stride: Int, isCoarse: Bool = false, found: (LineCode) -> Void
    ) {
        _ = zbar_scanner_new_scan(scanner)
        // The compiler turns a division by a constant into a multiplication, which is much faster.
        if isCoarse {
            scan(values, count: count, stride: stride, found: found) { $0 / 3 }
        } else {
            scan(values, count: count, stride: stride, found: found) { $0 }
        }
        // Flush twice: once for the last edge, and once for the quiet zone after it.
        for _ in 0..<2 where zbar_scanner_flush(scanner).rawValue > ZBAR_PARTIAL.rawValue { report(found) }
    }

    @inline(__always)
    private func scan<Value: FixedWidthInteger>(
        _ values: UnsafePointer<Value>, count: Int, stride: Int, found: (LineCode) -> Void, level: (Int32) -> Int32
    ) {
        var value = values
        for _ in 0..<count {
            if zbar_scan_y(scanner, level(Int32(truncatingIfNeeded: value.pointee))).rawValue > ZBAR_PARTIAL.rawValue {
                report(found)
            }
            value += stride
        }
    }

    private func report(_ found: (LineCode) -> Void) {
        guard let data = zbar_decoder_get_data(decoder) else { return }
        let length: Int
        switch zbar_decoder_get_type(decoder) {
        case ZBAR_EAN13: length = 13
        case ZBAR_EAN2: length = 2
        case ZBAR_EAN5: length = 5
        default: return
        }
        guard Int(zbar_decoder_get_data_length(decoder)) == length else { return }
        var number = 0
        for index in 0..<length {
            guard let digit = Digits.value(of: UInt8(bitPattern: data[index])) else { return }
            number = number * 10 + digit
        }
        // The last width is that of the quiet zone or gap, which starts where the code ends.
        let end = zbar_scanner_get_edge(scanner, zbar_scanner_get_width(scanner), 0)
        found(
            LineCode(
                digits: Digits(number: number, count: length), end: Int(Int32(bitPattern: end)),
                isForward: zbar_decoder_get_direction(decoder) >= 0))
    }
}

/// A code found on one line.
struct LineCode {
    let digits: Digits
    /// The position of the code's end, as the number of values from the start of the line.
    let end: Int
    /// True if the line crossed the code from its left to its right end.
    let isForward: Bool
}

/// Up to thirteen decimal digits, stored as one number so that counting the lines that show the same digits allocates
/// nothing.
struct Digits: Hashable {
    let number: Int
    let count: Int

    static func value(of ascii: UInt8) -> Int? {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(ascii) ? Int(ascii) - Int(UInt8(ascii: "0")) : nil
    }

    var text: String {
        // A String holds up to fifteen characters inline, without an allocation.
        String(unsafeUninitializedCapacity: count) { digits in
            var rest = number
            for at in stride(from: count - 1, through: 0, by: -1) {
                digits[at] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            }
            return count
        }
    }

    /// True if the check digit is correct: with weights 1 and 3 from the right, the sum is a multiple of ten (GS1
    /// General Specifications, 7.9).
    var hasCorrectCheckDigit: Bool {
        var (rest, sum, weight) = (number, 0, 1)
        for _ in 0..<count {
            sum += rest % 10 * weight
            rest /= 10
            weight = 4 - weight
        }
        return sum.isMultiple(of: 10)
    }
}

/// The point at which a line crossed one end of a code, in pixels of the scanned frame.
struct LineEnd {
    let digits: Digits
    let x: Float
    let y: Float
    /// The direction along the line, from the code's left to its right, as the vector (dx, dy) of length 1.
    let dx: Float
    let dy: Float
    /// True for the code's right end, false for its left one.
    let isRightEnd: Bool
    /// The number of the line within its scan. A line that is read in both directions has one number.
    let line: Int
    /// True if the line alone showed the whole code. Otherwise, zbar may have joined halves from neighbouring lines,
    /// and the position of the code's end is not reliable.
    let isWhole: Bool
}

/// A code as it was read by a scan. It may still be rejected as a misread.
struct RawSymbol {
    var digits: Digits
    var addon: Digits?
    /// The number of lines that agreed.
    var lines: Int
    /// The number of lines that agreed and showed the whole code.
    var wholeLines = 0
    /// The number of known points at each end of the code; the smaller number if the ends differ. The points come from
    /// lines that showed the whole code, and the corners are computed from them.
    var pointsPerEnd: Int
    /// The corners, in pixels of the scanned frame.
    var corners: Corners

    /// True if enough lines that showed the whole code locate it. One or two lines, such as rows across a slanted code,
    /// do not show its slant.
    var isLocated: Bool { pointsPerEnd >= 4 }

    var length: Double { corners.length }
}
