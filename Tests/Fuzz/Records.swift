import Bookplate
import SystemCalls

@testable import Lookup

/// A book of each catalogue's own group, which the fixtures of Lookup's tests describe.
private let books: [SourceName: String] = [
    .dnb: "9783161484100", .bnf: "9782070541270", .bn: "9788308049105", .libris: "9789129748468",
    .openBD: "9784062144490",
]

/// Reads an answer of a catalogue. The first byte chooses the catalogue, and the second the form: the rest as it is,
/// repeated to hundreds of kilobytes, or nested in itself.
func runRecords(_ bytes: [UInt8]) {
    guard bytes.count > 2, let isbn = try? ISBN(books[catalogue(bytes).name] ?? "9780140268867") else { return }
    let asked = [isbn]
    let answers = catalogue(bytes).read(answer(bytes), asked)
    require(answers.count == 1, "\(answers.count) answers")
    guard case .found(let metadata)? = answers[isbn] else {
        return require(answers[isbn] != nil, "no answer")
    }
    check(metadata)
}

private func catalogue(_ bytes: [UInt8]) -> Catalogue { Catalogue.all[Int(bytes[0]) % Catalogue.all.count] }

private func answer(_ bytes: [UInt8]) -> [UInt8] {
    let rest = Array(bytes.dropFirst(2))
    switch bytes[1] % 4 {
    case 1: return Array(repeatElement(rest, count: min(4096, 500_000 / rest.count + 1)).joined())
    case 2:
        // The first half opens and the second closes.
        let (open, close) = (rest[..<(rest.count / 2)], rest[(rest.count / 2)...])
        let count = min(2000, 200_000 / rest.count + 1)
        return [open, close].flatMap { repeatElement($0, count: count).joined() }
    default: return rest
    }
}

private func check(_ metadata: Metadata) {
    let title = metadata.title ?? ""
    require(!title.isEmpty && title.count <= TextLimit.title, "title of \(title.count) characters")
    require(metadata.authors.count <= 100 && metadata.subjects.count <= 100, "long lists")
    require((metadata.description ?? "").count <= TextLimit.description, "long description")
    require(metadata.pageCount.map { (1...100_000).contains($0) } ?? true, "\(metadata.pageCount ?? 0) pages")
    require(metadata.coverURL.map { $0.hasPrefix("https://cover.openbd.jp/") } ?? true, metadata.coverURL ?? "")
    let lines = [title, metadata.subtitle, metadata.publisher, metadata.series].compactMap(\.self)
    for line in lines + metadata.authors.map(\.name) + metadata.subjects {
        require(!line.isEmpty && line.count <= TextLimit.name, "a line of \(line.count) characters")
        let isClean = line.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        require(isClean, "a control character in \(line.debugDescription)")
    }
}

/// Returns the made answers, and hostile ones, for every catalogue.
func recordSeeds() -> [[UInt8]] {
    let folder = "Tests/LookupTests/Fixtures/"
    let names = ["dnb-made.xml", "bnf-made.xml", "bn-made.xml", "libris-made.json", "openbd-made.json"]
    let made = (names + ["k10plus-made.xml", "citoid-made.json"]).compactMap {
        try? readFile(folder + $0, limit: 1 << 20)
    }
    let hostile = [
        "<!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/passwd\">]><a>&b;</a>",
        "<!DOCTYPE a [<!ENTITY b \"bb\"><!ENTITY c \"&b;&b;&b;&b;\">]><a>&c;</a>", "<a></a>", "[]", "{\"a\":1}",
        "<a b=\"\(String(repeating: "c", count: 2000))\"/>", "<?xml version=\"1.0\" encoding=\"UTF-16\"?><a/>",
        "<a><![CDATA[<b>]]>&#0;&#x10FFFF;&lt;</a>",
    ]
    return Catalogue.all.indices.flatMap { number in
        (made + hostile.map { Array($0.utf8) }).flatMap { body in
            [0, 1, 2].map { [UInt8(number), $0] + body }
        }
    }
}
