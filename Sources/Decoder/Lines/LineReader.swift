import Bookplate
import CZBar

/// zbar's decoder for one line of grey values at a time: EAN-13 with its EAN-2 and EAN-5 add-ons, nothing else.
///
/// The line scanner and the decoder of zbar are used without its image scanner, which allocates per image, copies what it is cropped
/// to, gives points without telling which end of the code they are, aborts on sizes it does not expect, and knows only rows and
/// columns. Here any row, column or oblique line can be read, and nothing is allocated.
///
/// Not for two threads at once; each has its own.
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
        // Everything off first: by default zbar reads a dozen symbologies, and rewrites some codes as ISBN-10.
        zbar_decoder_set_config(decoder, ZBAR_NONE, ZBAR_CFG_ENABLE, 0)
        for symbology in [ZBAR_EAN13, ZBAR_EAN2, ZBAR_EAN5] {
            zbar_decoder_set_config(decoder, symbology, ZBAR_CFG_ENABLE, 1)
        }
    }

    deinit {
        zbar_scanner_destroy(scanner)
        zbar_decoder_destroy(decoder)
    }

    /// Forgets the halves of codes that earlier lines left behind. To be called when the next line is not beside the last one: zbar
    /// puts a left and a right half together that neighbouring lines saw, which reads slanted codes (5 of 126 ISBNs more), and
    /// must not do so with the halves of two books.
    func forget() { zbar_scanner_reset(scanner) }

    /// Reads one line.
    ///
    /// - Parameters:
    ///   - values: intensities; zbar takes a step of less than 4 for noise.
    ///   - coarseness: what they are divided by. Noise on white paper of more than 4 levels looks like bars in the quiet zone, so that
    ///     only the half of the code that comes last is read; at 3 both are. Faint print needs 1.
    ///   - stride: from one value to the next; negative to read backwards.
    ///   - found: called for every code that ends on this line.
    @inline(__always)
    func read<Value: FixedWidthInteger>(
        _ values: UnsafePointer<Value>, count: Int, stride: Int, coarseness: Int32 = 1, found: (LineCode) -> Void
    ) {
        _ = zbar_scanner_new_scan(scanner)
        var value = values
        for _ in 0..<count {
            if zbar_scan_y(scanner, Int32(truncatingIfNeeded: value.pointee) / coarseness).rawValue
                > ZBAR_PARTIAL.rawValue
            {
                report(found)
            }
            value += stride
        }
        // Twice, for the last edge and the quiet zone behind it.
        for _ in 0..<2 where zbar_scanner_flush(scanner).rawValue > ZBAR_PARTIAL.rawValue { report(found) }
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
        // The last width is the quiet zone's (or gap's): the code ends where that began.
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
    /// Where it ended, in values from where the line was begun.
    let end: Int
    /// The line ran over the code from its left to its right.
    let isForward: Bool
}

/// Up to thirteen decimal digits in a word, so that counting votes for a payload allocates nothing.
struct Digits: Hashable {
    let number: Int
    let count: Int

    static func value(of ascii: UInt8) -> Int? {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(ascii) ? Int(ascii) - Int(UInt8(ascii: "0")) : nil
    }

    var text: String {
        // Up to fifteen characters lie in the String itself: nothing is allocated.
        String(unsafeUninitializedCapacity: count) { digits in
            var rest = number
            for at in stride(from: count - 1, through: 0, by: -1) {
                digits[at] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            }
            return count
        }
    }

    /// GS1 General Specifications, 7.9: weights 1 and 3 from the right, a multiple of ten.
    var hasRightCheckDigit: Bool {
        var (rest, sum, weight) = (number, 0, 1)
        for _ in 0..<count {
            sum += rest % 10 * weight
            rest /= 10
            weight = 4 - weight
        }
        return sum.isMultiple(of: 10)
    }
}

/// One end of a code where one line crossed it, in pixels of the scanned frame.
struct LineEnd {
    let digits: Digits
    let x: Float
    let y: Float
    /// The way the code runs from its left to its right along the line, of length 1.
    let dx: Float
    let dy: Float
    /// Whether it is the code's right end, else its left one.
    let isRightEnd: Bool
    /// Counts the lines of one scan; a line that is read both ways is one.
    let line: Int
    /// The line alone showed all of it; else halves that neighbouring lines saw were put together, and it ended anywhere.
    let isWhole: Bool
}

/// Codes as a scan saw them, before anyone decides whether to believe it.
struct RawSymbol {
    var digits: Digits
    var addon: Digits?
    /// Lines that agreed.
    var lines: Int
    /// Those of them that showed the code whole.
    var wholeLines = 0
    /// Points known of the end that fewer are known of, from lines that showed the code whole: what the corners rest on.
    var pointsPerEnd: Int
    /// In pixels of the scanned frame.
    var corners: Corners

    /// Enough whole lines for the corners to be the code's: one or two, as rows across a slanted code, do not tell how it lies.
    var isPlaced: Bool { pointsPerEnd >= 4 }

    var length: Double {
        let (dx, dy) = (corners.topRight.x - corners.topLeft.x, corners.topRight.y - corners.topLeft.y)
        return (dx * dx + dy * dy).squareRoot()
    }
}
