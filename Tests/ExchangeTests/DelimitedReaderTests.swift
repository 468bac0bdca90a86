import TestTools
import Testing

@testable import Exchange

@Suite struct DelimitedReaderTests {
    /// Reads a table of three columns.
    private func read(_ bytes: [UInt8], chunk: Int, columns: Int = 3) throws -> [String] {
        let reader = DelimitedReader(try TextChunks(chunks(bytes, of: chunk)))
        try reader.chooseDelimiter()
        var rows: [String] = []
        while true {
            switch try reader.next() {
            case .end: return rows
            case .refused(let reason): rows.append("\(reader.row)! \(reason)")
            case .row: rows.append((0..<reader.count).map { reader.cell($0) }.joined(separator: "|"))
            case .repairedRow: rows.append("~" + (0..<reader.count).map { reader.cell($0) }.joined(separator: "|"))
            }
            reader.columns = columns
        }
    }

    @Test(
        arguments: [
            ("a,b,c\n1,2,3\n", ["a|b|c", "1|2|3"]),
            ("a,b,c\r\n1,2,3", ["a|b|c", "1|2|3"]),
            ("a,b,c\r1,2,3\r", ["a|b|c", "1|2|3"]),
            ("a,b,c\n\n\n1,2,3\n", ["a|b|c", "1|2|3"]),
            ("a,b,c\n\"x,y\",\"l1\nl2\",\"q\"\"q\"\n", ["a|b|c", "x,y|l1\nl2|q\"q"]),
            ("a,b,c\n,,\n", ["a|b|c", "||"]),
            ("a,b,c\n\"\",\"\"\"\",x\n", ["a|b|c", "|\"|x"]),
            ("a\tb\tc\n1,5\t\"2\"\t3\n", ["a|b|c", "1,5|2|3"]),
            ("a;b;c\n1,5;2;3\n", ["a|b|c", "1,5|2|3"]),
            ("a,b,c\n5\" disk,say \"hi\",3\n", ["a|b|c", "5\" disk|say \"hi\"|3"]),
            ("a,b,c\n1,2,3,,\n", ["a|b|c", "1|2|3"]),
            ("\u{FEFF}a,b,c\n1,2,3\n", ["a|b|c", "1|2|3"]),
            ("a,b,c\n1,2\n4,5,6\n", ["a|b|c", "2! the row has 2 columns, but the header has 3", "4|5|6"]),
            // If a quotation mark is never closed, its row is lost, but no other row.
            ("a,b,c\n1,\"open,3\n4,5,6\n", ["a|b|c", "~1|\"open|3", "4|5|6"]),
            (
                "a,b,c\n1,\"open\n\"4\",\"5\",6\n",
                ["a|b|c", "2! a quotation mark is not closed, or is misplaced", "4|5|6"]
            ),
            ("a,b,c\n\"He said \"hi\"\",2,3\n4,5,6\n", ["a|b|c", "~He said \"hi\"|2|3", "4|5|6"]),
            ("a,b,c\n1,2,\"3", ["a|b|c", "~1|2|\"3"]),
        ], [3, 4096])
    func `reads the variants in use`(_ sample: (text: String, rows: [String]), chunk: Int) throws {
        #expect(try read(Array(sample.text.utf8), chunk: chunk) == sample.rows)
    }

    @Test(arguments: [true, false], [true, false])
    func `reads UTF-16, with a mark and without`(isLittleEndian: Bool, hasMark: Bool) throws {
        let text = (hasMark ? "\u{FEFF}" : "") + "titre,b,c\nÉté 🐛,2,3\n"
        let bytes = text.utf16.flatMap { unit in
            isLittleEndian ? [UInt8(unit & 0xFF), UInt8(unit >> 8)] : [UInt8(unit >> 8), UInt8(unit & 0xFF)]
        }
        for chunk in [1, 3, 512, 4096] {
            #expect(try read(bytes, chunk: chunk) == ["titre|b|c", "Été 🐛|2|3"])
        }
    }

    @Test func `reads bytes that are not UTF-8 as Windows-1252`() throws {
        let bytes = Array("a,b,c\n".utf8) + [0xC9, 0x74, 0xE9, 0x2C, 0x80, 0x2C, 0x93, 0x0A]
        #expect(try read(bytes, chunk: 4096) == ["a|b|c", "Été|€|“"])
    }

    @Test func `keeps NUL, and continues`() throws {
        #expect(try read(Array("a,b,c\n1\0,2,3\n4,5,6\n".utf8), chunk: 9) == ["a|b|c", "1\0|2|3", "4|5|6"])
    }

    @Test func `reads a cell of 10 MB`() throws {
        let cell = [UInt8](repeating: UInt8(ascii: "x"), count: 10 << 20)
        let bytes = Array("a,b,c\n1,\"".utf8) + cell + Array("\",3\n4,5,6\n".utf8)
        let rows = try read(bytes, chunk: 1 << 18)
        #expect(rows.map(\.utf8.count) == [5, 4 + cell.count, 5])
    }

    @Test func `abandons a row longer than the limit, and finds the next`() throws {
        let block = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
        var left = 40
        let tail = Array("\n4,5,6\n".utf8)
        let reader = DelimitedReader(
            try TextChunks {
                left -= 1
                switch left {
                case 39: return Array("a,b,c\n1,".utf8)
                case 1...: return block
                case 0: return tail
                default: return nil
                }
            })
        reader.columns = 3
        #expect(try reader.next() == .row)
        #expect(try reader.next() == .refused("the row is longer than 16 MiB"))
        #expect(try reader.next() == .row)
        #expect(reader.cell(0) == "4")
        #expect(try reader.next() == .end)
    }

    @Test func `an open quote before thousands of lines costs one row`() throws {
        let line = Array("1,2,3\n".utf8)
        var bytes = Array("a,b,c\nx,\"open,z\n".utf8)
        for _ in 0..<4_000 { bytes += line }
        let rows = try read(bytes, chunk: 1 << 16)
        #expect(rows.count == 4_002)
        #expect(rows[1] == "~x|\"open|z")
    }

    @Test func `random bytes never crash it`() throws {
        var random = SplitMix(seed: 11)
        let alphabet = Array("\",\n\r;\ta1é=".utf8) + [0, 0xFF, 0xFE, 0x80]
        for _ in 0..<400 {
            let bytes = (0..<random.below(200)).map { _ in alphabet[random.below(alphabet.count)] }
            let rows = try read(bytes, chunk: 1 + random.below(30), columns: 1 + random.below(4))
            #expect(rows.count <= bytes.count + 1)
        }
    }
}
