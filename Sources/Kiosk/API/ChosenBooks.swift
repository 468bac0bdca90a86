import Bookplate
import FoundationEssentials
import Hummingbird

/// The books that an act on many is about: named by their ids, or all that a search shows, piece by piece.
///
/// A search may show 100,000 books. So one request acts on a piece of them, in a transaction that is over soon, and tells where
/// the next begins; `continuing` the first piece's change, all of them are undone at once.
struct ChosenBooks: Decodable, Sendable {
    static let mostIDs = 1000
    /// How many books of a search one request acts on.
    static let piece = 500

    private let ids: [String]?
    /// As in the address of the Library page: "q=dune&status=read".
    private let query: String?
    private let after: String?
    /// Of what the search shows, those that are not meant.
    private let except: [String]?
    private let continuing: String?
    /// How many of what a search shows a person was asked about, less those that are done with.
    private let count: Int?
    let status: String?
    let name: String?

    /// The change that this goes on with.
    var change: ID<Change>? { query == nil ? nil : continuing.map { ID(rawValue: $0) } }
    var isSearch: Bool { query != nil }

    /// - Returns: each once, in their order, and where the search goes on; `nil` at its end.
    /// - Throws: ``RequestRefusal``, ``SearchRefusal``.
    func copies(_ parts: KioskParts, piece: Int = Self.piece) async throws -> (ids: [ID<Copy>], next: String?) {
        switch (ids, query) {
        case (let ids?, nil): return (try Self.checked(ids), nil)
        case (nil, let text?):
            guard text.utf8.count <= 16_000 else { throw Self.refusal }
            var query = try LibraryAddress(text, zone: parts.ports.zone, now: parts.ports.now()).query
            (query.after, query.limit, query.countLimit) = (after, piece, 0)
            let found = try await parts.library.books(matching: query)
            let except = except ?? []
            let spared = try except.isEmpty ? [] : Set(Self.checked(except))
            return (found.books.map(\.id).filter { !spared.contains($0) }, found.next)
        default:
            throw RequestRefusal(
                status: .badRequest, code: "missingField", message: "Say \"ids\" or \"query\", one of the two.")
        }
    }

    /// What nothing brings back is done to no more books than the person was told of.
    func checkCount(_ parts: KioskParts) async throws {
        guard let count, let text = query else { return }
        var query = try LibraryAddress(text, zone: parts.ports.zone, now: parts.ports.now()).query
        (query.limit, query.countLimit) = (1, .max)
        guard try await parts.library.books(matching: query).total - (except?.count ?? 0) > count else { return }
        throw RequestRefusal(
            status: .unprocessableContent, code: "moreThanAsked",
            message: "There are more books in the trash now than you were asked about. Look at them, and ask again.")
    }

    private static func checked(_ ids: [String]) throws -> [ID<Copy>] {
        guard (1...mostIDs).contains(ids.count), ids.allSatisfy({ $0.utf8.count <= 64 }) else { throw refusal }
        var seen: Set<String> = []
        return ids.filter { seen.insert($0).inserted }.map { ID(rawValue: $0) }
    }

    private static let refusal = RequestRefusal(
        status: .unprocessableContent, code: "badBooks", message: "Name 1 to \(mostIDs) books by their ids.")
}
