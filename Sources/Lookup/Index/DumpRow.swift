import Bookplate

/// A row of an Open Library dump: five columns divided by tabs: type, key, revision, last modified, JSON.
/// Source: openlibrary.org/developers/dumps.
enum DumpRow {
    case edition(id: Int64, version: Version, record: JSON)
    case work(id: Int64, version: Version, authors: [Int64])
    case author(id: Int64, version: Version, name: String)
    /// Redirects, deleted records and types that no index needs.
    case other
    /// Counted, never fatal.
    case junk(Junk)

    struct Version {
        var revision: Int64
        /// As the dump writes it: "2008-04-01T03:28:50.625462". Empty when it is no such time.
        var modified: String
    }

    enum Junk: Equatable { case columns, content }

    init(_ line: UnsafeBufferPointer<UInt8>) {
        let columns = line.split(separator: UInt8(ascii: "\t"), maxSplits: 5, omittingEmptySubsequences: false)
        guard columns.count == 5 else {
            self = .junk(.columns)
            return
        }
        let texts = columns[0..<4].map { String(decoding: $0.prefix(64), as: UTF8.self) }
        let type = texts[0]
        guard ["/type/edition", "/type/work", "/type/author"].contains(type) else {
            self = type.hasPrefix("/type/") ? .other : .junk(.content)
            return
        }
        guard let revision = Int64(texts[2]),
            case .success(let record) = JSONReader.read(UnsafeBufferPointer(rebasing: columns[4]))
        else {
            self = .junk(.content)
            return
        }
        let version = Version(revision: revision, modified: Self.time(texts[3]))
        self = Self.row(type, key: texts[1], version, record) ?? .junk(.content)
    }

    private static func row(_ type: String, key: String, _ version: Version, _ record: JSON) -> DumpRow? {
        switch type {
        case "/type/edition":
            OpenLibraryEdition.number(in: key, "/books/OL", "M").map {
                .edition(id: $0, version: version, record: record)
            }
        case "/type/work":
            OpenLibraryEdition.number(in: key, "/works/OL", "W").map {
                .work(id: $0, version: version, authors: authorNumbers(record))
            }
        default:
            OpenLibraryEdition.number(in: key, "/authors/OL", "A").flatMap { id in
                FieldLimits.text(record["name"] ?? record["personal_name"]).map {
                    .author(id: id, version: version, name: $0)
                }
            }
        }
    }

    /// The numbers of an edition's or a work's authors, in their order, each once.
    static func authorNumbers(_ record: JSON) -> [Int64] {
        var seen: Set<Int64> = []
        return OpenLibraryEdition.authorKeys(record)
            .compactMap { OpenLibraryEdition.number(in: "/authors/\($0)", "/authors/OL", "A") }
            .filter { seen.insert($0).inserted }
    }

    private static func time(_ text: String) -> String {
        text.utf8.count <= 32 && CalendarDay(String(text.prefix(10))) != nil
            && text.utf8.allSatisfy { (0x30...0x3A).contains($0) || "-T.Z+".utf8.contains($0) } ? text : ""
    }
}
