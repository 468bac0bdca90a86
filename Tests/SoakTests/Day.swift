import CodeMaker
import Foundation
import TestTools

/// The books of one Saturday, divided by how they are captured. No two Saturdays have a book in common.
struct Day: Sendable {
    /// The books that are held up to the two cameras.
    let shown: [[String]]
    /// The numbers that are typed into the two browsers.
    let typed: [[String]]
    /// The numbers that another station captures for the hub.
    let delivered: [String]

    var all: [String] { (shown + typed).flatMap(\.self) + delivered }

    init(_ number: Int, books: Int) {
        var random = SplitMix(seed: UInt64(number) &* 1_000_003 &+ 17)
        // The four digits after the prefix belong to this Saturday alone.
        let prefix = "9780" + String(1000 + number % 9000)
        var isbns: Set<String> = []
        while isbns.count < books { isbns.insert(random.payload(prefix: prefix)) }
        let order = isbns.sorted()
        func part(_ from: Int, _ to: Int) -> [String] { Array(order[books * from / 10..<books * to / 10]) }
        shown = [part(0, 4), part(4, 7)]
        typed = [part(7, 8), part(8, 9)]
        delivered = part(9, 10)
    }

    /// Returns true if the offline index has the book. The online sources have to be asked about one book in ten.
    static func isInIndex(_ isbn: String) -> Bool { isbn.dropLast().last != "7" }

    /// Returns a row of Open Library's dump of editions for each book of the index, and their author's row. With an
    /// author, a record of the index is whole, and no online source is asked.
    static func dump(_ days: some Sequence<Day>) -> String {
        func row(_ type: String, _ key: String, _ record: String) -> String {
            "/type/\(type)\t\(key)\t1\t2026-01-01T00:00:00\t{\"key\":\"\(key)\",\(record)}\n"
        }
        let editions = days.lazy.flatMap(\.all).filter(isInIndex).enumerated().map { number, isbn in
            row(
                "edition", "/books/OL\(number + 1)M",
                #""title":"Book \#(isbn)","isbn_13":["\#(isbn)"],"authors":[{"key":"/authors/OL1A"}]"#)
        }
        return row("author", "/authors/OL1A", #""name":"A. Author""#) + editions.joined()
    }
}

/// Returns a frame, as a grey PGM, that shows a bar code in black on white.
func frame(of payload: String) -> [UInt8] {
    let (module, margin, height) = (3, 40, 160)
    let bars = barcode(payload).flatMap { [UInt8](repeating: $0 ? 20 : 235, count: module) }
    let quiet = [UInt8](repeating: 235, count: margin)
    let row = quiet + bars + quiet
    let blank = [UInt8](repeating: 235, count: row.count)
    var bytes = Array("P5 \(row.count) \(height) 255\n".utf8)
    for line in 0..<height { bytes += (20..<height - 20).contains(line) ? row : blank }
    return bytes
}

/// Returns a frame without a bar code, as between two books.
func emptyFrame() -> [UInt8] {
    var bytes = Array("P5 365 160 255\n".utf8)
    bytes += [UInt8](repeating: 200, count: 365 * 160)
    return bytes
}
