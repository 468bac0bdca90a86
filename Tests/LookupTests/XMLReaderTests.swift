import Bookplate
import TestTools
import Testing

@testable import Lookup

@Suite struct XMLReaderTests {
    @Test func `reports elements, attributes and texts, without prefixes`() throws {
        var reader = try XMLReader.reading(
            Array(#"<?xml version="1.0"?><!-- c --><x:a xmlns:x="u" k="1&amp;2">é&#233;<b/><![CDATA[<c>]]></x:a>"#.utf8)
        )
        #expect(try reader.next() == .start("a"))
        #expect(reader.attribute("k") == "1&2" && reader.attribute("l") == nil)
        var nodes: [XMLReader.Node] = []
        while let node = try reader.next() { nodes.append(node) }
        #expect(nodes == [.text("éé"), .start("b"), .end("b"), .text("<c>"), .end("a")])
    }

    /// Documents that could harm a careless parser, each with the error that it must give.
    static let hostile: [(String, XMLError?)] = [
        ("", .malformed(line: 1)),
        ("not XML", .malformed(line: 1)),
        ("<a>", .malformed(line: 1)),
        ("<a><b></a>", .malformed(line: 1)),
        ("<a>\n\n<b", nil),
        ("<a/><a/>", .malformed(line: 1)),
        ("<a>\u{0}</a>", .malformed(line: 1)),
        ("<a>&unknown;</a>", nil),
        ("<a>&#xFFFFFFF;</a>", nil),
        ("<a b='1' b='2'/>", nil),
        ("<!DOCTYPE html><html><p></html>", .documentType),
        ("\u{FEFF}  <?pi?> <!-- <a> --> <!doctype html>", .documentType),
        ("<!DOCTYPE a [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><a>&e;</a>", .documentType),
        ("<!DOCTYPE a SYSTEM 'http://127.0.0.1:1/a.dtd'><a/>", .documentType),
        (
            "<!DOCTYPE a [<!ENTITY x0 'ha'>" + (1...30).map { "<!ENTITY x\($0) '&x\($0 - 1);&x\($0 - 1);'>" }.joined()
                + "]><a>&x30;</a>", .documentType
        ),
        (String(repeating: "<a>", count: XMLLimit.depth + 1), .tooDeep),
        (String(repeating: "<a>", count: 1_000_000), .tooDeep),
        ("<r>" + String(repeating: "<a/>", count: XMLLimit.nodes + 1) + "</r>", .tooManyNodes),
        ("<r>" + String(repeating: "x", count: 3 << 20) + "</r>", .oversizedPart),
        ("<r><!--" + String(repeating: "x", count: 3 << 20) + "--></r>", .oversizedPart),
        ("<r a='" + String(repeating: "x", count: 3 << 20) + "'/>", .oversizedPart),
        ("<" + String(repeating: "x", count: 3 << 20) + "/>", .oversizedPart),
        ("<" + String(repeating: "x", count: XMLLimit.name + 1) + "/>", .oversizedPart),
        ("<r " + (0..<200_000).map { "a\($0)='' " }.joined() + "/>", .oversizedPart),
        ("<r " + (0..<150_000).map { "xmlns:a\($0)='u'" }.joined(separator: " ") + "/>", .oversizedPart),
        (String(repeating: "<!-- -->", count: 450_000) + "<r/>", .oversizedPart),
        (String(repeating: "<!-- -->", count: 20_000) + "<!DOCTYPE a [<!ENTITY e 'x'>]><a>&e;</a>", .oversizedPart),
        (String(repeating: " ", count: XMLLimit.bytes + 1), .tooLarge(bytes: XMLLimit.bytes + 1)),
    ]

    @Test(.timeLimit(.minutes(minutes(1))), arguments: hostile.indices)
    func `gives an error for hostile XML, and neither crashes nor hangs`(_ index: Int) {
        let (text, expected) = Self.hostile[index]
        let error = #expect(throws: XMLError.self, "\(text.prefix(60))") { try self.read(Array(text.utf8)) }
        if let expected { #expect(error == expected, "\(text.prefix(60))") }
    }

    @Test(arguments: [[0xFF, 0xFE, 0x3C, 0, 0x61, 0, 0x2F, 0, 0x3E, 0], [0xFE, 0xFF, 0, 0x3C, 0, 0x61]] as [[UInt8]])
    func `reads no encoding but UTF-8`(_ bytes: [UInt8]) {
        #expect(throws: XMLError.self) { try read(bytes) }
    }

    @Test func `ignores the encoding that the document declares, and replaces bytes that are not UTF-8`() throws {
        var reader = try XMLReader.reading(
            Array(#"<?xml version="1.0" encoding="ISO-8859-1"?><a>é"#.utf8) + [0xFF] + Array("</a>".utf8))
        #expect(try reader.next() == .start("a"))
        #expect(try reader.next() == .text("é\u{FFFD}"))
    }

    @Test(.timeLimit(.minutes(minutes(1))), arguments: ["dnb-made.xml", "bnf-made.xml", "bn-made.xml"])
    func `reports a record that is cut off at any byte as damaged`(_ name: String) throws {
        let bytes = Array(try fixture(name).utf8)
        let end = try #require(bytes.lastIndex(of: UInt8(ascii: ">")))
        for length in stride(from: 0, to: end, by: 7) {
            #expect(throws: MarcError.self, "\(length)") { try MarcAnswer(Array(bytes.prefix(length))) }
        }
        #expect(try MarcAnswer(bytes).records.count == 1)
    }

    private func read(_ bytes: [UInt8]) throws(XMLError) {
        var reader = try XMLReader.reading(bytes)
        while try reader.next() != nil {}
    }
}

@Suite struct HostileMarcTests {
    @Test(
        .timeLimit(.minutes(minutes(1))),
        arguments: ["dnb-made.xml", "bnf-made.xml", "k10plus-made.xml", "bn-made.xml"])
    func `hundreds of damaged records cause no crash, and no field exceeds its limit`(_ name: String) throws {
        let sound = Array(try fixture(name).utf8)
        var random = SplitMix(seed: 7)
        var found = 0
        for _ in 0..<400 {
            var bytes = sound
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 20)], at: place)
                default: bytes[place] = #"<>&;"/=[] "#.utf8.randomElement(using: &random) ?? 0
                }
            }
            for catalogue in [Catalogue.dnb, .bnf, .k10plus] {
                let isbns: [ISBN] = [.sample("9783100000019"), .sample("9782070000012"), .sample("9780521000017")]
                for answer in catalogue.read(bytes, isbns).values {
                    guard case .found(let book) = answer else { continue }
                    found += 1
                    #expect((book.title?.count ?? 0) <= TextLimit.title && book.authors.count <= FieldLimits.items)
                    #expect(book.coverURL == nil)
                }
            }
        }
        #expect(name == "bn-made.xml" || found > 20)
    }

    @Test func `a record of huge fields stays within the limits`() throws {
        let long = String(repeating: "Wort ", count: 20_000)
        let field = { (tag: String, code: String) in
            #"<datafield tag="\#(tag)" ind1="1" ind2="1"><subfield code="\#(code)">\#(long)</subfield></datafield>"#
        }
        let number = #"<datafield tag="020"><subfield code="a">9783100000019</subfield></datafield>"#
        let fields = ["245 a", "245 b", "100 a", "264 b", "264 c", "490 a", "490 v", "520 a", "650 a", "300 a"].map {
            field(String($0.prefix(3)), String($0.suffix(1)))
        }
        let many = String(
            repeating: #"<datafield tag="700" ind1="1"><subfield code="a">A, B</subfield></datafield>"#, count: 5_000)
        let xml = "<collection><record>" + number + fields.joined() + many + "</record></collection>"
        guard case .found(let book)? = Catalogue.dnb.read(Array(xml.utf8), [.sample("9783100000019")]).values.first
        else {
            throw NoAnswer()
        }
        #expect(book.title?.count ?? 0 <= TextLimit.title)
        #expect(book.description?.count ?? 0 <= TextLimit.description)
        #expect(book.seriesNumber?.count ?? 0 <= TextLimit.seriesNumber && book.authors.count <= FieldLimits.items)
    }
}
