import Foundation
import Testing
import ZBarPeer

@testable import Kiosk

@Suite struct `A QR code` {
    /// Draws the path of the picture, which consists of rectangles in whole units, with four pixels per unit.
    private static func pixels(_ side: Int, _ path: String) -> [UInt8] {
        let width = side * 4
        var luma = [UInt8](repeating: 255, count: width * width)
        for run in path.matches(of: /M(\d+) (\d+)h(\d+)v1h-(\d+)z/) {
            guard let left = Int(run.1), let top = Int(run.2), let length = Int(run.3), run.3 == run.4 else { continue }
            for row in top * 4..<(top + 1) * 4 {
                for column in left * 4..<(left + length) * 4 { luma[row * width + column] = 0 }
            }
        }
        return luma
    }

    static func read(_ side: Int, _ path: String) throws -> [String] {
        let luma = pixels(side, path)
        return try luma.withUnsafeBufferPointer {
            try ZBarPeer(readsQRCodes: true).read($0, width: side * 4, height: side * 4)
        }
    }

    @Test(arguments: [
        "h", "http://10.0.0.2:8278/", "http://[fd12:3456:789a:1::2]:8278/", "http://shelf.local:8278/",
        "https://books.example/w/0123456789abcdef0123456789abcdef",
        // zbar has to guess the encoding of other than ASCII characters. It recognises that of these texts.
        "http://shelf.local/Übersicht/Ö", "http://shelf.local/本棚",
        String(repeating: "http://192.168.0.17:8278/", count: 8), String(repeating: "x", count: 1000),
    ])
    func `is read back by zbar`(text: String) throws {
        let code = try #require(QRCode(text))
        #expect(try Self.read(code.side, code.path) == [text])
    }

    /// The three finder patterns and the frame (ISO/IEC 18004, 6.3.3 and 6.3.8).
    @Test func `has a white frame of four modules, and a finder pattern in three corners`() throws {
        let code = try #require(QRCode("http://10.0.0.2:8278/"))
        #expect(code.side == code.width + 8)
        let rows = ["1111111", "1000001", "1011101", "1011101", "1011101", "1000001", "1111111"]
        for (top, left) in [(0, 0), (0, code.width - 7), (code.width - 7, 0)] {
            for (offset, row) in rows.enumerated() {
                let begin = (top + offset) * code.width + left
                #expect(code.modules[begin..<begin + 7].map { $0 ? "1" : "0" }.joined() == row)
            }
        }
    }

    @Test func `does not exist for an empty text, or one that is too long`() {
        #expect(QRCode("") == nil)
        #expect(QRCode(String(repeating: "x", count: 3000)) == nil)
    }
}
