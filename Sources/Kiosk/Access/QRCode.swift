import Bookplate
import CQREncode

/// The QR code of a text, such as an address that a phone's camera opens (ISO/IEC 18004).
struct QRCode: Sendable, Equatable {
    /// The number of modules of each side, without the quiet zone.
    let width: Int
    /// True for each dark module, row by row.
    let modules: [Bool]

    /// The width of the white frame without which cameras do not find a code, in modules (ISO/IEC 18004, 6.3.8).
    static let quietZone = 4

    /// - Returns: `nil` for a text that is empty or too long for a code.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        // Version 0 is the smallest one that the text fits. With level M, up to 15 % of the code may be unreadable.
        guard !bytes.isEmpty, let code = QRcode_encodeData(Int32(bytes.count), bytes, 0, QR_ECLEVEL_M) else {
            return nil
        }
        defer { QRcode_free(code) }
        width = Int(code.pointee.width)
        modules = UnsafeBufferPointer(start: code.pointee.data, count: width * width).map { $0 & 1 == 1 }
    }

    /// The number of modules of each side, with the quiet zone.
    var side: Int { width + 2 * Self.quietZone }

    /// The dark modules as the path of an SVG picture of ``side`` units: a rectangle for each run in a row.
    var path: String {
        var path = ""
        for row in 0..<width {
            var column = 0
            while column < width {
                let run = modules[(row * width + column)..<((row + 1) * width)].prefix { $0 }.count
                if run > 0 { path += "M\(column + Self.quietZone) \(row + Self.quietZone)h\(run)v1h-\(run)z" }
                column += max(run, 1)
            }
        }
        return path
    }

    /// The values of the template `qr-code`.
    ///
    /// - Parameter label: the text for people who cannot see the code.
    func view(_ label: String) -> View { ["side": String(side), "path": path, "label": label] }

    var json: JSONValue { ["side": .integer(side), "path": .string(path)] }
}
