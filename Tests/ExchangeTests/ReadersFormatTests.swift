import Bookplate
import FoundationEssentials
import Library
import Testing

@testable import Exchange

private let noon = Date(timeIntervalSince1970: 1_795_262_400)

@Suite struct `An export with several readers` {
    private let first = ID<Copy>(rawValue: "0198aaaa-0000-7000-8000-000000000002")

    /// Returns the rich library, which belongs to Ben, with Anna and Cleo.
    private func household() async throws -> LibraryFile {
        let library = try LibraryFile.inMemory()
        let rows = try richRecords().enumerated().map { ImportRow.record($1, row: $0 + 1) }
        _ = try await LibraryImport(into: library, from: "rich").importRows(rows, at: noon)
        _ = try await library.addReader("Anna", naming: "Ben", at: noon)
        _ = try await library.addReader("Cleo", naming: nil, at: noon)
        let (anna, cleo) = (try reader("Anna", of: library), try reader("Cleo", of: library))
        _ = try await anna.setStatus(.read, of: first, on: CalendarDay("2024-05"), at: noon)
        _ = try await anna.update(first, at: noon) { ($0.copy.rating, $0.copy.wouldRecommend) = (3.5, true) }
        _ = try await anna.add(Note(text: "Anna's note", created: noon), to: first, at: noon)
        _ = try await cleo.addSession(
            of: first, start: noon.addingTimeInterval(-600), end: noon, startPage: 1, endPage: 9, at: noon)
        for (name, reader) in [("Ben", library), ("Anna", anna)] {
            let note = Note(text: "\(name)'s secret", created: noon, isPrivate: true)
            _ = try await reader.add(note, to: first, at: noon)
            let quote = Quote(text: "\(name)'s hidden quote", page: 9, created: noon, isPrivate: true)
            _ = try await reader.add(quote, to: first, at: noon)
        }
        return library
    }

    private func reader(_ name: String, of library: LibraryFile) throws -> LibraryFile {
        try library.reading(asNamed: name, holder: nil)
    }

    @Test(arguments: ["Ben", "Anna", "Cleo"])
    func `gives the same bytes after an import into an empty library`(name: String) async throws {
        let library = try reader(name, of: await household())
        let json = try await library.json()
        #expect(json.hasPrefix("[\n{\"record\":\"library\",\"version\":2},\n{\"record\":\"reader\",\"id\":"))
        for other in ["Ben", "Anna"] {
            #expect(json.contains("\(other)'s secret") == (other == name))
            #expect(json.contains("\(other)'s hidden quote") == (other == name))
        }
        #expect(json.contains("Anna's note") && json.contains("\"private\":true") == (name != "Cleo"))

        let empty = try LibraryFile.inMemory()
        let summary = try await empty.take(json)
        #expect(summary.new == 2 && summary.refused == 0)
        for _ in 0..<2 {
            #expect(try await reader(name, of: empty).json() == json)
            let changes = try await empty.changes(limit: 9).count
            let again = try await empty.take(json)
            #expect(again.unchanged == 2 && again.new == 0 && again.merged == 0 && again.others == 0)
            #expect(try await empty.changes(limit: 9).count == changes)
        }
        #expect(try await library.take(json).unchanged == 2)
        #expect(try await library.json() == json)
    }

    @Test func `as CSV is that of one reader, and each can be imported for its reader`() async throws {
        let library = try await household()
        let (his, hers) = (try await library.csv(), try await reader("Anna", of: library).csv())
        #expect(his.contains("+one") && his.contains("Ben's secret") && !his.contains("Anna's"))
        #expect(hers.contains("Anna's note") && hers.contains("Anna's secret") && !hers.contains("Ben's"))
        #expect(!hers.contains("+one") && hers.contains("2024-05"))

        let other = try LibraryFile.inMemory()
        _ = try await other.addReader("Anna", naming: "Ben", at: noon)
        let anna = try reader("Anna", of: other)
        #expect(try await other.take(his).new == 2)
        #expect(try await anna.take(hers).new == 0)
        for _ in 0..<2 {
            #expect(try await other.csv() == his)
            #expect(try await anna.csv() == hers)
            #expect(try await other.take(his).unchanged == 2)
            #expect(try await anna.take(hers).unchanged == 2)
        }
    }

    @Test func `for others is one reader's, in version 1`() async throws {
        let library = try await household()
        let hers = try await reader("Anna", of: library).json(isForOthers: true)
        #expect(hers.hasPrefix("[\n{\"record\":\"library\",\"version\":1},\n{\"record\":\"book\""))
        #expect(hers.contains("\"rating\":3.5") && !hers.contains("secret") && !hers.contains("\"readers\""))
        #expect(try await library.json(isForOthers: true).contains("\"rating\":4.25"))
    }

    @Test func `is in version 1 with one reader, also with private notes`() async throws {
        let library = try LibraryFile.inMemory()
        let rows = try richRecords().enumerated().map { ImportRow.record($1, row: $0 + 1) }
        _ = try await LibraryImport(into: library, from: "rich").importRows(rows, at: noon)
        let before = try await library.json()
        #expect(before.hasPrefix("[\n{\"record\":\"library\",\"version\":1},\n{\"record\":\"setting\""))
        #expect(!before.contains("\"private\""))
        let note = Note(
            id: ID(rawValue: "0198aaaa-0000-7000-8000-000000000099"), text: "Mine", created: noon, isPrivate: true)
        _ = try await library.add(note, to: first, at: noon)
        let json = try await library.json()
        let line =
            "{\"id\":\"\(note.id)\",\"kind\":\"note\",\"text\":\"Mine\",\"created\":\"\(noon.rfc3339)\",\"private\":true}"
        #expect(json.contains(line) && json.replacing(",\(line)", with: "") == before)
        let empty = try LibraryFile.inMemory()
        try await empty.take(json)
        #expect(try await empty.json() == json)
        let csv = try await library.csv()
        #expect(csv.contains("\"\"private\"\":true"))
        let fromCSV = try LibraryFile.inMemory()
        try await fromCSV.take(csv)
        #expect(try await fromCSV.csv() == csv)
        #expect(try await fromCSV.notes(of: first).filter(\.isPrivate).map(\.text) == ["Mine"])
    }

    @Test(arguments: [
        ("\"colour\":1", "\"colour\":9", "colour"), ("\"name\":\"Anna\"", "\"name\":\" \"", "name"),
        ("\"status\":\"read\",\"wishlist\"", "\"status\":\"lost\",\"wishlist\"", "status"),
        ("\"readers\":[{\"reader\":\"", "\"readers\":[{\"reader\":\"../", "reader"),
    ])
    func `says what is wrong with a line`(_ sample: (right: String, wrong: String, what: String)) async throws {
        let text = try await household().json()
        #expect(text.contains(sample.right))
        let refused = try rows(text.replacing(sample.right, with: sample.wrong)).compactMap { row in
            if case .refused(_, let reason) = row { reason } else { nil }
        }
        #expect(!refused.isEmpty && refused.allSatisfy { $0.contains(sample.what) }, "\(refused)")
    }
}
