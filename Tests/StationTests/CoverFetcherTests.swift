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

/// Returns a picture for each address, after calling a closure.
private struct Fetching: CoverFetch {
    let before: @Sendable (String) async throws -> Void

    init(_ before: @escaping @Sendable (String) async throws -> Void) { self.before = before }

    func cover(at url: String) async throws -> [UInt8]? {
        try await before(url)
        return [1]
    }
}
