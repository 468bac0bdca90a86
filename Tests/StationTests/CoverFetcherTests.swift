import Async
import Bookplate
import FoundationEssentials
import Library
import Station
import Testing

@Suite struct `Fetching covers` {
    private func save(_ library: LibraryFile, _ isbn: String) async throws -> (edition: ID<Edition>, change: ID<Change>)
    {
        var metadata = Metadata()
        (metadata.title, metadata.coverURL) = (isbn, "https://covers.openlibrary.org/b/isbn/\(isbn)-L.jpg")
        let book = try Confirmed(enteredBy: .form, isbn: ISBN(isbn), metadata: metadata)
        guard case .saved(let id, let change)? = try await library.add([book], at: Date()).first,
            let edition = try await library.book(id)?.edition.id
        else { throw NotSaved() }
        return (edition, change)
    }

    private struct NotSaved: Error {}

    @Test func `continues after an undo removed the book while its cover was fetched`() async throws {
        let folder = "/tmp/bookplate-covers-\(UUID().uuidString)"
        let library = try LibraryFile.open(at: folder + "/library.sqlite")
        let kept = try await save(library, "9780141439587")
        // The newest is fetched first.
        let undone = try await save(library, "9780441013593")
        let flow = CoverFetcher(
            covers: library,
            fetch: Fetching { url in
                if url.contains("9780441013593") { _ = try await library.undo(undone.change, at: Date()) }
            })
        #expect(try await flow.fetchMissing(limit: 9, patience: .seconds(60)).stored == 1)
        #expect(try await library.cover(of: kept.edition) == [1])
        #expect(try await library.cover(of: undone.edition) == nil)
        try FileManager.default.removeItem(atPath: folder)
    }
}

extension `Fetching covers` {
    /// A PNG whose width is 256 pixels more than this.
    private static func picture(_ width: UInt8) -> [UInt8] {
        [
            0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 1, width, 0, 0,
            1, 0,
        ]
            + [UInt8](repeating: 0, count: 9000)
    }

    @Test func `asks for the large covers first, and keeps the best`() async throws {
        let folder = "/tmp/bookplate-covers-\(UUID().uuidString)"
        let library = try LibraryFile.open(at: folder + "/library.sqlite")
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var metadata = Metadata()
        (metadata.title, metadata.coverURL) = ("Ein Buch", "https://books.google.com/x")
        let book = try Confirmed(enteredBy: .form, isbn: ISBN("9783161484100"), metadata: metadata)
        guard case .saved(let id, _)? = try await library.add([book], at: Date()).first,
            let edition = try await library.book(id)?.edition.id
        else { throw NotSaved() }
        let asked = SharedValue<[String]>([])
        let small: [UInt8] =
            Array(Self.picture(1).prefix(18)) + [0, 200, 0, 0, 0, 200] + [UInt8](repeating: 0, count: 9000)
        let blank: [UInt8] = Array("GIF89a".utf8) + [1, 0, 1, 0, 0, 0]
        let answers: [String: [UInt8]] = [
            "dnb.de": blank, "openlibrary.org": small, "google": Self.picture(100),
        ]
        let fetcher = CoverFetcher(
            covers: library,
            fetch: Answering { url in
                asked.withLock { $0.append(url) }
                return answers.first { url.contains($0.key) }?.value
            })
        #expect(try await fetcher.fetchMissing(limit: 9, patience: .seconds(60)).stored == 1)
        #expect(
            asked.value == [
                "https://dnb.de/9783161484100", "https://openlibrary.org/9783161484100",
                "https://books.google.com/x",
            ])
        #expect(try await library.cover(of: edition) == answers["google"])
    }

    @Test func `a source that is down does not hide the cover of another`() async throws {
        let folder = "/tmp/bookplate-covers-\(UUID().uuidString)"
        let library = try LibraryFile.open(at: folder + "/library.sqlite")
        defer { try? FileManager.default.removeItem(atPath: folder) }
        _ = try await save(library, "9783161484100")
        let other = try await save(library, "9783150000014")
        let fetcher = CoverFetcher(
            covers: library,
            fetch: Answering { url in
                if url.contains("dnb.de") { throw SourceError(source: .dnbCovers, reason: "is not working (503)") }
                return url.contains("9783150000014") ? [1] : nil
            })
        let (stored, failures) = try await fetcher.fetchMissing(limit: 9, patience: .seconds(60))
        #expect(stored == 1 && failures.map(\.source) == [.dnbCovers], "the first may have one there")
        #expect(try await library.cover(of: other.edition) == [1])
        #expect(try await library.editionsWithoutCover(limit: 9).isEmpty, "both are asked for again later")
    }
}

/// Answers for each address.
private struct Answering: CoverFetch {
    let answer: @Sendable (String) async throws -> [UInt8]?

    init(_ answer: @escaping @Sendable (String) async throws -> [UInt8]?) { self.answer = answer }

    func addresses(of cover: MissingCover) -> [String] { cover.threeAddresses }
    func cover(at url: String) async throws -> [UInt8]? { try await answer(url) }
}

/// Returns a picture for each address, after calling a closure.
private struct Fetching: CoverFetch {
    let before: @Sendable (String) async throws -> Void

    init(_ before: @escaping @Sendable (String) async throws -> Void) { self.before = before }

    func addresses(of cover: MissingCover) -> [String] { cover.threeAddresses }
    func cover(at url: String) async throws -> [UInt8]? {
        try await before(url)
        return [1]
    }
}

extension MissingCover {
    /// One address of each kind: at two sources by number, and the edition's own.
    fileprivate var threeAddresses: [String] {
        ["dnb.de", "openlibrary.org"].map { "https://\($0)/\(isbn?.digits ?? "")" } + [url ?? ""]
    }
}
